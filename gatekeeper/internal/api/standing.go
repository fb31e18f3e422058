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

// standing are the calls in work that last: streams, and callers that wait. What they were allowed is asked again when
// bindings change, and now and then, because tokens end. Its zero value is ready.
type standing struct {
	mu      sync.Mutex // guards the others
	last    int
	all     map[int]allowance
	checked time.Time
	of      uint64 // the access revision at that time
}

// allowance is what a lasting call was allowed.
type allowance struct {
	allowed func() error
	cancel  context.CancelCauseFunc
}

// recheckEvery is how late at most the end of a token is noticed.
const recheckEvery = 500 * time.Millisecond

// note keeps what a lasting call was allowed, and returns how it is forgotten.
func (s *standing) note(allowed func() error, cancel context.CancelCauseFunc) (over func()) {
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

// recheck ends the calls that are not allowed any more.
func (s *standing) recheck(revision uint64, now time.Time) {
	s.mu.Lock()
	if s.of == revision && now.Sub(s.checked) < recheckEvery {
		s.mu.Unlock()
		return
	}
	s.of, s.checked = revision, now
	all := slices.AppendSeq(make([]allowance, 0, len(s.all)), maps.Values(s.all))
	s.mu.Unlock() // calls begin and end meanwhile
	for _, a := range all {
		if err := a.allowed(); err != nil {
			a.cancel(err)
		}
	}
}

// while returns a context that ends with an error as its cause once the caller is not allowed that any more, or is
// another principal.
func (a *API) while(ctx context.Context, allowed permission) (context.Context, func()) {
	still := a.still(ctx, allowed)
	if still == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	over := a.standing.note(still, cancel)
	return ctx, func() { over(); cancel(nil) }
}

// still asks, by this server's state at the time, whether the caller is allowed something and is the principal that it
// was at first. Nil: nobody needs to be asked.
func (a *API) still(ctx context.Context, allowed permission) func() error {
	c := callerIn(ctx)
	if c == nil || c.member {
		return nil
	}
	early := c.early()
	var first atomic.Pointer[string] // nil at a follower that does not know the binding yet: it finds out
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

// refusedSince is why a call has ended, if that is because it is not allowed any more. An unknown outcome stays
// unknown.
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
