package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
	"github.com/gatekeeperd/gatekeeper/internal/overlap"
)

// Beliefs finds moments at which holders believed that they held more permits than the semaphore ever had during the
// run. A permit stops counting when its unsafe revocation is requested. An identity has at most one permit. If it
// believes that it holds more than one token at the same time, only one token counts: a superseded holder may not yet
// know that it was superseded.
func Beliefs(h *history.History) []Violation {
	permits := map[string]uint32{}
	freed := map[uint64]time.Duration{}
	for _, op := range h.Operations {
		switch {
		case op.Request.Kind == history.Edit && op.Request.Definition != nil:
			name := op.Request.Semaphore
			permits[name] = max(permits[name], op.Request.Definition.Permits)
		case op.Request.Kind == history.Revoke && op.Request.UnsafeNow:
			if _, repeated := freed[op.Request.Token]; !repeated && op.Outcome() != history.Refused {
				freed[op.Request.Token] = op.At
			}
		}
	}
	byIdentity := map[believer][]overlap.Belief{}
	believerOf := believers(h)
	for _, b := range h.Beliefs {
		if at, ok := freed[b.Token]; ok {
			b.Until = min(b.Until, at)
		}
		who := believerOf(b)
		byIdentity[who] = append(byIdentity[who], overlap.Belief{
			Semaphore: b.Semaphore, Token: b.Token, Weight: b.Weight, Holder: b.Client, From: b.From, Until: b.Until,
		})
	}
	var merged []overlap.Belief
	for _, beliefs := range byIdentity {
		merged = append(merged, merge(beliefs)...)
	}
	var violations []Violation
	for _, o := range overlap.Find(merged, permits) {
		violations = append(violations, Violation{Exclusive, o.Semaphore, o.String()})
	}
	return append(violations, decreasingTokens(byIdentity, permits)...)
}

// believer is an identity at a semaphore. If the history does not contain the token's grant, the token stands in for
// the identity.
type believer struct {
	semaphore string
	identity  history.Identity
	token     uint64
}

// believers returns a function that maps a belief to its believer: the identity that was granted the client's token.
func believers(h *history.History) func(history.Belief) believer {
	type holder struct {
		client string
		token  uint64
	}
	identities := map[holder]history.Identity{}
	for _, op := range h.Operations {
		if answer, ok := op.Response(); ok && answer.Result == history.Granted {
			identities[holder{op.Client, answer.Token}] = op.Request.Identity
		}
	}
	return func(b history.Belief) believer {
		if id, ok := identities[holder{b.Client, b.Token}]; ok {
			return believer{semaphore: b.Semaphore, identity: id}
		}
		return believer{semaphore: b.Semaphore, token: b.Token}
	}
}

// merge combines one identity's beliefs into beliefs that do not overlap. At each moment, the belief with the largest
// weight counts. If several beliefs have that weight, the one with the highest token counts.
func merge(beliefs []overlap.Belief) []overlap.Belief {
	var edges []time.Duration
	for _, b := range beliefs {
		if b.From < b.Until {
			edges = append(edges, b.From, b.Until)
		}
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	var merged []overlap.Belief
	for i := 1; i < len(edges); i++ {
		var best overlap.Belief
		for _, b := range beliefs {
			if b.From <= edges[i-1] && edges[i] <= b.Until && cmp.Or(cmp.Compare(b.Weight, best.Weight), cmp.Compare(b.Token, best.Token)) > 0 {
				best = b
			}
		}
		if best.Weight == 0 {
			continue // no belief covers this interval
		}
		best.From, best.Until = edges[i-1], edges[i]
		merged = append(merged, best)
	}
	return merged
}

// decreasingTokens finds, for semaphores with one permit, each belief that began after a different identity had
// believed that it held a higher token. Responses to the same identity may overtake each other. The older token then
// remains valid until the holder learns of the newer one.
func decreasingTokens(byIdentity map[believer][]overlap.Belief, permits map[string]uint32) []Violation {
	type ownedBelief struct {
		overlap.Belief
		who believer
	}
	bySemaphore := map[string][]ownedBelief{}
	for who, beliefs := range byIdentity {
		for _, b := range beliefs {
			if b.From < b.Until && permits[who.semaphore] == 1 {
				bySemaphore[who.semaphore] = append(bySemaphore[who.semaphore], ownedBelief{b, who})
			}
		}
	}
	var violations []Violation
	for semaphore, all := range bySemaphore {
		slices.SortFunc(all, func(a, b ownedBelief) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Token, b.Token)) })
		// first has the highest token so far, and second the highest token of any other identity.
		var first, second ownedBelief
		for _, b := range all {
			other := first
			if b.who == first.who {
				other = second
			}
			if b.Token < other.Token {
				violations = append(violations, Violation{IncreasingTokens, semaphore, fmt.Sprintf("%s started holding token %d after %s had held token %d",
					b.Holder, b.Token, other.Holder, other.Token)})
			}
			switch {
			case b.who == first.who:
				first.Token = max(first.Token, b.Token)
			case b.Token > first.Token:
				first, second = b, first
			case b.Token > second.Token:
				second = b
			}
		}
	}
	return violations
}
