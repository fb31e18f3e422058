package check

import (
	"fmt"
	"maps"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// firing identifies a semaphore's firing.
type firing struct{ semaphore, name string }

// claimEvents records the calls that affected the firing claimed with a token.
type claimEvents struct {
	// notRun, cutShort, done and failed report whether a release specified this outcome. The release may not have taken
	// effect.
	notRun, cutShort, done, failed bool
	failures                       map[string]bool
	// released is the time at which a response confirmed the release, or never if none did.
	released time.Duration
	// freed is the time of the first call with which an operator may have freed the firing, or never. takenOver reports
	// whether its holder may have been ordered to stop.
	freed     time.Duration
	takenOver bool
}

// endedBy reports whether the firing had ended by the given time: a release was confirmed, and every report said that
// the job was done or had failed.
func (s *claimEvents) endedBy(at time.Duration) bool {
	return s.released <= at && !s.notRun && !s.cutShort
}

// firings holds what a history says about firings.
type firings struct {
	freeOnLoss  map[string]bool         // semaphores that had FreeOnLoss at any time
	maxAttempts map[string]uint32       // each semaphore's largest max_attempts; absent if it has ever been unbounded
	byToken     map[uint64]*claimEvents // by token
	// cancelled holds the requests that may have been cancelled.
	cancelled map[attempt]bool
}

func firingsOf(h *history.History) *firings {
	f := &firings{freeOnLoss: map[string]bool{}, maxAttempts: map[string]uint32{}, byToken: map[uint64]*claimEvents{}, cancelled: map[attempt]bool{}}
	unbounded := map[string]bool{}
	for _, op := range h.Operations {
		r := op.Request
		switch r.Kind {
		case history.Edit:
			if d := r.Definition; d != nil {
				f.freeOnLoss[r.Semaphore] = f.freeOnLoss[r.Semaphore] || d.FreeOnLoss
				f.maxAttempts[r.Semaphore] = max(f.maxAttempts[r.Semaphore], d.MaxAttempts)
				unbounded[r.Semaphore] = unbounded[r.Semaphore] || d.MaxAttempts == 0
			}
		case history.Release:
			f.addRelease(op)
		case history.Revoke:
			if r.UnsafeNow && op.Outcome() != history.Refused {
				t := f.eventsOf(r.Token)
				t.freed = min(t.freed, op.At)
			}
		case history.TakeOver:
			if op.Outcome() != history.Refused {
				f.eventsOf(r.Token).takenOver = true
			}
		case history.Cancel:
			if key, ok := attemptOf(r); ok {
				f.cancelled[key] = true
			}
		}
	}
	maps.DeleteFunc(f.maxAttempts, func(name string, _ uint32) bool { return unbounded[name] })
	return f
}

func (f *firings) eventsOf(token uint64) *claimEvents {
	s := f.byToken[token]
	if s == nil {
		s = &claimEvents{released: never, freed: never, failures: map[string]bool{}}
		f.byToken[token] = s
	}
	return s
}

func (f *firings) addRelease(op history.Operation) {
	r, s := op.Request, f.eventsOf(op.Request.Token)
	if op.Outcome() == history.Refused {
		return
	}
	switch {
	case r.NotRun:
		s.notRun = true
	case r.CutShort:
		s.cutShort = true
	case r.Failed:
		s.failed, s.failures[r.Failure] = true, true
	default:
		s.done = true
	}
	if answer, ok := op.Response(); ok && answer.Result == history.Released {
		s.released = min(s.released, op.Return.At)
	}
}

// givenBack reports whether a grant's firing may have been given back or never started.
func (f *firings) givenBack(g *grant) bool {
	request, ok := attemptOf(g.request)
	return ok && f.cancelled[request] || f.eventsOf(g.token).notRun
}

// Firings finds three kinds of violations:
//
//   - a firing was granted again even though the previous run had ended, or was lost in a semaphore that does not hand
//     over lost firings
//   - a firing was started more than max_attempts times
//   - a waiting caller received an outcome that never occurred
func Firings(h *history.History) []Violation {
	f := firingsOf(h)
	last, starts := map[firing]*grant{}, map[firing]uint32{}
	all := grants(h)
	var violations []Violation
	for _, g := range inOrder(all) {
		if g.request.Firing == "" {
			continue
		}
		key := firing{g.semaphore, g.request.Firing}
		if before := last[key]; before != nil && !f.mayFollow(before, g) {
			violations = append(violations, Violation{FiringOnce, g.semaphore, fmt.Sprintf("firing %s was granted to %v with token %d and again to %v with token %d",
				g.request.Firing, before.identity, before.token, g.identity, g.token)})
		}
		last[key] = g
		if f.givenBack(g) {
			continue
		}
		starts[key]++
		if maxAttempts, bounded := f.maxAttempts[g.semaphore]; bounded && starts[key] == maxAttempts+1 {
			violations = append(violations, Violation{Attempts, g.semaphore, fmt.Sprintf("firing %s was started %d times, the last time by %v with token %d, but max_attempts is %d",
				g.request.Firing, starts[key], g.identity, g.token, maxAttempts)})
		}
	}
	return append(violations, f.checkAwaited(h, all)...)
}

// mayFollow reports whether the firing granted with before may have been granted again with g.
func (f *firings) mayFollow(before, g *grant) bool {
	s := f.eventsOf(before.token)
	handedOver := f.freeOnLoss[g.semaphore] || s.takenOver
	switch {
	case f.givenBack(before):
		return true
	case s.endedBy(g.call):
		return false
	case handedOver && s.cutShort:
		return true
	}
	return handedOver && g.known >= min(before.lapse, s.freed)
}

// checkAwaited finds outcomes that a waiting caller received even though no holder reported them and no loss explains
// them.
func (f *firings) checkAwaited(h *history.History, all map[uint64]*grant) (violations []Violation) {
	for _, op := range h.Operations {
		answer, ok := op.Response()
		r := op.Request
		if !ok || r.Kind != history.Await || answer.Token == 0 {
			continue
		}
		s, why := f.eventsOf(answer.Token), ""
		ended := s.endedBy(op.At)
		switch answer.Firing {
		case "TAKEN_OVER":
			if answer.Token <= r.Token {
				why = "which is not a later token"
			} else if f.eventsOf(r.Token).endedBy(op.At) {
				why = "although its holder had ended it"
			}
		case "CLAIMED", "OPEN": // the wait ended without a result
			if f.eventsOf(r.Token).endedBy(op.At) {
				why = "although its holder had ended it"
			}
		case "DONE":
			if !s.done {
				why = "but no release reported that it was done"
			}
		case "FAILED":
			if !s.failures[answer.Failure] {
				why = fmt.Sprintf("but no release reported that it failed with %q", answer.Failure)
			}
		case "CUT_SHORT":
			if !s.cutShort {
				why = "but no release reported that it was cut short"
			}
		case "SPENT":
			if g := all[answer.Token]; ended || g != nil && op.Return.At < min(g.lapse, s.freed) {
				why = "but its holder had not lost it"
			}
		}
		if maxAttempts, bounded := f.maxAttempts[r.Semaphore]; bounded && answer.Attempts > maxAttempts {
			why = fmt.Sprintf("after %d attempts, but max_attempts is %d", answer.Attempts, maxAttempts)
		}
		if why != "" {
			violations = append(violations, Violation{FiringEnd, r.Semaphore, fmt.Sprintf("a caller awaiting firing %s (token %d) received %s with token %d, %s",
				r.Firing, r.Token, answer.Firing, answer.Token, why)})
		}
	}
	return violations
}
