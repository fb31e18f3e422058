// Package cron lets jobs of github.com/robfig/cron/v3 run only while they hold a permit, and each activation once among
// all processes that share the timetable.
//
//	runner := client.NewRunner(c.Semaphore("nightly-export"), export)
//	id, err := gkcron.Add(ctx, timetable, "30 2 * * *", runner)
//
// # The due time
//
// Two processes whose clocks differ by more than a job takes would run it twice if they only excluded each other: the
// second one asks when the first has finished. So each activation is a firing, named by the time at which it was due by
// the timetable, in UTC, and a firing is claimed once. The due time is what the timetable says, not what a clock says
// when the job starts: it is the same in every process, however wrong its clock.
//
// robfig/cron does not hand it to a job. Add reads it from the job's Entry, whose Prev is the activation that started
// it: cron sets it before it answers any question. JobWrapper sees no Entry; it takes a function, and Last computes the
// last activation of a schedule before now.
//
// An "@every 5m" counts from the start of each process, so due times differ. They are cut down to multiples of the
// delay since the beginning of time in UTC: one process runs in each such interval.
//
// # Compatibility
//
// As package client, within major version 1. Package robfig/cron/v3 is a part of this package's API: a new major
// version of it gets a new package here.
package cron
