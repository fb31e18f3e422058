package api

import (
	"context"
	"slices"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

const (
	// maxMisspelled is the maximum number of callers listed because they may have misspelled the requested name.
	maxMisspelled = 3
	// maxDenyAll is the maximum number of semaphores listed in a status because they deny every caller.
	maxDenyAll = 10
)

// ListDenied pages through the denied callers that the leader has recorded. Like any read, it confirms leadership. A
// semaphore's callers are always on one page: their order changes with every denial, so a page token between them could
// skip a caller.
func (s *operatorService) ListDenied(ctx context.Context, m *gatekeeperv1.ListDeniedRequest) (*gatekeeperv1.ListDeniedResponse, error) {
	chosen, limit, from, err := s.listFrom(ctx, m)
	if err != nil {
		return nil, err
	}
	state, callers, since, err := s.keeper.DeniedCallers(ctx, func(state *fsm.State, name string) bool {
		return name > from.name && chosen.MatchNow(state, name)
	})
	if err != nil {
		return nil, err
	}
	out := &gatekeeperv1.ListDeniedResponse{Since: toTimestamp(since)}
	var taken page
	last := ""
	for c := range callers {
		if c.Resolved && !m.GetResolved() {
			continue
		}
		caller := toDenied(&c)
		if !taken.add(limit, caller) && c.Semaphore != last {
			out.NextPageToken = pageKey{name: last}.String()
			break
		}
		out.Callers = append(out.Callers, caller)
		last = c.Semaphore
	}
	if given := m.GetNames(); from.name == "" && len(given) == 1 && semaphore.ValidSemaphoreName(given[0]) == nil && state.Definition(given[0]) != nil {
		near := s.keeper.Misspellings(state, given[0])
		for i := range near[:min(len(near), maxMisspelled)] {
			out.Misspelled = append(out.Misspelled, toDenied(&near[i]))
		}
	}
	return out, nil
}

func toDenied(v *keeper.DeniedCaller) *gatekeeperv1.DeniedCaller {
	out := &gatekeeperv1.DeniedCaller{
		Semaphore: v.Semaphore, Identity: toIdentity(v.Identity), Weight: v.Weight, Firing: toFiring(v.Firing),
		Reason: gatekeeperv1.Reason(v.Reason), Message: v.Message, Count: uint32(v.Count), First: toTimestamp(v.First), Last: toTimestamp(v.Last),
		Resolved: v.Resolved, Text: v.Text, Worker: v.Worker,
	}
	if v.OtherHolder != nil {
		out.OtherHolder = toIdentity(*v.OtherHolder)
	}
	return out
}

// denied returns the callers that a semaphore will keep denying until something changes.
func (a *API) denied(state *fsm.State, name string) []*gatekeeperv1.DeniedCaller {
	var out []*gatekeeperv1.DeniedCaller
	for _, v := range a.reader.DeniedCallersOf(state, name) {
		if !v.Resolved {
			out = append(out, toDenied(&v))
		}
	}
	return out
}

// addDenyAll adds the semaphores that deny every caller to a status.
func (s *clusterService) addDenyAll(ctx context.Context, out *gatekeeperv1.GetStatusResponse) {
	state := s.cfg.Machine.State()
	deniesAll := slices.DeleteFunc(s.keeper.DenyAll(), func(d keeper.DeniedCaller) bool { return !s.visible(ctx, state, d.Semaphore) })
	out.DeniedSemaphores = uint32(len(deniesAll))
	for i := range deniesAll[:min(len(deniesAll), maxDenyAll)] {
		out.Denied = append(out.Denied, toDenied(&deniesAll[i]))
	}
}
