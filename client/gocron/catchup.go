package gocron

import (
	"context"
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/robfig/cron/v3"

	"github.com/gatekeeperd/gatekeeper/client"
)

// CatchUp runs a job's missed firings according to the definition's misfire policy; see client.Runner.CatchUp. Call it
// after starting the scheduler, and again after the host has been suspended. task is the job's function. CatchUp calls
// it directly, not through gocron, so the job's event listeners are not called.
//
// CatchUp supports CronJob and DurationJob. For other kinds of jobs it returns an error, because gocron reports only
// when they are next due.
func (l *Locker) CatchUp(ctx context.Context, job gocron.Job, task func(context.Context) error) error {
	past, known, err := l.past(job)
	if err != nil {
		return err
	}
	if !known {
		return pastUnknownError(job)
	}
	return l.runner(job, task).CatchUp(ctx, past)
}

// Missed returns, in order, the firings that CatchUp would run now. It is for programs that start runs with WithBegin.
// Start each firing with DueRun.Begin and client.DenialWait, so that hosts take turns. If the job's past due times are
// unknown, Missed returns an error only if the definition requires missed firings to run.
func (l *Locker) Missed(ctx context.Context, job gocron.Job) ([]DueRun, error) {
	past, known, err := l.past(job)
	if err != nil {
		return nil, err
	}
	wanted := false
	missed, err := l.runner(job, nil).Missed(ctx, func(after time.Time) time.Time {
		if wanted = true; !known {
			return time.Time{}
		}
		return past(after)
	})
	if err == nil && wanted && !known {
		err = pastUnknownError(job)
	}
	all := make([]DueRun, len(missed))
	for i, due := range missed {
		all[i] = DueRun{Job: job.Name(), Due: due, locker: l}
	}
	return all, err
}

func (l *Locker) runner(job gocron.Job, task func(context.Context) error) *client.Runner {
	return client.NewRunner(l.semaphore(job.Name()), task, append([]client.JobOption{client.WithFiringName(job.Name())}, l.options...)...)
}

func pastUnknownError(job gocron.Job) error {
	return fmt.Errorf("job %q: past due times can be determined only for a CronJob or a DurationJob", job.Name())
}

// past returns a function that computes the job's due times. known is false if only gocron can compute them, because
// gocron does not report past due times.
func (l *Locker) past(job gocron.Job) (past func(time.Time) time.Time, known bool, err error) {
	next := nextDueFunc(job.Schedule())
	if next == nil {
		return nil, false, nil
	}
	nextRun, err := job.NextRun()
	if err != nil {
		return nil, false, fmt.Errorf("job %q: %w", job.Name(), err)
	}
	zone := nextRun.Location() // the scheduler's location
	return func(after time.Time) time.Time { return next(after.In(zone)) }, true, nil
}

// nextDueFunc returns a function that computes the first due time after a given time. It returns nil if only gocron can
// compute the schedule.
func nextDueFunc(s gocron.JobSchedule) func(time.Time) time.Time {
	switch s := s.(type) {
	case gocron.DurationJobSchedule:
		return func(after time.Time) time.Time { return after.Truncate(s.Duration).Add(s.Duration) }
	case gocron.CronJobSchedule:
		switch c := parse(s.Crontab).(type) {
		case cron.ConstantDelaySchedule:
			return func(after time.Time) time.Time { return after.Truncate(c.Delay).Add(c.Delay) }
		case *cron.SpecSchedule:
			return func(after time.Time) time.Time { return nextDistinct(c, after) }
		}
	}
	return nil
}

// nextDistinct returns the next activation after a given time. When clocks are set back, it skips the second of two
// activations with the same local time, as firing does.
func nextDistinct(s cron.Schedule, after time.Time) time.Time {
	at := s.Next(after)
	for !at.IsZero() && !firstOccurrence(s, at).Equal(at) {
		at = s.Next(at)
	}
	return at
}
