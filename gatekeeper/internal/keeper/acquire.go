package keeper

import (
	"context"
	"errors"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/lessor"
	"github.com/gatekeeperd/gatekeeper/internal/planted"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// TryAcquire asks once. When ctx ends before the keeper has answered, the call counts as never answered, and a grant of
// which no other call was told is given back; once it has returned, ctx means nothing any more.
func (k *Keeper) TryAcquire(ctx context.Context, call *AcquireCall) (Answer, error) {
	e, err := k.leading()
	if err != nil {
		return Answer{}, err
	}
	k.asked(call)
	a, _, err := k.settle(ctx, e, call, keyOf(call), turn{queued: func() bool { return k.queue.Ahead(call.Semaphore, nil) }})
	k.count(call, a, err)
	return a, err
}

// asked takes note of who asks for what.
func (k *Keeper) asked(call *AcquireCall) {
	k.seen.saw(k.cfg.Machine.State(), call.Identity, call.Received)
	k.missed.Asked(call.Semaphore)
	k.compareClocks(call)
}

// count takes note of what was answered.
func (k *Keeper) count(call *AcquireCall, a Answer, err error) {
	if err != nil || a.Outcome == 0 {
		return
	}
	k.noteVain(call, a.Denial)
	switch {
	case a.Denial != nil:
		k.missed.Denied(call.Semaphore, call.Identity, a.Denial.Decision.Reason, a.Denial.Message)
		k.cfg.Metrics.Decided(a.Outcome, a.Denial.Decision.Reason)
		if a.Denial.Decision.Reason == semaphore.FiringTooFarAhead {
			k.warnAhead(call, a.Denial)
		}
	default:
		k.cfg.Metrics.Decided(a.Outcome, semaphore.NoReason)
	}
}

// turn is how a call stands to the queue.
type turn struct {
	// queued tells whether somebody waits ahead.
	queued func() bool
	// waits: the call would rather wait than be told that there is no free permit.
	waits bool
	// me is the call in the queue; nil when it is not there.
	me *waiting
}

// decide asks the rule. waits is true when the call is to wait for another answer. A replay does not wait out a pause: its request has a
// permit, which the pause tells it to stop.
func (t turn) decide(call *AcquireCall, facts *semaphore.Facts, replay bool) (d semaphore.Decision, waits bool) {
	if !t.waits {
		return semaphore.Decide(&call.Request, facts), false
	}
	d, waits = semaphore.DecideWaiting(&call.Request, facts)
	if d.Reason == semaphore.Paused && (call.LeaveOnPause || replay) {
		waits = false
	}
	return d, waits
}

func keyOf(call *AcquireCall) requestKey {
	return requestKey{semaphore: call.Semaphore, identity: call.Identity, requestID: call.RequestID}
}

// settle decides until there is an answer: what was decided may no longer hold when it is applied, and is then decided
// again. wait is true, with neither answer nor error, when there is no free permit and the call would rather wait.
func (k *Keeper) settle(ctx context.Context, e *epoch, call *AcquireCall, key requestKey, t turn) (a Answer, wait bool, err error) {
	for again := true; again; {
		if err := ctx.Err(); err != nil {
			return Answer{}, false, err
		}
		if e.over() {
			return Answer{}, false, k.notLeader()
		}
		a, wait, again, err = k.once(ctx, e, call, key, t)
	}
	return a, wait, err
}

// once decides once. again asks to decide anew.
func (k *Keeper) once(
	ctx context.Context, e *epoch, call *AcquireCall, key requestKey, t turn,
) (a Answer, wait, again bool, err error) {
	if rec := k.attach(key, t.me); rec != nil {
		return k.await(ctx, e, rec, call, t)
	}
	state := k.cfg.Machine.State()
	if ended := k.ended(state, call); ended != nil {
		if err := k.confirm(ctx, e, call.Received); err != nil {
			return Answer{}, false, false, err
		}
		return Answer{}, false, false, ended
	}
	facts := k.facts(state, call)
	replay := facts.Own != nil && key.requestID != "" && facts.Own.RequestID == key.requestID
	if !replay {
		if old := k.fresh(state, call); old != nil {
			if err := k.confirm(ctx, e, call.Received); err != nil {
				return Answer{}, false, false, err
			}
			return Answer{}, false, false, old
		}
	}
	if current := state.PermitRevision(call.Semaphore); call.ExpectedRevision != nil && *call.ExpectedRevision != current && !replay {
		if err := k.confirm(ctx, e, call.Received); err != nil {
			return Answer{}, false, false, err
		}
		return Answer{}, false, false, &RevisionChangedError{call.Semaphore, *call.ExpectedRevision, current}
	}
	facts.WaitsAhead = t.queued()
	d, waits := t.decide(call, &facts, replay)
	if waits {
		return Answer{}, true, false, nil
	}
	switch d.Outcome {
	case semaphore.Refreshed:
		a, again, err = k.replay(ctx, e, call, facts.Own)
		return a, false, again, err
	case semaphore.Granted, semaphore.Reacquired:
		if state.Quarantine() > 0 {
			return Answer{}, false, false, k.recovering()
		}
		return k.await(ctx, e, k.propose(e, key, k.grant(call, state, &facts)), call, t)
	default:
		denial := k.denial(state, call, &facts, d) // before the wait: what it says was so when it was decided
		if err := k.confirm(ctx, e, call.Received); err != nil {
			return Answer{}, false, false, err
		}
		return Answer{Outcome: semaphore.Denied, Denial: denial}, false, false, nil
	}
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
		RequestRevision:   asOf(state, call.knownSince()),
		Supersedes:        supersedes,
		Replaces:          supersedes != 0 && call.ReplacesToken == supersedes,
	}
}

