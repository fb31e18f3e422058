package keeper

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/lessor"
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
	r := k.settle(ctx, e, call, turn{queued: func() bool { return k.queue.Ahead(call.Semaphore, nil) }})
	return k.counted(call, r)
}

// asked takes note of who asks for what.
func (k *Keeper) asked(call *AcquireCall) {
	k.seen.saw(k.cfg.Machine.State(), call.Identity, call.Received)
	k.missed.Asked(call.Semaphore)
	k.compareClocks(call)
}

// counted takes note of what a call is answered, and returns it.
func (k *Keeper) counted(call *AcquireCall, r round) (Answer, error) {
	a := r.answer
	if r.err != nil || a.Outcome == 0 {
		return a, r.err
	}
	k.noteDenied(call, a.Denial)
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
	return a, nil
}

// turn is how a call stands to the queue.
type turn struct {
	// queued reports whether another call waits ahead.
	queued func() bool
	// waits: the call waits for a free permit rather than be denied for the lack of one.
	waits bool
	// me is the call in the queue; nil when it is not there.
	me *waiting
	// freed is the weight of permits that end in the entry which takes the grant.
	freed uint64
}

// rule asks semaphore. A replay does not wait out a pause: its request has a permit, which the pause asks it to give up.
func (t turn) rule(call *AcquireCall, facts *semaphore.Facts, replay bool) (d semaphore.Decision, waits bool) {
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

// round is what one attempt to answer a call came to.
type round struct {
	next   next
	answer Answer // of a finished round without err
	err    error
}

// next is what follows a round.
type next uint8

const (
	finished next = iota // the call is answered
	queueUp              // there is no free permit, and the call waits for one
	tryAgain             // the state has moved on: decide again
)

func failed(err error) round { return round{err: err} }

func denied(d *Denial) round { return round{answer: Answer{Outcome: semaphore.Denied, Denial: d}} }

// settle makes rounds until the call is answered or has to wait: what was decided may no longer hold when it is applied.
func (k *Keeper) settle(ctx context.Context, e *epoch, call *AcquireCall, t turn) round {
	for {
		if err := ctx.Err(); err != nil {
			return failed(err)
		}
		if e.over() {
			return failed(k.notLeader())
		}
		if r := k.once(ctx, e, call, t); r.next != tryAgain {
			return r
		}
	}
}

func (k *Keeper) once(ctx context.Context, e *epoch, call *AcquireCall, t turn) round {
	key := keyOf(call)
	if rec := k.attach(key, t.me); rec != nil {
		return k.await(ctx, e, rec, call, t)
	}
	d := k.decide(k.cfg.Machine.State(), call, t)
	switch {
	case d.waits:
		return round{next: queueUp}
	case d.replays != nil:
		return k.replay(ctx, e, call, d.replays)
	case d.grant != nil:
		return k.await(ctx, e, k.propose(e, key, *d.grant), call, t)
	}
	if err := k.confirm(ctx, e, call.Received); err != nil {
		return failed(err)
	}
	return d.answer
}

// decision is what the state in memory says of a call. Unless one of its first three fields is set, answer is the call's
// as soon as leadership is confirmed: it changes nothing.
type decision struct {
	waits   bool
	replays *semaphore.Permit // the request holds this permit
	grant   *fsm.Grant        // to be proposed
	answer  round
}

func (k *Keeper) decide(state *fsm.State, call *AcquireCall, t turn) decision {
	if err := k.ended(state, call); err != nil {
		return decision{answer: failed(err)}
	}
	facts := k.facts(state, call)
	replay := facts.Own != nil && call.RequestID != "" && facts.Own.RequestID == call.RequestID
	if !replay {
		if err := cmp.Or(k.fresh(state, call), sameRevision(state, call)); err != nil {
			return decision{answer: failed(err)}
		}
	}
	facts.Used -= t.freed
	facts.WaitsAhead = t.queued()
	d, waits := t.rule(call, &facts, replay)
	switch {
	case waits:
		return decision{waits: true}
	case d.Outcome == semaphore.Refreshed:
		return decision{replays: facts.Own}
	case d.Outcome == semaphore.Denied:
		return decision{answer: denied(k.denial(state, call, &facts, d))}
	case state.Quarantine() > 0:
		return decision{answer: failed(k.recovering())}
	}
	grant := k.grant(call, state, &facts)
	return decision{grant: &grant}
}

// sameRevision refuses a call that expects another permit revision than the state's.
func sameRevision(state *fsm.State, call *AcquireCall) error {
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
		RequestRevision:   asOf(state, call.knownSince()),
		Supersedes:        supersedes,
		Replaces:          supersedes != 0 && call.ReplacesToken == supersedes,
	}
}

