package api

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/selector"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// filter selects definitions for a list or a summary.
type filter struct {
	api    *API
	chosen *selector.Selector
	search selector.Search
	group  string
	states []gatekeeperv1.DefinitionState
}

// filter reads the fields common to list and summary requests.
func (a *API) filter(chosen *selector.Selector, m interface {
	GetSearch() string
	GetGroup() string
}, states []gatekeeperv1.DefinitionState) (*filter, error) {
	search, err := selector.ParseSearch("search", m.GetSearch())
	return &filter{api: a, chosen: chosen, search: search, group: m.GetGroup(), states: states}, err
}

// definitions returns the matching definitions whose names follow the given one, in name order.
func (f *filter) definitions(state *fsm.State, after string) iter.Seq[*fsm.StoredDefinition] {
	return func(yield func(*fsm.StoredDefinition) bool) {
		for stored := range f.chosen.Definitions(state, after) {
			if stored.Definition.Name != after && f.match(state, stored) && !yield(stored) {
				return
			}
		}
	}
}

func (f *filter) match(state *fsm.State, stored *fsm.StoredDefinition) bool {
	d := stored.Definition
	return f.search.Match(d) &&
		(f.group == "" || f.api.reader.Match(d.GroupPattern, f.group)) &&
		(len(f.states) == 0 || slices.ContainsFunc(f.api.states(state, stored), func(s gatekeeperv1.DefinitionState) bool { return slices.Contains(f.states, s) }))
}

// maxCounted is the maximum number of keys in a summary, and of values per key.
const maxCounted = 50

// SummarizeDefinitions counts definitions by state and by label.
func (s *definitionService) SummarizeDefinitions(ctx context.Context, m *gatekeeperv1.SummarizeDefinitionsRequest) (*gatekeeperv1.SummarizeDefinitionsResponse, error) {
	chosen, err := selector.Parse("", m.GetNames(), m.GetLabels())
	if err != nil {
		return nil, err
	}
	filter, err := s.filter(chosen.Within(s.viewFilter(ctx)), m, nil)
	if err != nil {
		return nil, err
	}
	state, err := s.read(ctx, m.GetStale())
	if err != nil {
		return nil, err
	}
	key, err := s.summaryKey(ctx, m)
	if err != nil {
		return nil, err
	}
	return s.summaries.get(key, func() *gatekeeperv1.SummarizeDefinitionsResponse { return filter.summary(state) }), nil
}

// summaryKey returns the cache key of a request. Callers that may view everything share a key.
func (a *API) summaryKey(ctx context.Context, m *gatekeeperv1.SummarizeDefinitionsRequest) (summaryKey, error) {
	request, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	key := summaryKey{request: string(request)}
	if c := a.caller(ctx); c != nil && !a.canViewAll(ctx) {
		p, state, err := c.principal()
		if err != nil {
			return key, err
		}
		key.principal, key.access = p.Name(), state.AccessRevision()
	}
	return key, err
}

func (f *filter) summary(state *fsm.State) *gatekeeperv1.SummarizeDefinitionsResponse {
	out := &gatekeeperv1.SummarizeDefinitionsResponse{Revision: state.Revision()}
	states := make(map[gatekeeperv1.DefinitionState]uint32)
	labels := make(map[string]map[string]uint32)
	for stored := range f.definitions(state, "") {
		out.Total++
		for _, s := range f.api.states(state, stored) {
			states[s]++
		}
		countLabels(labels, stored.Definition.Labels)
	}
	for _, s := range slices.Sorted(maps.Keys(states)) {
		out.States = append(out.States, &gatekeeperv1.StateCount{State: s, Count: states[s]})
	}
	for key, values := range labels {
		label := &gatekeeperv1.LabelCount{Key: key}
		for value, count := range values {
			label.Count += count
			label.Values = append(label.Values, &gatekeeperv1.LabelValueCount{Value: value, Count: count})
		}
		label.Values = mostCounted(label.GetValues(), (*gatekeeperv1.LabelValueCount).GetValue)
		out.Labels = append(out.Labels, label)
	}
	out.Labels = mostCounted(out.GetLabels(), (*gatekeeperv1.LabelCount).GetKey)
	return out
}

func countLabels(counts map[string]map[string]uint32, labels semaphore.Labels) {
	for _, l := range labels {
		if counts[l.Key] == nil {
			counts[l.Key] = make(map[string]uint32)
		}
		counts[l.Key][l.Value]++
	}
}

// mostCounted returns the maxCounted elements with the highest counts, sorted by name.
func mostCounted[C interface{ GetCount() uint32 }](all []C, name func(C) string) []C {
	byName := func(a, b C) int { return cmp.Compare(name(a), name(b)) }
	slices.SortFunc(all, func(a, b C) int { return cmp.Or(cmp.Compare(b.GetCount(), a.GetCount()), byName(a, b)) })
	all = all[:min(len(all), maxCounted)]
	slices.SortFunc(all, byName)
	return all
}

const (
	// summaryAge is the minimum time for which a summary is cached.
	summaryAge = time.Second
	// summaryShare limits the share of time spent computing summaries: a summary is cached for this multiple of the
	// time it took to compute.
	summaryShare = 20
	// maxSummaries is the maximum number of cached summaries.
	maxSummaries = 64
)

// summaries caches recent summaries. Hundreds of browser tabs may request the same summary every few seconds, and
// counting 100,000 definitions takes about 100 ms. Only one summary is computed at a time.
type summaries struct {
	mu     sync.Mutex
	cached map[summaryKey]cachedSummary
	now    func() time.Time // nil means time.Now
}

type summaryKey struct {
	request string
	// principal is set for a caller that may not view everything. access is the revision of the bindings.
	principal string
	access    uint64
}

type cachedSummary struct {
	reply *gatekeeperv1.SummarizeDefinitionsResponse // never modified
	until time.Time
}

// get returns the cached summary, or computes it.
func (s *summaries) get(key summaryKey, count func() *gatekeeperv1.SummarizeDefinitionsResponse) *gatekeeperv1.SummarizeDefinitionsResponse {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now
	if s.now != nil {
		now = s.now
	}
	start := now()
	if cached, ok := s.cached[key]; ok && start.Before(cached.until) {
		return cached.reply
	}
	maps.DeleteFunc(s.cached, func(_ summaryKey, k cachedSummary) bool { return !start.Before(k.until) })
	if s.cached == nil || len(s.cached) >= maxSummaries {
		s.cached = make(map[summaryKey]cachedSummary)
	}
	reply := count()
	end := now()
	s.cached[key] = cachedSummary{reply, end.Add(max(summaryAge, summaryShare*end.Sub(start)))}
	return reply
}
