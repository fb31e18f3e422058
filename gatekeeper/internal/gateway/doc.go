// Package gateway serves the HTTP port: the API as JSON, streams as Server-Sent Events, and the dashboard.
//
// It makes no decisions. Each request becomes a call to the gRPC API on an in-memory connection, so roles, admission,
// forwarding to the leader and auditing work as they do for gRPC clients. The mapping is in proto/http.yaml, from which
// gen and openapi.swagger.json are generated. The handwritten code covers the parts that are specific to HTTP: the
// caller's identity (caller.go), browser security (protect.go), JSON and errors (json.go, errors.go), streams
// (stream.go, submit.go), sessions (session.go), and the dashboard's files (assets.go).
package gateway
