package keeper

import (
	"context"
	"errors"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/lessor"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/queue"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// TryAcquire handles a call without waiting for a permit. If ctx ends before the keeper has answered, the call counts
// as unanswered, and its grant is released unless another call received it. Once TryAcquire has returned, ctx no longer
// matters.
func (k *Keeper) TryAcquire(ctx context.Context, call *AcquireCall) (Answer, error) {
	t, err := k.leading()
	if err != nil {
		return Answer{}, err
	}
	k.noteRequest(call)
	r := k.settle(ctx, t, call, k.behind(call))
	return k.noteAnswer(call, r)
}

// TryAcquireTogether handles many calls. Calls whose answers do not change the state are completed here: they all share
// one Confirm, and answer is called once for each of them, on the caller's goroutine. For the other calls, answer is
// not called: pass them to TryAcquire.
func (k *Keeper) TryAcquireTogether(ctx context.Context, calls []*AcquireCall, answer func(i int, a Answer, err error)) {
	t, err := k.leading()
	if err != nil {
		for i := range calls {
			answer(i, Answer{}, err)
		}
		return
	}
	type decided struct {
		i int
		round
	}
	var together []decided
	var received time.Time // the latest receive time; a confirmation at or after it covers every call
	for i, call := range calls {
		r, ok := k.decideReadOnly(call) // before confirming, so that the confirmation covers every decision
		if !ok {
			continue
		}
		k.noteRequest(call)
		together = append(together, decided{i, r})
		if call.Received.After(received) {
			received = call.Received
		}
	}
	if len(together) == 0 {
		return
	}
	err = k.confirm(ctx, t, received)
	for _, d := range together {
		if err != nil {
			d.round = failed(err)
		}
		a, err := k.noteAnswer(calls[d.i], d.round)
		answer(d.i, a, err)
	}
}

// decideReadOnly decides a call and reports whether the answer leaves the state unchanged because it is a denial or an
// error. The answer has not been confirmed yet.
func (k *Keeper) decideReadOnly(call *AcquireCall) (round, bool) {
	if k.proposed(keyOf(call)) {
		return round{}, false
	}
	d := k.decide(k.cfg.Machine.State(), call, k.behind(call))
	return d.answer, d.replays == nil && d.grant == nil
}

// behind returns the position of a call that does not wait. Every waiter is ahead of it.
func (k *Keeper) behind(call *AcquireCall) queuePosition {
	return queuePosition{waitsAhead: func() bool { return k.ahead(call.Semaphore, nil) }}
}

// ahead reports whether any waiter is ahead of the call with the given key. With a nil key, it reports whether the
// queue has any waiters.
func (k *Keeper) ahead(sem string, key *queue.Key) bool {
	return k.queue.Ahead(sem, key, k.cfg.Machine.State().Work(sem).Waiting)
}

// noteRequest records which caller requests which semaphore.
func (k *Keeper) noteRequest(call *AcquireCall) {
	k.seen.record(k.cfg.Machine.State(), call.Identity, call.Received)
	k.missed.Asked(call.Semaphore)
	k.compareClocks(call)
}

// noteAnswer records the answer to a call and returns it.
func (k *Keeper) noteAnswer(call *AcquireCall, r round) (Answer, error) {
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

func keyOf(call *AcquireCall) requestKey {
	return requestKey{semaphore: call.Semaphore, identity: call.Identity, requestID: call.RequestID}
}

// round is the result of one attempt to answer a call.
type round struct {
	next   next
	answer Answer // set if the round is finished and err is nil
	err    error
	left   bool // the waiting call leaves the queue and does not keep its place for a retry
}

// next is what to do after a round.
type next uint8

const (
	finished next = iota // the call is answered
	queueUp              // no permit is free, and the call waits for one
	tryAgain             // the state has changed: decide again
)

func failed(err error) round { return round{err: err} }

// leaving returns r with left set.
func (r round) leaving(left bool) round {
	r.left = left
	return r
}

func denied(d *Denial) round { return round{answer: Answer{Outcome: semaphore.Denied, Denial: d}} }

// settle runs rounds until the call is answered or must wait. One round may not be enough, because a decision may no
// longer hold when it is applied.
func (k *Keeper) settle(ctx context.Context, t *tenure, call *AcquireCall, place queuePosition) round {
	for {
		if err := ctx.Err(); err != nil {
			return failed(err)
		}
		if t.over() {
			return failed(k.notLeader())
		}
		if r := k.tryRound(ctx, t, call, place); r.next != tryAgain {
			return r
		}
	}
}

func (k *Keeper) tryRound(ctx context.Context, t *tenure, call *AcquireCall, place queuePosition) round {
	key := keyOf(call)
	// Read the state before calling attach. If attach then finds no grant in flight, this earlier state cannot contain
	// a permit that was handed over to the call, so the call is not denied for already holding it.
	state := k.cfg.Machine.State()
	if rec := k.attach(key, place.entry); rec != nil {
		return k.await(ctx, t, rec, call, place)
	}
	d := k.decide(state, call, place)
	switch {
	case d.waits:
		return round{next: queueUp}
	case d.replays != nil:
		return k.replay(ctx, t, call, d.replays)
	case d.grant != nil:
		rec := k.propose(t, key, *d.grant)
		call.placed()
		return k.await(ctx, t, rec, call, place)
	}
	if err := k.confirm(ctx, t, call.Received); err != nil {
		return failed(err)
	}
	return d.answer
}

// await waits for the outcome of a proposed grant and turns it into an answer.
func (k *Keeper) await(ctx context.Context, t *tenure, rec *pendingGrant, call *AcquireCall, place queuePosition) round {
	select {
	case <-rec.done:
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil { // even if the outcome is known: the caller would not receive it
		k.detach(rec)
		return failed(err)
	}
	k.markDelivered(rec)
	o := &rec.outcome
	if o.Err != nil {
		return failed(k.failure(t, o.Err))
	}
	// A call that was received after the grant was handed to Raft is a replay: its send time proves nothing about this
	// entry. It is decided again, as a refresh if the permit exists. A call with a different request is decided again
	// too.
	waiting, fresh := waited(call.Received, o)
	if !fresh || !rec.matches(call) {
		return round{next: tryAgain}
	}
	r, ok := o.Result.(fsm.GrantResult)
	if !ok {
		return failed(invalid(o.Result))
	}
	switch r.Outcome {
	case fsm.GrantGranted, fsm.GrantReacquired:
		a := Answer{Outcome: semaphore.Granted, Permit: r.Permit, Waited: waiting, Job: r.Job, Task: r.Task}
		if r.Outcome == fsm.GrantReacquired {
			a.Outcome, a.Superseded = semaphore.Reacquired, r.Superseded.Token
		}
		return round{answer: a}
	case fsm.GrantRevisionChanged: // final: a second decision could mistake it for a retry
		return failed(&RevisionChangedError{call.Semaphore, *call.ExpectedRevision, r.PermitRevision})
	default:
		return round{next: tryAgain} // the state now holds the reason
	}
}

// replay answers a retry of the request that holds the permit. The retry is treated exactly like a refresh.
func (k *Keeper) replay(ctx context.Context, t *tenure, call *AcquireCall, own *semaphore.Permit) round {
	refresh := []lessor.Refresh{{Token: own.Token}}
	before, seen := k.lessor.Renew(t.term, lessor.Frame{Received: call.Received}, refresh, k.admit, nil)
	v := before[0]
	switch v.Status {
	case lessor.NotLeading:
		return failed(k.notLeader())
	case lessor.Marked: // the permit is about to end: wait for the outcome
		select {
		case <-v.Resolved:
			return round{next: tryAgain}
		case <-t.done:
			return failed(k.notLeader())
		case <-ctx.Done():
			return failed(ctx.Err())
		}
	case lessor.Ended, lessor.Refused, lessor.Foreign:
		return round{next: tryAgain}
	case lessor.Renewed:
	}
	if err := k.confirm(ctx, t, call.Received); err != nil {
		return failed(err)
	}
	if !k.lessor.Unchanged(seen) && k.lessor.Check(t.term, refresh, k.admit, nil)[0].Status != lessor.Renewed {
		return round{next: tryAgain}
	}
	p := *v.Permit
	p.Duration = v.ResponseDuration
	a := Answer{Outcome: semaphore.Refreshed, Permit: &p}
	if state := k.cfg.Machine.State(); call.Worker {
		if a.Task = state.TaskOf(p.Token); a.Task != nil {
			a.Job = state.JobByNumber(a.Task.Job)
		}
	}
	return round{answer: a}
}

// failure translates an error from the log for the caller.
func (k *Keeper) failure(t *tenure, err error) error {
	if errors.Is(err, consensus.ErrNotAppended) && t.over() {
		return k.notLeader()
	}
	return err
}
