// Package auth determines who a caller is and what its bindings allow.
//
// A Credential is the proof that a call presents: the subjects of a verified client certificate, the secret of a bearer
// token, or a JWT. A Table is the compiled form of all bindings in one state; it finds the Principal for a credential.
// A Principal reports whether the caller may act in a role on a semaphore, as an identity, or on another caller's
// permit. The rules for roles are in semaphore/access; this package determines which callers they apply to.
//
// This package does not refuse calls: package api queries it, sends the response and writes the audit log.
package auth
