// Package metrics collects the server's metrics and serves the admin port: metrics, health and profiles.
//
// All metrics are named gatekeeper_*, in base units. Each Metrics has a separate registry, so that the admin port shows
// only this server's metrics and one process can run several servers. An embedding program can also register the
// metrics in its own registry.
//
// Counting costs a few nanoseconds per call: every counter that is known in advance is looked up once, when the server
// starts, and then found by index. Values that are states rather than events (definitions, permits, queue lengths) are
// not counted but read at each scrape.
//
// # Summing over servers
//
// Only the leader counts decisions, refreshes and applied changes, so the sum over all members is the value for the
// cluster. In particular, a server does not count the entries that it replays from its log at startup.
package metrics
