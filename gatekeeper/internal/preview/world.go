package preview

import (
	"math"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// world holds a state and the values computed from it for one plan.
type world struct {
	state    *fsm.State
	patterns Patterns
	leader   Leader
	known    knownCallers
	// paused maps each definition that an undo both edits and pauses or resumes to its new pause. nil means resumed.
	paused        map[string]*semaphore.Pause
	timeLeftCache map[drainKey]time.Duration
	// stopped counts the holders that are listed, and unnamed counts the holders beyond maxStopped.
	stopped, unlisted int
}

func newWorld(state *fsm.State, leader Leader) *world {
	return &world{state: state, patterns: leader, leader: leader, known: knownCallers{state: state, patterns: leader}, timeLeftCache: make(map[drainKey]time.Duration)}
}

// newDrainRevision is the revision of the drains that the change starts. It is higher than every permit's revision.
const newDrainRevision = math.MaxUint64

// rule holds the inputs that decide whether a semaphore's holders may continue, either now or after a change.
type rule struct {
	definition *semaphore.Definition
	drains     []semaphore.Drain
	pause      *semaphore.Pause
	cordons    func(semaphore.Identity) []semaphore.Cordon
}

// rule returns the rule that is in force for a semaphore.
func (w *world) rule(name string) rule {
	r := rule{drains: w.state.Drains(name), cordons: w.cordons}
	if sd := w.state.Definition(name); sd != nil {
		r.definition, r.pause = sd.Definition, sd.Pause
	}
	return r
}

// cordons returns the cordons in force that apply to a caller.
func (w *world) cordons(id semaphore.Identity) (cordons []semaphore.Cordon) {
	for _, c := range w.state.Cordons() {
		if w.patterns.Catches(c.GroupPattern, c.AcquirerPattern, id) {
			cordons = append(cordons, semaphore.Cordon{ID: c.ID, Drain: semaphore.Drain{Revision: c.Revision, Duration: c.Drain}})
		}
	}
	return cordons
}

// withDefinition returns the rule with a different definition. The drains of earlier edits still apply.
func (r rule) withDefinition(d *semaphore.Definition, drain time.Duration) rule {
	r.definition = d
	r.drains = append(slices.Clip(r.drains), semaphore.Drain{Revision: newDrainRevision, Duration: drain})
	return r
}

// withPause returns the rule with a new pause, or with none if pause is nil.
func (r rule) withPause(pause *semaphore.Pause) rule {
	if r.pause = pause; pause != nil {
		r.pause = &semaphore.Pause{Stop: pause.Stop, Revision: newDrainRevision, Drain: pause.Drain}
	}
	return r
}

// withCordon returns the rule with a cordon that applies to the given callers. It replaces a cordon with the same id.
func (r rule) withCordon(id string, drain time.Duration, catches func(semaphore.Identity) bool) rule {
	others := r.cordons
	r.cordons = func(caller semaphore.Identity) []semaphore.Cordon {
		all := slices.DeleteFunc(others(caller), func(c semaphore.Cordon) bool { return c.ID == id })
		if catches(caller) {
			all = append(all, semaphore.Cordon{ID: id, Drain: semaphore.Drain{Revision: newDrainRevision, Duration: drain}})
		}
		return all
	}
	return r
}

// timeLeft returns how long the holder of a live permit may continue under a rule. stops is false if it does not have
// to stop.
func (w *world) timeLeft(p *semaphore.Permit, r rule) (timeLeft time.Duration, stops bool) {
	facts := semaphore.Facts{Definition: r.definition, Drains: r.drains, Pause: r.pause}
	facts.Admission.Cordons = r.cordons(p.Identity)
	if d := r.definition; d != nil {
		facts.Admission.Group = w.patterns.Match(d.GroupPattern, p.Identity.Group)
		facts.Admission.Acquirer = w.patterns.Match(d.AcquirerPattern, p.Identity.Acquirer)
	}
	timeLeft = semaphore.MaxSpan
	for _, s := range semaphore.Stops(p, &facts) {
		stops, timeLeft = true, min(timeLeft, w.stopTimeLeft(p, s))
	}
	return timeLeft, stops
}

// drainKey identifies the drains that one cause starts for one permit.
type drainKey struct {
	token  uint64
	cause  semaphore.StopCause
	cordon string
}

// stopTimeLeft asks the leader how long a holder may continue, and adds the drains that the change starts. It asks only
// once per cause, because time passes between calls, and the results before and after the change must be comparable.
func (w *world) stopTimeLeft(p *semaphore.Permit, s semaphore.Stop) (timeLeft time.Duration) {
	if n := len(s.Drains) - 1; n >= 0 && s.Drains[n].Revision == newDrainRevision {
		timeLeft, s.Drains = s.Drains[n].Duration, s.Drains[:n]
	}
	if len(s.Drains) == 0 {
		return timeLeft
	}
	key := drainKey{p.Token, s.Cause, s.Cordon}
	known, ok := w.timeLeftCache[key]
	if !ok {
		known = w.leader.TimeToStop(p, s)
		w.timeLeftCache[key] = known
	}
	return max(timeLeft, known)
}
