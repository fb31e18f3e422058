package keeper

import (
	"context"
	"time"
)

// TryAcquireTogether decides many calls on one state. Those whose answer changes nothing share one Confirm, and answer is
// called once for each of them, on the caller's goroutine. It does nothing for the others: TryAcquire must decide those.
func (k *Keeper) TryAcquireTogether(ctx context.Context, calls []*AcquireCall, answer func(i int, a Answer, err error)) {
	e, err := k.leading()
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
	var received time.Time // the latest: a leader then led at all others too
	for i, call := range calls {
		r, ok := k.unchanging(call) // all before the wait: what they say was so when it was decided
		if !ok {
			continue
		}
		k.asked(call)
		together = append(together, decided{i, r})
		if call.Received.After(received) {
			received = call.Received
		}
	}
	if len(together) == 0 {
		return
	}
	err = k.confirm(ctx, e, received)
	for _, d := range together {
		if err != nil {
			d.round = failed(err)
		}
		a, err := k.counted(calls[d.i], d.round)
		answer(d.i, a, err)
	}
}

// unchanging decides a call and returns its answer, not yet confirmed, if that changes nothing: a denial or an error.
func (k *Keeper) unchanging(call *AcquireCall) (round, bool) {
	if k.proposed(keyOf(call)) {
		return round{}, false
	}
	d := k.decide(k.cfg.Machine.State(), call, turn{queued: func() bool { return k.queue.Ahead(call.Semaphore, nil) }})
	return d.answer, d.replays == nil && d.grant == nil
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
