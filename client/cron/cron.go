package cron

import (
	"context"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/gatekeeperd/gatekeeper/client"
)

// Add puts a job on the timetable that runs only while it holds a permit, and whose activations are each claimed once
// among all processes with the same timetable. The job's context ends with ctx, and when the permit is to be given up.
// Errors are logged; client.WithHooks reports more. The error is that of the spec.
//
// An activation whose entry is removed before its job has asked does not run. A run by hand is runner.Run: the entry's
// own job belongs to the activation before it.
func Add(ctx context.Context, c *cron.Cron, spec string, runner *client.Runner) (cron.EntryID, error) {
	j := &entryJob{ctx: ctx, cron: c, runner: runner, known: make(chan struct{})}
	id, err := c.AddJob(spec, j)
	j.id = id
	close(j.known)
	return id, err
}

// entryJob is a job that knows its Entry.
type entryJob struct {
	ctx    context.Context //nolint:containedctx // robfig/cron has none to hand on
	cron   *cron.Cron
	runner *client.Runner

	known chan struct{} // closed when id is known: the job may start before Add has it
	id    cron.EntryID
}

// Run runs the activation that cron has just started.
func (j *entryJob) Run() {
	<-j.known
	e := j.cron.Entry(j.id)
	if !e.Valid() || e.Prev.IsZero() {
		return // removed since: what was due is not known any more, and without a firing it could run twice
	}
	if next := e.Schedule.Next(e.Prev); !next.IsZero() && next.Before(e.Next) {
		// The host was suspended, or its clock set: cron passes over all activations but the first.
		defer func() { _ = CatchUp(j.ctx, j.cron, j.id, j.runner) }() // after this one, which is older
	}
	j.runner.Fire(j.ctx, due(e.Schedule, e.Prev))
}

// due is the name of an activation.
func due(s cron.Schedule, at time.Time) time.Time {
	if every, ok := s.(cron.ConstantDelaySchedule); ok && !at.IsZero() {
		at = at.Truncate(every.Delay)
	}
	return at.UTC()
}

// ContextJob is a job that can be stopped.
type ContextJob interface {
	RunContext(context.Context) error
}

// Func is a function as a cron.Job and a ContextJob.
type Func func(context.Context) error

// Run runs it with a context that never ends. It is what cron calls when no JobWrapper stands before it.
func (f Func) Run() { _ = f(context.Background()) }

// RunContext runs it.
func (f Func) RunContext(ctx context.Context) error { return f(ctx) }

// JobWrapper makes jobs run only while they hold a permit of sem, for cron.NewChain and cron.WithChain. A ContextJob
// gets the context that ends when the permit is to be given up, and with ctx; a plain cron.Job cannot be stopped, and
// is reported when it goes on.
//
// due names the activation; see Last. Without it, or when it is zero, jobs exclude each other but no activation is
// claimed: on clocks that differ a short job runs more than once. Then one activation of a host waits for a permit at a
// time, as with client.WithOneWaiter. Jobs that share sem need names: client.WithFiringName.
//
// Put cron.Recover before it: a panic goes on after the permit was released.
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

// Last returns the due time of the activation that is running, for JobWrapper: Latest at the time of the call. in is
// the cron's location.
func Last(s cron.Schedule, in *time.Location) func() time.Time {
	return func() time.Time { return Latest(s, time.Now().In(in)) }
}

// longest is how far back an activation is looked for: robfig/cron looks as far ahead.
const longest = 5 * 366 * 24 * time.Hour

// Latest returns the due time, in UTC, of the latest activation that is not after now; zero if there was none in the
// last five years. A schedule without a time zone follows the location of now.
//
// Schedules only know their next activation, so Latest walks forward from a time before now.
func Latest(s cron.Schedule, now time.Time) time.Time {
	if _, ok := s.(cron.ConstantDelaySchedule); ok {
		return due(s, now)
	}
	for back := time.Minute; back <= longest; back *= 2 {
		at := s.Next(now.Add(-back))
		if at.IsZero() || at.After(now) {
			continue // none in this stretch
		}
		for next := s.Next(at); !next.IsZero() && !next.After(now); next = s.Next(at) {
			at = next
		}
		return at.UTC()
	}
	return time.Time{}
}

// CatchUp runs the activations of an entry that were missed, as the definition's misfire says: see
// client.Runner.CatchUp. Call it when the timetable has started. Entries of Add also catch up when the host was
// suspended. An entry that is not there has missed nothing.
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
