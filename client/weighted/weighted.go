// Package weighted wraps a semaphore on a Gatekeeper cluster in the API of golang.org/x/sync/semaphore, for programs
// written against that API.
//
// That API has no way to report that a permit was lost. A permit from a cluster can be lost, and the program must then
// stop the work that the permit protects. Watch Context for this, or use package client directly.
//
// # Compatibility
//
// The compatibility promise of package client applies within major version 1.
package weighted

import (
	"context"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
)

// tryTimeout bounds TryAcquire, which takes no context.
const tryTimeout = 5 * time.Second

// releaseTimeout bounds Release, which takes no context either. If a release does not get through, the permit expires.
const releaseTimeout = 5 * time.Second

// Weighted is a view of a semaphore. It is safe for concurrent use.
type Weighted struct {
	sem    *client.Semaphore
	ctx    context.Context //nolint:containedctx // returned by Context
	cancel context.CancelCauseFunc

	mu sync.Mutex // guards everything below
	// held lists the permits, oldest first.
	held []heldPermit
	// weight is the weight that the caller holds. The permits may weigh more, because a permit can only be released as
	// a whole.
	weight int64
}

type heldPermit struct {
	permit  *client.Permit
	weight  int64
	unwatch func() bool
}

// New returns a view of sem that holds no permits. sem must not have a holder ID, because one holder ID can hold only
// one permit at a time.
func New(sem *client.Semaphore) *Weighted {
	w := &Weighted{sem: sem}
	w.ctx, w.cancel = context.WithCancelCause(context.Background())
	return w
}

// Context returns a context that is cancelled when any permit acquired through the view must be given up. The cause
// says why. The context stays cancelled, so create a new view to continue.
func (w *Weighted) Context() context.Context { return w.ctx }

// Acquire acquires a weight of n, waiting until it is available or ctx ends. The errors are those of
// client.Semaphore.Acquire. A weight above the total number of permits is denied immediately. If n <= 0, Acquire does
// nothing.
func (w *Weighted) Acquire(ctx context.Context, n int64) error {
	return w.take(n, func(weight client.AcquireOption) (*client.Permit, error) { return w.sem.Acquire(ctx, weight) })
}

// TryAcquire acquires a weight of n if it is available now, and reports whether it did. It also returns false if no
// server responds within a few seconds.
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
	unwatch := context.AfterFunc(p.Context(), func() { w.cancel(context.Cause(p.Context())) })
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = append(w.held, heldPermit{p, n, unwatch})
	w.weight += n
	return nil
}

// Release releases a weight of n. It panics if more is released than held. A permit can only be released as a whole: if
// a weight of 3 was acquired in one call but is released in parts, nothing becomes available until the last part is
// released. Release tries for a few seconds to reach the servers.
func (w *Weighted) Release(n int64) {
	for _, p := range w.takeReleased(n) {
		ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
		_ = p.Release(ctx) // on an error the permit expires
		cancel()
	}
}

// takeReleased removes and returns the permits that are covered by the released weight. It repeatedly takes the permit
// with the largest weight that fits, or the oldest of several with that weight.
func (w *Weighted) takeReleased(n int64) (permits []*client.Permit) {
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
		h.unwatch()
		spare -= h.weight
		permits = append(permits, h.permit)
		w.held = append(w.held[:best], w.held[best+1:]...)
	}
}
