// Package oidc verifies JWTs from one configured issuer: an OpenID Connect provider, or a Kubernetes cluster.
//
// A JWT is accepted if it was signed with one of the issuer's keys and an asymmetric algorithm, is intended for the
// configured audience, and is currently valid. Its claims then prove subjects of the form oidc:CLAIM=VALUE, which
// bindings refer to.
//
// Keys come from a file, which is reread when it changes, or from the issuer over HTTPS. A fetch delays only calls
// whose JWT names an unknown key, and at most maxWaiting of them at a time. Because unauthenticated callers can make
// such calls, they cause at most one fetch per cooldown. Keys stay in use until a newer set replaces them, so JWTs
// signed with known keys stay valid while the issuer is down.
//
// Errors identify a JWT by its claims and never contain the JWT itself.
package oidc
