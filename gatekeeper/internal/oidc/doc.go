// Package oidc verifies the JWTs of one configured issuer: an OpenID Connect provider, or a Kubernetes cluster.
//
// A JWT is believed if a key of the issuer has signed it, with an asymmetric algorithm, and it is for this audience and
// valid now. Its claims then prove subjects, oidc:CLAIM=VALUE, which bindings name.
//
// Keys come from a file, which is read again when it has changed, or from the issuer by HTTPS. A fetch delays nothing
// but calls whose JWT names a key that is not known, and those only while fewer than maxWaiting of them wait. Such
// calls make the server fetch once per cooldown at most, because strangers can make them. Keys stay in use until a
// newer set replaces them, so an issuer that is down does no harm to JWTs of known keys.
//
// Errors name a JWT by its claims, and never contain it.
package oidc
