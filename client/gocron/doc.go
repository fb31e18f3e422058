// Package gocron runs github.com/go-co-op/gocron/v2 jobs only while they hold a permit. It provides a Locker, an
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
// mutual exclusion, but not for running a job only once: if the clocks of two schedulers differ by more than the job's
// run time, the second one calls Lock after the first has unlocked (gocron issue 841). A run is identified by its due
// time, which is the same in every scheduler, however wrong its clock is. gocron does not pass the due time to the
// Locker, but keeps a list of due times in the job. So the Locker follows its scheduler, reads the due times, and
// claims the firing {job name, due time in UTC} together with the permit. A firing can be claimed only once.
// duetimes.go explains how the Locker finds a run's due time, even if gocron has already dropped it or has moved on to
// the next.
//
// A run belongs to the latest due time that has passed. A scheduler that is late does not work through its backlog, and
// runs queued by gocron (LimitModeWait) count as one. A run without a scheduled due time is refused, unless
// WithUnscheduled lets it run with only a permit. Examples are a run started by Job.RunNow, and the first run of a job
// with WithStartImmediately, which is due at a different time in each scheduler.
//
// The intervals of a DurationJob, and of a CronJob with "@every", start when the scheduler starts, so the due times in
// two schedulers differ. The Locker rounds them down to multiples of the duration, counted in UTC from the zero time,
// and only one scheduler runs the job in each of the resulting intervals. For a DurationRandomJob, the longest duration
// is used. All other jobs follow a wall clock: use the same gocron.WithLocation for every scheduler.
//
// # Locker or Elector
//
// The Locker spreads jobs over all schedulers and runs each firing once. With the Elector, one scheduler runs all jobs.
// If leadership changes and the clocks differ, the new leader can repeat a firing that the old leader has already run.
//
// # Compatibility
//
// The compatibility promise of package client applies within major version 1. Package go-co-op/gocron/v2 is part of
// this package's API. A new major version of it will be supported by a new package here. A minor version may determine
// a run's due time more precisely if gocron exposes more.
package gocron
