package preview

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// world is a state with what was found out about it for one plan.
type world struct {
	state    *fsm.State
	patterns Patterns
	leader   Leader
	known    known
	// paused are the pauses with which one step leaves what it edits too; nil in it: resumed.
	paused map[string]*semaphore.Pause
	// stopped counts the holders that are named, and unnamed those that are too many.
	stopped, unnamed int
}

func newWorld(state *fsm.State, leader Leader) *world {
	return &world{state: state, patterns: leader, leader: leader, known: known{state: state, patterns: leader}}
}

// drains are what a change begins for those whom it shuts out. It takes the place of what shuts them out for the same cause; of cordons,
// of that with the same id.
type drains struct {
	cause  semaphore.StopCause
	cordon string
	// applies tells of a cordon whom it catches.
	applies func(semaphore.Identity) bool
	lasts   time.Duration
}

// drains are for how long the holder of a live permit may go on still: before the change, as far as it is told to stop, and after it.
func (w *world) drains(p *semaphore.Permit, then rule, own drains) (before, after time.Duration) {
	before, after = semaphore.MaxSpan, semaphore.MaxSpan
	w.leader.Stops(w.state, p, func(cause semaphore.StopCause, cordon string, left time.Duration) {
		before = min(before, left)
		if cause != own.cause || cordon != own.cordon {
			after = min(after, left)
		}
	})
	shut, lasts := false, own.lasts
	switch own.cause {
	case semaphore.StopPaused:
		shut = then.pause != nil && then.pause.Stop
	case semaphore.StopCordoned:
		shut = own.applies(p.Identity)
	default: // an edit leaves the drains of earlier ones alone
		shut, lasts = !then.admits(w.patterns, p), max(lasts, w.leader.EditDrain(w.state, p))
	}
	if shut {
		after = min(after, lasts)
	}
	return before, after
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
		admits := r.admits(patterns, p)
		facts.Admission = semaphore.Admission{Group: admits, Acquirer: admits, Cordoned: r.cordoned(p.Identity)}
	}
	d := semaphore.Admit(p, &facts)
	return d.Outcome != semaphore.Refreshed || d.Stop != semaphore.NotStopping
}

// admits tells whether the definition lets the holder of a permit in.
func (r rule) admits(patterns Patterns, p *semaphore.Permit) bool {
	return r.definition != nil && patterns.Match(r.definition.GroupPattern, p.Identity.Group) &&
		patterns.Match(r.definition.AcquirerPattern, p.Identity.Acquirer)
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
