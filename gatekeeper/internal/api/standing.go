package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
)

// longCalls tracks long-lived calls. Their permissions are checked again when bindings change and, because tokens
// expire, periodically. The zero value is ready to use.
type longCalls struct {
	mu       sync.Mutex // guards the fields below
	last     int
	all      map[int]allowance
	checked  time.Time
	revision uint64 // the access revision at the last check
}

// allowance is a long-lived call's permission.
type allowance struct {
	allowed func() error
	cancel  context.CancelCauseFunc
}

// recheckInterval is the maximum time until an expired token is detected.
const recheckInterval = 500 * time.Millisecond

// add adds a long-lived call and returns a function that removes it.
func (s *longCalls) add(allowed func() error, cancel context.CancelCauseFunc) (remove func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	id := s.last
	if s.all == nil {
		s.all = make(map[int]allowance)
	}
	s.all[id] = allowance{allowed, cancel}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.all, id)
	}
}

// recheck cancels the calls that are no longer allowed.
func (s *longCalls) recheck(revision uint64, now time.Time) {
	s.mu.Lock()
	if s.revision == revision && now.Sub(s.checked) < recheckInterval {
		s.mu.Unlock()
		return
	}
	s.revision, s.checked = revision, now
	all := slices.AppendSeq(make([]allowance, 0, len(s.all)), maps.Values(s.all))
	s.mu.Unlock() // calls may begin and end during the checks
	for _, a := range all {
		if err := a.allowed(); err != nil {
			a.cancel(err)
		}
	}
}

// whileAllowed returns a context that is cancelled, with an error as its cause, when the caller loses the permission or
// becomes a different principal.
func (a *API) whileAllowed(ctx context.Context, allowed permission) (context.Context, func()) {
	stillAllowed := a.stillAllowed(ctx, allowed)
	if stillAllowed == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	remove := a.longCalls.add(stillAllowed, cancel)
	return ctx, func() { remove(); cancel(nil) }
}

// stillAllowed returns a function that checks, in this server's current state, whether the caller has the permission
// and is still the same principal. It returns nil if no check is necessary.
func (a *API) stillAllowed(ctx context.Context, allowed permission) func() error {
	c := callerIn(ctx)
	if c == nil || c.member {
		return nil
	}
	startedEarly := c.beforeBindings()
	var first atomic.Pointer[string] // nil on a follower that has not received the binding yet
	if p, _, err := c.principal(); err == nil {
		first.Store(new(p.Name()))
	}
	return func() error {
		switch {
		case startedEarly && c.beforeBindings():
			return nil
		case startedEarly:
			return &retryableError{authStarting}
		}
		p, state, err := c.principal()
		if err != nil {
			return err
		}
		if first.CompareAndSwap(nil, new(p.Name())); p.Name() != *first.Load() {
			return &retryableError{fmt.Sprintf("%s now maps to principal %q", c.credential.String(), p.Name())}
		}
		return allowed(p, state)
	}
}

// cancellationError returns the cause of a call's cancellation if the caller lost its permission. Otherwise, it returns
// err. An unknown outcome remains unknown.
func cancellationError(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	_, unauthenticated := errors.AsType[*unauthenticatedError](cause)
	_, forbidden := errors.AsType[*forbiddenError](cause)
	_, retryable := errors.AsType[*retryableError](cause)
	if err != nil && (unauthenticated || forbidden || retryable) && !errors.Is(err, consensus.ErrUnknownOutcome) {
		return cause
	}
	return err
}
