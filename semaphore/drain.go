package semaphore

// A drain belongs to the change that shuts holders out: it covers the permits that were granted before that change, and none
// that was granted after it.

// draining says whether the definition, or its absence, may shut p's holder out and is not to end p yet.
func (f *Facts) draining(p *Permit) bool { return p.GrantedRevision < f.Drain }

// draining says whether every cordon that catches p's holder lets it go on for now.
func (a Admission) draining(p *Permit) bool { return p.GrantedRevision < a.CordonDrain }

// draining says whether the pause lets p go on for now although it stops.
func (p *Pause) draining(permit *Permit) bool {
	return p != nil && p.Stop && p.Drain > 0 && permit.GrantedRevision < p.Revision
}

// draining says whether the permit was revoked and may go on for now.
func (p *Permit) draining() bool { return p.Stop != NotStopping && p.StopOrder().Drain > 0 }

// drained are the facts as they would be without what drains for p, their own permit, and whether anything does. What steps
// of an absent definition would look at is not there, so it is as if it admitted everybody.
func (f *Facts) drained(p *Permit) (drained Facts, drains bool) {
	drained = *f
	if f.draining(p) {
		drained.Admission.Group, drained.Admission.Acquirer = true, true
		if f.Definition == nil {
			drained.Definition = &Definition{Name: p.Semaphore}
		}
		drains = true
	}
	if f.Admission.draining(p) {
		drained.Admission.Cordoned = false
		drains = true
	}
	if f.Pause.draining(p) {
		drained.Pause = nil
		drains = true
	}
	if p.draining() {
		going := *p
		going.Stop = NotStopping
		drained.Own = &going
		drains = true
	}
	return drained, drains
}
