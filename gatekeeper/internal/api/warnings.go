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

// maxDeserted bounds the pairs of patterns that deserted remembers.
const maxDeserted = 10_000

// deserted remembers what preview.Deserted says of pairs of patterns while the same number of callers is known: lists
// ask about many definitions, and few of them change. The zero value is empty. It is safe for concurrent use.
type deserted struct {
	mu      sync.Mutex // guards both
	callers int
	texts   map[[2]string]string
}

// text is preview.Deserted of a definition. One without permits lets in nobody anyway.
func (m *deserted) text(state *fsm.State, patterns preview.Patterns, d *semaphore.Definition) string {
	if d.Permits == 0 {
		return ""
	}
	pair, callers := [2]string{d.GroupPattern, d.AcquirerPattern}, state.SightingCount()
	m.mu.Lock()
	text, ok := m.texts[pair]
	ok = ok && m.callers == callers
	m.mu.Unlock()
	if ok {
		return text
	}
	text = preview.Deserted(state, patterns, d)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.texts == nil || m.callers != callers || len(m.texts) >= maxDeserted {
		m.callers, m.texts = callers, make(map[[2]string]string)
	}
	m.texts[pair] = text
	return text
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
