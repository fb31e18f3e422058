package api

import (
	"fmt"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// smallestDuration is the shortest duration of a permit that outlasts the death of the leader; 0 in a cluster of one voter, which has
// nobody to fail over to.
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
