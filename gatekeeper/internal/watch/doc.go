// Package watch delivers applied events to its subscribers, starting at any revision that is still retained.
//
// The state machine calls the Hub for every applied entry on the applying goroutine, so the Hub never blocks that
// goroutine. The Hub keeps the latest events in a ring, and watchers read at their own pace. A slow watcher does not
// delay others or use extra memory: if the ring overwrites events that the watcher has not read, its next batch is
// marked as missed (Batch.Missed), and it continues from the current revision after reading the state again. The same
// applies to a subscriber that resumes from a revision that is no longer retained, and to all watchers that were behind
// when a snapshot replaced the state, because a snapshot has no history.
//
// # Why nothing is lost or delivered twice
//
// Revisions only increase, all events of one command share one revision, and a subscription is just the last revision
// that it delivered. Next returns the events of one log entry above that revision, and advances it to the last revision
// of the entry. The events of one revision are therefore never split, and a watcher that resumes elsewhere from the
// revision of its last batch continues at exactly that point.
//
// # Costs
//
// Entries are stored as received. Their events are never copied, either into the ring or out of it. A watcher finds its
// position by binary search. There is no goroutine per watcher: all watchers that have read everything wait on one
// channel, which the next entry closes. Waking a thousand watchers takes a while, so a separate goroutine does it.
package watch
