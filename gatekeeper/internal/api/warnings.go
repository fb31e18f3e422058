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

// smallestDuration is the shortest duration of a permit that outlasts the death of the leader; 0 in a cluster of one
// voter, which has nobody to fail over to.
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

// warnings are what a person should know of a definition.
func (a *API) warnings(d *semaphore.Definition) []string {
	if d.Duration >= a.cfg.SmallestDuration { // first: it costs nothing
		return nil
	}
	smallest := a.smallestDuration()
	if d.Duration >= smallest {
		return nil
	}
	return []string{fmt.Sprintf("permits of %s live %v: they may be lost when the leader dies; from %v on they outlast a fail-over", d.Name, d.Duration, smallest)}
}

// maxReaches bounds the pairs of patterns whose reach is remembered.
const maxReaches = 100_000

// reaches remembers preview.ReachOf for pairs of patterns while the number of known callers and the cordons are the
// same: lists and summaries ask about many definitions. The zero value is empty. It is safe for concurrent use.
type reaches struct {
	mu      sync.Mutex // guards all below
	callers int
	cordons uint64 // their revision
	of      map[[2]string]reach
}

type reach struct {
	preview.Reach
	text string
}

// get returns the reach of a definition. One without permits serves nobody anyway, so it has nothing to warn of.
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

// warningsOf are those of the definitions that a batch has created or replaced.
func (a *API) warningsOf(edits []edit, skipped []string) []string {
	var all []string
	for _, e := range edits {
		if e.Kind != fsm.Delete && !slices.Contains(skipped, e.Name) {
			all = append(all, a.warnings(e.Definition)...)
		}
	}
	return all
}
