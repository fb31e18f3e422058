package semaphore

import (
	"slices"
	"time"
)

// MaxMissed is the maximum number of due times in one query for missed firings.
const MaxMissed = 1000

// Misfires holds everything that determines which missed firings with a given name should run.
type Misfires struct {
	Definition *Definition // nil if the semaphore is not defined
	// From is the time at which the current misfire policy was set. The previous policy, if any, applied to earlier
	// firings.
	From     time.Time
	LowWater time.Time
	Now      time.Time // by the leader's clock
	// Claim returns the claim on a firing, or nil if there is none.
	Claim func(Firing) *Claim
}

// Since returns the time after which a missed firing must have been due in order to run now, or false if none may run.
func (m *Misfires) Since() (time.Time, bool) {
	if m.Definition == nil || m.Definition.Misfire == MisfireSkip {
		return time.Time{}, false
	}
	since := m.Now.Add(-m.Definition.MaxLateness())
	for _, bound := range []time.Time{m.From, m.LowWater} {
		if bound.After(since) {
			since = bound
		}
	}
	return since, true
}

// Missed returns the due times of the missed firings to run now, in ascending order. due holds the due times in the
// caller's schedule, in ascending order. Due times in the future, or not after Since, are ignored.
//
// MisfireOnce runs only the last firing, because that run makes up for the earlier ones. If the last firing has already
// been claimed, nothing runs, so that a host that restarts later does not run an earlier firing instead.
//
// The result is advisory: other callers may get the same result. The claim on each firing decides which caller runs it.
func (m *Misfires) Missed(name string, due []time.Time) (run []time.Time) {
	since, ok := m.Since()
	if !ok {
		return nil
	}
	for _, at := range slices.Backward(due) {
		if at.After(m.Now) {
			continue
		}
		if !at.After(since) {
			break
		}
		firing := Firing{Name: name, Due: at}
		facts := Facts{Definition: m.Definition, Claim: m.Claim(firing), LowWater: m.LowWater, LeaderClock: m.Now}
		if decideFiring(&firing, &facts) == (Decision{}) {
			run = append(run, at)
		}
		if m.Definition.Misfire == MisfireOnce {
			break
		}
	}
	slices.Reverse(run)
	return run
}
