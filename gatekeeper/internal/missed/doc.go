// Package missed notices, while this server leads, that a semaphore with expect_every misses its work. It distinguishes
// four kinds: nobody asks; callers ask and are denied; a holder's job makes no progress; a permit is held for longer
// than expect_every.
//
// It decides nothing: no permit is granted or refused because of it. The beginning and the end of each kind are
// journaled once, by a log command that carries the term in which it was made.
//
// # What a new leader knows
//
// Only the leader's memory says who asked. So for a whole expect_every after a promotion nothing counts as missed.
// Missed work that the journal records stays missed until something is heard: a fail-over neither ends it nor records
// it again.
//
// # What it costs
//
// Calls and events for definitions without expect_every cost one look at a counter, or into a map. Every record knows
// when it must be checked next, so a second in which nothing happens costs one comparison for each record.
package missed
