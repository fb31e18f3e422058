package check

import (
	"fmt"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// Successors finds grants that superseded a token that they were not allowed to supersede: a newer token, a token that
// had already been superseded, a token with a different identity or weight, or a token with a firing or a task. A grant
// with a firing must not supersede any token.
func Successors(h *history.History) []Violation {
	var violations []Violation
	all := grants(h)
	supersededBy := map[uint64]uint64{}
	for _, g := range inOrder(all) {
		if g.superseded == 0 {
			continue
		}
		old := all[g.superseded]
		var why string
		switch {
		case g.superseded >= g.token:
			why = "which is not older"
		case g.fresh:
			why = "but another response reported that it superseded nothing"
		case supersededBy[g.superseded] != 0:
			why = fmt.Sprintf("which token %d had already superseded", supersededBy[g.superseded])
		case g.request.Firing != "":
			why = fmt.Sprintf("although the new token is for firing %s", g.request.Firing)
		case old == nil: // its response was lost
		case old.semaphore != g.semaphore || old.identity != g.identity:
			why = fmt.Sprintf("which belongs to %v in %s", old.identity, old.semaphore)
		case weight(old.request) != weight(g.request):
			why = fmt.Sprintf("whose weight is %d, not %d", weight(old.request), weight(g.request))
		case old.request.Firing != "":
			why = fmt.Sprintf("which is for firing %s", old.request.Firing)
		case old.task:
			why = "which carries a task"
		}
		supersededBy[g.superseded] = g.token
		if why != "" {
			violations = append(violations, Violation{OneSuccessor, g.semaphore, fmt.Sprintf("token %d of %v superseded token %d, %s", g.token, g.identity, g.superseded, why)})
		}
	}
	return violations
}
