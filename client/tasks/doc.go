// Package tasks manages recurring tasks of an application that runs on several hosts. Each host registers the same
// tasks with a Manager. At each due time one of the hosts runs the task. If a host is denied because another host is
// running the task, the Manager finds out whether that holder is still alive, and takes over from it if it is dead. The
// design follows the StopLight framework; see docs/articles/stoplight.md for a comparison.
//
//	m, err := tasks.NewManager(c)
//	...
//	defer m.Close(ctx)
//	err = m.Register(ctx, tasks.Func("sales-report", gocron.CronJob("0 6 * * *", false), report))
//
// If your program already has a gocron scheduler and its jobs only need to run once, use package client/gocron instead.
//
// # Task lifecycle
//
// Register calls Initialize once, before the first run. Each run holds a permit from the semaphore with the task's
// name, and claims the firing {task name, due time}, so that only one host runs the task at each due time. Run's
// context is cancelled when the permit must be given up. Remove and RemoveNow call Cancel once. After that the Manager
// no longer uses the task.
//
// # When a run is denied
//
// If another process is running the task, the Manager asks its Probe whether that process is alive, and passes the
// answer or the error to its Strategy. The Strategy returns one of these verdicts:
//
//   - Alive: the task does not run here this time. This is by far the most common case.
//   - Retry: the Manager tries again to acquire the permit, a limited number of times.
//   - Dead: a Restartable takes over. The definition must have takeover: true. Any other task waits for its next due
//     time; a dead holder's permit expires at the end of its duration.
//
// A takeover does not free the permit. It stops the holder, which keeps its permit until it releases the permit or the
// permit's duration ends. The Manager waits that long in the queue, then calls Reset, and then Run. A wrong judgement
// costs the holder its run, but two hosts never run a task at the same time. A holder that was only suspended finds its
// context cancelled when it resumes. If it still writes, a resource that checks the fencing token rejects the write;
// see package client/fence. The host that took over runs the task for the due time at which it was denied. If the dead
// holder was running the task for an earlier due time, that run is not repeated.
//
// # Missed runs
//
// When a task is registered, and after its host was suspended, the Manager runs the task for the due times that no host
// has claimed. The definition's misfire and misfire_window select these due times; by default there are none. The
// Manager can determine past due times only for a CronJob or a DurationJob. The missed runs take place one after
// another, and each waits for its permit. If this host dies, other hosts continue. A due time that passes while the
// task is making up for another one counts as missed. After a suspension, the task first runs for the latest due time.
//
// # When Reset is called
//
// Reset is called before a run of a Restartable if the last run, on any host, ended abnormally: its permit was taken
// over or lost, or its Run was cut short, failed or panicked. For runs on other hosts, the Manager reads the servers'
// journal, as far back as it goes. Reset runs under the new run's permit, so it never overlaps with another run. It is
// also called if the Manager cannot determine how the last run ended.
//
// # Compatibility
//
// The compatibility promise of package client applies within major version 1. Package go-co-op/gocron/v2 is part of
// this package's API. If it gets a new major version, a new package here will support that version. The messages
// exchanged by the HTTP probe and its handler may gain fields.
package tasks
