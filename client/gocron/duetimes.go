package gocron

import (
	"slices"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"
)

// dueTimes finds the due time of each run of one job.
//
// gocron (v2.21.2) does not expose the due time of a run. It keeps a list of due times in the job, in scheduler.go.
// Three things affect the list:
//
//   - Rescheduling adds the next due time. This normally happens after Lock, but before or during it in singleton and
//     limit modes.
//   - After Lock has granted or refused a run, all past due times are dropped (selectExecJobsOutCompleted,
//     updateNextScheduled). This happens after rescheduling, so if the next run is very near, its due time may be
//     dropped before that run calls Lock. A Job.RunNow run that ends at that moment can also have this effect.
//   - A run that a singleton or limit mode skips leaves its due time in the list.
//
// So the first due time in the list may belong to a skipped run, the last may be in the future, and the one in question
// may be missing. But any due time dropped between two calls to Lock either was in the list at the first call or
// directly follows one that was. That is why dueTimes keeps the due times it has seen. A run belongs to the latest due
// time that has passed and has not been taken by an earlier run. If several runs are late or were queued, the first
// takes the latest due time and the others find none.
type dueTimes struct {
	mu sync.Mutex // guards everything below
	// ahead lists the due times after taken, in order.
	ahead []time.Time
	// taken is the latest due time that a run has taken.
	taken time.Time
	// drift is the clock's drift when taken was set. The next run's timer was set at about that time.
	drift time.Duration
	// schedule is the schedule that the scheduler last reported.
	schedule gocron.JobSchedule
	// gap is set if due times have passed without a call to Lock.
	gap bool
}

// timerTolerance is how early a timer may fire even if the clock has not been changed.
const timerTolerance = time.Millisecond

// take returns the due time of a run starting now, or the zero time if the run is not scheduled. drift is the current
// drift.
func (t *dueTimes) take(s snapshot, now time.Time, drift time.Duration) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.schedule = s.schedule
	all := append(t.ahead, s.runs...) //nolint:gocritic // assigned to t.ahead below
	if len(s.runs) == 0 {
		all = append(all, dueTimesAfter(s.schedule, t.taken, now)...)
	}
	all = slices.DeleteFunc(all, func(at time.Time) bool { return at.IsZero() || !at.After(t.taken) })
	slices.SortFunc(all, time.Time.Compare)
	t.ahead = slices.CompactFunc(all, time.Time.Equal)

	due := t.countPassed(now)
	if due == 0 && len(t.ahead) > 0 {
		// A timer is not reset when the wall clock is set back. When it fires, its due time is still that far in the
		// future.
		if back := max(t.drift-drift, 0); !t.ahead[0].After(now.Add(back + timerTolerance)) {
			due = 1
		}
	}
	if due == 0 {
		return time.Time{}
	}
	t.advance(due, drift)
	return t.taken
}

// skipPassed marks the due times that have passed as taken when their run does not take place, so that no later run
// takes them.
func (t *dueTimes) skipPassed(now time.Time, drift time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.countPassed(now); n > 0 {
		t.advance(n, drift)
	}
}

// takeGap reports whether there has been a gap since the last call.
func (t *dueTimes) takeGap() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	gap := t.gap
	t.gap = false
	return gap
}

// countPassed counts the due times that are not after now.
func (t *dueTimes) countPassed(now time.Time) int {
	n, _ := slices.BinarySearchFunc(t.ahead, now, func(at, now time.Time) int {
		if at.After(now) {
			return 1
		}
		return -1
	})
	return n
}

// advance takes the first n due times from ahead and limits how many remain.
func (t *dueTimes) advance(n int, drift time.Duration) {
	before := t.taken
	t.taken, t.drift = t.ahead[n-1], drift
	if next := nextDueFunc(t.schedule); n > 1 || next != nil && !before.IsZero() && next(before).Before(firing(t.schedule, t.taken)) {
		t.gap = true
	}
	t.ahead = slices.Clone(t.ahead[n:min(len(t.ahead), n+2*maxTracked)])
}

// drift returns how far the wall clock has been set forward since base, relative to the monotonic clock. It returns 0
// for a clock without monotonic readings.
func drift(base, now time.Time) time.Duration {
	return now.Round(0).Sub(base.Round(0)) - now.Sub(base)
}
