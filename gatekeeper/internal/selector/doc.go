// Package selector reads which semaphores a call is about: globs of names, and requirements on labels in the language
// of Kubernetes.
//
// It knows the rules of both languages and nothing of the API's messages. Its errors are *semaphore.FieldError, with
// the paths of the fields that the caller names, and *NoDefinitionError and *NothingChosenError, which say what was
// likely meant.
package selector
