package gocron

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"
)

// maxTracked is the maximum number of due times tracked per job.
const maxTracked = 16

// due returns the due time, in UTC, of the run that is starting now. It returns the zero time for an unscheduled run,
// if such runs are allowed.
func (l *Locker) due(ctx context.Context, name string) (time.Time, error) {
	now := l.now()
	l.mu.Lock()
	s := l.scheduler
	l.mu.Unlock()
	if s == nil {
		return time.Time{}, ErrNotFollowing
	}
	type answer struct {
		snapshot
		err error
	}
	got := make(chan answer, 1)
	go func() { // A scheduler that is stopping responds only after its jobs have returned, and this job is one of them.
		s, err := read(ctx, s, name)
		got <- answer{s, err}
	}()
	var a answer
	select {
	case a = <-got:
	case <-ctx.Done():
		return time.Time{}, context.Cause(ctx)
	}
	if a.err != nil {
		return time.Time{}, a.err
	}
	at := firing(a.schedule, l.dueTimesOf(ctx).take(a.snapshot, now, drift(l.base, now)))
	switch {
	case !at.IsZero():
		return at.UTC(), nil
	case l.unscheduled:
		return time.Time{}, nil
	}
	return time.Time{}, ErrUnscheduled
}

// dueTimesOf returns the due times of the job with context ctx. They are kept until ctx ends, which happens when
// the job is removed, replaced or stopped.
func (l *Locker) dueTimesOf(ctx context.Context) *dueTimes {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.dueTimes[ctx]
	if t == nil {
		t = &dueTimes{}
		l.dueTimes[ctx] = t
		context.AfterFunc(ctx, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			delete(l.dueTimes, ctx)
		})
	}
	return t
}

// snapshot is a job's state, as reported by its scheduler.
type snapshot struct {
	schedule gocron.JobSchedule
	// runs lists the due times that the scheduler keeps for the job, in any order, followed by the due times after the
	// latest of them. Some may belong to runs that have already started.
	runs []time.Time
}

// read reads a job's state from the scheduler. It retries until the scheduler responds or ctx ends.
func read(ctx context.Context, s gocron.Scheduler, name string) (snapshot, error) {
	var job gocron.Job
	for _, j := range s.Jobs() {
		if j.Name() != name {
			continue
		}
		if job != nil {
			return snapshot{}, errors.New("the scheduler has two jobs with that name: give them different names with gocron.WithName")
		}
		job = j
	}
	if job == nil {
		return snapshot{}, errors.New("the scheduler that the Locker follows has no job with that name")
	}
	got := snapshot{schedule: job.Schedule()}
	n := maxTracked
	if _, random := got.schedule.(gocron.DurationRandomJobSchedule); random {
		n = 1 // gocron would have to generate random delays to compute more
	}
	for {
		runs, err := job.NextRuns(n)
		if err == nil {
			got.runs = runs
			return got, nil
		}
		// gocron returns ErrJobNotFound for a removed job, whose context has ended, but also if the scheduler is too
		// busy to respond within a second. Retry in the second case.
		if !errors.Is(err, gocron.ErrJobNotFound) || ctx.Err() != nil {
			return got, fmt.Errorf("cannot read its due time: %w", err)
		}
	}
}
