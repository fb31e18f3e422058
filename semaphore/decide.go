package semaphore

// step is one step of the decision. The numbers are those of the rule book, are shown to people, and do not change.
type step uint8

const (
	stepDefined  step = 1 // there is such a semaphore
	stepGroup    step = 2 // its group pattern lets the group in
	stepAcquirer step = 3 // its acquirer pattern lets the acquirer in
	stepOpen     step = 4 // neither a cordon nor a pause with stop shuts the caller out
	stepOwn      step = 5 // what the caller holds already
	stepPaused   step = 6 // it is not paused, and the weight can ever fit
	stepFiring   step = 7 // nobody else has the firing, and there is a task for a worker
	stepFree     step = 8 // there is room, and nobody waits ahead
	stepFull     step = 9 // there is none

	lastAdmitting = stepOwn // a refresh passes the steps up to here
)

// Decide answers a request from the facts and nothing else: the first step that decides, in the order of their numbers,
// is the answer. It allocates nothing and keeps nothing.
//
// The leader decides with what it matched and who waits; the state machine decides again when the grant is applied,
// with Admitted and without the queue. The order is that of the article "Distributed Task Coordination with Hazelcast",
// with the steps that operators were missing put in between.
func Decide(req *Request, f *Facts) Decision {
	for s := stepDefined; s < stepFull; s++ {
		if d := s.decide(req, f); d.Outcome != 0 {
			return d
		}
	}
	return stepFull.decide(req, f)
}

// DecideWaiting answers a caller that would rather wait than be denied for want of a free permit or of a task, or
// because of a pause. It is Decide, but waits reports whether the caller waits instead of taking the denial. A caller
// waits out a pause only if it would be granted a permit, or wait for one, without the pause. Otherwise the denial is
// the one that it would get then, because the end of the pause does not help.
func DecideWaiting(req *Request, f *Facts) (d Decision, waits bool) {
	d = Decide(req, f)
	if d.Reason != Paused {
		return d, d.Reason.Passes()
	}
	resumed := *f
	resumed.Pause = nil
	after := Decide(req, &resumed)
	if after.Outcome == Denied && !after.Reason.Passes() {
		return after, false
	}
	return d, true
}

// Admit answers whether the holder of the live permit p may keep it: the steps of Decide up to the caller's own permit,
// with p as that permit whatever f.Own says. The outcome is Refreshed, or Denied with the reason, and with the cause in
// Stop for which the holder is to stop; a permit held for an operator is denied without a cause, for it has no holder.
// A cooling permit is nobody's, and there is no decision about it: the outcome is zero.
//
// What drains for p does not deny it: the outcome is then Refreshed, with the first such cause in Stop, for the holder
// is to stop all the same. One cause without a drain, or whose drain is over or began before p was granted, is enough
// for a denial, and is its reason; so is max_hold, for which there is no drain.
func Admit(p *Permit, f *Facts) Decision {
	req := Request{Semaphore: p.Semaphore, Identity: p.Identity, Weight: p.Weight, Firing: p.Firing, Worker: f.OwnTask}
	now := *f
	now.Own, now.Repeat = p, true
	d := admit(&req, &now)
	if d.Outcome != Denied || d.Stop == NotStopping {
		return d
	}
	drained, drains := now.drained(p)
	if !drains {
		return d
	}
	rest := admit(&req, &drained)
	if rest.Outcome == Refreshed {
		rest.Stop = d.Stop
	}
	return rest
}

func admit(req *Request, f *Facts) Decision {
	for s := stepDefined; s <= lastAdmitting; s++ {
		if d := s.decide(req, f); d.Outcome != 0 {
			return d
		}
	}
	return Decision{}
}

