package preview

import (
	"fmt"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/internal/nearest"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// knownCallers holds the callers seen so far and which of them each pair of patterns admits. It caches the results by
// pair, because many definitions share a pair: moving hundreds of definitions may involve only two pairs.
type knownCallers struct {
	state    *fsm.State
	patterns Patterns

	// since is the time from which a sighting counts as recent.
	since time.Time

	all           []fsm.Sighting // by group and acquirer
	groups        []string
	pairs         map[[2]string]admitted
	gainedCallers map[[4]string]gainedCallers // by the pairs of patterns before and after
	listed        int                         // number of callers listed in effects so far
}

// admitted holds the known callers that a pair of patterns admits.
type admitted struct {
	callers []int // indexes into all, ascending
	recent  bool  // at least one of them made a request recently
}

// gainedCallers holds the known callers that one pair of patterns admits and another does not.
type gainedCallers struct {
	callers []fsm.Sighting // the first MaxCallers
	count   int
}

func (k *knownCallers) load() {
	if k.pairs != nil {
		return
	}
	k.pairs, k.gainedCallers = make(map[[2]string]admitted), make(map[[4]string]gainedCallers)
	k.all = slices.Collect(k.state.Sightings())
	for _, s := range k.all {
		if n := len(k.groups); n == 0 || k.groups[n-1] != s.Group {
			k.groups = append(k.groups, s.Group)
		}
	}
}

// admitted returns the known callers that a definition's patterns admit. If d is nil, there are none.
func (k *knownCallers) admitted(d *semaphore.Definition) admitted {
	k.load()
	if d == nil {
		return admitted{}
	}
	pair := pairOf(d)
	if found, ok := k.pairs[pair]; ok {
		return found
	}
	var found admitted
	group, groupMatches := "", false
	for i, s := range k.all {
		if i == 0 || s.Group != group {
			group, groupMatches = s.Group, k.patterns.Match(d.GroupPattern, s.Group)
		}
		if groupMatches && k.patterns.Match(d.AcquirerPattern, s.Acquirer) {
			found.callers = append(found.callers, i)
			found.recent = found.recent || !s.At.Before(k.since)
		}
	}
	k.pairs[pair] = found
	return found
}

// pairOf returns a definition's pair of patterns. For nil it returns an empty pair, which no definition has.
func pairOf(d *semaphore.Definition) [2]string {
	if d == nil {
		return [2]string{}
	}
	return [2]string{d.GroupPattern, d.AcquirerPattern}
}

// findCallers records which known callers an effect would newly admit and which it would shut out. It adds a warning if
// the patterns are new or changed and admit no known caller.
func (w *world) findCallers(e *Effect) {
	before, after := w.known.admitted(e.Before), w.known.admitted(e.After)
	e.Eligible = len(after.callers)
	e.Admitted, e.AdmittedCount = w.known.newlyAdmitted(e.Before, e.After)
	e.ShutOut, e.ShutOutCount = w.known.newlyAdmitted(e.After, e.Before)
	e.shutsOutAll = before.recent && !after.recent
	if e.After == nil || e.Before != nil && e.Before.GroupPattern == e.After.GroupPattern && e.Before.AcquirerPattern == e.After.AcquirerPattern {
		return // an edit to other fields must not warn about patterns that may be intentional
	}
	if e.Eligible == 0 && len(w.known.all) > 0 {
		e.Warnings = append(e.Warnings, noCallerWarning(w.patterns, w.known.groups, e.After))
	}
}

// newlyAdmitted returns the known callers that are admitted by definition to but not by from. It returns at most
// MaxCallers callers, but counts all of them.
func (k *knownCallers) newlyAdmitted(from, to *semaphore.Definition) (callers []fsm.Sighting, count int) {
	fromPair, toPair := pairOf(from), pairOf(to)
	key := [4]string{fromPair[0], fromPair[1], toPair[0], toPair[1]}
	g, ok := k.gainedCallers[key]
	if !ok {
		before := k.admitted(from).callers
		for _, i := range k.admitted(to).callers {
			if _, both := slices.BinarySearch(before, i); both {
				continue
			}
			if g.count++; g.count <= MaxCallers {
				g.callers = append(g.callers, k.all[i])
			}
		}
		k.gainedCallers[key] = g
	}
	named := g.callers[:min(len(g.callers), maxListed-k.listed)]
	k.listed += len(named)
	return named, g.count
}

// Reach describes which of the known callers a definition can serve.
type Reach int

const (
	// ReachesSome means that its patterns admit a caller to whom no cordon applies, or that no caller has been seen
	// yet.
	ReachesSome Reach = iota
	// ReachesNone means that its patterns match no known caller.
	ReachesNone
	// ReachesCordoned means that cordons apply to every known caller that its patterns match.
	ReachesCordoned
)

// Callers is an immutable index of the callers seen so far. It records whether a cordon applies to each of them.
type Callers struct {
	patterns Patterns
	groups   []string
	byGroup  map[string][]indexedCaller // by group
}

type indexedCaller struct {
	acquirer string
	cordoned bool
}

// CallersOf builds the index for a state.
func CallersOf(state *fsm.State, patterns Patterns) *Callers {
	c := &Callers{patterns: patterns, byGroup: make(map[string][]indexedCaller)}
	for s := range state.Sightings() { // by group
		if n := len(c.groups); n == 0 || c.groups[n-1] != s.Group {
			c.groups = append(c.groups, s.Group)
		}
		id := semaphore.Identity{Group: s.Group, Acquirer: s.Acquirer}
		cordoned := slices.ContainsFunc(state.Cordons(), func(o *fsm.Cordon) bool { return patterns.Catches(o.GroupPattern, o.AcquirerPattern, id) })
		c.byGroup[s.Group] = append(c.byGroup[s.Group], indexedCaller{s.Acquirer, cordoned})
	}
	return c
}

// Reach returns the reach of a definition.
func (c *Callers) Reach(d *semaphore.Definition) Reach {
	if len(c.groups) == 0 {
		return ReachesSome
	}
	reach := ReachesNone
	for _, group := range c.groups {
		if !c.patterns.Match(d.GroupPattern, group) {
			continue
		}
		for _, caller := range c.byGroup[group] {
			if caller.cordoned && reach == ReachesCordoned || !c.patterns.Match(d.AcquirerPattern, caller.acquirer) {
				continue
			}
			if !caller.cordoned {
				return ReachesSome
			}
			reach = ReachesCordoned
		}
	}
	return reach
}

// Warning explains to an operator why a definition with the given reach serves no known caller. It returns an empty
// string for ReachesSome.
func (c *Callers) Warning(reach Reach, d *semaphore.Definition) string {
	switch reach {
	case ReachesNone:
		return noCallerWarning(c.patterns, c.groups, d)
	case ReachesCordoned:
		return "Every known caller that it admits is cordoned."
	default:
		return ""
	}
}

// noCallerWarning returns a warning that no known caller is admitted, naming the pattern that keeps them out.
func noCallerWarning(patterns Patterns, groups []string, d *semaphore.Definition) string {
	for _, group := range groups {
		if patterns.Match(d.GroupPattern, group) {
			return fmt.Sprintf("No known caller is admitted: group %q matches, but none of its acquirers match the acquirer pattern %q.",
				group, d.AcquirerPattern)
		}
	}
	if near := nearest.Word(d.GroupPattern, groups); near != "" {
		return fmt.Sprintf("No known groups match; the nearest is %q. The group pattern is %q.", near, d.GroupPattern)
	}
	return fmt.Sprintf("No known groups match the group pattern %q.", d.GroupPattern)
}

// cordonWarnings returns a warning if a cordon applies to no known caller, or if no caller is known.
func (w *world) cordonWarnings(c *fsm.SetCordon, caught func(semaphore.Identity) bool) []string {
	w.known.load()
	if len(w.known.all) == 0 {
		return []string{"No caller has been seen yet, so it is unknown to which callers this cordon applies."}
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
	text := "This cordon applies to no known caller"
	if near := nearest.Word(c.GroupPattern, w.known.groups); c.GroupPattern != "" && near != "" {
		return []string{text + fmt.Sprintf("; the nearest known group is %q.", near)}
	}
	return []string{text + "."}
}