// await waits for what becomes of a proposed grant and turns it into an answer.
func (k *Keeper) await(
	ctx context.Context, e *epoch, rec *pending, call *AcquireCall, t turn,
) (a Answer, wait, again bool, err error) {
	select {
	case <-rec.done:
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil { // also when the outcome is known: nobody would hear of it
		k.detach(rec)
		return Answer{}, false, false, err
	}
	k.answer(rec)
	o := &rec.outcome
	if o.Err != nil {
		return Answer{}, false, false, k.failure(e, o.Err)
	}
	// A call that was received after the grant had been handed to Raft is a replay: its own send time proves nothing about
	// this entry, so it is decided anew, under the rule for refreshes if the permit is there. So is one that asks for something else.
	waiting, fresh := waited(call.Received, o)
	if !fresh || !rec.asks(call) {
		return Answer{}, false, true, nil
	}
	r, ok := o.Result.(fsm.GrantResult)
	if !ok {
		return Answer{}, false, false, invalid(o.Result)
	}
	switch r.Outcome {
	case fsm.GrantGranted, fsm.GrantReacquired:
		if planted.Is(planted.AbandonAnswered) {
			context.AfterFunc(ctx, func() { k.lessor.Abandon(e.term, r.Permit.Token) })
		}
		a := Answer{Outcome: semaphore.Granted, Permit: r.Permit, Waited: waiting}
		if r.Outcome == fsm.GrantReacquired {
			a.Outcome, a.Superseded = semaphore.Reacquired, r.Superseded.Token
		}
		return a, false, false, nil
	case fsm.GrantDenied:
		if r.Decision.Reason == semaphore.NoFreePermit && t.waits {
			return Answer{}, true, false, nil
		}
		if r.Decision.Reason == semaphore.Paused && t.waits {
			return Answer{}, false, true, nil // whether it waits is for the rule to say
		}
		state := k.cfg.Machine.State()
		facts := k.facts(state, call)
		return Answer{Outcome: semaphore.Denied, Denial: k.denial(state, call, &facts, r.Decision)}, false, false, nil
	case fsm.GrantRevisionChanged:
		return Answer{}, false, false, &RevisionChangedError{call.Semaphore, *call.ExpectedRevision, r.PermitRevision}
	case fsm.GrantRequestEnded, fsm.GrantRequestReused:
		return Answer{}, false, false, endedError(r.Ended, call)
	case fsm.GrantRequestTooOld:
		return Answer{}, false, false, tooOld(r.TooOld, call.RequestID)
	case fsm.GrantQuarantined:
		return Answer{}, false, false, k.recovering()
	default: // held already, or changed meanwhile
		return Answer{}, false, true, nil
	}
}

// replay answers a repeat of the request that holds the permit: a refresh in every respect.
func (k *Keeper) replay(ctx context.Context, e *epoch, call *AcquireCall, own *semaphore.Permit) (a Answer, again bool, err error) {
	refresh := []lessor.Refresh{{Token: own.Token}}
	before, seen := k.lessor.Renew(e.term, lessor.Frame{Received: call.Received}, refresh, k.admit, nil)
	v := before[0]
	switch v.Status {
	case lessor.NotLeading:
		return Answer{}, false, k.notLeader()
	case lessor.Marked:
		// Its end is on its way: wait for what becomes of it, then decide again.
		select {
		case <-v.Resolved:
			return Answer{}, true, nil
		case <-e.done:
			return Answer{}, false, k.notLeader()
		case <-ctx.Done():
			return Answer{}, false, ctx.Err()
		}
	case lessor.Ended, lessor.Refused, lessor.Foreign:
		return Answer{}, true, nil // the state has moved on
	case lessor.Renewed:
	}
	if err := k.confirm(ctx, e, call.Received); err != nil {
		return Answer{}, false, err
	}
	if !k.lessor.Unchanged(seen) && k.lessor.Check(e.term, refresh, k.admit, nil)[0].Status != lessor.Renewed {
		return Answer{}, true, nil
	}
	p := *v.Permit
	p.Duration = v.Answer
	return Answer{Outcome: semaphore.Refreshed, Permit: &p}, false, nil
}

// facts gathers what a decision looks at. WaitsAhead is left to the caller.
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

// admit is the lessor's question: does the rule still admit the holder of this permit?
func (k *Keeper) admit(state *fsm.State, p *semaphore.Permit, overheld bool) semaphore.Decision {
	sd := state.Definition(p.Semaphore)
	facts := semaphore.Facts{Own: p, OwnOverheld: overheld, Admission: k.patterns.admission(state, sd, p.Identity)}
	if drains := state.Drains(p.Semaphore); len(drains) > 0 {
		facts.Drain = drains[len(drains)-1].Revision
	}
	if sd != nil {
		facts.Definition, facts.Pause = sd.Definition, sd.Pause
	}
	return semaphore.Admit(p, &facts)
}

// failure says what an error of the log means for a call.
func (k *Keeper) failure(e *epoch, err error) error {
	if errors.Is(err, consensus.ErrNotAppended) && e.over() {
		return k.notLeader()
	}
	return err
}
