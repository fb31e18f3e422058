// Package selector parses the part of a call that selects semaphores: name globs, and label requirements in Kubernetes
// syntax.
//
// It implements both syntaxes and does not depend on the API's messages. Its errors are *semaphore.FieldError, with the
// field paths that the caller passes in, and *NoDefinitionError and *NoMatchError, which suggest a correction.
package selector
