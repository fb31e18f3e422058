package semaphore

import (
	"slices"
	"time"
)

// A Drain lets holders continue for a while after a change has excluded them. It covers permits granted before
// Revision, the revision of that change. A drain has ended if Duration is 0, or if the leader has ended it.
type Drain struct {
	Revision uint64
	Duration time.Duration
}

// Covers reports whether the holder of p may continue because of the drain.
func (d Drain) Covers(p *Permit) bool { return d.Duration > 0 && p.GrantedRevision < d.Revision }

// A Stop is a reason why the holder of a live permit must stop.
type Stop struct {
	Cause StopCause
	// Cordon is the id of the cordon, if the cause is a cordon.
	Cordon string
	// Drains are the drains that cover the permit. The holder may continue until the last of them ends. If there are
	// none, it must stop immediately.
	Drains []Drain
}

// Stops returns all reasons why the holder of the live permit p must stop, except max_hold, which cannot have a drain.
// They are in the order of the decision steps.
func Stops(p *Permit, f *Facts) (stops []Stop) {
	add := func(s Stop, drains ...Drain) {
		for _, d := range drains {
			if d.Covers(p) {
				s.Drains = append(s.Drains, d)
			}
		}
		stops = append(stops, s)
	}
	if f.Definition == nil || !f.Admission.Group || !f.Admission.Acquirer {
		add(Stop{Cause: StopNoLongerAdmitted}, f.Drains...)
	}
	for _, c := range f.Admission.Cordons {
		add(Stop{Cause: StopCordoned, Cordon: c.ID}, c.Drain)
	}
	if f.Pause != nil && f.Pause.Stop {
		add(Stop{Cause: StopPaused}, f.Pause.drain())
	}
	if p.Stop != NotStopping {
		add(Stop{Cause: p.Stop}, p.StopOrder().drain())
	}
	return stops
}

func (p *Pause) drain() Drain { return Drain{p.Revision, p.Drain} }

func (o StopOrder) drain() Drain { return Drain{o.Revision, o.Drain} }

// drained returns the facts without the causes whose drains cover p, and reports whether there are any such causes. It
// does for Admit what Stops does for explanations, but does not allocate. If there is no definition, drained
// substitutes one, so that the steps that need a definition still work.
func (f *Facts) drained(p *Permit) (drained Facts, drains bool) {
	drained = *f
	if slices.ContainsFunc(f.Drains, func(d Drain) bool { return d.Covers(p) }) {
		drained.Admission.Group, drained.Admission.Acquirer = true, true
		if f.Definition == nil {
			drained.Definition = &Definition{Name: p.Semaphore}
		}
		drains = true
	}
	cordons := f.Admission.Cordons
	if len(cordons) > 0 && !slices.ContainsFunc(cordons, func(c Cordon) bool { return !c.Drain.Covers(p) }) {
		drained.Admission.Cordons = nil
		drains = true
	}
	if f.Pause != nil && f.Pause.Stop && f.Pause.drain().Covers(p) {
		drained.Pause = nil
		drains = true
	}
	if p.Stop != NotStopping && p.StopOrder().drain().Covers(p) {
		unstopped := *p
		unstopped.Stop = NotStopping
		drained.Own = &unstopped
		drains = true
	}
	return drained, drains
}
