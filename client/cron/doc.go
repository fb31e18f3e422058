// Package cron runs github.com/robfig/cron/v3 jobs only while they hold a permit, and runs each activation in only one
// of the processes that share the schedule.
//
//	runner := client.NewRunner(c.Semaphore("nightly-export"), export)
//	id, err := gkcron.Add(ctx, scheduler, "30 2 * * *", runner)
//
// # Due times
//
// Mutual exclusion alone is not enough. If the clocks of two processes differ by more than the job's run time, the
// second process requests a permit after the first has finished, and the job runs twice. Each activation is therefore a
// firing that can be claimed only once. It is identified by its due time in UTC, which is computed from the schedule,
// not read from the clock when the job starts. The due time is the same in every process, however wrong its clock is.
//
// robfig/cron does not pass the due time to a job. Add reads it from the Prev field of the job's Entry, which cron sets
// before the job can read it. JobWrapper has no access to the Entry, so it takes a function that returns the due time.
// Last returns a function that computes a schedule's latest activation.
//
// An "@every 5m" schedule counts from the start of each process, so the due times differ between processes. They are
// rounded down to multiples of the delay since the zero time in UTC, and one process runs the job in each interval.
//
// # Compatibility
//
// Package client's compatibility promise applies within major version 1. Package robfig/cron/v3 is part of this
// package's API. A new major version of it will be supported by a new package here.
package cron
