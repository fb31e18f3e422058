package plan

import (
	"fmt"
	"slices"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/internal/nearest"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// known is who was seen asking, and whom pairs of patterns let in. Many definitions share a pair, and a move of hundreds of
// them asks about two.
type known struct {
	state    *fsm.State
	patterns Patterns

	all    []fsm.Sighting // by group and acquirer
	groups []string
	pairs  map[[2]string][]int // of indexes into all
	named  int                 // how many callers effects have named
}

func (k *known) load() {
	if k.pairs != nil {
		return
	}
	k.pairs = make(map[[2]string][]int)
	k.all = slices.Collect(k.state.Sightings())
	for _, s := range k.all {
		if n := len(k.groups); n == 0 || k.groups[n-1] != s.Group {
			k.groups = append(k.groups, s.Group)
		}
	}
}

// admitted are the known callers that the patterns of a definition let in; of nil nobody.
func (k *known) admitted(d *semaphore.Definition) []int {
	k.load()
	if d == nil {
		return nil
	}
	pair := [2]string{d.GroupPattern, d.AcquirerPattern}
	if found, ok := k.pairs[pair]; ok {
		return found
	}
	found := []int{}
	group, inside := "", false
	for i, s := range k.all {
		if i == 0 || s.Group != group {
			group, inside = s.Group, k.patterns.Match(d.GroupPattern, s.Group)
		}
		if inside && k.patterns.Match(d.AcquirerPattern, s.Acquirer) {
			found = append(found, i)
		}
	}
	k.pairs[pair] = found
	return found
}

// callers says who would be let in and who shut out, and warns when nobody known would be let in.
func (w *world) callers(e *Effect) {
	before, after := w.known.admitted(e.Before), w.known.admitted(e.After)
	e.Eligible = len(after)
	e.Admitted, e.AdmittedCount = w.known.without(after, before)
	e.ShutOut, e.ShutOutCount = w.known.without(before, after)
	if e.After == nil || e.Before != nil && e.Before.GroupPattern == e.After.GroupPattern && e.Before.AcquirerPattern == e.After.AcquirerPattern {
		return // an edit of something else is no time to ask about patterns that somebody wants so
	}
	if e.Eligible == 0 && len(w.known.all) > 0 {
		e.Warnings = append(e.Warnings, w.nobody(e.After))
	}
}

// without are the callers in a and not in b; both are sorted. It names at most MaxCallers, and counts all.
func (k *known) without(a, b []int) (callers []fsm.Sighting, count int) {
	for _, i := range a {
		if _, both := slices.BinarySearch(b, i); both {
			continue
		}
		if count++; count <= MaxCallers && k.named < maxNamed {
			k.named++
			callers = append(callers, k.all[i])
		}
	}
	return callers, count
}

// nobody says that no known caller is let in, and which of the two patterns keeps them out.
func (w *world) nobody(d *semaphore.Definition) string {
	for _, group := range w.known.groups {
		if w.patterns.Match(d.GroupPattern, group) {
			return fmt.Sprintf("Nobody who was seen asking is let in: group %q matches, but none of its acquirers matches the acquirer pattern %q.",
				group, d.AcquirerPattern)
		}
	}
	text := fmt.Sprintf("Nobody who was seen asking is let in: no known group matches the group pattern %q", d.GroupPattern)
	if near := nearest.Word(d.GroupPattern, w.known.groups); near != "" {
		return text + fmt.Sprintf("; the nearest is %q.", near)
	}
	return text + "."
}

// cordonWarnings says how many known callers a cordon catches, and warns when it catches none.
func (w *world) cordonWarnings(c *fsm.SetCordon, caught func(semaphore.Identity) bool) []string {
	w.known.load()
	if len(w.known.all) == 0 {
		return []string{"Nobody has been seen asking yet, so that it is not known whom this cordon catches."}
	}
	n := 0
	for _, s := range w.known.all {
		if caught(semaphore.Identity{Group: s.Group, Acquirer: s.Acquirer}) {
			n++
		}
	}
	if n > 0 {
		return nil
	}
	text := "This cordon catches nobody who was seen asking"
	if near := nearest.Word(c.GroupPattern, w.known.groups); c.GroupPattern != "" && near != "" {
		return []string{text + fmt.Sprintf("; the nearest known group is %q.", near)}
	}
	return []string{text + "."}
}
