package keeper

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/queue"
)

// waiting is one call that waits in the queue.
type waiting struct {
	wake chan struct{}
	// decide: the rule may answer differently now, so decide again although it is not this call's turn.
	decide atomic.Bool
	// superseded: another call of the same acquisition has taken the place.
	superseded atomic.Bool
	// cancelled: the acquisition was cancelled.
	cancelled atomic.Bool
}

func (w *waiting) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Acquire waits its turn: first come first served within one leadership. progress is told the place at first and whenever
// it changes; its error ends the call. A call lasts at most Config.MaxWait; then Answer.Repeat is set, and the same call
// with the same request id keeps the place if it comes within queue.Linger. When ctx ends first, the place is kept as long.
//
// Only a missing free permit is waited for. Any other denial ends the wait, also when an edit brings it about later.
func (k *Keeper) Acquire(ctx context.Context, call *AcquireCall, progress func(Place) error) (Answer, error) {
	e, err := k.leading()
	if err != nil {
		return Answer{}, err
	}
	key := keyOf(call)
	place := queue.Key{Semaphore: call.Semaphore, Identity: call.Identity, RequestID: k.placeID(call)}
	queued := func() bool { return k.queue.Ahead(call.Semaphore, &place) || !k.gathered(e) }
	a, wait, err := k.settle(ctx, e, call, key, turn{queued: queued, waits: true})
	if !wait {
		k.count(a, err)
		return a, err
	}

	me := &waiting{wake: make(chan struct{}, 1)}
	w, replaced := k.queue.Join(place, call.Request, call.Metadata, me, time.Now(), call.WaitedBefore)
	if replaced != nil {
		replaced.superseded.Store(true)
		replaced.poke()
	}
	k.news.touch(call.Semaphore)
	a, left, err := k.wait(ctx, e, call, key, w, me, progress)
	if left {
		k.queue.Leave(place)
	} else {
		k.queue.Detach(w, me, time.Now())
		k.queue.Return(w) // if it was being proposed
	}
	k.news.touch(call.Semaphore)
	k.count(a, err)
	return a, err
}

// wait stays in the queue until there is an answer. left tells whether the place is given up for good.
func (k *Keeper) wait(
	ctx context.Context, e *epoch, call *AcquireCall, key requestKey, w *queue.Waiter[*waiting], me *waiting, progress func(Place) error,
) (a Answer, left bool, err error) {
	limit := time.NewTimer(k.cfg.MaxWait)
	defer limit.Stop()
	var told Place
	for over := false; ; {
		if now := k.placeOf(w); now != told && now.Place > 0 {
			told = now
			if err := progress(now); err != nil {
				return Answer{}, false, err
			}
		}
		select {
		case <-me.wake:
		case <-limit.C:
			over = true
		case <-e.done:
			return Answer{}, true, k.notLeader()
		case <-ctx.Done():
			return Answer{}, false, ctx.Err()
		}
		switch {
		case me.cancelled.Load():
			return Answer{}, true, &RequestEndedError{cancelled(call)}
		case me.superseded.Load():
			return Answer{}, false, ErrSuperseded
		}
		offered := k.queue.Offered(w)
		if offered || me.decide.Swap(false) {
			a, wait, err := k.settle(ctx, e, call, key, turn{queued: func() bool { return !offered }, waits: true})
			if !wait {
				return a, true, err
			}
			if offered {
				k.queue.Return(w)
				k.news.touch(call.Semaphore)
			}
		}
		if over {
			return Answer{Repeat: &told}, false, nil
		}
	}
}

// placeID names the acquisition in the queue. One without a request id cannot be repeated, so any name of its own will do.
func (k *Keeper) placeID(call *AcquireCall) string {
	if call.RequestID != "" {
		return call.RequestID
	}
	return "\x00" + strconv.FormatUint(k.streams.Add(1), 10) // no request id has a control character
}

// gathered tells whether waiters have had their time to come back after a promotion.
func (k *Keeper) gathered(e *epoch) bool { return !time.Now().Before(e.gathered) }

func (k *Keeper) placeOf(w *queue.Waiter[*waiting]) Place {
	place, length := k.queue.Place(w)
	return Place{Place: place, QueueLength: length}
}

// Waiters reads the queues of the semaphores that match, in the order of their names and places.
func (k *Keeper) Waiters(match func(semaphore string) bool, limit int) []Waiter {
	now := time.Now()
	snapshot := k.queue.Waiters(match, limit)
	waiters := make([]Waiter, len(snapshot))
	for i, s := range snapshot {
		waiters[i] = Waiter{
			Semaphore: s.Semaphore, Identity: s.Identity, Weight: s.Weight,
			Place: s.Place, Waiting: now.Sub(s.Joined), RequestID: shownID(s.RequestID),
		}
	}
	return waiters
}

// WaiterCount is how many acquires wait.
func (k *Keeper) WaiterCount() int { return k.queue.Total() }

func shownID(id string) string {
	if id != "" && id[0] == 0 {
		return ""
	}
	return id
}
