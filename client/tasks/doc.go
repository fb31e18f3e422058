// Package tasks manages recurring tasks of an application that runs on several hosts. Each host registers the same
// tasks with a Manager. At each due time one of the hosts runs the task. When a host is denied because another one runs
// it, the Manager finds out whether that holder is still alive, and takes over from it if it is dead. The package
// follows the StopLight framework, which docs/articles/stoplight.md compares with it.
//
//	m, err := tasks.NewManager(c)
//	...
//	defer m.Close(ctx)
//	err = m.Register(ctx, tasks.Func("sales-report", gocron.CronJob("0 6 * * *", false), report))
//
// Use package client/gocron if your program has a gocron scheduler and its jobs need no more than to run once.
//
// # The life of a task
//
// Register calls Initialize once, before the first run. Each run holds a permit of the semaphore that has the task's
// name, and claims the firing {task name, due time}, so that each due time is run by one host. The context of Run ends
// when the permit must be given up. Remove and RemoveNow call Cancel once; after that the Manager does not use the
// task.
//
// # When a run is denied
//
// If another process runs the task, the Manager asks its Probe whether that process lives, and gives the answer, or the
// error, to its Strategy. The Strategy decides:
//
//   - Alive: nothing runs here this time. This is by far the most frequent case.
//   - Retry: the Manager asks for the permit again, a bounded number of times.
//   - Dead: a Restartable takes over. The definition must have takeover: true. Any other task waits for its next due
//     time; the permit of a dead holder expires at the end of its duration.
//
// A takeover frees nothing. It stops the holder, which has its permit until it gives it back or until its duration is
// over. The Manager waits that long in the queue, then calls Reset, and then Run. So a wrong judgement costs the holder
// its run, but never lets two hosts run a task at once. A holder that was only suspended finds its context ended when
// it wakes up; what it still writes is refused where the resource checks the fencing token, see package client/fence.
// The heir runs the due time at which it was denied. If the dead holder had an earlier one, that is not run again.
//
// # Due times that were missed
//
// When a task is registered, and when its host was suspended, the Manager runs the due times that no host has claimed,
// as misfire and misfire_window of the definition say; by default none. It knows those of a CronJob and of a
// DurationJob. They run one after the other, each waits for its permit, and other hosts go on when this one dies. A due
// time that comes while the task makes up for another one is a missed one then. After a suspension the latest due time
// runs first.
//
// # When Reset is called
//
// Reset is called before a run of a Restartable if the last run ended abnormally: its holder was taken over or lost its
// permit, or its Run was cut short, failed or panicked, on any host. The servers know that of other hosts, as long as
// their journal does. Reset runs under the permit of the new run, so that it meets no other run. It is also called if
// the servers cannot say how the last run ended.
//
// # Compatibility
//
// As package client, within major version 1. Package go-co-op/gocron/v2 is a part of this package's API: a new major
// version of it gets a new package here. What the HTTP probe and its handler send each other may gain fields.
package tasks
