// Package batcher combines many commands into few log entries.
//
// A log entry costs a sync on each member and a round trip to the followers, regardless of its contents. A command
// costs next to nothing. The batcher therefore keeps exactly one entry in flight, and all commands that arrive in the
// meantime go into the next one. There is no linger timer. A lone command is handed over immediately, and under load
// the entries grow automatically, because the next entry collects commands while the previous one is in flight. In
// measurements, two entries in flight were slower, because each then contained half as many commands.
//
// Commands are handed over in the order in which they arrived, and each sees the effects of the commands before it. The
// batcher never proposes a command twice. Only the caller knows whether a command with an unknown outcome may be
// retried.
//
// # Outcomes
//
// Every command has exactly one of three outcomes:
//
//   - It was applied, and the outcome contains its result.
//   - It is definitely not in the log and never will be (consensus.ErrNotAppended).
//   - Its outcome is unknown (consensus.ErrUnknownOutcome): it may have been applied, or may be applied later, by
//     another leader, or never.
//
// Any outcome that is not certain counts as unknown.
//
// # Handover time
//
// Outcome.ProposedAt is read just before the entry is handed to Raft, after every batcher step that can take time. The
// duration of a grant counts from that moment. A leader that pauses between handing over a grant and answering may be
// deposed during the pause. Its successor restarts deadlines from its own promotion, which happens after this moment.
//
// # Overload
//
// The batcher counts the waiting commands. Beyond a limit, it refuses commands immediately with
// consensus.ErrNotAppended. A caller that is refused early can go elsewhere or wait, but a caller at the end of a long
// queue has usually given up by the time its turn comes.
package batcher
