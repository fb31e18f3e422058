// Package watch passes on what was applied to whoever wants to know, from any revision that is still remembered.
//
// The state machine tells the Hub of every applied entry on the goroutine that applies, so nothing here may ever make it
// wait. The Hub keeps the latest events in a ring; watchers come and read at their own pace. A slow watcher holds up nobody
// and costs no memory: when the ring has gone over what it had not read yet, it is told so (Batch.Missed) and goes on from
// now, after it has read the state anew. The same is told to who resumes from a revision that is no longer remembered, and
// to everybody who was behind when the state was replaced by a snapshot, because a snapshot has no history.
//
// # Why nothing is lost or told twice
//
// Revisions only rise, all events of one command share one, and a subscription is nothing but the last revision that it
// was told. Next hands out the events of one log entry above that revision and moves it to the entry's last one. So the
// events of one revision are never torn apart, and a watcher that resumes elsewhere from the revision of its last batch
// goes on exactly there.
//
// # Costs
//
// Entries are kept as they came; their events are never copied, neither into the ring nor out of it. A watcher finds its
// place by bisection. There is no goroutine a watcher: those that have read everything wait for one channel, which the
// next entry closes. Waking a thousand takes a while, so that happens beside the goroutine that applies.
package watch
