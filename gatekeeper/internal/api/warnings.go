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

// minDuration returns the shortest duration that lets a permit survive the leader's death. It returns 0 for a cluster
// with one voter, which has no failover.
func (a *API) minDuration() time.Duration {
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
	return a.cfg.MinDuration
}

// warnings returns human-readable warnings about a definition.
func (a *API) warnings(d *semaphore.Definition) []string {
	if d.Duration >= a.cfg.MinDuration { // checked first, because it is cheap
		return nil
	}
	minimum := a.minDuration()
	if d.Duration >= minimum {
		return nil
	}
	return []string{fmt.Sprintf("permits for %s last %v and may be lost if the leader dies; with %v or more, they survive a failover", d.Name, d.Duration, minimum)}
}

const (
	// maxReaches limits the number of pattern pairs whose reach is cached.
	maxReaches = 100_000
	// callersTTL is how long the known callers are cached even if their number does not change: when the number is at
	// its limit, each new caller replaces a known one.
	callersTTL = time.Minute
)

// reachCache caches the known callers and the reach of pattern pairs until the number of callers or the cordons change,
// because lists and summaries look up many definitions. The zero value is empty. It is safe for concurrent use.
type reachCache struct {
	mu      sync.Mutex // guards the fields below
	count   int        // number of callers
	cordons uint64     // revision of the cordons
	until   time.Time
	callers *preview.Callers
	cache   map[[2]string]preview.Reach
}

// get returns the reach of a definition, and the callers from which it was computed. A definition without permits
// admits no one, so its reach does not matter.
func (m *reachCache) get(state *fsm.State, patterns preview.Patterns, d *semaphore.Definition) (preview.Reach, *preview.Callers) {
	if d.Permits == 0 {
		return preview.ReachesSome, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	count, cordons, now := state.SightingCount(), state.CordonRevision(), time.Now()
	if m.callers == nil || m.count != count || m.cordons != cordons || now.After(m.until) {
		m.count, m.cordons, m.until = count, cordons, now.Add(callersTTL)
		m.callers, m.cache = preview.CallersOf(state, patterns), make(map[[2]string]preview.Reach)
	}
	pair := [2]string{d.GroupPattern, d.AcquirerPattern}
	reach, ok := m.cache[pair]
	if !ok {
		if reach = m.callers.Reach(d); len(m.cache) < maxReaches {
			m.cache[pair] = reach
		}
	}
	return reach, m.callers
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
