// Package queue keeps the waiters for permits and their order.
//
// A queue exists only in the leader's memory. It has no log entries, no clock and no goroutines: callers pass the time.
// The owner of the queue makes the decisions; the queue only tracks places.
//
// # First come, first served
//
// Each semaphore has a separate line. Nobody is skipped: if the free permits are too few for the first waiter, they are
// reserved until there are enough, because otherwise a heavy request could wait indefinitely behind light ones.
// Fairness is promised only within one leadership, since the lines end with it.
//
// # Places and calls
//
// A waiter is one acquisition: an identity and a request id. Waiting may take a long time, but a single call does not:
// it ends after a minute and is retried, or its connection breaks. A place therefore belongs to the waiter, and a call
// is only attached to it. After the call has ended, the place is kept for Linger. During that time the waiter is
// absent. It keeps its place and counts for later waiters, but it is not offered anything, because nobody would receive
// the grant; waiters behind it are served. A second call from a waiter replaces the first, which is returned to the
// caller so that it can be notified.
//
// # Workers
//
// A worker waits for both a permit and a task. When a task arrives, the workers have their places in order among all
// waiters. A worker for which there is no task is idle: it is skipped, does not block anyone, and counts neither in a
// place nor in the length of the line.
//
// # Offers
//
// Offering a permit means marking a waiter whose grant is being proposed. Offered permits are subtracted from the free
// ones until the waiter leaves (because it was granted) or is returned to its place (because the grant was refused when
// it was applied). For a moment a grant can count twice, as used and as offered. This can only make others wait longer,
// so a caller that removes a waiter must offer again.
//
// # After a failover
//
// Clients queue again at a new leader in random order. For a short time the lines gather: a waiter is placed by the age
// that it claims. That age is an unverified hint from the client and is therefore capped. A waiter that arrives later
// goes to the end, no matter what age it claims.
//
// While the lines are gathering, no waiter is offered anything. A caller that asks once and does not wait still gets an
// immediate response: it is denied if a waiter is already in the line, and granted if there is room and no waiter. Such
// a caller may overtake a waiter that has not returned yet. The alternative would be to hold back all such calls until
// the lines have gathered. After each failover, every job in the cluster would then get no response for 300 ms, only to
// save places that a few waiters were never promised.
//
// # Costs
//
// A line consists of five ordered trees. One tree holds all waiters. Workers and other waiters have two more trees
// each: one for all waiters of that kind, and one for those that can be offered something. Joining, leaving, detaching
// and each offer cost O(log n). Place uses bisection in O(log² n), which takes about a microsecond among ten thousand
// waiters. That is cheap enough to compute a place when a waiter is notified, instead of updating the places of all
// waiters at every grant.
package queue
