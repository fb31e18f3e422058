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

// longCalls holds the long-lived calls: streams and waiting callers. Their permissions are checked again when bindings
// change and, because tokens expire, periodically. The zero value is ready to use.
type longCalls struct {
	mu      sync.Mutex // guards the fields below
	last    int
	all     map[int]allowance
	checked time.Time
	of      uint64 // the access revision at the last check
}

// allowance is the permission of a long-lived call.
type allowance struct {
	allowed func() error
	cancel  context.CancelCauseFunc
}

// recheckEvery is the maximum time until an expired token is noticed.
const recheckEvery = 500 * time.Millisecond

// note adds a long-lived call, and returns a function that removes it.
func (s *longCalls) note(allowed func() error, cancel context.CancelCauseFunc) (over func()) {
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
	if s.of == revision && now.Sub(s.checked) < recheckEvery {
		s.mu.Unlock()
		return
	}
	s.of, s.checked = revision, now
	all := slices.AppendSeq(make([]allowance, 0, len(s.all)), maps.Values(s.all))
	s.mu.Unlock() // calls may begin and end during the checks
	for _, a := range all {
		if err := a.allowed(); err != nil {
			a.cancel(err)
		}
	}
}

// while returns a context that is cancelled, with an error as its cause, when the caller loses the permission or
// becomes a different principal.
func (a *API) while(ctx context.Context, allowed permission) (context.Context, func()) {
	still := a.still(ctx, allowed)
	if still == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	over := a.longCalls.note(still, cancel)
	return ctx, func() { over(); cancel(nil) }
}

// still returns a function that checks against this server's current state that the caller has the permission and is
// still the same principal. It returns nil if no check is necessary.
func (a *API) still(ctx context.Context, allowed permission) func() error {
	c := callerIn(ctx)
	if c == nil || c.member {
		return nil
	}
	early := c.early()
	var first atomic.Pointer[string] // nil on a follower without the binding, until it arrives
	if p, _, err := c.principal(); err == nil {
		first.Store(new(p.Name()))
	}
	return func() error {
		switch {
		case early && c.early():
			return nil
		case early:
			return &againError{beginning}
		}
		p, state, err := c.principal()
		if err != nil {
			return err
		}
		if first.CompareAndSwap(nil, new(p.Name())); p.Name() != *first.Load() {
			return &againError{fmt.Sprintf("%s has become principal %q", c.credential.String(), p.Name())}
		}
		return allowed(p, state)
	}
}

// refusedSince returns the cause of a call's cancellation if the caller lost its permission, and otherwise err. An
// unknown outcome remains unknown.
func refusedSince(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	_, stranger := errors.AsType[*unauthenticatedError](cause)
	_, forbidden := errors.AsType[*forbiddenError](cause)
	_, again := errors.AsType[*againError](cause)
	if err != nil && (stranger || forbidden || again) && !errors.Is(err, consensus.ErrUnknownOutcome) {
		return cause
	}
	return err
}
