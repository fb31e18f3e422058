package jobs

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
)

// window is a part of the timetable, and how its times are found on the shared clock.
type window struct {
	from, until time.Time
	// wall and boot are one instant, by the machine's wall clock and by the shared one.
	wall time.Time
	boot time.Duration
}

// at is when an application whose clock is off comes to a time of the timetable.
func (w window) at(t time.Time, clock time.Duration) time.Duration {
	return w.boot + t.Sub(w.wall) - clock
}

// unclaimed counts the firings of the window that nobody claimed, by the reason for that; broken are those without one.
func (e *evidence) unclaimed() (why map[string]int, broken []string) {
	why = map[string]int{}
	for _, j := range e.jobs {
		for _, at := range j.due(e.window.from, e.window.until) {
			f := firing{j.Name, at}
			if len(e.by[f]) > 0 || e.claims[f].token > 0 {
				continue
			}
			reason, ok := e.whyNot(f, j.Period)
			if ok {
				why[reason]++
				continue
			}
			broken = append(broken, e.name(f)+" was claimed by nobody, "+reason)
		}
	}
	return why, broken
}

// Why nobody claimed a firing, the first that holds for an application counts.
const (
	noServer = "while no server led"
	holder   = "while those who could still asked for the firing before, whose holder was lost"
	goesOn   = "while the run before went on"
	weak     = "while an application was dying, starting or suspended"
	nobody   = "while no application lived"
)

// whyNot says what kept the applications from a firing. Each comes to it at its own time.
func (e *evidence) whyNot(f firing, period time.Duration) (string, bool) {
	holds := map[string]bool{}
	for _, l := range e.lives {
		at := e.window.at(f.due, l.clock)
		turn := stretch{at, at + period}
		switch {
		case l.End() <= turn.from || l.started >= turn.until:
			// Another life of the application tells.
		case l.End() < turn.until || l.started > turn.from || l.suspended.meets(turn):
			holds[weak] = true
		case e.leaderless.meets(turn):
			holds[noServer] = true
		case e.ran(l, f.job, turn):
			holds[goesOn] = true
		case !e.heard(l, f.job, stretch{at - period, at}):
			holds[holder] = true
		default:
			return "and " + l.Name + " was there to run it", false
		}
	}
	for _, reason := range []string{noServer, holder, goesOn, weak} {
		if holds[reason] {
			return reason, true
		}
	}
	return nobody, true
}

// ran says whether a run of the job by this process was under way.
func (e *evidence) ran(l *life, name string, in stretch) bool {
	for _, r := range e.byJob[name] {
		if r.life == l && r.At < in.from && r.stopped() > in.from {
			return true
		}
	}
	return false
}

// heard says whether the process had an answer about the job: it was not waiting all the time.
func (e *evidence) heard(l *life, name string, in stretch) bool {
	for _, r := range l.Records {
		if r.Semaphore == name && (r.Event == skipped || r.Event == stage.Granted) && in.has(r.At) {
			return true
		}
	}
	return false
}
