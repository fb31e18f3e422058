// Package auth finds out who a caller is, and what its bindings let it do.
//
// A Credential is what a call proves: subjects of a verified client certificate, the secret of a bearer token, or a
// JWT. A Table is the compiled form of all bindings of one state; it names the Principal of a credential. A Principal
// answers whether it may act in a role on a semaphore, as an identity, or on another's permit. Role rules are
// defined in semaphore/access; this package resolves the callers they apply to.
//
// Nothing here refuses a call: package api asks, answers and audits.
package auth
