// Package overlap counts the moments at which more weight of a semaphore was believed to be held than it has permits,
// from what the holders themselves wrote down. It asks no server anything: a server that granted wrongly would also
// answer wrongly.
package overlap

import (
	"fmt"
	"sort"
	"strings"
	"time"
)

// Belief is one holder's certainty that it held a permit, on a clock that all holders share: from the instant at which
// it learnt of the grant until the instant from which on it no longer counted on it. The end itself is not part of it.
type Belief struct {
	Semaphore string
	Token     uint64
	Weight    uint32
	Holder    string // for people
	From      time.Duration
	Until     time.Duration
}

// Overlap is one unbroken stretch of time in which a semaphore was held beyond its permits.
type Overlap struct {
	Semaphore string
	From      time.Duration
	Until     time.Duration
	Permits   uint64
	Believed  uint64   // the most weight believed at once
	Beliefs   []Belief // those that held then
}

// String is the overlap in one line, with who believed what.
func (o Overlap) String() string {
	var who []string
	for _, b := range o.Beliefs {
		who = append(who, fmt.Sprintf("%s with token %d (weight %d)", b.Holder, b.Token, b.Weight))
	}
	return fmt.Sprintf("%s: for %v weight %d was believed of %d permits, by %s",
		o.Semaphore, o.Until-o.From, o.Believed, o.Permits, strings.Join(who, " and "))
}

// Find returns every overlap, in the order of semaphores and time. permits gives the size of each semaphore; one that
// is not named there has none, so that a belief in it alone is an overlap.
//
// A belief that is empty or ends before it begins held nothing.
func Find(beliefs []Belief, permits map[string]uint32) []Overlap {
	var found []Overlap
	for _, group := range bySemaphore(beliefs) {
		found = append(found, sweep(group, uint64(permits[group[0].Semaphore]))...)
	}
	return found
}

// edge is the beginning or the end of a belief.
type edge struct {
	at    time.Duration
	begin bool
	index int
}

// sweep goes over the edges of one semaphore's beliefs in the order of time and keeps the sum of the weights.
func sweep(beliefs []Belief, permits uint64) []Overlap {
	edges := make([]edge, 0, 2*len(beliefs))
	for i, b := range beliefs {
		if b.From < b.Until {
			edges = append(edges, edge{b.From, true, i}, edge{b.Until, false, i})
		}
	}
	sort.Slice(edges, func(i, j int) bool {
		if edges[i].at != edges[j].at {
			return edges[i].at < edges[j].at
		}
		return !edges[i].begin && edges[j].begin // a belief has ended at its end
	})

	var found []Overlap
	var open *Overlap
	var sum uint64
	held := map[int]bool{}
	for i, e := range edges {
		weight := uint64(beliefs[e.index].Weight)
		if e.begin {
			sum += weight
			held[e.index] = true
		} else {
			sum -= weight
			delete(held, e.index)
		}
		if i+1 < len(edges) && edges[i+1].at == e.at {
			continue // the sum in the middle of an instant is not the sum of any moment
		}
		switch {
		case sum > permits && open == nil:
			open = &Overlap{Semaphore: beliefs[e.index].Semaphore, From: e.at, Permits: permits}
			fallthrough
		case sum > permits:
			if sum > open.Believed {
				open.Believed, open.Beliefs = sum, pick(beliefs, held)
			}
		case open != nil:
			open.Until = e.at
			found = append(found, *open)
			open = nil
		}
	}
	return found
}

// FallingTokens returns, for semaphores with one permit, every belief that began after another one of a higher token
// had: a later holder must always carry the higher token. Where several hold at once their answers may overtake each
// other, so that only one permit makes an order. A belief that held nothing, such as an answer that came too late, is
// left out.
func FallingTokens(beliefs []Belief, permits map[string]uint32) []Belief {
	var falling []Belief
	for _, group := range bySemaphore(beliefs) {
		if permits[group[0].Semaphore] != 1 {
			continue
		}
		var highest uint64
		for _, b := range group {
			if b.From >= b.Until {
				continue
			}
			if b.Token < highest {
				falling = append(falling, b)
			}
			highest = max(highest, b.Token)
		}
	}
	return falling
}

// bySemaphore groups beliefs in the order of semaphores, each group in the order of time.
func bySemaphore(beliefs []Belief) [][]Belief {
	sorted := append([]Belief(nil), beliefs...)
	sort.SliceStable(sorted, func(i, j int) bool {
		if sorted[i].Semaphore != sorted[j].Semaphore {
			return sorted[i].Semaphore < sorted[j].Semaphore
		}
		return sorted[i].From < sorted[j].From
	})
	var groups [][]Belief
	for start, i := 0, 1; i <= len(sorted); i++ {
		if i == len(sorted) || sorted[i].Semaphore != sorted[start].Semaphore {
			groups = append(groups, sorted[start:i])
			start = i
		}
	}
	return groups
}

func pick(beliefs []Belief, held map[int]bool) []Belief {
	var picked []Belief
	for i, b := range beliefs {
		if held[i] {
			picked = append(picked, b)
		}
	}
	return picked
}
