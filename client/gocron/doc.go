// Package gocron lets jobs of github.com/go-co-op/gocron/v2 run only while they hold a permit: a Locker, an Elector, and tasks whose
// context ends when the permit is to be given up.
//
//	locker := gkgocron.NewLocker(c)
//	s, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
//	...
//	locker.Follow(s)
//	_, err = s.NewJob(gocron.CronJob("30 2 * * *", false), locker.Task(export), gocron.WithName("nightly-export"))
//
// # What gocron hands to a Locker
//
// Lock is called with the job's context and its name, before the job is rescheduled, and Unlock after it has returned. That is
// enough to exclude, and not enough to run a job once: with clocks that differ by more than the job takes, the second scheduler
// asks when the first has unlocked (gocron issue 841). What names the run is the time at which it was due, and gocron keeps
// that in the job: at the time of Lock the due time is still among Job.NextRuns. So the Locker follows its scheduler, reads it,
// and claims the firing {job name, due time in UTC} together with the permit: claimed once, however wrong a clock is.
//
// The due time is the latest one that is not after now; a scheduler that is behind does not work off its backlog. When there is
// none, because a clock was set back in the meantime, one that is at most two seconds ahead counts. A run that is not on the
// timetable at all, as by Job.RunNow, is refused unless WithUnscheduled lets it run under a permit alone.
//
// A DurationJob counts from the start of each scheduler, so due times differ. They are cut down to multiples of the duration
// since the beginning of time in UTC: one scheduler runs in each such interval. A DurationRandomJob does so by its longest.
//
// # Locker or Elector
//
// The Locker spreads jobs over all schedulers, and each firing runs once. With the Elector one scheduler runs everything; on a
// change of leaders a firing that the old one has run may be run again by the new one, if their clocks differ.
package gocron
