// Package overlap finds periods in which the holders of a semaphore together believed that they held more permits than
// the semaphore has. It uses only the holders' records and queries no server, because a server that granted permits
// incorrectly would also report them incorrectly.
package overlap

import (
	"fmt"
	"sort"
	"strings"
	"time"
)

// Belief is the period in which a holder was certain that it held a permit, on a clock that all holders share. It
// begins when the holder learned of the grant and ends when it stopped relying on the permit. The end is exclusive.
type Belief struct {
	Semaphore string
	Token     uint64
	Weight    uint32
	Holder    string // for messages
	From      time.Duration
	Until     time.Duration
}

// Overlap is a contiguous period in which the total weight that holders believed they held exceeded the permits.
type Overlap struct {
	Semaphore string
	From      time.Duration
	Until     time.Duration
	Permits   uint64
	Believed  uint64   // the largest total weight that holders believed they held
	Beliefs   []Belief // the beliefs at that moment
}

// String formats the overlap as one line, including the beliefs.
func (o Overlap) String() string {
	var holders []string
	for _, b := range o.Beliefs {
		holders = append(holders, fmt.Sprintf("%s with token %d (weight %d)", b.Holder, b.Token, b.Weight))
	}
	return fmt.Sprintf("%s: for %v, holders believed they held a total weight of %d, with %d permits: %s",
		o.Semaphore, o.Until-o.From, o.Believed, o.Permits, strings.Join(holders, " and "))
}

// Find returns every overlap, sorted by semaphore and time. permits maps each semaphore to its size. A semaphore that
// is missing from permits has size 0, so a single belief about it is an overlap.
//
// A belief that is empty or ends before it begins is ignored.
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

// sweep processes the edges of one semaphore's beliefs in chronological order and tracks the sum of the weights.
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
		return !edges[i].begin && edges[j].begin // process ends first, because the end of a belief is exclusive
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
			continue // ignore the intermediate sum until all edges at the same time are processed
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

// DecreasingTokens returns, for semaphores with one permit, each belief that began after a belief with a higher token.
// A later holder must always have a higher token. With more than one permit, responses to concurrent holders may
// overtake each other, so there is no order to check. An empty belief, such as one from a response that arrived too
// late, is ignored.
func DecreasingTokens(beliefs []Belief, permits map[string]uint32) []Belief {
	var decreasing []Belief
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
				decreasing = append(decreasing, b)
			}
			highest = max(highest, b.Token)
		}
	}
	return decreasing
}

// bySemaphore groups beliefs by semaphore, and sorts the groups by name and each group by time.
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
