package api

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/preview"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// smallestDuration returns the shortest permit duration that survives the death of the leader. It is 0 in a cluster
// with one voter, which has no failover.
func (a *API) smallestDuration() time.Duration {
	members, err := a.cfg.Consensus.Members()
	if err != nil {
		return 0
	}
	voters := 0
	for _, m := range members {
		if m.Voter {
			voters++
		}
	}
	if voters < 2 {
		return 0
	}
	return a.cfg.SmallestDuration
}

// warnings returns warnings about a definition for people.
func (a *API) warnings(d *semaphore.Definition) []string {
	if d.Duration >= a.cfg.SmallestDuration { // checked first, because it is cheap
		return nil
	}
	smallest := a.smallestDuration()
	if d.Duration >= smallest {
		return nil
	}
	return []string{fmt.Sprintf("permits of %s last %v: they may be lost when the leader dies; with %v or more they survive a failover", d.Name, d.Duration, smallest)}
}

// maxReaches is the maximum number of cached pairs of patterns.
const maxReaches = 100_000

// reaches caches preview.ReachOf by pair of patterns, because lists and summaries ask for many definitions. The cache
// is valid for one number of known callers and one revision of the cordons. The zero value is an empty cache. It is
// safe for concurrent use.
type reaches struct {
	mu      sync.Mutex // guards the fields below
	callers int
	cordons uint64 // revision of the cordons
	of      map[[2]string]reach
}

type reach struct {
	preview.Reach
	text string
}

// get returns the reach of a definition. A definition with 0 permits has an empty reach, because it admits nobody and
// needs no warning.
func (m *reaches) get(state *fsm.State, patterns preview.Patterns, d *semaphore.Definition) reach {
	if d.Permits == 0 {
		return reach{}
	}
	pair, callers, cordons := [2]string{d.GroupPattern, d.AcquirerPattern}, state.SightingCount(), state.CordonRevision()
	m.mu.Lock()
	r, ok := m.of[pair]
	ok = ok && m.callers == callers && m.cordons == cordons
	m.mu.Unlock()
	if ok {
		return r
	}
	r.Reach, r.text = preview.ReachOf(state, patterns, d)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil || m.callers != callers || m.cordons != cordons || len(m.of) >= maxReaches {
		m.callers, m.cordons, m.of = callers, cordons, make(map[[2]string]reach)
	}
	m.of[pair] = r
	return r
}

// warningsOf returns the warnings about the definitions that a batch created or replaced.
func (a *API) warningsOf(edits []edit, skipped []string) []string {
	var all []string
	for _, e := range edits {
		if e.Kind != fsm.Delete && !slices.Contains(skipped, e.Name) {
			all = append(all, a.warnings(e.Definition)...)
		}
	}
	return all
}
