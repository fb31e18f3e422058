// Package queue keeps who waits for a permit, and in which order.
//
// It is the leader's memory and nothing more: no log entry, no clock, no goroutine. Callers say what time it is. Its
// owner decides; the queue only knows places.
//
// # First come, first served
//
// Each semaphore has a separate line. Nobody is skipped: when what is free is too little for the first, it is kept
// until it is enough, because a heavy request would otherwise wait for ever behind light ones. Fairness is promised
// within one leadership; the lines die with it.
//
// # Places and calls
//
// A waiter is one acquisition: an identity and a request id. Waiting takes long and one call does not: it ends after a
// minute, to be repeated, or its connection breaks. So a place belongs to the waiter and a call is only attached to it.
// A place whose call has ended is kept for Linger. Meanwhile the waiter is absent: it keeps its place and its weight on
// those who come later, but it is offered nothing, since nobody would hear of the grant; those behind it are served. A
// second call of a waiter takes the place of the first, which is handed back so that it can be notified.
//
// # Workers
//
// A worker waits for a permit and a task. The first task that comes finds the workers in the order of their places,
// among all who wait. Workers for which there is no task are idle: each is passed over, is in nobody's way, and counts
// neither in a place nor in the length of the line.
//
// # Offers
//
// To offer is to mark a waiter as being proposed. What is offered counts against what is free until the waiter leaves
// (it was granted) or is returned to its place (the grant was refused when it was applied). For a moment a grant can be
// counted twice, as used and as offered. That errs on the side of waiting, so a caller that lets a waiter leave offers
// again.
//
// # After a fail-over
//
// Clients queue again with a new leader in an order that depends on luck. For a short while the lines gather: a waiter
// is put in its place by the age that it claims, which is a hint of an unverified client and therefore capped. A caller
// that comes later goes to the end, whatever age is claimed.
//
// While the lines gather no waiter is offered anything, but who asks once and does not wait is still answered at once:
// it is denied when a waiter is back in the line, and granted when there is room and none is. It may so come before a
// waiter that is still on its way. The other way would be to hold every such call back until the lines have gathered.
// That is 300 ms without an answer, after each fail-over, for every job of the cluster, to save for a few waiters a
// place that nobody promised them: fairness ends with the leadership.
//
// # Costs
//
// A line is ordered trees: everybody, and of the workers and of the others all and those that can be offered something.
// Joining, leaving, detaching and each offered waiter cost O(log n). A place is found by bisection in O(log² n), about
// a microsecond among ten thousand: cheap enough to be computed when a waiter is notified, and never kept up to date
// for everybody at every grant.
package queue
