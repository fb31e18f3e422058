// Package work distributes tasks to workers.
//
// A job is an ordered list of tasks for the workers of one semaphore. A submitter stores the job and follows it.
// Workers receive its tasks one at a time, execute them and record the results. The servers store jobs and results on
// disk, in the same replicated log as everything else.
//
//	submitted, err := work.Submit(ctx, c, work.Job{Semaphore: "resize"}, payloads)
//	...
//	for task, err := range work.Results(ctx, c, submitted.ID) { // in the order of the payloads
//
// and on as many hosts as necessary:
//
//	err := work.Run(ctx, work.Worker{Semaphore: c.Semaphore("resize"), Parallel: 8, Handle: resize})
//
// # Tasks are held under permits
//
// A worker waits in the semaphore's queue like every other caller, and its grant carries the task. There is no second
// lease. The client keeps the permit alive, the task's context is cancelled when the permit can no longer be relied on,
// and everything that package client says about permits applies. An operation on the semaphore, such as a pause, a
// move, a cordon or a smaller number of permits, also applies to its tasks. A semaphore with the default of one permit
// executes one task at a time, however many workers there are.
//
// # Guarantees
//
// A task is executed at least once, and its result is recorded exactly once. It is executed again only after its permit
// has ended without a result, because the worker was lost or returned the task. A member joining or leaving, or a
// change of leader, does not cause a second execution. The servers record only the result of the newest permit, so a
// worker that was suspended and replaced cannot record a second one. This does not cover other writes by the task. Pass
// Task.Token with them, and let the resource reject a token that is older than the newest it has seen. Those writes
// then also take effect exactly once; see package client/fence.
//
// # When the submitter dies
//
// With SubmitterKeep, the default, a job outlives its submitter. Results are stored under the job's ID, so a restarted
// program can read them. With SubmitterCancel the job is cancelled when its submitter is lost. Use it if no one else
// needs the results.
//
// # Compatibility
//
// The compatibility promise of package client applies within major version 1.
package work
