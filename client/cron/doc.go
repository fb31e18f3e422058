// Package cron runs jobs of github.com/robfig/cron/v3 only while they hold a permit, and runs each activation once
// among all processes that share the schedule.
//
//	runner := client.NewRunner(c.Semaphore("nightly-export"), export)
//	id, err := gkcron.Add(ctx, timetable, "30 2 * * *", runner)
//
// # The due time
//
// Mutual exclusion alone is not enough. If the clocks of two processes differ by more than the job takes, the second
// process asks after the first has finished, and the job runs twice. So each activation is a firing that can be claimed
// once. It is named by its due time in UTC, which follows from the schedule and not from the clock at the start of the
// job. The due time is therefore the same in every process, however wrong its clock is.
//
// robfig/cron does not pass the due time to a job. Add reads it from Prev of the job's Entry, which cron sets before it
// answers any call. JobWrapper has no access to the Entry, so it takes a function that returns the due time. Last
// returns such a function, which computes the last activation of a schedule before now.
//
// An "@every 5m" schedule counts from the start of each process, so the due times of two processes differ. They are
// rounded down to multiples of the delay, counted in UTC from the zero time. In each such interval, one process runs
// the job.
//
// # Compatibility
//
// The compatibility promise of package client applies within major version 1. Package robfig/cron/v3 is part of this
// package's API. If it gets a new major version, a new package here will support that version.
package cron
