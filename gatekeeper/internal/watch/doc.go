// Package watch passes applied events on to its subscribers, from any revision that is still remembered.
//
// The state machine calls the Hub for every applied entry on the applying goroutine, so the Hub never makes that
// goroutine wait. The Hub keeps the latest events in a ring, and watchers read at their own pace. A slow watcher delays
// nobody and costs no memory: when the ring overwrites events that it has not read, its next batch says so
// (Batch.Missed), and it continues from the present after it has read the state again. The same applies to a subscriber
// that resumes from a revision that is no longer remembered, and to all watchers that were behind when a snapshot
// replaced the state, because a snapshot has no history.
//
// # Why nothing is lost or delivered twice
//
// Revisions only rise, all events of one command share one revision, and a subscription is only the last revision that
// it delivered. Next returns the events of one log entry above that revision and moves it to the entry's last one. So
// the events of one revision are never split, and a watcher that resumes elsewhere from the revision of its last batch
// continues exactly there.
//
// # Costs
//
// Entries are stored as they were received. Their events are never copied, neither into the ring nor out of it. A
// watcher finds its place by binary search. There is no goroutine per watcher: all watchers that have read everything
// wait for one channel, which the next entry closes. Waking a thousand watchers takes a while, so a separate goroutine
// does it.
package watch
