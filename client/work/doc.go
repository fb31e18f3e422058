// Package work shares tasks among workers.
//
// A job is an ordered list of tasks for the workers of one semaphore. A submitter stores it and follows it; workers get
// its tasks one by one, execute them and record the results. The servers keep jobs and results on their disks, in one
// replicated log with everything else.
//
//	submitted, err := work.Submit(ctx, c, work.Job{Semaphore: "resize"}, payloads)
//	...
//	for task, err := range work.Results(ctx, c, submitted.ID) { // in the order of the payloads
//
// and on as many hosts as necessary:
//
//	err := work.Run(ctx, work.Worker{Semaphore: c.Semaphore("resize"), Parallel: 8, Handle: resize})
//
// # A task is held by a permit
//
// A worker stands in the queue of the semaphore as every caller does, and its grant carries the task. There is no
// second lease: the client keeps the permit alive, the task's context ends when the permit must not be counted on any
// more, and everything that package client says of permits holds. What an operator does to the semaphore, such as a
// pause, a move, a cordon or fewer permits, governs its tasks too. A semaphore with the default of one permit executes
// one task at a time, however many workers there are.
//
// # What is promised
//
// A task is executed at least once, and its result is recorded exactly once. It is executed again only after its permit
// has ended without a result: because the worker was lost, or returned the task. A member that joins or leaves, and a
// change of leader, executes nothing twice. The servers record the result of the newest permit only, so a worker that
// was suspended and replaced cannot record a second one. What it writes elsewhere is another matter: pass Task.Token
// along, and let the resource refuse a token that is older than the newest it has seen. Then the effect is there
// exactly once; see package client/fence.
//
// # When the submitter dies
//
// With SubmitterKeep, the default, a job outlives its submitter: results are stored under an id, so a program that
// starts again reads them there. With SubmitterCancel the job is cancelled when its submitter is gone, as where results
// are of use to nobody else.
//
// # Compatibility
//
// As package client, within major version 1.
package work