// await waits for what becomes of a proposed grant and turns it into an answer.
func (k *Keeper) await(ctx context.Context, e *epoch, rec *pending, call *AcquireCall, t turn) round {
	select {
	case <-rec.done:
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil { // also when the outcome is known: nobody would hear of it
		k.detach(rec)
		return failed(err)
	}
	k.answer(rec)
	o := &rec.outcome
	if o.Err != nil {
		return failed(k.failure(e, o.Err))
	}
	// A call that came in after the grant was handed to Raft is a replay: its own send time proves nothing about this entry.
	// It is decided again, by the rule for refreshes if the permit is there. So is a call that asks for something else.
	waiting, fresh := waited(call.Received, o)
	if !fresh || !rec.asks(call) {
		return round{next: tryAgain}
	}
	r, ok := o.Result.(fsm.GrantResult)
	if !ok {
		return failed(invalid(o.Result))
	}
	switch r.Outcome {
	case fsm.GrantGranted, fsm.GrantReacquired:
		a := Answer{Outcome: semaphore.Granted, Permit: r.Permit, Waited: waiting}
		if r.Outcome == fsm.GrantReacquired {
			a.Outcome, a.Superseded = semaphore.Reacquired, r.Superseded.Token
		}
		return round{answer: a}
	case fsm.GrantRevisionChanged: // final: decided again, it could be the repeat of a call that was granted meanwhile
		return failed(&RevisionChangedError{call.Semaphore, *call.ExpectedRevision, r.PermitRevision})
	default:
		return round{next: tryAgain} // the state now holds what stood against it
	}
}

// replay answers a repeat of the request that holds the permit: a refresh in every respect.
func (k *Keeper) replay(ctx context.Context, e *epoch, call *AcquireCall, own *semaphore.Permit) round {
	refresh := []lessor.Refresh{{Token: own.Token}}
	before, seen := k.lessor.Renew(e.term, lessor.Frame{Received: call.Received}, refresh, k.admit, nil)
	v := before[0]
	switch v.Status {
	case lessor.NotLeading:
		return failed(k.notLeader())
	case lessor.Marked: // its end is on its way: wait for what becomes of it
		select {
		case <-v.Resolved:
			return round{next: tryAgain}
		case <-e.done:
			return failed(k.notLeader())
		case <-ctx.Done():
			return failed(ctx.Err())
		}
	case lessor.Ended, lessor.Refused, lessor.Foreign:
		return round{next: tryAgain}
	case lessor.Renewed:
	}
	if err := k.confirm(ctx, e, call.Received); err != nil {
		return failed(err)
	}
	if !k.lessor.Unchanged(seen) && k.lessor.Check(e.term, refresh, k.admit, nil)[0].Status != lessor.Renewed {
		return round{next: tryAgain}
	}
	p := *v.Permit
	p.Duration = v.Answer
	return round{answer: Answer{Outcome: semaphore.Refreshed, Permit: &p}}
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
	facts := k.holding(state, p)
	facts.OwnOverheld = overheld
	return semaphore.Admit(p, &facts)
}

// holding gathers what a decision on the holder of a permit looks at.
func (k *Keeper) holding(state *fsm.State, p *semaphore.Permit) semaphore.Facts {
	sd := state.Definition(p.Semaphore)
	facts := semaphore.Facts{Own: p, Admission: k.patterns.admission(state, sd, p.Identity), Drains: state.Drains(p.Semaphore)}
	if sd != nil {
		facts.Definition, facts.Pause = sd.Definition, sd.Pause
	}
	return facts
}

// failure says what an error of the log means for a call.
func (k *Keeper) failure(e *epoch, err error) error {
	if errors.Is(err, consensus.ErrNotAppended) && e.over() {
		return k.notLeader()
	}
	return err
}
