package jobs

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
)

// window is part of the schedule. It converts schedule times to the shared clock.
type window struct {
	from, until time.Time
	// wall and boot are the same instant on the machine's wall clock and on the shared clock.
	wall time.Time
	boot time.Duration
}

// at returns when an application whose clock has the given skew reaches a time in the schedule.
func (w window) at(t time.Time, clock time.Duration) time.Duration {
	return w.boot + t.Sub(w.wall) - clock
}

// unclaimed counts the firings in the window that no application claimed, by reason. A firing without a valid reason is
// a violation.
func (e *evidence) unclaimed() (why map[string]int, violations []string) {
	why = map[string]int{}
	for _, j := range e.jobs {
		for _, at := range j.due(e.window.from, e.window.until) {
			f := firing{j.Name, at}
			if len(e.byFiring[f]) > 0 || e.claims[f].token > 0 {
				continue
			}
			reason, ok := e.whyNot(f, j.Period)
			if ok {
				why[reason]++
				continue
			}
			violations = append(violations, e.name(f)+" was not claimed, "+reason)
		}
	}
	return why, violations
}

// Reasons why a firing was not claimed. For each application, the first reason that applies counts.
const (
	noLeader     = "while there was no leader"
	previousLost = "while the other applications were still waiting for the previous firing, whose holder was lost"
	stillRunning = "while the previous run was still in progress"
	disrupted    = "while an application was dying, starting or suspended"
	noneRunning  = "while no application was running"
)

// whyNot returns the reason that kept the applications from claiming a firing. Each application reaches the firing at a
// different time.
func (e *evidence) whyNot(f firing, period time.Duration) (string, bool) {
	holds := map[string]bool{}
	for _, l := range e.lives {
		at := e.window.at(f.due, l.clock)
		interval := span{at, at + period}
		switch {
		case l.End() <= interval.from || l.started >= interval.until:
			// The firing belongs to another process of the application.
		case l.End() < interval.until || l.started > interval.from || l.suspended.intersects(interval):
			holds[disrupted] = true
		case e.leaderless.intersects(interval):
			holds[noLeader] = true
		case e.ran(l, f.job, interval):
			holds[stillRunning] = true
		case !e.gotResponse(l, f.job, span{at - period, at}):
			holds[previousLost] = true
		default:
			return "although " + l.Name + " was able to run it", false
		}
	}
	for _, reason := range []string{noLeader, previousLost, stillRunning, disrupted} {
		if holds[reason] {
			return reason, true
		}
	}
	return noneRunning, true
}

// ran reports whether this process was running the job when the period began.
func (e *evidence) ran(l *life, name string, in span) bool {
	for _, r := range e.byJob[name] {
		if r.life == l && r.At < in.from && r.stopped() > in.from {
			return true
		}
	}
	return false
}

// gotResponse reports whether the process received a response for the job in the period. Otherwise, it was waiting the
// whole time.
func (e *evidence) gotResponse(l *life, name string, in span) bool {
	for _, r := range l.Records {
		if r.Semaphore == name && (r.Event == skipped || r.Event == stage.Granted) && in.has(r.At) {
			return true
		}
	}
	return false
}
