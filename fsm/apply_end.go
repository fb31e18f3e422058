package fsm

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// ending describes how a permit ends.
type ending struct {
	how     semaphore.End
	kind    EventKind        // kind of the journal entry, and of the event unless the slot cools
	job     semaphore.JobEnd // the job's outcome, if the permit is released
	failure string           // the failure message, if the job failed
	result  []byte           // the task's result, if there is one
	cooling time.Duration    // if positive, the slot remains taken for this time
	author  string
	reason  string
	at      time.Time
}

// end ends a live or held permit in one revision, whether or not the slot cools. It returns the permit in its new
// state, or in its last state if it no longer exists.
func (d *draft) end(p *semaphore.Permit, e ending) (*semaphore.Permit, uint64) {
	revision := d.advance()
	// Write the entry before removing the permit: if the definition was deleted, the journal may be the only trace of
	// the name.
	d.note(JournalEntry{Kind: e.kind, Semaphore: p.Semaphore, Permit: p, Author: e.author, Reason: e.reason, At: e.at})
	d.settleFiring(p, e)
	d.settleTask(p, e)
	d.rememberEnd(p, e.how) // before the permit is removed, because that may remove everything else stored under the name
	after, kind := p, e.kind
	if e.cooling > 0 {
		cooling := *p
		cooling.OldTokensInUse = false // cooling lasts longer than the holders of old tokens may rely on them
		cooling.State, cooling.Duration, cooling.Ended, cooling.Order = semaphore.Cooling, e.cooling, e.how, p.Order.Drained()
		after, kind = &cooling, CoolingEvent
		d.setPermit(p, after)
	} else {
		d.setPermit(p, nil)
	}
	d.emit(Event{Kind: kind, Semaphore: p.Semaphore, Permit: after, Author: e.author, Reason: e.reason, At: e.at})
	d.submitterEnded(p.Token, e.at)
	return after, revision
}

// settleFiring updates the claim of p's firing. If a loss or a stop opens the claim, it remains held while the slot
// cools, and endCooling then opens it.
func (d *draft) settleFiring(p *semaphore.Permit, e ending) {
	claim := d.claimOf(p.Token)
	if claim == nil || claim.State == semaphore.ClaimDone || claim.State == semaphore.ClaimFailed {
		return // the holder reported the outcome while its permit was held for an operator
	}
	var def *semaphore.Definition
	if stored := d.Definition(p.Semaphore); stored != nil {
		def = stored.Definition
	}
	run := semaphore.Run{End: e.how, Job: e.job, Stop: p.Stop, Attempts: claim.Attempts}
	state := run.Claim(def)
	if state == semaphore.ClaimOpen && run.CutShort() && e.cooling > 0 {
		return
	}
	after := *claim
	after.State = state
	if state == semaphore.ClaimFailed { // for a task, Failure may instead hold the reason for returning it
		after.Failure = e.failure
	}
	if !run.Began() && after.Attempts > 0 {
		after.Attempts--
	}
	d.updateClaim(claim, after)
}

// release ends a live permit at its holder's request. A release that arrives after the permit was lost does not free a
// slot. However, if it reports that the job is done or has failed, and the firing or task has not been claimed again or
// finished since, the outcome is recorded.
func (d *draft) release(c Release) Result {
	if len(c.Failure) > semaphore.MaxName {
		return invalid("release: the failure message is %d bytes long, but the maximum is %d", len(c.Failure), semaphore.MaxName)
	}
	if d.invalidCooling(c.Cooling) {
		return invalid("release: the cooling period %v is not between 0 and %v", c.Cooling, d.largestDuration)
	}
	if why := d.invalidResult(c); why != "" {
		return invalid("release: %s", why)
	}
	p := d.Permit(c.Token)
	if p == nil || p.State != semaphore.Live {
		late := ReleaseResult{Permit: p, Ended: d.EndedPermit(c.Token), Revision: d.completeLate(c)}
		if late.Revision == 0 {
			late.Revision = d.settleLate(c)
		}
		return d.reported(c, late)
	}
	after, revision := d.end(p, ending{how: semaphore.EndReleased, kind: Released, job: c.Job, failure: c.Failure, result: c.Result, cooling: c.Cooling, at: c.At})
	return d.reported(c, ReleaseResult{Released: true, Permit: after, Revision: revision})
}

// completeLate records the outcome of a firing whose permit was lost. It returns the revision of the change, or 0.
func (d *draft) completeLate(c Release) uint64 {
	claim := d.claimOf(c.Token)
	if c.Job != semaphore.JobDone && c.Job != semaphore.JobFailed || claim == nil || claim.State == semaphore.ClaimDone || claim.State == semaphore.ClaimFailed {
		return 0
	}
	revision := d.advance()
	after := *claim
	after.State, after.Failure = semaphore.Run{End: semaphore.EndReleased, Job: c.Job}.Claim(nil), c.Failure
	d.updateClaim(claim, after)
	d.claimsChanged(Event{Semaphore: claim.Semaphore, At: c.At})
	return revision
}

// claimsChanged emits an event for callers waiting for firings to end. It is called when no other event reports the
// change.
func (d *draft) claimsChanged(e Event) {
	if d.featureLevel >= 4 {
		e.Kind = ClaimsChanged
		d.emit(e)
	}
}

