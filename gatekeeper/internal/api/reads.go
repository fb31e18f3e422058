package api

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/preview"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/queue"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/selector"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// read returns the state from which to answer a request. Unless stale is set, it reflects every response that any
// server has already sent.
func (a *API) read(ctx context.Context, stale bool) (*fsm.State, error) {
	if stale {
		return a.cfg.Machine.State(), nil
	}
	return a.reader.Read(ctx)
}

// record converts a definition and adds fields derived from the state.
func (a *API) record(state *fsm.State, stored *fsm.StoredDefinition) *gatekeeperv1.DefinitionRecord {
	name := stored.Definition.Name
	record := toRecord(stored)
	record.PermitRevision = state.PermitRevision(name)
	record.Used = state.Used(name)
	record.Holders = uint32(state.HolderCount(name))
	for p := range state.Holders(name) {
		record.Holder = a.holder(state, p)
		break
	}
	record.Warnings = a.warnings(stored.Definition)
	record.Disabled = a.reader.Disabled(stored)
	if reach, callers := a.reaches.get(state, a.keeper, stored.Definition); reach != preview.ReachesSome && record.Disabled == "" {
		record.Warnings = append(record.Warnings, callers.Warning(reach, stored.Definition))
	}
	if report, isMissed := a.reader.Missed(name); isMissed {
		record.Missed = toMissed(&report)
	}
	record.Denied = a.denied(state, name)
	record.States = a.states(state, stored)
	record.Waiters = uint32(a.reader.QueueLength(name))
	for _, end := range state.Ends(name) {
		// Fields that have been changed since the edit keep their values when it ends.
		after, _ := semaphore.Revert(stored.Definition, end.Before, end.After)
		if fields := semaphore.Changed(stored.Definition, after); len(fields) > 0 {
			record.Ends = append(record.Ends, &gatekeeperv1.EditEnd{Revision: end.Revision, Until: toTimestamp(end.Until), Fields: fields})
		}
	}
	slices.SortFunc(record.Ends, func(a, b *gatekeeperv1.EditEnd) int { return a.GetUntil().AsTime().Compare(b.GetUntil().AsTime()) })
	return record
}

// maxSuggestionSearch is the maximum number of definitions that GetDefinition searches for a similar name.
// GetDefinition is an Ordinary call, so thousands may run at the same time, and a search takes about 0.1 µs per
// definition.
const maxSuggestionSearch = 10_000

func (s *definitionService) GetDefinition(ctx context.Context, m *gatekeeperv1.GetDefinitionRequest) (*gatekeeperv1.GetDefinitionResponse, error) {
	if err := semaphore.ValidSemaphoreName(m.GetName()); err != nil {
		return nil, withField("name", err)
	}
	state, err := s.read(ctx, m.GetStale())
	if err != nil {
		return nil, err
	}
	stored := state.Definition(m.GetName())
	if !s.visible(ctx, state, m.GetName()) {
		return nil, &selector.NoDefinitionError{Name: m.GetName()}
	}
	if stored == nil {
		e := &selector.NoDefinitionError{Name: m.GetName()}
		if state.DefinitionCount() <= maxSuggestionSearch {
			e.Suggestion = selector.Suggestion(state, e.Name, s.viewFilter(ctx))
		}
		return nil, e
	}
	return &gatekeeperv1.GetDefinitionResponse{Record: s.record(state, stored), Revision: state.Revision()}, nil
}

