package fsm

import "github.com/gatekeeperd/gatekeeper/semaphore"

// grant applies the same rules as the leader, and grants the permit if the leader's decision still holds. The leader
// has already matched the patterns; grant only checks that the revisions that it matched against are still current.
// Only the leader has the queue, and it proposes grants in queue order.
func (d *draft) grant(c Grant) Result {
	if c.Semaphore == "" || c.Weight == 0 || c.Weight > semaphore.MaxPermits {
		return invalid("grant: a semaphore and a weight of 1 to %d are required", semaphore.MaxPermits)
	}
	if c.Firing != nil && c.Firing.Name == "" {
		return invalid("grant: the firing has no name")
	}
	if c.Firing != nil && c.Worker {
		return invalid("grant: the request has both a firing and a task")
	}
	// A request that has ended is never granted again, however late a retry arrives.
	if ended := d.Request(c.Semaphore, c.Identity, c.RequestID); ended != nil {
		outcome := GrantRequestEnded
		if !ended.Matches(AcquisitionHash(c.Weight, c.Firing, c.Worker)) {
			outcome = GrantRequestReused
		}
		return d.refuse(c, GrantResult{Outcome: outcome, Ended: ended})
	}
	req := semaphore.Request{Semaphore: c.Semaphore, Identity: c.Identity, Weight: c.Weight, Firing: c.Firing, Worker: c.Worker}
	facts := d.Facts(&req, c.RequestID)
	facts.Admission = semaphore.Admitted()
	// A retry of the request that obtained the identity's permit is treated as a refresh. Its caller may not have
	// received the grant, and its expectations predate the grant.
	if retry := facts.Own != nil && c.RequestID != "" && facts.Own.RequestID == c.RequestID; !retry {
		if old := d.TooOld(c.Semaphore, c.RequestRevision); old != nil && c.RequestID != "" {
			return d.refuse(c, GrantResult{Outcome: GrantRequestTooOld, TooOld: old})
		}
		if c.ExpectedRevision != nil && *c.ExpectedRevision != d.PermitRevision(c.Semaphore) {
			return d.refuse(c, GrantResult{Outcome: GrantRevisionChanged})
		}
		if def := d.Definition(c.Semaphore); def != nil && (def.Version != c.DefinitionVersion || d.cordonRevision != c.CordonRevision) {
			return d.refuse(c, GrantResult{Outcome: GrantChanged})
		}
		if d.supersedes(facts.Own) != c.Supersedes {
			return d.refuse(c, GrantResult{Outcome: GrantChanged})
		}
	}
	decision := semaphore.Decide(&req, &facts)
	switch decision.Outcome {
	case semaphore.Granted:
		if d.quarantine > 0 {
			return d.refuse(c, GrantResult{Outcome: GrantQuarantined})
		}
	case semaphore.Reacquired:
		if d.quarantine > 0 {
			return d.refuse(c, GrantResult{Outcome: GrantQuarantined})
		}
		return d.reacquire(c, &facts)
	case semaphore.Refreshed:
		return d.refuse(c, GrantResult{Outcome: GrantHeld, Permit: facts.Own, Decision: decision})
	default:
		return d.refuse(c, GrantResult{Outcome: GrantDenied, Permit: facts.Own, Decision: decision})
	}

	revision := d.advance()
	d.lastToken++
	p := &semaphore.Permit{
		Semaphore: facts.Definition.Name, // shared by all permits, unlike the command's copy
		Identity:  d.shared(c.Identity), Weight: c.Weight, Token: d.lastToken, Duration: facts.Definition.Duration, Firing: c.Firing, State: semaphore.Live,
		GrantedRevision: revision, GrantedNanos: unixNanos(c.At), RequestID: c.RequestID, Metadata: c.Metadata,
	}
	d.setPermit(nil, p)
	if c.Firing != nil {
		claim := &semaphore.Claim{
			Semaphore: p.Semaphore, Firing: *c.Firing, Token: p.Token, Winner: p.Identity, State: semaphore.ClaimHeld, Revision: revision,
			At: c.At,
		}
		if facts.Claim != nil {
			claim.Attempts = facts.Claim.Attempts
		}
		if d.featureLevel >= 4 {
			claim.Attempts++
		}
		d.setClaim(facts.Claim, claim)
	}
	e := Event{Kind: Granted, Semaphore: p.Semaphore, Permit: p, At: c.At}
	if c.Worker {
		e.Job, e.Task = d.handOut(p)
	}
	d.emit(e)
	return GrantResult{Outcome: GrantGranted, Permit: p, Job: e.Job, Task: e.Task, Decision: decision, PermitRevision: revision}
}

// supersedes returns the token that a grant must name because its identity already holds a permit, or 0 if it must not
// name one. A grant that does not name the token was decided for a caller without a permit, and would bypass the queue.
// A grant with a different token was decided for a permit that no longer exists. Below feature level 3 no token is
// named.
func (d *draft) supersedes(own *semaphore.Permit) uint64 {
	if own == nil || own.State != semaphore.Live || d.featureLevel < 3 {
		return 0
	}
	return own.Token
}

