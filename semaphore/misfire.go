package semaphore

import (
	"slices"
	"time"
)

// MaxMissed is the most due times of which a caller may ask at once which of them to run.
const MaxMissed = 1000

// Misfires is what decides about the missed firings of one name.
type Misfires struct {
	Definition *Definition // nil: there is none
	// From is since when the definition has its misfire policy. What was due before was decided by the policy before,
	// or by none.
	From     time.Time
	LowWater time.Time
	Now      time.Time // by the leader's clock
	// Claim returns what is known of a firing; nil: nothing.
	Claim func(Firing) *Claim
}

// Since returns after which due time a firing may be run although it was missed; false when none may.
func (m *Misfires) Since() (time.Time, bool) {
	if m.Definition == nil || m.Definition.Misfire == MisfireSkip {
		return time.Time{}, false
	}
	since := m.Now.Add(-m.Definition.LateBy())
	for _, bound := range []time.Time{m.From, m.LowWater} {
		if bound.After(since) {
			since = bound
		}
	}
	return since, true
}

// Missed returns which of the firings of that name to run now, in the order of their due times. due holds the due times
// of the caller's schedule in rising order; those that are not yet due, or lie before Since, are ignored.
//
// MisfireOnce runs the last firing only, and none if that was claimed: its run makes up for those before it. So a host
// that starts again does not run the one before.
//
// The answer is advice: another caller may get the same one. The claim of each firing decides which of them runs it.
func (m *Misfires) Missed(name string, due []time.Time) (run []time.Time) {
	since, some := m.Since()
	if !some {
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
