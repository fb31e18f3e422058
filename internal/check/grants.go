package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// grant holds everything that callers observed about one permit.
type grant struct {
	token     uint64
	semaphore string
	identity  history.Identity
	request   history.Request
	// call is the time of the first attempt of an acquisition that was granted this token. known is the time of the
	// earliest response with the token. The grant happened between the two.
	call, known time.Duration
	// lapse is the earliest time at which the permit may have expired. Its holders rely on it until that time.
	lapse time.Duration
	// superseded is the token that this grant superseded according to a response, or 0.
	superseded uint64
	// fresh reports whether a response says that the grant superseded no token.
	fresh bool
	// seen holds later acquires whose responses named the same token.
	seen []history.Operation
	// task reports whether the permit carried a task.
	task bool
}

// singleRun reports whether the permit is for a single run, so that its identity cannot acquire it again.
func (g *grant) singleRun() bool { return g.task || g.request.Firing != "" }

// attempt identifies an acquisition, which may consist of several calls.
type attempt struct {
	semaphore string
	identity  history.Identity
	request   string
}

func attemptOf(r history.Request) (attempt, bool) {
	return attempt{r.Semaphore, r.Identity, r.RequestID}, r.RequestID != ""
}

// grants collects what callers observed about each permit, by token.
func grants(h *history.History) map[uint64]*grant {
	first := map[attempt]time.Duration{}
	all := taskGrants(h)
	type holder struct {
		client string
		token  uint64
	}
	explicit := map[holder]bool{}
	for _, b := range h.Beliefs {
		explicit[holder{b.Client, b.Token}] = b.ReliedExplicitly
	}
	for _, op := range h.Operations {
		if op.Request.Kind != history.Acquire {
			continue
		}
		call := op.At
		if key, ok := attemptOf(op.Request); ok {
			if at, ok := first[key]; ok {
				call = at
			}
			first[key] = call
		}
		answer, ok := op.Response()
		if !ok || answer.Result != history.Granted {
			continue
		}
		g := all[answer.Token]
		if g == nil {
			g = &grant{token: answer.Token, semaphore: op.Request.Semaphore, identity: op.Request.Identity, request: op.Request, call: call, known: op.Return.At}
			all[answer.Token] = g
		} else {
			g.seen = append(g.seen, op)
		}
		g.superseded, g.fresh = max(g.superseded, answer.Superseded), g.fresh || answer.Fresh
		g.call, g.known = min(g.call, call), min(g.known, op.Return.At)
		if !explicit[holder{op.Client, answer.Token}] {
			g.lapse = max(g.lapse, answer.SafeUntil)
		}
	}
	for _, op := range h.Operations {
		if answer, ok := op.Response(); ok && op.Request.Kind == history.Refresh {
			if g := all[op.Request.Token]; g != nil && answer.Result == history.Refreshed {
				g.lapse = max(g.lapse, answer.SafeUntil)
			}
		}
	}
	for _, b := range h.Beliefs {
		if g := all[b.Token]; g != nil {
			g.lapse = max(g.lapse, b.ReliedUntil)
		}
	}
	return all
}

// inOrder returns the grants sorted by token.
func inOrder(all map[uint64]*grant) []*grant {
	return slices.SortedFunc(maps.Values(all), func(a, b *grant) int { return cmp.Compare(a.token, b.token) })
}

// Tokens finds tokens that were granted to two acquisitions. Across all semaphores it also finds grants whose token is
// lower than a token that was already known when they were requested.
func Tokens(h *history.History) []Violation {
	var violations []Violation
	all := grants(h)
	for _, g := range inOrder(all) {
		for _, op := range g.seen {
			if op.Request.Semaphore != g.semaphore || op.Request.Identity != g.identity {
				violations = append(violations, Violation{IncreasingTokens, g.semaphore, fmt.Sprintf("token %d was granted to %v and, in %s, to %v", g.token, g.identity, op.Request.Semaphore, op.Request.Identity)})
			}
		}
	}
	// From the highest token down: no higher token may have been known before this one was requested.
	ordered := inOrder(all)
	var earliest *grant
	for _, g := range slices.Backward(ordered) {
		if earliest != nil && earliest.known < g.call {
			violations = append(violations, Violation{IncreasingTokens, g.semaphore, fmt.Sprintf("token %d was requested at %v, when token %d of %s had been known since %v",
				g.token, g.call, earliest.token, earliest.semaphore, earliest.known)})
		}
		if earliest == nil || g.known < earliest.known {
			earliest = g
		}
	}
	return violations
}

// Requests finds acquisitions that were granted twice, request ids with two tokens, and tokens that were granted to two
// requests. A call without a request id is a separate request.
func Requests(h *history.History) []Violation {
	var violations []Violation
	tokens := map[attempt]uint64{}
	for _, op := range h.Operations {
		answer, ok := op.Response()
		if !ok || answer.Result != history.Granted {
			continue
		}
		key, ok := attemptOf(op.Request)
		if !ok {
			continue
		}
		if before, ok := tokens[key]; ok && before != answer.Token {
			violations = append(violations, Violation{OneGrant, key.semaphore, fmt.Sprintf("request %s of %v was granted token %d and token %d", key.request, key.identity, before, answer.Token)})
		}
		tokens[key] = answer.Token
	}
	for _, g := range inOrder(grants(h)) {
		for _, op := range g.seen {
			if r := op.Request; r.RequestID != g.request.RequestID || r.RequestID == "" {
				violations = append(violations, Violation{OneGrant, g.semaphore, fmt.Sprintf("token %d was granted to request %q of %v and to request %q",
					g.token, g.request.RequestID, g.identity, r.RequestID)})
			}
		}
	}
	return violations
}
