// Package work implements the rules for jobs and tasks: which task a worker gets, what happens to it when the worker's
// permit ends, and how much data a cluster may store. The package is pure: it keeps no state and never reads the
// clock.
//
// A job is an ordered list of tasks for the workers of one semaphore. A worker is a caller that requests a permit
// together with a task. The grant hands out the first waiting task of that semaphore, and the permit carries it. A task
// is therefore held exactly as long as its permit and needs no separate lease. When the permit ends, [Spec.Settle]
// decides what happens to the task, as semaphore.Run does for a firing.
//
// Tasks are ordered by their job's priority, highest first, then by the order in which the jobs were submitted, then by
// index. Workers wait in the semaphore's queue, where priorities have no effect.
//
// A task is executed at least once, and its result is recorded exactly once. The permit's token guards the result:
// if two workers both believe that they hold a task, only the one with the latest token can record a result.
package work
