package cron

import (
	"context"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/gatekeeperd/gatekeeper/client"
)

// Add schedules a job that runs only while it holds a permit. Each activation is claimed by one of the processes that
// share the schedule. The job's context is cancelled when ctx is cancelled or the permit must be given up. Errors from
// the job are logged; client.WithHooks reports more details. Add returns an error if spec cannot be parsed.
//
// An activation does not run if its entry is removed before the job has requested a permit. To run the job by hand,
// call runner.Run. Do not run the entry's own job, because that run would be mistaken for the previous activation.
func Add(ctx context.Context, c *cron.Cron, spec string, runner *client.Runner) (cron.EntryID, error) {
	j := &entryJob{ctx: ctx, cron: c, runner: runner, known: make(chan struct{})}
	id, err := c.AddJob(spec, j)
	j.id = id
	close(j.known)
	return id, err
}

// entryJob is a job with a reference to its cron entry.
type entryJob struct {
	ctx    context.Context //nolint:containedctx // robfig/cron passes no context to Run
	cron   *cron.Cron
	runner *client.Runner

	known chan struct{} // closed when id is set; cron may start the job before Add has set it
	id    cron.EntryID
}

// Run runs the activation that cron has just started.
func (j *entryJob) Run() {
	<-j.known
	e := j.cron.Entry(j.id)
	if !e.Valid() || e.Prev.IsZero() {
		return // The entry was removed: its due time is unknown, and without a firing the job could run twice.
	}
	if next := e.Schedule.Next(e.Prev); !next.IsZero() && next.Before(e.Next) {
		// The host was suspended or its clock was adjusted. cron runs only the first missed activation and skips the
		// rest.
		defer func() { _ = CatchUp(j.ctx, j.cron, j.id, j.runner) }() // deferred, because the current activation is older than the missed ones
	}
	j.runner.Fire(j.ctx, due(e.Schedule, e.Prev))
}

// due returns the due time that identifies an activation.
func due(s cron.Schedule, at time.Time) time.Time {
	if every, ok := s.(cron.ConstantDelaySchedule); ok && !at.IsZero() {
		at = at.Truncate(every.Delay)
	}
	return at.UTC()
}

// ContextJob is a job that can be stopped through its context.
type ContextJob interface {
	RunContext(context.Context) error
}

// Func adapts a function to a cron.Job and a ContextJob.
type Func func(context.Context) error

// Run calls f with a context that is never cancelled. cron calls it if the job has no JobWrapper.
func (f Func) Run() { _ = f(context.Background()) }

// RunContext calls f with ctx.
func (f Func) RunContext(ctx context.Context) error { return f(ctx) }

// JobWrapper returns a wrapper, for cron.NewChain and cron.WithChain, that makes jobs run only while they hold a permit
// for sem. A ContextJob gets a context that is cancelled when ctx is cancelled or the permit must be given up. A plain
// cron.Job cannot be stopped. If it keeps running when the permit must be given up, an overrun is reported.
//
// due returns the due time that identifies the activation; see Last. If due is nil or returns the zero time, jobs
// exclude each other, but no activation is claimed: if the clocks of two hosts differ, a short job can run more than
// once. Without a due time, only one activation per host waits for a permit, as with client.WithOneWaiter. Jobs that
// share sem need names; see client.WithFiringName.
//
// Put cron.Recover before it in the chain, because a panic propagates after the permit is released.
func JobWrapper(ctx context.Context, sem *client.Semaphore, due func() time.Time, opts ...client.JobOption) cron.JobWrapper {
	if due == nil {
		due = func() time.Time { return time.Time{} }
	}
	return func(j cron.Job) cron.Job {
		runner := client.NewRunner(sem, func(ctx context.Context) error {
			if c, ok := j.(ContextJob); ok {
				return c.RunContext(ctx)
			}
			j.Run()
			return nil
		}, append([]client.JobOption{client.WithOneWaiter()}, opts...)...)
		return cron.FuncJob(func() { runner.Fire(ctx, due()) })
	}
}

// Last returns a function for JobWrapper that returns the due time of the running activation by calling Latest with the
// current time. in is the cron.Cron's location.
func Last(s cron.Schedule, in *time.Location) func() time.Time {
	return func() time.Time { return Latest(s, time.Now().In(in)) }
}

// maxLookback limits how far back Latest searches. robfig/cron searches equally far ahead.
const maxLookback = 5 * 366 * 24 * time.Hour

// Latest returns the due time, in UTC, of the latest activation that is not after now, or the zero time if there was
// none in the last five years. A schedule without a time zone uses the location of now.
//
// A cron.Schedule can only compute its next activation, so Latest walks forward from a time before now.
func Latest(s cron.Schedule, now time.Time) time.Time {
	if _, ok := s.(cron.ConstantDelaySchedule); ok {
		return due(s, now)
	}
	for back := time.Minute; back <= maxLookback; back *= 2 {
		at := s.Next(now.Add(-back))
		if at.IsZero() || at.After(now) {
			continue // no activation in this interval
		}
		for next := s.Next(at); !next.IsZero() && !next.After(now); next = s.Next(at) {
			at = next
		}
		return at.UTC()
	}
	return time.Time{}
}

// CatchUp runs the missed activations of an entry according to the definition's misfire policy; see
// client.Runner.CatchUp. Call it after c has started. Entries created by Add also catch up after the host was
// suspended. If the entry does not exist, CatchUp does nothing.
func CatchUp(ctx context.Context, c *cron.Cron, id cron.EntryID, runner *client.Runner) error {
	e := c.Entry(id)
	if !e.Valid() {
		return nil
	}
	return runner.CatchUp(ctx, func(after time.Time) time.Time {
		if every, ok := e.Schedule.(cron.ConstantDelaySchedule); ok {
			return due(every, after.Add(every.Delay))
		}
		return e.Schedule.Next(after.In(c.Location()))
	})
}
