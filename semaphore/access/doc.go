// Package access says who may do what: roles, and the bindings that give them to callers.
//
// A caller proves subjects with its credential: names in a client certificate, the id of a bearer token, or claims of a
// JWT. A Binding lists subjects and gives them grants, each a Role within a Scope. The binding's name is the caller's
// principal: the author of its changes and the owner of its permits. A principal outlives certificates and tokens, so a
// rotation keeps permits. A caller without a binding may do nothing.
//
// The package is pure: it knows no certificate, no message and no clock. Globs, labels and patterns in a scope are text
// here; the leader matches them, because servers may differ in how they read a pattern.
package access
