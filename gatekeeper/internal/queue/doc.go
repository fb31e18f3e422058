// Package queue holds the waiters for permits, in order.
//
// A queue exists only in the leader's memory. It has no log entries, no clock and no goroutines: callers pass in the
// time. The owner of the queue makes the decisions; the queue only tracks places.
//
// # First come, first served
//
// Each semaphore has a separate line. No waiter is skipped: if there are too few free permits for the first waiter,
// they are reserved until there are enough. Otherwise, a heavy request could starve behind light ones. Fairness is
// guaranteed only within a leader's term, because the lines are lost with it.
//
// # Places and calls
//
// A waiter is one acquisition: an identity and a request id. A waiter may wait for a long time, but a single call does
// not: it ends after a minute and is retried, or its connection breaks. A place therefore belongs to the waiter, and a
// call is only attached to it. After the call ends, the place is kept for Linger. During that time the waiter is
// absent. It keeps its place and counts toward the places of later waiters, but it is not offered a permit, because no
// call would receive the grant; waiters behind it are served. A second call from a waiter replaces the first, which
// Join returns so that it can be notified.
//
// # Workers
//
// A worker waits for both a permit and a task. While tasks are waiting, workers are served in line with all other
// waiters. A worker without a task is idle: it is skipped, does not block other waiters, and does not count toward
// places or the length of the line.
//
// # Offers
//
// Offering a permit means marking a waiter whose grant is being proposed. Offered permits are subtracted from the free
// permits until the waiter leaves (because it was granted) or is returned to its place (because the grant was refused
// when it was applied). A grant can briefly count twice, as used and as offered. That can only make others wait longer,
// so a caller that removes a waiter must call Offer again.
//
// # After a failover
//
// Clients rejoin the queue of a new leader in random order. For a short grace period the lines gather: a waiter is
// placed according to its claimed waiting time. That time is an unverified hint from the client and is therefore
// capped. A waiter that arrives after the grace period goes to the end, regardless of its claim.
//
// While the lines are gathering, no waiter is offered a permit. A caller that does not wait still gets an immediate
// response: it is denied if anyone is already in line, and granted if the line is empty and there is room. Such a
// caller may overtake a waiter that has not rejoined yet. The alternative would be to hold back all such calls until
// the lines have gathered. Every job in the cluster would then get no response for 300 ms after each failover, only to
// protect the places of a few waiters, which were never guaranteed.
//
// # Costs
//
// A line consists of five ordered trees. One tree holds all waiters. Workers and other waiters have two more trees
// each: one for all waiters of that kind, and one for those that can be offered a permit. Joining, leaving, detaching
// and each offer cost O(log n). Place uses bisection in O(log² n), which takes about a microsecond among ten thousand
// waiters. That is cheap enough to compute a place when a waiter is notified, instead of updating the places of all
// waiters on every grant.
package queue