// ListDefinitions pages through definitions in name order. Each page reads the current state. A definition that exists
// from the first page to the last is listed exactly once.
func (s *definitionService) ListDefinitions(ctx context.Context, m *gatekeeperv1.ListDefinitionsRequest) (*gatekeeperv1.ListDefinitionsResponse, error) {
	chosen, limit, from, err := s.listFrom(ctx, m)
	if err != nil {
		return nil, err
	}
	state, err := s.read(ctx, m.GetStale())
	if err != nil {
		return nil, err
	}
	if m.GetMustMatch() && from.name == "" {
		if err := chosen.CheckMatch(state); err != nil {
			return nil, err
		}
	}
	filter, err := s.filter(chosen, m, m.GetStates())
	if err != nil {
		return nil, err
	}
	if m.GetSkip() > 0 && from.name != "" {
		return nil, invalid("skip", strconv.FormatUint(uint64(m.GetSkip()), 10), "must be 0 with a page token, which already determines where the page begins")
	}
	out := &gatekeeperv1.ListDefinitionsResponse{Revision: state.Revision()}
	var taken page
	var last pageKey
	full := false
	for stored := range filter.definitions(state, from.name) {
		if from.name == "" {
			if out.Total++; out.GetTotal() <= m.GetSkip() {
				continue
			}
		}
		if full {
			continue
		}
		record := s.record(state, stored)
		if !taken.add(limit, record) {
			out.NextPageToken = last.String()
			if full = true; from.name != "" {
				break
			}
			continue
		}
		out.Records = append(out.Records, record)
		last = pageKey{name: stored.Definition.Name}
	}
	return out, nil
}

// recoveringText explains why no permits are granted until the waiting period after a recovery has ended.
func recoveringText(left time.Duration) string {
	left = left.Round(time.Second)
	return fmt.Sprintf("the cluster was recovered and will not grant permits for another %v, until about %s: earlier holders may still rely on their permits.",
		left, time.Now().Add(left).UTC().Format(time.RFC3339))
}

// maxExplained is the maximum number of waiters, and of jobs, in an explanation.
const maxExplained = 10

// addWaiting adds the callers waiting for a permit, the tasks waiting for a worker, and the reason the tasks are
// waiting.
func (s *definitionService) addWaiting(ctx context.Context, out *gatekeeperv1.ExplainResponse, sem string) error {
	state := s.cfg.Machine.State()
	all, _ := s.reader.InQueue(sem)
	if out.WaiterCount = uint32(all); all > 0 {
		for _, w := range s.reader.Waiters(func(name string) bool { return name == sem }, queue.Cursor{}, maxExplained) {
			out.Waiters = append(out.Waiters, toWaiter(&w))
		}
	}
	out.TaskCount = state.Work(sem).Waiting
	out.Tasks = toWaitingTasks(state, sem, maxExplained)
	var err error
	out.WhyTasksWait, err = s.whyTasksWait(ctx, state, sem)
	return err
}

// Explain replays a decision without changing the state and returns each step.
func (s *definitionService) Explain(ctx context.Context, m *gatekeeperv1.ExplainRequest) (*gatekeeperv1.ExplainResponse, error) {
	request, err := requestFrom(m)
	if err != nil {
		return nil, err
	}
	request.Worker = m.GetWorker()
	steps, decision, summary, revision, err := s.keeper.Explain(ctx, &request)
	if err != nil {
		return nil, err
	}
	out := &gatekeeperv1.ExplainResponse{
		Steps:    make([]*gatekeeperv1.Step, len(steps)),
		Reason:   gatekeeperv1.Reason(decision.Reason),
		Summary:  summary,
		Revision: revision,
	}
	for i, step := range steps {
		out.Steps[i] = &gatekeeperv1.Step{Number: uint32(step.Number), Name: step.Name, Passed: step.Passed, Text: step.Text}
	}
	if decision.Reason == semaphore.NoSuchSemaphore { // the denial itself does not suggest a name: see selector.NoDefinitionError
		if suggestion := selector.Suggestion(s.cfg.Machine.State(), request.Semaphore, s.viewFilter(ctx)); suggestion != "" {
			out.Summary += fmt.Sprintf(" Did you mean %q?", suggestion)
		}
	}
	if decision.Reason == semaphore.NoFreePermit {
		state := s.cfg.Machine.State()
		out.HolderCount = uint32(state.HolderCount(request.Semaphore))
		for p := range state.Holders(request.Semaphore) {
			if len(out.GetHolders()) == keeper.MaxHolders {
				break
			}
			out.Holders = append(out.Holders, s.holder(state, p))
		}
	}
	if err := s.addWaiting(ctx, out, request.Semaphore); err != nil {
		return nil, err
	}
	if left, recovering := s.reader.Recovering(); recovering {
		out.Recovering = durationpb.New(left)
		if decision.Outcome == semaphore.Granted {
			out.Summary = "It would be granted, but " + recoveringText(left)
		}
	}
	return out, nil
}
