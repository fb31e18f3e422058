package api

import (
	"cmp"
	"context"
	"slices"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/selector"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

const (
	// maxDenied bounds the callers of one answer, and maxMisspelled those of names that look like the one that was
	// asked about.
	maxDenied     = 10_000
	maxMisspelled = 3
	// maxDenyAll bounds the semaphores that deny every caller which a status names.
	maxDenyAll = 10
)

// ListDenied reads what the leader remembers. Whether it still leads is confirmed as for any read.
func (s *operatorService) ListDenied(ctx context.Context, m *gatekeeperv1.ListDeniedRequest) (*gatekeeperv1.ListDeniedResponse, error) {
	chosen, err := selector.Parse("", m.GetNames(), m.GetLabels())
	if err != nil {
		return nil, err
	}
	state, callers, since, err := s.keeper.DeniedCallers(ctx, chosen.MatchName)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(callers, func(a, b keeper.DeniedCaller) int { return cmp.Compare(a.Semaphore, b.Semaphore) })
	out := &gatekeeperv1.ListDeniedResponse{Since: toTimestamp(since)}
	var taken page
	for i := range callers {
		if callers[i].Cured && !m.GetCured() || !chosen.MatchNow(state, callers[i].Semaphore) {
			continue
		}
		caller := toDenied(&callers[i])
		if !taken.add(maxDenied, caller) {
			break
		}
		out.Callers = append(out.Callers, caller)
	}
	if given := m.GetNames(); len(given) == 1 && semaphore.ValidSemaphoreName(given[0]) == nil && state.Definition(given[0]) != nil {
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
		Cured: v.Cured, Text: v.Text,
	}
	if v.LetIn != nil {
		out.LetIn = toIdentity(*v.LetIn)
	}
	return out
}

// denied returns the callers that a semaphore denies until somebody acts.
func (a *API) denied(state *fsm.State, name string) []*gatekeeperv1.DeniedCaller {
	var out []*gatekeeperv1.DeniedCaller
	for _, v := range a.reader.DeniedCallersOf(state, name) {
		if !v.Cured {
			out = append(out, toDenied(&v))
		}
	}
	return out
}

// deniesAll fills in which semaphores are those that deny every caller.
func (s *clusterService) deniesAll(out *gatekeeperv1.GetStatusResponse) {
	deniesAll := s.keeper.DenyAll()
	out.DeniedSemaphores = uint32(len(deniesAll))
	for i := range deniesAll[:min(len(deniesAll), maxDenyAll)] {
		out.Denied = append(out.Denied, toDenied(&deniesAll[i]))
	}
}
