// Package gocron lets jobs of github.com/go-co-op/gocron/v2 run only while they hold a permit: a Locker, an Elector,
// and tasks whose context ends when the permit is to be given up.
//
//	locker := gkgocron.NewLocker(c)
//	s, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
//	...
//	locker.Follow(s)
//	_, err = s.NewJob(gocron.CronJob("30 2 * * *", false), locker.Task(export), gocron.WithName("nightly-export"))
//
// # What gocron hands to a Locker
//
// Lock is called with the job's context and its name, and Unlock after the job has returned. That is enough to exclude,
// and not enough to run a job once: with clocks that differ by more than the job takes, the second scheduler asks when
// the first has unlocked (gocron issue 841). What names the run is the time at which it was due, the same in every
// scheduler, however wrong its clock. gocron does not hand that on, but keeps due times in the job. So the Locker
// follows its scheduler, reads them, and claims the firing {job name, due time in UTC} together with the permit:
// claimed once. How it finds the one that a run belongs to, when gocron has forgotten it or continues already, is
// explained at the type timetable.
//
// A run belongs to the latest due time that has come. A scheduler that is behind does not work off its backlog, and
// runs that gocron has queued up (LimitModeWait) are one. A run that is on no timetable is refused unless
// WithUnscheduled lets it run under a permit alone: that of Job.RunNow, and that of WithStartImmediately, which is due
// at another moment in each scheduler.
//
// A DurationJob, and a CronJob of "@every", count from the start of each scheduler, so due times differ. They are cut
// down to multiples of the duration since the beginning of time in UTC: one scheduler runs in each such interval. A
// DurationRandomJob does so by its longest. All others go by a wall clock: give every scheduler the same
// gocron.WithLocation.
//
// # Locker or Elector
//
// The Locker spreads jobs over all schedulers, and each firing runs once. With the Elector one scheduler runs
// everything; on a change of leaders a firing that the old one has run may be run again by the new one, if their clocks
// differ.
//
// # Compatibility
//
// As package client, within major version 1. Package go-co-op/gocron/v2 is a part of this package's API: a new major
// version of it gets a new package here. Which due time a run belongs to may become more exact in a minor version,
// where gocron says more than it does today.
package gocron
