package gocron

import (
	"context"
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/robfig/cron/v3"

	"github.com/gatekeeperd/gatekeeper/client"
)

// CatchUp runs the firings of a job that were missed, as the definition's misfire says: see client.Runner.CatchUp. Call it when the scheduler
// has started, and after the host was suspended. task is what the job runs; it is run here and not by gocron, so listeners of the job
// are not called.
//
// It knows the past of a CronJob and of a DurationJob. Jobs of other kinds are refused: gocron says only when they are due next.
func (l *Locker) CatchUp(ctx context.Context, job gocron.Job, task func(context.Context) error) error {
	next := following(job.Schedule())
	if next == nil {
		return fmt.Errorf("job %q: only a CronJob and a DurationJob say when they were due before", job.Name())
	}
	coming, err := job.NextRun()
	if err != nil {
		return fmt.Errorf("job %q: %w", job.Name(), err)
	}
	opts := append([]client.JobOption{client.WithFiringName(job.Name())}, l.options...)
	return client.NewRunner(l.semaphore(job.Name()), task, opts...).CatchUp(ctx, func(after time.Time) time.Time {
		return next(after.In(coming.Location())) // the scheduler's
	})
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
