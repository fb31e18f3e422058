package keeper

import (
	"context"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// TryAcquireTogether asks once for each of many calls. Those that the state in memory denies share one Confirm, and denied is told of
// each of them once: a denial, or the error of all. Every other call has to go its own way: alone is told of it before anything is waited
// for, and TryAcquire is to be called for it, on another goroutine. Both are called by the caller's own.
//
// ctx is that of what the calls came in. A call of which nobody wants to hear any more is denied all the same: it changes nothing.
func (k *Keeper) TryAcquireTogether(ctx context.Context, calls []*AcquireCall, alone func(i int), denied func(i int, a Answer, err error)) {
	e, err := k.leading()
	if err != nil {
		for i := range calls {
			denied(i, Answer{}, err)
		}
		return
	}
	var received time.Time // of the latest: who led at or after it led at or after all others
	var refused []int
	denials := make([]*Denial, len(calls))
	for i, call := range calls {
		denials[i] = k.refusal(call) // all before the wait: what they say was so when it was decided
		if denials[i] == nil {
			alone(i)
			continue
		}
		refused = append(refused, i)
		if call.Received.After(received) {
			received = call.Received
		}
	}
	if len(refused) == 0 {
		return
	}
	err = k.confirm(ctx, e, received)
	for _, i := range refused {
		var a Answer
		if err == nil {
			a = Answer{Outcome: semaphore.Denied, Denial: denials[i]}
		}
		k.count(calls[i], a, err)
		denied(i, a, err)
	}
}

// refusal decides a call as once does, and returns its denial, which is not confirmed, if it is a plain one: of a new acquisition, which
// does not depend on a revision. Otherwise it returns nil.
func (k *Keeper) refusal(call *AcquireCall) *Denial {
	key := keyOf(call)
	if call.ExpectedRevision != nil || k.proposed(key) {
		return nil
	}
	state := k.cfg.Machine.State()
	if k.ended(state, call) != nil {
		return nil
	}
	facts := k.facts(state, call)
	if own := facts.Own; (own == nil || own.RequestID != call.RequestID) && k.fresh(state, call) != nil {
		return nil
	}
	facts.WaitsAhead = k.queue.Ahead(call.Semaphore, nil)
	d := semaphore.Decide(&call.Request, &facts)
	if d.Outcome != semaphore.Denied {
		return nil
	}
	k.asked(call)
	return k.denial(state, call, &facts, d)
}

// proposed tells whether a grant is being proposed under this key.
func (k *Keeper) proposed(key requestKey) bool {
	if key.requestID == "" {
		return false
	}
	k.pending.mu.Lock()
	defer k.pending.mu.Unlock()
	return k.pending.records[key] != nil
}
