// Package metrics counts what the server does, and serves the admin port: metrics, health and profiles.
//
// All metrics are called gatekeeper_*, in base units. A Metrics has its own registry, so that the admin port shows the
// server's metrics and nothing else, and several servers fit into one process; an embedding program can have them in
// its own registry as well.
//
// What is counted on the way of a call costs a few nanoseconds: every counter that can be known beforehand is looked up
// once, when the server starts, and found by index afterwards. What is a state rather than an event (definitions,
// permits, the length of queues) is not counted at all but read when somebody asks.
//
// # Whose numbers they are
//
// Decisions, refreshes and applied changes are counted by the leader only, so the sum over all members is the
// cluster's. In particular a server that reads its log again at its start counts nothing of it.
package metrics
