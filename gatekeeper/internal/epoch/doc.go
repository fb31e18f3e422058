// Package epoch is the lifecycle of the rooms that work only while this server leads: the lessor, timers, missed, and
// the keeper's chores. An epoch is one leadership: the Raft term in which this server leads. A Room has one epoch at a
// time, and one lock for what it keeps in that epoch.
//
// # What happens at promotion
//
//  1. The consensus package has applied everything that was committed before. It calls Promote on the keeper.
//  2. The keeper stops the application of entries for a moment (Machine.Sync), and calls Promote on each room with the
//     term, one instant and the state. So the state is exactly what precedes the first event that the room hears in
//     this epoch.
//  3. The room calls Begin. It stores the instant, makes empty maps, and starts its goroutines. That takes as long with
//     a million permits as with none, because nothing walks the state yet.
//  4. The goroutines start. One adopts what the state held: it walks the state in chunks (Walk) next to the traffic.
//     Another does what is due (Run) or has a regular chore (Every).
//  5. Entries are applied again. The room hears each one in order, under the same lock under which it adopts. So an
//     item may be met by its event first and by the walk later, or the reverse, and a room must handle both.
//
// # What happens at demotion
//
//  1. The keeper calls Demote on each room. Under the lock the room forgets everything it kept, by dropping references.
//     That, too, does not depend on how much there is.
//  2. When Demote returns, nothing is handed to the log any more in that term. What was handed over earlier may still
//     be applied. Every command of a room carries its term, and the state machine ignores it in an entry of another
//     term.
//  3. Outcomes that arrive later are dropped: settled is called only in the epoch of its proposal.
//  4. The goroutines of the epoch end on their own time. A new epoch does not wait for them. They hold their Epoch, so
//     that they can neither read nor change what the next one keeps, nor take its wake-ups. Only Close waits for them.
//
// # What became of a proposal
//
// A command that certainly did not reach the log is proposed again after RetryAfter. An unknown outcome has no common
// rule: the lessor keeps the permit marked for the rest of the epoch, timers propose again after a second, and missed
// looks again at its next tick.
package epoch