// reacquire gives a live permit a new token. The holder of the old token may not notice before its own deadline, so the
// new permit lasts at least as long. It also owes the old holder that time, unless the caller asserts that the old
// holder no longer relies on the permit.
func (d *draft) reacquire(c Grant, facts *semaphore.Facts) Result {
	revision := d.advance()
	d.lastToken++
	own := facts.Own
	now := *own
	now.Token, now.RequestID, now.Metadata = d.lastToken, c.RequestID, c.Metadata
	now.Duration = max(own.Duration, facts.Definition.Duration)
	now.OldTokensInUse = own.OldTokensInUse || !c.Replaces
	d.note(JournalEntry{Kind: SupersededEvent, Semaphore: own.Semaphore, Permit: own, At: c.At})
	d.rememberEnd(own, semaphore.EndSuperseded)
	d.setPermit(own, nil)
	d.setPermit(nil, &now)
	d.submitterSuperseded(own.Token, now.Token)
	d.emit(Event{Kind: SupersededEvent, Semaphore: own.Semaphore, Permit: &now, Superseded: own, Replaces: c.Replaces, At: c.At})
	return GrantResult{
		Outcome: GrantReacquired, Permit: &now, Superseded: own, Decision: semaphore.Decision{Outcome: semaphore.Reacquired}, PermitRevision: revision,
	}
}

// shared replaces an identity's group and acquirer with the strings in the caller's sighting, if there is one, so that
// all of a host's permits share one copy of its name.
func (d *draft) shared(id semaphore.Identity) semaphore.Identity {
	if seen, ok := d.Sighting(id.Group, id.Acquirer); ok {
		id.Group, id.Acquirer = seen.Group, seen.Acquirer
	}
	return id
}

// refuse completes the result of a grant command that does not change the state.
func (d *draft) refuse(c Grant, r GrantResult) Result {
	r.PermitRevision = d.PermitRevision(c.Semaphore)
	return r
}

// extend sets the duration for which the holder may rely on a live permit. A shorter duration is applied only in the
// term in which the command was made, because a later leader may have promised the longer one again.
func (d *draft) extend(c Extend) Result {
	if c.Duration < semaphore.MinDuration || c.Duration > d.largestDuration {
		return invalid("extend: the duration %v is not between %v and %v", c.Duration, semaphore.MinDuration, d.largestDuration)
	}
	p := d.Permit(c.Token)
	if p == nil || p.State != semaphore.Live || p.Duration == c.Duration || (c.Duration < p.Duration && !d.inCurrentTerm(c.Term)) {
		return PermitResult{Permit: p}
	}
	revision := d.advance()
	extended := *p
	extended.Duration = c.Duration
	if c.Duration < p.Duration {
		extended.OldTokensInUse = false // the leader shortens the duration only after the old tokens' deadlines have passed
	}
	d.setPermit(p, &extended)
	d.emit(Event{Kind: DurationChanged, Semaphore: p.Semaphore, Permit: &extended})
	return PermitResult{Applied: true, Permit: &extended, Revision: revision}
}

// takeOver orders the holder of a live permit to stop, if the definition allows another caller to request that. The
// slot remains taken until the release or the deadline. If the caller is wrong about the holder, the holder loses its
// run, but no other caller gets the slot early.
func (d *draft) takeOver(c TakeOver) Result {
	p := d.Permit(c.Token)
	if p == nil || p.State != semaphore.Live {
		return PermitResult{Permit: p}
	}
	def := d.Definition(p.Semaphore)
	if def == nil || !def.Definition.Takeover || p.Stop != semaphore.NotStopping && p.StopOrder().Drain == 0 {
		return PermitResult{Permit: p}
	}
	revision := d.advance()
	stopping := *p
	stopping.Stop, stopping.Order = semaphore.StopTakenOver, &semaphore.StopOrder{Reason: c.Reason, Revision: revision}
	d.setPermit(p, &stopping)
	author := c.By.Acquirer + " in group " + c.By.Group
	if c.By.Principal != "" { // the rest of the identity is not authenticated
		author = c.By.Principal + " (" + author + ")"
	}
	d.emit(Event{Kind: StoppingEvent, Semaphore: p.Semaphore, Permit: &stopping, Author: author, Reason: c.Reason, At: c.At})
	d.note(JournalEntry{Kind: StoppingEvent, Semaphore: p.Semaphore, Permit: &stopping, Author: author, Reason: c.Reason, At: c.At})
	return PermitResult{Applied: true, Permit: &stopping, Revision: revision}
}

// revoke orders the holder of a live permit to stop. The slot remains taken until the release or the deadline. Revoking
// again has an effect only if it shortens the drain.
//
// An unsafe revoke frees the slot immediately, even if the holder has already been ordered to stop. It skips the
// cooling period, because the operator chose not to wait.
func (d *draft) revoke(c Revoke) Result {
	if err := validDrain("revoke", c.Drain); err != nil {
		return invalid("%v", err)
	}
	if c.UnsafeNow && c.Drain > 0 {
		return invalid("revoke: an unsafe revoke must not have a drain")
	}
	p := d.Permit(c.Token)
	if p == nil || p.State != semaphore.Live {
		return PermitResult{Permit: p}
	}
	if c.UnsafeNow {
		after, revision := d.end(p, ending{how: semaphore.EndFreedUnsafely, kind: FreedUnsafely, author: c.Author, reason: c.Reason, at: c.At})
		return PermitResult{Applied: true, Permit: after, Revision: revision}
	}
	if p.Stop != semaphore.NotStopping && c.Drain >= p.StopOrder().Drain {
		return PermitResult{Permit: p}
	}
	revision := d.advance()
	stopping := *p
	stopping.Stop, stopping.Order = semaphore.StopRevoked, &semaphore.StopOrder{Reason: c.Reason, Revision: revision, Drain: c.Drain}
	d.setPermit(p, &stopping)
	d.emit(Event{Kind: StoppingEvent, Semaphore: p.Semaphore, Permit: &stopping, Author: c.Author, Reason: c.Reason, At: c.At})
	d.note(JournalEntry{
		Kind: StoppingEvent, Semaphore: p.Semaphore, Permit: &stopping, Author: c.Author, Reason: c.Reason, At: c.At, Drain: c.Drain,
	})
	return PermitResult{Applied: true, Permit: &stopping, Revision: revision}
}
