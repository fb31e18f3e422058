// Package missed detects, while this server leads, when a semaphore with expect_every is missing its work. It
// distinguishes four kinds of missed work: no caller asks; callers ask and are denied; a holder's job makes no
// progress; a permit has been held for longer than expect_every.
//
// The package only reports; it never affects whether a permit is granted. When work of one kind starts or stops being
// missed, that is journaled once, by a log command that carries the term in which it was proposed.
//
// # After a failover
//
// Only the leader's memory records which callers have asked. So for a full expect_every interval after a promotion,
// nothing newly counts as missed. Work that the journal already records as missed stays missed until there is new
// activity on the semaphore: a failover neither ends it nor records it again.
//
// # Cost
//
// Calls and events for definitions without expect_every cost one read of a counter, or one map lookup. Every record
// stores when it must be checked next, so a check without changes costs one comparison per record.
package missed
