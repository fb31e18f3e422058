// Package work is the rule book of jobs and tasks: which task a worker gets, what becomes of it when the worker's
// permit ends, and how much a cluster stores. It is pure: it keeps nothing and reads no clock.
//
// A job is an ordered list of tasks for the workers of one semaphore. A worker is a caller that asks for a permit
// together with a task: the grant hands out the first task that waits there, and the permit carries it. So a task is
// held as long as its permit, and there is no second lease. When the permit ends, [Spec.Settle] says what becomes of
// the task, as semaphore.Run does for a firing.
//
// Tasks wait in the order of their jobs' priorities, higher first, then in the order in which the jobs were submitted,
// then by index. The order of workers is that of the semaphore's queue; priority does not change it.
//
// A task is executed at least once and its result is recorded exactly once. The token of the permit guards the result:
// of two workers that both believe they hold a task, only the one with the latest token can record one.
package work
