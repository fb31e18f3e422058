package gocron

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"
)

const (
	// tolerance is how far ahead of now a due time may be. A timer can go off before the wall clock says so, when that was set
	// back.
	tolerance = 2 * time.Second
	// behind is by how many runs a scheduler may be behind its timetable.
	behind = 16
)

// due is when the run of a job that begins now was due, in UTC; zero for one that is not on the timetable, if those may run.
func (l *Locker) due(ctx context.Context, name string) (time.Time, error) {
	l.mu.Lock()
	s := l.scheduler
	l.mu.Unlock()
	if s == nil {
		return time.Time{}, ErrNotFollowing
	}
	type answer struct {
		at  time.Time
		err error
	}
	got := make(chan answer, 1)
	go func() { // a scheduler that is stopping answers when its jobs have ended, and this job is one of them
		at, err := l.read(s, name)
		got <- answer{at, err}
	}()
	select {
	case a := <-got:
		if errors.Is(a.err, ErrUnscheduled) && l.unscheduled {
			return time.Time{}, nil
		}
		return a.at, a.err
	case <-ctx.Done():
		return time.Time{}, context.Cause(ctx)
	}
}

// read asks the scheduler.
func (l *Locker) read(s gocron.Scheduler, name string) (time.Time, error) {
	var job gocron.Job
	for _, j := range s.Jobs() {
		if j.Name() != name {
			continue
		}
		if job != nil {
			return time.Time{}, errors.New("two jobs of the scheduler have that name: tell them apart by gocron.WithName")
		}
		job = j
	}
	if job == nil {
		return time.Time{}, errors.New("the scheduler that the Locker follows has no such job")
	}
	runs, err := job.NextRuns(behind)
	if err != nil {
		return time.Time{}, fmt.Errorf("its due time cannot be read: %w", err)
	}
	at := dueOf(runs, l.now())
	if at.IsZero() {
		return at, ErrUnscheduled
	}
	return slot(job.Schedule(), at).UTC(), nil
}

// dueOf is the latest of runs that is not after now, or else the earliest that is hardly ahead; zero when there is none.
func dueOf(runs []time.Time, now time.Time) time.Time {
	var past, ahead time.Time
	for _, at := range runs {
		switch {
		case at.IsZero(): // after a one-time job's last
		case !at.After(now):
			if at.After(past) {
				past = at
			}
		case !at.After(now.Add(tolerance)) && (ahead.IsZero() || at.Before(ahead)):
			ahead = at
		}
	}
	if past.IsZero() {
		return ahead
	}
	return past
}

// slot is what schedulers that count from different starts agree on.
func slot(s gocron.JobSchedule, at time.Time) time.Time {
	switch s := s.(type) {
	case gocron.DurationJobSchedule:
		return at.Truncate(s.Duration)
	case gocron.DurationRandomJobSchedule:
		return at.Truncate(s.Max)
	}
	return at
}
