// Package fsm implements the replicated state machine. It applies log entries and returns their results. Every server
// in a cluster applies the same entries in the same order and so reaches the same state, byte for byte. Replication
// depends on this, so the package never reads the clock or a random source, does not depend on map order, and does not
// match patterns, because servers may run different versions of Go. Any other information that the leader uses (the
// time, which callers match, which callers are waiting) is part of the command.
//
// A Machine applies entries, and a State is an immutable view for readers. Apply works on a private draft of the state.
// The draft's trees are persistent. Publishing them after an entry costs a few small allocations, and the draft then
// copies the nodes that it writes. A reader therefore gets a complete State from one atomic load, and can keep it
// indefinitely. Neither readers nor snapshots block Apply.
//
// A grant is decided twice by the same pure function, semaphore.Decide: by the leader when it proposes the command, and
// by the state machine when it applies the command. The state machine does not match patterns. Instead, it compares the
// revisions that the leader matched against with the current ones. If they have changed, the command has no effect and
// reports this, as in optimistic concurrency control.
//
// This package also makes replays harmless. A request that has ended is not granted again while its id is remembered. A
// request that already has a live permit gets that permit. For a token that has ended, the result reports how it ended.
// A command that a server proposes on its own carries the term in which it was made and has no effect in an entry from
// another term: a new leader gives every holder its full duration again, so the old leader's timers are obsolete.
//
// Each command has one result type, and Apply returns an error only if this server cannot follow the log and must stop.
// DESIGN.md describes what is stored, in which trees, and at what cost.
//
// # Compatibility
//
// There is no compatibility promise for this package's Go API, which may change in any version. The data that it stores
// can be read by every later version.
package fsm
