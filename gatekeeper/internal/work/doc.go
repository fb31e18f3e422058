// Package work serves workers and submitters while this server leads.
//
// A [Worker] is one stream on which somebody offers to work. For each task that it may take it waits in the semaphore's
// queue, as a separate caller, until a grant brings a task. Nothing here is a lease: the permit is, and the client
// keeps it alive as any other. When the stream ends, the waiting ends, and the permits stay.
//
// A [Submission] turns a stream of tasks into log entries of bounded size, one at a time, so that the grants and
// expiries of others come between them.
//
// What is kept here is a leader's memory: who works, and how far they have come. It is lost with the leadership.
package work
