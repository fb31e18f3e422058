package gocron

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"
)

// behind is how many due times of a job are kept in sight.
const behind = 16

// due is when the run of a job that begins now was due, in UTC; zero for one that is not on the timetable, if those may
// run.
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
	go func() { // a scheduler that is stopping answers when its jobs have ended, and this job is one of them
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
	at := firing(a.schedule, l.timetable(ctx).take(a.snapshot, now, drift(l.base, now)))
	switch {
	case !at.IsZero():
		return at.UTC(), nil
	case l.unscheduled:
		return time.Time{}, nil
	}
	return time.Time{}, ErrUnscheduled
}

// timetable is that of the job with the context ctx: until it ends, which it does when the job is removed, replaced or
// stopped.
func (l *Locker) timetable(ctx context.Context) *timetable {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.timetables[ctx]
	if t == nil {
		t = &timetable{}
		l.timetables[ctx] = t
		context.AfterFunc(ctx, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			delete(l.timetables, ctx)
		})
	}
	return t
}

// snapshot is what the scheduler says of a job.
type snapshot struct {
	schedule gocron.JobSchedule
	// runs begin with the due times that the scheduler keeps of the job, in any order, of runs to come and of some that
	// have begun; then follow those after the last of them.
	runs []time.Time
}

// read asks the scheduler, until it answers or ctx ends.
func read(ctx context.Context, s gocron.Scheduler, name string) (snapshot, error) {
	var job gocron.Job
	for _, j := range s.Jobs() {
		if j.Name() != name {
			continue
		}
		if job != nil {
			return snapshot{}, errors.New("two jobs of the scheduler have that name: tell them apart by gocron.WithName")
		}
		job = j
	}
	if job == nil {
		return snapshot{}, errors.New("the scheduler that the Locker follows has no such job")
	}
	got := snapshot{schedule: job.Schedule()}
	n := behind
	if _, random := got.schedule.(gocron.DurationRandomJobSchedule); random {
		n = 1 // more would be rolled here, from the scheduler's own dice
	}
	for {
		runs, err := job.NextRuns(n)
		if err == nil {
			got.runs = runs
			return got, nil
		}
		// A job that was removed is not found, and its context has ended. Nor is one found whose scheduler is too busy
		// to say so within a second.
		if !errors.Is(err, gocron.ErrJobNotFound) || ctx.Err() != nil {
			return got, fmt.Errorf("its due time cannot be read: %w", err)
		}
	}
}
