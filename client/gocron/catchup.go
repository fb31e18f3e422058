package gocron

import (
	"context"
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/robfig/cron/v3"

	"github.com/gatekeeperd/gatekeeper/client"
)

// CatchUp runs the firings of a job that were missed, as the definition's misfire says: see client.Runner.CatchUp. Call
// it when the scheduler has started, and after the host was suspended. task is what the job runs; it is run here and
// not by gocron, so listeners of the job are not called.
//
// It knows the past of a CronJob and of a DurationJob. Jobs of other kinds are refused: gocron says only when they are
// due next.
func (l *Locker) CatchUp(ctx context.Context, job gocron.Job, task func(context.Context) error) error {
	past, known, err := l.past(job)
	if err != nil {
		return err
	}
	if !known {
		return noPast(job)
	}
	return l.runner(job, task).CatchUp(ctx, past)
}

// Missed returns the firings that CatchUp would run, in their order, for a program that begins runs by WithBegin.
// DueRun.Begin begins each; give it client.DenialWait, so that hosts take turns. The definition decides, so a job whose
// past is not known is an error only where it wants something to be run.
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
		err = noPast(job)
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

func noPast(job gocron.Job) error {
	return fmt.Errorf("job %q: only a CronJob and a DurationJob say when they were due before", job.Name())
}

// past returns a job's timetable. known is false if only gocron knows it, which says nothing of the past.
func (l *Locker) past(job gocron.Job) (past func(time.Time) time.Time, known bool, err error) {
	next := following(job.Schedule())
	if next == nil {
		return nil, false, nil
	}
	coming, err := job.NextRun()
	if err != nil {
		return nil, false, fmt.Errorf("job %q: %w", job.Name(), err)
	}
	zone := coming.Location() // the scheduler's
	return func(after time.Time) time.Time { return next(after.In(zone)) }, true, nil
}

// following returns the due time of the next firing after a time; nil for a schedule of which only gocron knows it.
func following(s gocron.JobSchedule) func(time.Time) time.Time {
	switch s := s.(type) {
	case gocron.DurationJobSchedule:
		return func(after time.Time) time.Time { return after.Truncate(s.Duration).Add(s.Duration) }
	case gocron.CronJobSchedule:
		switch c := parse(s.Crontab).(type) {
		case cron.ConstantDelaySchedule:
			return func(after time.Time) time.Time { return after.Truncate(c.Delay).Add(c.Delay) }
		case *cron.SpecSchedule:
			return func(after time.Time) time.Time { return twinless(c, after) }
		}
	}
	return nil
}

// twinless passes over the second of two times that the clock shows twice, as firing does.
func twinless(s cron.Schedule, after time.Time) time.Time {
	at := s.Next(after)
	for !at.IsZero() && !twin(s, at).Equal(at) {
		at = s.Next(at)
	}
	return at
}
