package gocron

import (
	"slices"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"
)

// timetable finds the due time of each run of one job.
//
// gocron (v2.21.2) says in no way which due time a run belongs to. It keeps a list of them in the job, in scheduler.go,
// to which three things happen beside a run's Lock:
//
//   - A run is rescheduled, which adds the next due time: after Lock, but with singleton and limit modes before it or
//     meanwhile.
//   - Once a run is locked, or refused, every due time that is over is dropped (selectExecJobsOutCompleted,
//     updateNextScheduled). That comes after the rescheduling. So the due time of a next run that is very near may be
//     dropped before that run asks. So may that of any run, when another one by Job.RunNow ends at that moment.
//   - A run that a singleton or limit mode skips leaves its due time behind.
//
// So the first of the list may be over and skipped, and the last be still to come; and the one that is asked for may be
// missing. But nothing is dropped between two calls of Lock that was not on the list, or the next after one on the
// list, at the first of the two. Hence a timetable remembers what it has seen, and a run belongs to the latest due time
// that has come and that no earlier run has taken. Runs that are late, or that were queued, are thereby one run of the
// latest; the others find nothing.
type timetable struct {
	mu sync.Mutex // guards everything below
	// ahead are due times after taken, in order.
	ahead []time.Time
	// taken is the latest due time that a run has taken.
	taken time.Time
	// drift is that at the time when taken was, about which the next run's timer was set.
	drift time.Duration
	// schedule is what the scheduler said last.
	schedule gocron.JobSchedule
	// gap: due times went by without a call of Lock.
	gap bool
}

// rounding is how much a timer can be early although no clock was set.
const rounding = time.Millisecond

// take is the due time of a run that begins now; zero when the run is on no timetable. drift is that of now.
func (t *timetable) take(s snapshot, now time.Time, drift time.Duration) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.schedule = s.schedule
	all := append(t.ahead, s.runs...) //nolint:gocritic // it becomes t.ahead
	if len(s.runs) == 0 {
		all = append(all, unseen(s.schedule, t.taken, now)...)
	}
	all = slices.DeleteFunc(all, func(at time.Time) bool { return at.IsZero() || !at.After(t.taken) })
	slices.SortFunc(all, time.Time.Compare)
	t.ahead = slices.CompactFunc(all, time.Time.Equal)

	due := t.passed(now)
	if due == 0 && len(t.ahead) > 0 {
		// A timer is not reset when the wall clock is set back. It fires when its due time is still ahead by as much.
		if back := max(t.drift-drift, 0); !t.ahead[0].After(now.Add(back + rounding)) {
			due = 1
		}
	}
	if due == 0 {
		return time.Time{}
	}
	t.advance(due, drift)
	return t.taken
}

// pass takes what has come by now for a run that does not take place: nobody is to take it later.
func (t *timetable) pass(now time.Time, drift time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.passed(now); n > 0 {
		t.advance(n, drift)
	}
}

// takeGap reports whether there was a gap since the last call.
func (t *timetable) takeGap() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	gap := t.gap
	t.gap = false
	return gap
}

// passed counts what is not ahead of now.
func (t *timetable) passed(now time.Time) int {
	n, _ := slices.BinarySearchFunc(t.ahead, now, func(at, now time.Time) int {
		if at.After(now) {
			return 1
		}
		return -1
	})
	return n
}

// advance takes the first n of ahead, and keeps no more than a few of the others.
func (t *timetable) advance(n int, drift time.Duration) {
	before := t.taken
	t.taken, t.drift = t.ahead[n-1], drift
	if next := following(t.schedule); n > 1 || next != nil && !before.IsZero() && next(before).Before(firing(t.schedule, t.taken)) {
		t.gap = true
	}
	t.ahead = slices.Clone(t.ahead[n:min(len(t.ahead), n+2*behind)])
}

// drift is by how much the wall clock has been set forward since base, by the monotonic clock; 0 for a clock that has
// no such.
func drift(base, now time.Time) time.Duration {
	return now.Round(0).Sub(base.Round(0)) - now.Sub(base)
}
