// Package gocron runs jobs of github.com/go-co-op/gocron/v2 only while they hold a permit. It provides a Locker, an
// Elector, and tasks whose context is cancelled when the permit must be given up.
//
//	locker := gkgocron.NewLocker(c)
//	s, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
//	...
//	locker.Follow(s)
//	_, err = s.NewJob(gocron.CronJob("30 2 * * *", false), locker.Task(export), gocron.WithName("nightly-export"))
//
// # What gocron passes to a Locker
//
// gocron calls Lock with the context and the name of the job, and Unlock after the job has returned. That suffices for
// mutual exclusion, but not to run a job only once: if the clocks of two schedulers differ by more than the job takes,
// the second one asks after the first has unlocked (gocron issue 841). A run is identified by its due time, which is
// the same in every scheduler, however wrong its clock is. gocron does not pass it to the Locker, but keeps due times
// in the job. So the Locker follows its scheduler, reads the due times, and claims the firing {job name, due time in
// UTC} together with the permit. A firing can be claimed once. The type timetable explains how the Locker finds the due
// time of a run, even if gocron has already dropped it or has moved on to the next.
//
// A run belongs to the latest due time that has passed. A scheduler that is late does not work off its backlog, and
// runs queued by gocron (LimitModeWait) count as one. A run without a scheduled due time is refused, unless
// WithUnscheduled lets it run under a permit alone. Examples are a run started by Job.RunNow, and one started by
// WithStartImmediately, which is due at a different moment in each scheduler.
//
// A DurationJob, and a CronJob with "@every", count from the start of each scheduler, so the due times of two
// schedulers differ. They are rounded down to multiples of the duration, counted in UTC from the zero time. In each
// such interval, one scheduler runs the job. For a DurationRandomJob the longest duration is used. All other jobs
// follow a wall clock: give every scheduler the same gocron.WithLocation.
//
// # Locker or Elector
//
// The Locker spreads jobs over all schedulers and runs each firing once. With the Elector one scheduler runs
// everything. If leadership changes and the clocks differ, the new leader can repeat a firing that the old leader has
// run.
//
// # Compatibility
//
// The compatibility promise of package client applies within major version 1. Package go-co-op/gocron/v2 is part of
// this package's API. If it gets a new major version, a new package here will support that version. A minor version may
// determine the due time of a run more precisely if gocron exposes more.
package gocron
