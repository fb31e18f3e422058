// Package keeper is the leader's part of every permit call: read, decide, confirm or propose, start the deadline.
//
// # The argument
//
// A voter that acknowledged term T to something sent at or after t cannot have voted for a later term before t. So any
// later promotion P comes after t. A new leader restarts every permit's full duration at P; the client counts from its
// send c, and c <= t < P, so c + D < P + D: what the client believes ends before the new leader can end it.
//
// Everything here protects the premises. t is read when the call is received, after the client's c. A refresh moves the
// deadline out first, under the lessor's lock, then confirms that this server still led at or after t, then looks again.
// A denial decides, confirms, and finds its epoch unchanged. A grant needs no confirmation, because its entry is committed
// by a majority that acknowledged it after it was handed to Raft; the client counts from its send plus the time it waited
// until just before that moment, never later.
//
// # Four ways to be answered
//
//   - denied by the state in memory: no log entry, one Confirm shared with others
//   - refreshed: no log entry, the deadline moves, one Confirm
//   - granted: the command joins a batch; the decision is made again when it is applied
//   - waiting: the queue decides whose turn it is, then as granted
//
// # One acquisition, several calls
//
// Retries carry the same request id. While a grant is being proposed, its later calls attach to the same pending record, and
// what became of it is one question with one answer. If all its calls have ended before any was answered, nobody knows of
// the permit: it is abandoned, marked first as for an expiry. A call that comes later finds the permit in the state, or
// its end remembered, and is never granted again.
package keeper
