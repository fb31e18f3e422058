package check

import (
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// Firings finds firings that were granted again although the grant before was neither given back, nor lost in a semaphore that frees what
// is lost.
func Firings(h *history.History) []Violation {
	free := map[string]bool{} // semaphores that ever had FreeOnLoss
	back := map[uint64]bool{} // tokens whose firing may have been given back
	over := map[uint64]time.Duration{}
	cancelled := map[attempt]bool{}
	for _, op := range h.Operations {
		r := op.Request
		switch r.Kind {
		case history.Edit:
			free[r.Semaphore] = free[r.Semaphore] || r.Definition != nil && r.Definition.FreeOnLoss
		case history.Release:
			back[r.Token] = back[r.Token] || r.NotRun && op.Outcome() != history.Refused
		case history.Revoke:
			if r.UnsafeNow {
				over[r.Token] = op.At
			}
		case history.Cancel:
			if key, ok := attemptOf(r); ok {
				cancelled[key] = true
			}
		}
	}
	type firing struct{ semaphore, name string }
	last := map[firing]*grant{}
	var broken []Violation
	for _, g := range inOrder(grants(h)) {
		if g.request.Firing == "" {
			continue
		}
		key := firing{g.semaphore, g.request.Firing}
		before := last[key]
		last[key] = g
		if before == nil || back[before.token] {
			continue
		}
		if request, ok := attemptOf(before.request); ok && cancelled[request] {
			continue
		}
		ended := before.lapse
		if at, ok := over[before.token]; ok {
			ended = min(ended, at)
		}
		if free[g.semaphore] && g.known >= ended {
			continue
		}
		broken = append(broken, Violation{FiringOnce, g.semaphore, fmt.Sprintf("firing %s was granted to %v with token %d and again to %v with token %d",
			g.request.Firing, before.identity, before.token, g.identity, g.token)})
	}
	return broken
}
