// Package keeper implements the leader's part of every permit call: read, decide, confirm or propose, start the
// deadline.
//
// # Why a new leader never ends a permit early
//
// A voter that acknowledged term T in reply to a message sent at or after t cannot have voted for a later term before
// t. Any later promotion P therefore comes after t. A new leader restarts every permit's full duration at P; the client
// counts from its send time c, and c <= t < P, so c + D < P + D: the client stops relying on the permit before the new
// leader can end it.
//
// This package makes sure that these assumptions hold. t is read when the call is received, after the client's c. A
// refresh first extends the deadline, under the lessor's lock, then confirms that this server still led at or after t,
// and then checks the permit again. For a denial, the keeper decides, confirms, and checks that its tenure has not
// changed. A grant needs no confirmation, because its entry is committed by a majority that acknowledged it after it
// was handed to Raft; the client counts from its send time plus the time it waited until just before that moment, never
// later.
//
// # Four kinds of answers
//
//   - denied from the in-memory state: no log entry, one Confirm shared with other calls
//   - refreshed: no log entry, the deadline moves, one Confirm
//   - granted: the command joins a batch; the decision is made again when it is applied
//   - waiting: the queue decides whose turn it is, and the rest is the same as for a grant
//
// # From one holder to the next
//
// A release carries the grants for the next waiters in its log entry, so that a handover costs one commit. All releases
// in an entry share these grants. The command that completes a submission carries grants too: its first tasks go to
// idle workers. The grants are made when the entry is assembled: every earlier entry has been applied by then, so the
// state reflects everything except the entry's own commands. They are decided again when they are applied, after those
// commands: a grant based on a wrong guess is refused then, and its waiter keeps its place. The grant is handed to the
// waiting call, which gets the outcome as if it had proposed the grant itself. If the call has left the queue, the
// permit is given back. If a permit ends in any other way, or its slot cools after the release, the keeper notices only
// after the command has been applied. Grants for the waiters are proposed after that, so the handover costs two
// commits.
//
// # One acquisition, several calls
//
// Retries carry the same request id. While a grant is being proposed, later calls of the acquisition attach to the same
// pending record, and all of them get the same outcome. If all of them end before any is answered, no caller has
// received the permit, so it is marked, as for an expiry, and then abandoned. A later call finds the permit in the
// state, or the record of how it ended, and is never granted another.
package keeper
