// Package work serves workers and submitters while this server is the leader.
//
// A [Worker] is one stream on which a client offers to work. For each task that it can take, it waits in the
// semaphore's queue as a separate caller, until it is granted a task. This package has no separate leases: a task's
// permit is its lease, and the client refreshes it like any other permit. When the stream ends, the worker leaves the
// queue, but its tasks' permits remain.
//
// A [Submission] turns a stream of tasks into log entries of bounded size, one at a time, so that grants and expiries
// can be written between them.
//
// This package keeps the workers and the progress of their tasks only in memory. They are lost when this server loses
// leadership.
package work
