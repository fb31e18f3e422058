// Package access defines permissions: roles, and the bindings that grant them to callers.
//
// A caller's credential proves subjects: names in a client certificate, the id of a bearer token, or claims in a JWT. A
// Binding lists subjects and assigns grants to them, each a Role within a Scope. The binding's name is the caller's
// principal: the author of its changes and the owner of its permits. A principal outlives certificates and tokens, so
// rotating them does not lose permits. A caller without a binding has no permissions.
//
// The package is pure: it does not depend on certificates, messages or clocks. Globs, labels and patterns in a scope
// are plain text here. The leader matches them, because servers may interpret a pattern differently.
package access