// decide is the whole rule: what one step says, or the zero Decision when it leaves the answer to the next one. Decide,
// Admit and Explain all walk these steps, so that they cannot disagree.
func (s step) decide(req *Request, f *Facts) Decision {
	switch s {
	case stepDefined:
		if f.Definition == nil {
			return shutOut(NoSuchSemaphore, StopNoLongerAdmitted, f)
		}
	case stepGroup:
		if !f.Admission.Group {
			return shutOut(GroupMismatch, StopNoLongerAdmitted, f)
		}
	case stepAcquirer:
		if !f.Admission.Acquirer {
			return shutOut(AcquirerMismatch, StopNoLongerAdmitted, f)
		}
	case stepOpen:
		if len(f.Admission.Cordons) > 0 {
			return shutOut(Cordoned, StopCordoned, f)
		}
		if f.Pause != nil && f.Pause.Stop {
			return shutOut(Paused, StopPaused, f)
		}
	case stepOwn:
		if f.Own != nil {
			return decideOwn(req, f)
		}
	case stepPaused:
		if f.Pause != nil {
			return Decision{Outcome: Denied, Reason: Paused}
		}
		if req.Weight > f.Definition.Permits {
			return Decision{Outcome: Denied, Reason: WeightExceedsPermits}
		}
	case stepFiring:
		if req.Firing != nil {
			return decideFiring(req.Firing, f)
		}
		if req.Worker && f.Tasks == 0 {
			return Decision{Outcome: Denied, Reason: NoTask}
		}
	case stepFree:
		if f.Used+uint64(req.Weight) <= uint64(f.Definition.Permits) && !f.WaitsAhead {
			return Decision{Outcome: Granted}
		}
	case stepFull:
		return Decision{Outcome: Denied, Reason: NoFreePermit}
	}
	return Decision{}
}

// shutOut denies a caller that the definition, a cordon or a pause does not let in, and orders one that holds a live
// permit why it must stop.
func shutOut(r Reason, cause StopCause, f *Facts) Decision {
	d := Decision{Outcome: Denied, Reason: r}
	if f.Own != nil && f.Own.State == Live {
		d.Stop = cause
	}
	return d
}

// decideOwn answers an identity that has a permit here already. A repeat of the request that got the permit refreshes
// it. Any other request is another acquisition: somebody may still count on the answer to the earlier one, so the
// permit continues under a new token. A permit with a firing or a task is for one run, so it has one acquisition.
func decideOwn(req *Request, f *Facts) Decision {
	own := f.Own
	switch own.State {
	case Held:
		return Decision{Outcome: Denied, Reason: HeldForOperator}
	case Cooling:
		// Its holder is gone: cooling is not held.
		return Decision{}
	case Live:
	}
	switch {
	case own.Stop != NotStopping:
		return Decision{Outcome: Denied, Reason: Stopping, Stop: own.Stop}
	case f.OwnOverheld:
		return Decision{Outcome: Denied, Reason: Stopping, Stop: StopHeldTooLong}
	case own.Weight != req.Weight || !own.Firing.Equal(req.Firing) || f.OwnTask != req.Worker:
		return Decision{Outcome: Denied, Reason: AlreadyHeld}
	case f.Repeat:
		return Decision{Outcome: Refreshed}
	case own.Firing != nil:
		return Decision{Outcome: Denied, Reason: FiringClaimed, Claim: f.Claim}
	case f.OwnTask:
		return Decision{Outcome: Denied, Reason: AlreadyHeld}
	}
	return Decision{Outcome: Reacquired}
}

// decideFiring answers whether the firing may still be claimed. The caller holds nothing here, so the caller that
// claimed it is somebody else.
func decideFiring(firing *Firing, f *Facts) Decision {
	switch {
	case f.Claim != nil && (f.Claim.State == ClaimDone || f.Claim.State == ClaimFailed):
		return Decision{Outcome: Denied, Reason: FiringDone, Claim: f.Claim}
	case f.Claim != nil && (f.Claim.State != ClaimOpen || !f.Definition.MayAttempt(f.Claim.Attempts)):
		return Decision{Outcome: Denied, Reason: FiringClaimed, Claim: f.Claim}
	case !f.LeaderClock.IsZero() && f.Definition.TooFarAhead(firing.Due, f.LeaderClock):
		return Decision{Outcome: Denied, Reason: FiringTooFarAhead}
	case firing.Forgotten(f.LowWater):
		return Decision{Outcome: Denied, Reason: FiringForgotten}
	}
	return Decision{}
}
