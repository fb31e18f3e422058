package api

import (
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/missed"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/preview"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/undo"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func toCordon(c *fsm.Cordon) *gatekeeperv1.CordonRecord {
	if c == nil {
		return nil
	}
	return &gatekeeperv1.CordonRecord{
		Id: c.ID, GroupPattern: c.GroupPattern, AcquirerPattern: c.AcquirerPattern, Until: toTimestamp(c.Until),
		Author: c.Author, Reason: c.Reason, Revision: c.Revision, Drain: toOptionalDuration(c.Drain), Change: c.Origin(),
	}
}

func toHistoryEntry(e *fsm.JournalEntry) *gatekeeperv1.HistoryEntry {
	details := e.Details()
	out := &gatekeeperv1.HistoryEntry{
		Revision: e.Revision, Ordinal: e.Ordinal, Kind: gatekeeperv1.EventKind(e.Kind), Semaphore: e.Semaphore,
		Author: e.Author, Reason: e.Reason, At: toTimestamp(e.At), Permit: toPermit(e.Permit), Cordon: toCordon(e.Cordon),
		Pause: toPause(e.Pause), Until: toTimestamp(details.Until), Drain: toOptionalDuration(e.Drain),
		Missed:      gatekeeperv1.MissedKind(e.Missed),
		PauseBefore: toPause(details.PauseBefore), CordonBefore: toCordon(details.CordonBefore), Undoes: details.Undoes,
	}
	out.Firings = toFiringsChange(details.Firings)
	out.BindingBefore, out.BindingAfter = toBinding(details.BindingBefore), toBinding(details.BindingAfter)
	if e.Change != nil {
		out.AlsoUndoes = e.Change.AlsoUndoes
	}
	if e.Before != nil {
		out.Before = toDefinition(e.Before)
	}
	if e.After != nil {
		out.After = toDefinition(e.After)
	}
	return out
}

func toMissing(m *undo.Missing) *gatekeeperv1.MissingEntries {
	if m == nil {
		return nil
	}
	return &gatekeeperv1.MissingEntries{Change: m.Change, Semaphores: m.Names, Cordons: uint32(m.Cordons), Unknown: m.Unknown}
}

func toMissed(r *missed.Report) *gatekeeperv1.Missed {
	return &gatekeeperv1.Missed{
		Kind: gatekeeperv1.MissedKind(r.Kind), Since: toTimestamp(r.Since), Text: r.Text, Reason: gatekeeperv1.Reason(r.Reason),
	}
}

// effects converts a change's effects and adds the current waiters.
func (a *API) effects(state *fsm.State, effects []preview.Effect) []*gatekeeperv1.Effect {
	out := make([]*gatekeeperv1.Effect, len(effects))
	for i := range effects {
		e := &effects[i]
		all, workers := a.reader.InQueue(e.Semaphore)
		m := &gatekeeperv1.Effect{
			Semaphore: e.Semaphore, Unaffected: uint32(e.Unaffected), Eligible: uint32(e.Eligible), Warnings: e.Warnings,
			Admitted: toCallers(e.Admitted), TotalAdmitted: uint32(e.AdmittedCount),
			ShutOut: toCallers(e.ShutOut), TotalShutOut: uint32(e.ShutOutCount),
			Waiters: uint32(all), WaitingWorkers: uint32(workers), WaitingTasks: state.Work(e.Semaphore).Waiting,
			TasksRun: e.TasksRun,
		}
		if e.Before != nil {
			m.Before = toDefinition(e.Before)
		}
		if e.After != nil {
			m.After = toDefinition(e.After)
		}
		for _, s := range e.Stopped {
			m.Stopped = append(m.Stopped, &gatekeeperv1.Stopped{
				Permit: toPermit(s.Permit), FreeWithin: durationpb.New(s.FreeWithin), DrainLeft: toOptionalDuration(s.DrainLeft),
			})
		}
		for _, p := range e.Held {
			m.Held = append(m.Held, toPermit(p))
		}
		out[i] = m
	}
	return out
}

func toConfirmations(reasons []preview.Confirmation) []*gatekeeperv1.Confirmation {
	var out []*gatekeeperv1.Confirmation
	for _, r := range reasons {
		out = append(out, &gatekeeperv1.Confirmation{Kind: gatekeeperv1.ConfirmationKind(r.Kind), Text: r.Text})
	}
	return out
}

func toCallers(sightings []fsm.Sighting) []*gatekeeperv1.Caller {
	var out []*gatekeeperv1.Caller
	for _, s := range sightings {
		out = append(out, &gatekeeperv1.Caller{Group: s.Group, Acquirer: s.Acquirer, LastSeen: toTimestamp(s.At)})
	}
	return out
}
