package plan

import (
	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// world is a state with what was found out about it for one plan.
type world struct {
	state    *fsm.State
	patterns Patterns
	known    known
	// stopped counts the holders that are named, and unnamed those that are too many.
	stopped, unnamed int
}

func newWorld(state *fsm.State, patterns Patterns) *world {
	return &world{state: state, patterns: patterns, known: known{state: state, patterns: patterns}}
}

// rule is what decides about the holders of one semaphore: as it is, or as a change would make it.
type rule struct {
	definition *semaphore.Definition
	pause      *semaphore.Pause
	cordoned   func(semaphore.Identity) bool
}

// rule is the one in force.
func (w *world) rule(name string) rule {
	r := rule{cordoned: w.cordoned}
	if sd := w.state.Definition(name); sd != nil {
		r.definition, r.pause = sd.Definition, sd.Pause
	}
	return r
}

// stops tells whether the holder of a live permit is told to stop. What a drain still allows it does not matter here.
func (r rule) stops(patterns Patterns, p *semaphore.Permit) bool {
	facts := semaphore.Facts{Definition: r.definition, Pause: r.pause}
	if r.pause != nil && r.pause.Drain > 0 {
		ended := *r.pause
		ended.Drain = 0
		facts.Pause = &ended
	}
	if r.definition != nil {
		facts.Admission = semaphore.Admission{
			Group:    patterns.Match(r.definition.GroupPattern, p.Identity.Group),
			Acquirer: patterns.Match(r.definition.AcquirerPattern, p.Identity.Acquirer),
			Cordoned: r.cordoned(p.Identity),
		}
	}
	d := semaphore.Admit(p, &facts)
	return d.Outcome != semaphore.Refreshed || d.Stop != semaphore.NotStopping
}

// cordoned tells whether a cordon in force catches a caller.
func (w *world) cordoned(id semaphore.Identity) bool {
	for _, c := range w.state.Cordons() {
		if w.patterns.Catches(c.GroupPattern, c.AcquirerPattern, id) {
			return true
		}
	}
	return false
}