// expire ends a live permit whose deadline has passed, or holds its slot for an operator.
func (d *draft) expire(c Expire) Result {
	if d.invalidCooling(c.Cooling) {
		return invalid("expire: the cooling period %v is not between 0 and %v", c.Cooling, d.largestDuration)
	}
	p := d.Permit(c.Token)
	if !d.inCurrentTerm(c.Term) || p == nil || p.State != semaphore.Live {
		return PermitResult{Permit: p}
	}
	if !d.holdsLostPermits(p.Semaphore) {
		after, revision := d.end(p, ending{how: semaphore.EndExpired, kind: Expired, cooling: c.Cooling, at: c.At})
		return PermitResult{Applied: true, Permit: after, Revision: revision}
	}
	revision := d.advance()
	held := d.hold(p)
	d.emit(Event{Kind: HeldEvent, Semaphore: p.Semaphore, Permit: held, At: c.At})
	d.note(JournalEntry{Kind: HeldEvent, Semaphore: p.Semaphore, Permit: held, At: c.At})
	return PermitResult{Applied: true, Permit: held, Revision: revision}
}

// hold keeps the slot of a lost permit until an operator clears it.
func (d *draft) hold(p *semaphore.Permit) *semaphore.Permit {
	held := *p
	// The slot need not cool for the superseded tokens, because their deadlines were earlier.
	held.State, held.Order, held.OldTokensInUse = semaphore.Held, p.Order.Drained(), false
	d.setPermit(p, &held)
	return &held
}

// holdsLostPermits reports whether the semaphore's lost permits are held for an operator.
func (s *State) holdsLostPermits(sem string) bool {
	def := s.Definition(sem)
	return def != nil && def.Definition.OnExpiry == semaphore.OnExpiryHold
}

// abandon ends a live permit whose grant never reached its caller.
func (d *draft) abandon(c Abandon) Result {
	if d.invalidCooling(c.Cooling) {
		return invalid("abandon: the cooling period %v is not between 0 and %v", c.Cooling, d.largestDuration)
	}
	p := d.Permit(c.Token)
	if !d.inCurrentTerm(c.Term) || p == nil || p.State != semaphore.Live {
		return PermitResult{Permit: p}
	}
	after, revision := d.end(p, ending{how: semaphore.EndAbandoned, kind: Abandoned, cooling: c.Cooling})
	return PermitResult{Applied: true, Permit: after, Revision: revision}
}

// clear frees a permit that is held for an operator.
func (d *draft) clear(c Clear) Result {
	p := d.Permit(c.Token)
	if p == nil || p.State != semaphore.Held {
		return PermitResult{Permit: p}
	}
	after, revision := d.end(p, ending{how: semaphore.EndCleared, kind: Cleared, author: c.Author, reason: c.Reason, at: c.At})
	return PermitResult{Applied: true, Permit: after, Revision: revision}
}

// endCooling frees the slot of a cooling permit. A claim that is still held is opened, because the permit was lost.
func (d *draft) endCooling(c EndCooling) Result {
	p := d.Permit(c.Token)
	if !d.inCurrentTerm(c.Term) || p == nil || p.State != semaphore.Cooling {
		return PermitResult{Permit: p}
	}
	revision := d.advance()
	d.freeCooled(p)
	d.emit(Event{Kind: CoolingEnded, Semaphore: p.Semaphore, Permit: p})
	return PermitResult{Applied: true, Permit: p, Revision: revision}
}

func (d *draft) freeCooled(p *semaphore.Permit) {
	if claim := d.claimOf(p.Token); claim != nil && claim.State == semaphore.ClaimHeld {
		after := *claim
		after.State = semaphore.ClaimOpen
		d.updateClaim(claim, after)
	}
	// A task remains held while its slot cools only if its worker was lost, or if the holder of a superseded token may
	// still be working on the task.
	d.settleTask(p, ending{how: p.Ended, job: semaphore.JobCutShort})
	d.setPermit(p, nil)
}

// cancel ends an acquisition by its request id. If the request has a permit, the permit is released. Otherwise a grant
// that arrives later is refused.
func (d *draft) cancel(c Cancel) Result {
	if c.Semaphore == "" || c.RequestID == "" {
		return invalid("cancel: semaphore and request id must not be empty")
	}
	if d.invalidCooling(c.Cooling) {
		return invalid("cancel: the cooling period %v is not between 0 and %v", c.Cooling, d.largestDuration)
	}
	if ended := d.Request(c.Semaphore, c.Identity, c.RequestID); ended != nil {
		return CancelResult{Ended: ended}
	}
	if p := d.Own(c.Semaphore, c.Identity); p != nil && p.State == semaphore.Live && p.RequestID == c.RequestID {
		if d.featureLevel >= 3 && p.Token != c.Token {
			return CancelResult{Changed: true}
		}
		after, revision := d.end(p, ending{how: semaphore.EndCancelled, kind: Abandoned, cooling: c.Cooling})
		return CancelResult{ReturnedPermit: after, Revision: revision}
	}
	revision := d.advance()
	d.remember(Remembered{Semaphore: c.Semaphore, Identity: c.Identity, RequestID: c.RequestID, Outcome: semaphore.EndCancelled})
	return CancelResult{Revision: revision}
}
