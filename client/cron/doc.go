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
// before it responds to any call. JobWrapper has no access to the Entry, so it takes a function that returns the due
// time. Last returns such a function, which computes the latest activation of a schedule.
//
// An "@every 5m" schedule counts from the start of each process, so the due times of two processes differ. They are
// rounded down to multiples of the delay, counted in UTC from the zero time. One process runs the job in each such
// interval.
//
// # Compatibility
//
// The compatibility promise of package client applies within major version 1. Package robfig/cron/v3 is part of this
// package's API. A new major version of it will be supported by a new package here.
package cron
