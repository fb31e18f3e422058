package semaphore

// A step is one step of the decision. Step numbers are shown to users and must not change.
type step uint8

const (
	stepDefined  step = 1 // the semaphore is defined
	stepGroup    step = 2 // the group matches the group pattern
	stepAcquirer step = 3 // the acquirer matches the acquirer pattern
	stepOpen     step = 4 // neither a cordon nor a pause with stop excludes the caller
	stepOwn      step = 5 // the caller's own permit, if it has one
	stepPaused   step = 6 // not paused, and the weight does not exceed the permits
	stepFiring   step = 7 // no other caller has claimed the firing; a task is waiting for a worker
	stepFree     step = 8 // there is room, and no waiter is ahead
	stepFull     step = 9 // there is no room

	lastAdmitting = stepOwn // the last step that a refresh must pass
)

// Decide returns the decision on a request. It runs the steps in numerical order until one of them reaches a decision.
// Decide depends only on its arguments, does not retain them, and does not allocate.
//
// The leader calls Decide with the results of pattern matching and the state of its queue. The state machine calls it
// again when the grant is applied, with Admitted and without the queue. The order of the steps follows the article
// "Distributed Task Coordination with Hazelcast", with additional steps for features that the article's gatekeeper
// lacks.
func Decide(req *Request, f *Facts) Decision {
	for s := stepDefined; s < stepFull; s++ {
		if d := s.decide(req, f); d.Outcome != 0 {
			return d
		}
	}
	return stepFull.decide(req, f)
}

// DecideWaiting is like Decide, but for a caller that would rather wait than be denied because of a pause, or because
// no permit or task is free. It returns the result of Decide, and waits reports whether the caller waits instead of
// being denied. A caller waits during a pause only if, without the pause, it would get a permit or wait for one.
// Otherwise waiting cannot help, and DecideWaiting returns the denial that the caller would get after the pause.
func DecideWaiting(req *Request, f *Facts) (d Decision, waits bool) {
	d = Decide(req, f)
	if d.Reason != Paused {
		return d, d.Reason.Waitable()
	}
	resumed := *f
	resumed.Pause = nil
	after := Decide(req, &resumed)
	if after.Outcome == Denied && !after.Reason.Waitable() {
		return after, false
	}
	return d, true
}

// Admit decides whether the holder of the live permit p may keep it. It runs the steps of Decide up to the caller's own
// permit, with p in place of f.Own. The outcome is Refreshed, or Denied with the reason and, in Stop, the cause of the
// stop. A permit held for an operator is denied without a cause, because it has no holder. For a cooling permit, Admit
// returns the zero Decision unless an earlier step denies the request.
//
// A cause whose drain covers p does not lead to a denial. The outcome is then Refreshed, with the first such cause in
// Stop, because the holder must still stop. A single cause without a covering drain is enough to deny the refresh, and
// determines the reason. A drain does not cover p once the drain has ended, or if it began before p was granted.
// max_hold has no drain.
func Admit(p *Permit, f *Facts) Decision {
	req := Request{Semaphore: p.Semaphore, Identity: p.Identity, Weight: p.Weight, Firing: p.Firing, Worker: f.OwnTask}
	facts := *f
	facts.Own, facts.Repeat = p, true
	d := admit(&req, &facts)
	if d.Outcome != Denied || d.Stop == NotStopping {
		return d
	}
	drained, found := facts.drained(p)
	if !found {
		return d
	}
	remaining := admit(&req, &drained)
	if remaining.Outcome == Refreshed {
		remaining.Stop = d.Stop
	}
	return remaining
}

func admit(req *Request, f *Facts) Decision {
	for s := stepDefined; s <= lastAdmitting; s++ {
		if d := s.decide(req, f); d.Outcome != 0 {
			return d
		}
	}
	return Decision{}
}

// decide returns the decision of one step, or the zero Decision if the step leaves the decision to the next one.
// Decide, Admit and Explain all use it, so they cannot disagree.
func (s step) decide(req *Request, f *Facts) Decision {
	switch s {
	case stepDefined:
		if f.Definition == nil {
			return denyExcluded(NoSuchSemaphore, StopNoLongerAdmitted, f)
		}
	case stepGroup:
		if !f.Admission.Group {
			return denyExcluded(GroupMismatch, StopNoLongerAdmitted, f)
		}
	case stepAcquirer:
		if !f.Admission.Acquirer {
			return denyExcluded(AcquirerMismatch, StopNoLongerAdmitted, f)
		}
	case stepOpen:
		if len(f.Admission.Cordons) > 0 {
			return denyExcluded(Cordoned, StopCordoned, f)
		}
		if f.Pause != nil && f.Pause.Stop {
			return denyExcluded(Paused, StopPaused, f)
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

// denyExcluded denies a caller that the definition, a cordon or a pause excludes. If the caller holds a live permit,
// the decision also says why the caller must stop.
func denyExcluded(r Reason, cause StopCause, f *Facts) Decision {
	d := Decision{Outcome: Denied, Reason: r}
	if f.Own != nil && f.Own.State == Live {
		d.Stop = cause
	}
	return d
}

// decideOwn handles a request from an identity that already has a permit of the semaphore. A retry of the request that
// got the permit refreshes it. Any other request is another acquisition: the sender of the earlier request may still
// rely on the response, so the permit continues under a new token. A permit with a firing or a task belongs to one run
// and is acquired only once.
func decideOwn(req *Request, f *Facts) Decision {
	own := f.Own
	switch own.State {
	case Held:
		return Decision{Outcome: Denied, Reason: HeldForOperator}
	case Cooling:
		// A cooling permit no longer has a holder.
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

// decideFiring decides whether a firing can still be claimed. The caller holds no permit here, so any existing claim
// belongs to another run.
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
