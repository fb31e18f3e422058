// Package gateway serves the HTTP port: the API as JSON, streams as Server-Sent Events, and the dashboard.
//
// It decides nothing. Each request becomes a call of the gRPC API on a connection in memory, so roles, admission,
// forwarding to the leader and audit are those of gRPC. The mapping is in proto/http.yaml, and gen and
// openapi.swagger.json are generated from it. What is written here is what HTTP adds: who the caller is (caller.go),
// what a browser must be protected from (protect.go), JSON and errors (json.go, errors.go), streams (stream.go,
// submit.go), sessions (session.go), and the files of the dashboard (assets.go).
package gateway
