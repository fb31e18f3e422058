package keeper

import (
	"cmp"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// queuePosition is a call's position relative to the queue.
type queuePosition struct {
	// waitsAhead reports whether another call is waiting ahead of this one.
	waitsAhead func() bool
	// waits makes the call wait for a free permit instead of being denied for lack of one.
	waits bool
	// entry is the call's entry in the queue; nil if it is not queued.
	entry *queuedCall
	// opened is the capacity freed and taken by the commands ahead of the grant in its log entry.
	opened opening
}

// rule applies the rule from package semaphore. A replay does not wait out a pause: its request holds a permit, and the
// pause asks the holder to give it up.
func (t queuePosition) rule(call *AcquireCall, facts *semaphore.Facts, replay bool) (d semaphore.Decision, waits bool) {
	if !t.waits {
		return semaphore.Decide(&call.Request, facts), false
	}
	d, waits = semaphore.DecideWaiting(&call.Request, facts)
	if d.Reason == semaphore.Paused && (call.LeaveOnPause || replay) {
		waits = false
	}
	return d, waits
}

// decision is the result of deciding a call based on the in-memory state. If its first three fields are unset, the call
// leaves the state unchanged, and answer can be returned once leadership is confirmed.
type decision struct {
	waits   bool
	replays *semaphore.Permit // the request holds this permit
	grant   *fsm.Grant        // the command to propose
	answer  round
}

func (k *Keeper) decide(state *fsm.State, call *AcquireCall, t queuePosition) decision {
	if err := k.ended(state, call); err != nil {
		return decision{answer: failed(err)}
	}
	facts := k.facts(state, call)
	replay := facts.Own != nil && call.RequestID != "" && facts.Own.RequestID == call.RequestID
	if !replay {
		if err := cmp.Or(k.checkFresh(state, call), checkRevision(state, call)); err != nil {
			return decision{answer: failed(err)}
		}
	}
	facts.Used += t.opened.taken - t.opened.freed
	facts.Tasks += t.opened.tasks
	facts.WaitsAhead = t.waitsAhead()
	d, waits := t.rule(call, &facts, replay)
	switch {
	case waits:
		return decision{waits: true}
	case d.Outcome == semaphore.Refreshed:
		return decision{replays: facts.Own}
	case d.Outcome == semaphore.Denied:
		return decision{answer: denied(k.denial(state, call, &facts, d))}
	case state.Quarantine() > 0:
		return decision{answer: failed(k.recoveringError())}
	}
	if call.Allowed != nil {
		if err := call.Allowed(); err != nil {
			return decision{answer: failed(err).leaving(true)}
		}
	}
	grant := k.grant(call, state, &facts)
	return decision{grant: &grant}
}

// checkRevision returns an error if the call's expected permit revision is not the current one.
func checkRevision(state *fsm.State, call *AcquireCall) error {
	current := state.PermitRevision(call.Semaphore)
	if call.ExpectedRevision == nil || *call.ExpectedRevision == current {
		return nil
	}
	return &RevisionChangedError{call.Semaphore, *call.ExpectedRevision, current}
}

func (k *Keeper) grant(call *AcquireCall, state *fsm.State, facts *semaphore.Facts) fsm.Grant {
	var supersedes uint64
	if facts.Own != nil {
		supersedes = facts.Own.Token
	}
	return fsm.Grant{
		Semaphore:         call.Semaphore,
		Identity:          call.Identity,
		Weight:            call.Weight,
		Firing:            call.Firing,
		RequestID:         call.RequestID,
		Metadata:          call.Metadata,
		DefinitionVersion: state.Definition(facts.Definition.Name).Version,
		CordonRevision:    state.CordonRevision(),
		ExpectedRevision:  call.ExpectedRevision,
		At:                time.Now(),
		RequestRevision:   supportedRevision(state, call.notGrantedAsOf()),
		Supersedes:        supersedes,
		Worker:            call.Worker,
		Replaces:          supersedes != 0 && call.ReplacesToken == supersedes,
	}
}

// facts gathers the inputs to a decision, except WaitsAhead, which the caller sets.
func (k *Keeper) facts(state *fsm.State, call *AcquireCall) semaphore.Facts {
	facts := state.Facts(&call.Request, call.RequestID)
	facts.Admission = k.patterns.admission(state, state.Definition(call.Semaphore), call.Identity)
	facts.OwnOverheld = facts.Own != nil && k.lessor.Overheld(facts.Own)
	facts.LeaderClock = k.cfg.WallClock().UTC()
	if !call.SentAt.IsZero() {
		facts.CallerClock = call.SentAt.Add(time.Since(call.Received))
	}
	return facts
}

// admit tells the lessor whether the rule still admits a permit's holder.
func (k *Keeper) admit(state *fsm.State, p *semaphore.Permit, overheld bool) semaphore.Decision {
	facts := k.holderFacts(state, p)
	facts.OwnOverheld = overheld
	return semaphore.Admit(p, &facts)
}

// holderFacts gathers the inputs to a decision about a permit's holder.
func (k *Keeper) holderFacts(state *fsm.State, p *semaphore.Permit) semaphore.Facts {
	sd := state.Definition(p.Semaphore)
	facts := semaphore.Facts{Own: p, Admission: k.patterns.admission(state, sd, p.Identity), Drains: state.Drains(p.Semaphore)}
	if sd != nil {
		facts.Definition, facts.Pause = sd.Definition, sd.Pause
	}
	return facts
}

// ended returns an error if the state remembers that the request has ended, and nil otherwise.
func (k *Keeper) ended(state *fsm.State, call *AcquireCall) error {
	if call.RequestID == "" {
		return nil
	}
	ended := state.Request(call.Semaphore, call.Identity, call.RequestID)
	switch {
	case ended == nil:
		return nil
	case !ended.Matches(fsm.AcquisitionHash(call.Weight, call.Firing, call.Worker)):
		return &RequestReusedError{*ended, fmt.Sprintf("request %q for semaphore %q was %s and had a different weight or firing: "+
			"use a new request id for each request", ended.RequestID, ended.Semaphore, ended.Outcome)}
	default:
		return &RequestEndedError{*ended}
	}
}

// checkFresh returns an error if the request may have been granted and then forgotten. The caller has checked that the
// state neither remembers the request nor contains its permit. The state may have forgotten requests up to some
// revision. A request that had no permit at that revision, or at a later one (notGrantedAsOf), was never granted. A
// request of unknown age passes.
//
// A request that passes had no permit at the state's revision either. checkFresh records that revision, so that a call
// does not become too old while it waits.
func (k *Keeper) checkFresh(state *fsm.State, call *AcquireCall) error {
	known := call.notGrantedAsOf()
	if call.RequestID == "" || known == 0 {
		return nil
	}
	if old := state.TooOld(call.Semaphore, known); old != nil {
		return TooOld(call.RequestID, old)
	}
	for now := state.Revision(); ; {
		since := atomic.LoadUint64(&call.notGrantedAt)
		if since >= now || atomic.CompareAndSwapUint64(&call.notGrantedAt, since, now) {
			return nil
		}
	}
}

// keepFresh calls checkFresh for a waiting call, unless its request has ended or holds a permit.
func (k *Keeper) keepFresh(call *AcquireCall) {
	state := k.cfg.Machine.State()
	if own := state.Own(call.Semaphore, call.Identity); k.ended(state, call) == nil && (own == nil || own.RequestID != call.RequestID) {
		_ = k.checkFresh(state, call) // a request that is too old is refused when it is decided
	}
}

// notGrantedAsOf returns the newest revision at which the request definitely had no permit; 0 if none is known.
func (c *AcquireCall) notGrantedAsOf() uint64 {
	return max(c.RequestRevision, atomic.LoadUint64(&c.notGrantedAt))
}

// supportedRevision returns the RequestRevision for a command, which is 0 while some member might not support that
// field.
func supportedRevision(state *fsm.State, revision uint64) uint64 {
	if state.FeatureLevel() < 3 {
		return 0
	}
	return revision
}

// clearUnsupported clears an edit's RequestHash and RequestRevision while some member might not support those fields.
func (k *Keeper) clearUnsupported(asked, revision *uint64) {
	if k.cfg.Machine.State().FeatureLevel() < 3 {
		*asked, *revision = 0, 0
	}
}
