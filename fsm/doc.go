// Package fsm is the replicated state machine: entries of the log in, results out. Every server of a cluster applies
// the same entries in the same order and so holds the same state, byte for byte. That is all that replication promises,
// and this package must not break it: it reads no clock, no random source, no map order, and does not match patterns,
// because servers may run different versions of Go. What the leader knows beyond the log (the time, who matches, who
// waits) comes in with the command.
//
// A Machine applies; a State is read. Apply works on a private draft of the state. The trees of the draft are
// persistent: publishing them after each entry costs some small allocations, and after that the draft copies what it
// writes, node by node. So readers get a whole, immutable State from one atomic load, at any time, for as long as they
// like, and neither a reader nor a snapshot that is being written ever holds up Apply.
//
// The decision is made twice by the same pure rule, semaphore.Decide: by the leader when it proposes, and here when the
// command is applied, with the revisions that the leader matched patterns against compared instead. If what the leader
// saw no longer holds, the command changes nothing and says so: an optimistic replace.
//
// What makes a replay harmless stands here too. A request id that has ended never grants again as long as it is
// remembered; one whose permit lives gets that permit; a token that has ended gets how it ended. A command that a
// server made without a caller carries the term in which it was made, and does nothing in an entry of another term: by
// then a new leader has given every holder its full duration again, and the old leader's timers mean nothing.
//
// A result is one type a command, never a bool or a string or an error. Errors of Apply mean that this server cannot
// follow the log and must stop. See DESIGN.md for what is stored, in which trees, and at what cost.
//
// # Compatibility
//
// None for this package's Go API, which may change in any version. What it stores is read by every later version.
package fsm
