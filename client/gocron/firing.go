package gocron

import (
	"slices"
	"strings"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/robfig/cron/v3"
)

// firing converts a due time of this scheduler to the due time that identifies the run in all schedulers. It returns
// the zero time for a run that exists only in this scheduler, such as one started by gocron.WithStartImmediately.
func firing(s gocron.JobSchedule, at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	switch s := s.(type) {
	case gocron.DurationJobSchedule:
		return at.Truncate(s.Duration)
	case gocron.DurationRandomJobSchedule:
		return at.Truncate(s.Max)
	case gocron.OneTimeJobSchedule:
		if !slices.ContainsFunc(s.StartAt, at.Equal) {
			return time.Time{}
		}
		return at
	case gocron.CronJobSchedule:
		c := parse(s.Crontab)
		if every, ok := c.(cron.ConstantDelaySchedule); ok {
			return at.Truncate(every.Delay)
		}
		if c != nil {
			at = firstOccurrence(c, at)
		}
	}
	if at.Nanosecond() != 0 { // schedules have a resolution of one second
		return time.Time{}
	}
	return at
}

// dueTimesAfter returns the due times after taken that can be computed from the schedule. It is used if the scheduler
// currently has none for the job.
func dueTimesAfter(s gocron.JobSchedule, taken, now time.Time) (all []time.Time) {
	next := func(time.Time) time.Time { return time.Time{} }
	switch s := s.(type) {
	case gocron.DurationJobSchedule:
		next = func(at time.Time) time.Time { return at.Add(s.Duration) }
	case gocron.DurationRandomJobSchedule:
		return []time.Time{now} // in the same interval as the due time, or in a later one
	case gocron.OneTimeJobSchedule:
		return s.StartAt
	case gocron.CronJobSchedule:
		if c := parse(s.Crontab); c != nil {
			next = c.Next
		}
	}
	if taken.IsZero() {
		return nil
	}
	for at := next(taken); !at.IsZero() && len(all) < maxTracked; at = next(at) {
		all = append(all, at)
	}
	return all
}

// parse parses a crontab as gocron does. It returns nil if only the user's own implementation can parse the crontab.
func parse(crontab string) cron.Schedule {
	fields := cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor
	s, err := cron.NewParser(fields).Parse(strings.TrimSpace(crontab))
	if err != nil {
		return nil
	}
	return s
}

// firstOccurrence handles the day on which clocks are set back. If at is the second activation with the same local
// time, and gocron skips it, the result is the first. gocron does not skip the second if it was started between the
// two.
func firstOccurrence(s cron.Schedule, at time.Time) time.Time {
	change, _ := at.ZoneBounds()
	if change.IsZero() {
		return at
	}
	_, now := at.Zone()
	_, before := change.Add(-1).Zone()
	first := at.Add(-time.Duration(before-now) * time.Second)
	if !first.Before(change) || !first.Before(at) {
		return at
	}
	if s.Next(first.Add(-time.Second)).Equal(first) && s.Next(first).Equal(at) {
		return first
	}
	return at
}
