// Package epoch manages the lifecycle of rooms, which are the components that work only while this server leads: the
// lessor, timers, missed, and the keeper's chores. An epoch is a Raft term in which this server leads. A Room has one
// epoch at a time, and one lock for its data in that epoch.
//
// # What happens at promotion
//
//  1. Once the consensus package has applied everything committed in earlier terms, it calls Promote on the keeper.
//  2. The keeper pauses the application of entries (Machine.Sync), and calls Promote on each room with the term, the
//     same instant and the state. The state therefore reflects exactly what precedes the first event that the room
//     receives in this epoch.
//  3. The room calls Begin. It stores the instant, creates empty maps, and starts its goroutines. That takes the same
//     time with a million permits as with none, because the state has not been walked yet.
//  4. The goroutines start. One adopts the contents of the state: it walks the state in chunks (Walk), concurrently
//     with traffic. Others perform work when it is due (Run) or periodically (Every).
//  5. The application of entries resumes. The keeper's chores, which do not need the state, begin only now. A room
//     receives each entry's events in order, under the lock that it also holds while adopting. An item's event may
//     therefore arrive before or after the walk reaches the item, and a room must handle both.
//
// # What happens at demotion
//
//  1. The keeper calls Demote on each room. Under the lock, the room discards all of its data by dropping references.
//     This takes the same time regardless of the amount of data.
//  2. When Demote returns, no more commands are handed to the log in that term. Commands handed over earlier may still
//     be applied. Every command from a room carries its term, and the state machine ignores a command in an entry from
//     a different term.
//  3. Outcomes that arrive later are dropped: settled is called only in the epoch of its proposal.
//  4. The epoch's goroutines exit later. A new epoch does not wait for them. Because they hold their own Epoch, they
//     can neither read nor change the data of the next one, nor receive its wake-ups. Only Close waits for them.
//
// # Outcomes of proposals
//
// A command that definitely did not reach the log is proposed again after RetryAfter. Each room handles an unknown
// outcome in its own way: the lessor keeps the permit marked for the rest of the epoch, timers propose again after a
// second, and missed checks again at its next tick.
package epoch
