// Package weighted shows a semaphore of a Gatekeeper cluster as golang.org/x/sync/semaphore shows one of a process, for
// programs that are written for that.
//
// What it cannot show is loss: a permit of a cluster can be lost, and then the program must stop what it does under it.
// So heed Context, or use package client itself.
//
// # Compatibility
//
// As package client, within major version 1.
package weighted

import (
	"context"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
)

// tryTimeout bounds TryAcquire, which has no context.
const tryTimeout = 5 * time.Second

// releaseTimeout bounds Release, which has no context either. A permit whose release does not get through expires.
const releaseTimeout = 5 * time.Second

// Weighted is a view of a semaphore. Its methods may be called from any goroutine.
type Weighted struct {
	sem    *client.Semaphore
	ctx    context.Context //nolint:containedctx // it is what Context returns
	cancel context.CancelCauseFunc

	mu sync.Mutex // guards everything below
	// held are the permits, the oldest first.
	held []held
	// weight is what they weigh, less what was released and is less than any of them weighs.
	weight int64
}

type held struct {
	permit   *client.Permit
	weight   int64
	unfollow func() bool
}

// New returns a view of sem that holds nothing. Give sem no holder id: under one holder id only one permit can be held
// at a time.
func New(sem *client.Semaphore) *Weighted {
	w := &Weighted{sem: sem}
	w.ctx, w.cancel = context.WithCancelCause(context.Background())
	return w
}

// Context ends, with its cause, as soon as any permit that was acquired through the view is to be given up. It does not
// come back: make a new view.
func (w *Weighted) Context() context.Context { return w.ctx }

// Acquire acquires a weight of n, and waits its turn until ctx ends. The error is as client.Semaphore.Acquire's; a
// weight that is more than all permits is denied at once. An n of 0 or less acquires nothing.
func (w *Weighted) Acquire(ctx context.Context, n int64) error {
	return w.take(n, func(weight client.AcquireOption) (*client.Permit, error) { return w.sem.Acquire(ctx, weight) })
}

// TryAcquire acquires a weight of n if it is free now, and says whether. It is false too when no server answers within
// a few seconds.
func (w *Weighted) TryAcquire(n int64) bool {
	ctx, cancel := context.WithTimeout(context.Background(), tryTimeout)
	defer cancel()
	return w.take(n, func(weight client.AcquireOption) (*client.Permit, error) { return w.sem.TryAcquire(ctx, weight) }) == nil
}

func (w *Weighted) take(n int64, acquire func(client.AcquireOption) (*client.Permit, error)) error {
	if n <= 0 {
		return nil
	}
	p, err := acquire(client.WithWeight(uint32(min(n, 1<<32-1))))
	if err != nil {
		return err
	}
	unfollow := context.AfterFunc(p.Context(), func() { w.cancel(context.Cause(p.Context())) })
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = append(w.held, held{p, n, unfollow})
	w.weight += n
	return nil
}

// Release gives a weight of n back, and panics when more is released than is held. A permit is given back whole: of a
// weight of 3 that is released in parts nothing is free before the last part, since what was granted together ends
// together. The servers are notified until they answer, for a few seconds.
func (w *Weighted) Release(n int64) {
	for _, p := range w.giveUp(n) {
		ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
		_ = p.Release(ctx) // it expires
		cancel()
	}
}

// giveUp takes the permits off that are covered by what has been released: the oldest of the largest weight that fits,
// again and again.
func (w *Weighted) giveUp(n int64) (permits []*client.Permit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n > w.weight {
		panic("weighted: released more than held")
	}
	if n <= 0 {
		return nil
	}
	w.weight -= n
	total := int64(0)
	for _, h := range w.held {
		total += h.weight
	}
	for spare := total - w.weight; ; {
		best := -1
		for i, h := range w.held {
			if h.weight <= spare && (best < 0 || h.weight > w.held[best].weight) {
				best = i
			}
		}
		if best < 0 {
			return permits
		}
		h := w.held[best]
		h.unfollow()
		spare -= h.weight
		permits = append(permits, h.permit)
		w.held = append(w.held[:best], w.held[best+1:]...)
	}
}
