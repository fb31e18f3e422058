// Package silence notices, while this server leads, that expected work is not heard of: of definitions with expect_every it
// tells apart that nobody asks, that who asks is denied, that a holder's job makes no progress, and that a permit is held for
// longer than that.
//
// It decides nothing: no permit is given or refused for what stands here. Every entry into a silence and every end of one is
// put into the journal once, as a log command that carries the term in which it was made.
//
// # What a new leader knows
//
// Who asked is in the leader's memory only. So after a promotion nothing is called silent before a whole expect_every has
// passed. But a silence that the journal tells of goes on, until something is heard: a fail-over neither ends it nor notes it
// again.
//
// # What it costs
//
// Calls and events for definitions without expect_every pay for one look at a counter, or into a map. Every record knows
// when it is to be looked at next, so that a second in which nothing happens compares an instant a record.
package silence
