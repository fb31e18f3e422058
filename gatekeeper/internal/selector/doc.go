// Package selector parses the part of a call that selects semaphores: globs of names, and label requirements in the
// syntax of Kubernetes.
//
// It implements the rules of both syntaxes and does not depend on the API's messages. Its errors are
// *semaphore.FieldError, with the paths of the fields that the caller passes, and *NoDefinitionError and
// *NothingChosenError, which suggest what was probably meant.
package selector
