package api

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/preview"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/selector"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/undo"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func (s *operatorService) Preview(ctx context.Context, m *gatekeeperv1.PreviewRequest) (*gatekeeperv1.PreviewResponse, error) {
	state, err := s.reader.Read(ctx)
	if err != nil {
		return nil, err
	}
	c, err := s.changeFrom(ctx, state, m)
	if err != nil {
		return nil, err
	}
	if conflict := preview.Conflict(state, c.Edits); conflict != nil {
		return nil, conflictWith(state, s.viewFilter(ctx), &keeper.ConflictError{Conflict: *conflict}, c.Edits[conflict.Index].ExpectedVersion)
	}
	effects, warnings := preview.Effects(state, s.keeper, *c)
	effects = slices.DeleteFunc(effects, func(e preview.Effect) bool { return !s.visible(ctx, state, e.Semaphore) })
	for _, e := range c.Edits {
		if e.Definition != nil {
			warnings = append(warnings, s.warnings(e.Definition)...)
		}
	}
	out := &gatekeeperv1.PreviewResponse{
		Effects: s.effects(state, effects), Warnings: warnings, Revision: state.Revision(),
		Confirm: toConfirmations(preview.Confirm(state, s.keeper, *c, effects)),
	}
	switch {
	case c.Pause != nil:
		out.Digest = preview.DigestOf(state.Revision(), preview.PauseTargets(state, c.Pause.Names)).String()
	case c.Resume != nil:
		out.Digest = preview.DigestOf(state.Revision(), preview.PauseTargets(state, c.Resume.Names)).String()
	}
	return out, nil
}

// changeFrom reads the change to preview. It refuses invalid input as the change itself would.
func (s *operatorService) changeFrom(ctx context.Context, state *fsm.State, m *gatekeeperv1.PreviewRequest) (*preview.Change, error) {
	now := time.Now()
	switch change := m.GetChange().(type) {
	case nil:
		return nil, invalid("change", "", "must be edits, pause, cordon or resume")
	case *gatekeeperv1.PreviewRequest_Pause:
		cmd, end, c, err := pauseFrom(change.Pause)
		if err == nil {
			cmd.Names, err = c.Within(s.viewFilter(ctx)).Names(state)
		}
		if err == nil {
			err = end.Validate(cmd.Drain)
		}
		return &preview.Change{Pause: cmd, Now: now}, within("pause", err)
	case *gatekeeperv1.PreviewRequest_Resume:
		c, err := selector.ParseChoice("selector", change.Resume.GetSelector())
		cmd := &fsm.Resume{Revision: change.Resume.GetChange()}
		if err == nil {
			cmd.Names, err = namesToResume(state, c.Within(s.viewFilter(ctx)), change.Resume)
		}
		return &preview.Change{Resume: cmd, Now: now}, within("resume", err)
	case *gatekeeperv1.PreviewRequest_Cordon:
		cmd, end, err := cordonFrom(change.Cordon)
		if err == nil {
			err = end.Validate(cmd.Drain)
		}
		return &preview.Change{Cordon: cmd, Now: now}, within("cordon", err)
	}
	edits, err := batchFrom(m.GetEdits())
	if err != nil {
		return nil, within("edits", err)
	}
	drain, err := durationFrom("drain", m.GetEdits().GetDrain(), 0)
	if err != nil {
		return nil, within("edits", err)
	}
	end, err := endingFrom(m.GetEdits())
	if err != nil {
		return nil, within("edits", err)
	}
	if err := end.Validate(drain); err != nil {
		return nil, within("edits", err)
	}
	c := &preview.Change{Drain: drain, Now: now}
	maxDuration := s.cfg.Machine.State().Settings().MaxDuration
	for i := range edits {
		if !s.visible(ctx, state, edits[i].Name) {
			return nil, &selector.NoDefinitionError{Name: edits[i].Name}
		}
		if d := edits[i].Definition; d != nil {
			if err := d.Validate(maxDuration); err != nil {
				return nil, within("edits."+edits[i].field, err)
			}
		}
		c.Edits = append(c.Edits, edits[i].Change)
	}
	return c, nil
}

func (s *operatorService) ListCordons(ctx context.Context, m *gatekeeperv1.ListCordonsRequest) (*gatekeeperv1.ListCordonsResponse, error) {
	state, err := s.read(ctx, m.GetStale())
	if err != nil {
		return nil, err
	}
	out := &gatekeeperv1.ListCordonsResponse{Revision: state.Revision()}
	for _, c := range state.Cordons() {
		out.Cordons = append(out.Cordons, toCordon(c))
	}
	return out, nil
}

// ListHistory pages backward from the newest entry. A page may end within a revision, so its token includes the entry's
// ordinal.
func (s *operatorService) ListHistory(ctx context.Context, m *gatekeeperv1.ListHistoryRequest) (*gatekeeperv1.ListHistoryResponse, error) {
	chosen, limit, from, err := s.listFrom(ctx, m)
	if err != nil {
		return nil, err
	}
	since, err := timestampFrom("since", m.GetSince())
	if err != nil {
		return nil, err
	}
	before, err := timestampFrom("before", m.GetBefore())
	if err != nil {
		return nil, err
	}
	state, err := s.read(ctx, m.GetStale())
	if err != nil {
		return nil, err
	}
	// A request for a single literal name reads that semaphore's journal. Any other request scans the full journal.
	journal, start := "", uint64(0)
	if len(m.GetNames()) == 1 && semaphore.ValidSemaphoreName(m.GetNames()[0]) == nil {
		journal = m.GetNames()[0]
	}
	if m.GetChange() > 0 {
		start = m.GetChange() + 1
	}
	ordinal, paged := uint64(0), from.name != ""
	if paged {
		if ordinal, err = strconv.ParseUint(from.name, 10, 32); err != nil {
			return nil, invalid("page_token", m.GetPageToken(), "must be the unmodified next_page_token of the previous page")
		}
		start = from.token + 1
	}
	out := &gatekeeperv1.ListHistoryResponse{Revision: state.Revision()}
	if change := m.GetChange(); change > 0 && change <= state.Revision() {
		out.Missing = toMissing(undo.MissingOf(state, change))
	}
	undoneBy := undo.UndoneBy(state)
	var taken page
	var last pageKey
	for entry := range state.JournalBackward(journal, start) {
		switch {
		case m.GetChange() > 0 && entry.Revision < m.GetChange():
			return out, nil
		case paged && entry.Revision == from.token && uint64(entry.Ordinal) >= ordinal,
			!chosen.MatchEntry(state, entry),
			entry.Kind == fsm.BindingChanged && !s.isAdministrator(ctx),
			!m.GetPermits() && m.GetChange() == 0 && isOrdinaryEnd(entry),
			!since.IsZero() && entry.At.Before(since),
			!before.IsZero() && !entry.At.Before(before):
			continue
		}
		line := toHistoryEntry(entry)
		line.UndoneBy = undoneBy(entry)
		if !taken.add(limit, line) {
			out.NextPageToken = last.String()
			break
		}
		out.Entries = append(out.Entries, line)
		last = pageKey{name: strconv.FormatUint(uint64(entry.Ordinal), 10), token: entry.Revision}
	}
	return out, nil
}

// isOrdinaryEnd reports whether an entry records that a permit ended in an ordinary way. These entries are numerous and
// rarely needed.
func isOrdinaryEnd(entry *fsm.JournalEntry) bool {
	return slices.Contains([]fsm.EventKind{fsm.Released, fsm.Expired, fsm.Abandoned}, entry.Kind)
}

func (s *operatorService) ListKnown(ctx context.Context, m *gatekeeperv1.ListKnownRequest) (*gatekeeperv1.ListKnownResponse, error) {
	var globs []string
	if m.GetGroup() != "" {
		globs = []string{m.GetGroup()}
	}
	groups, err := selector.ParseGlobs("group", globs)
	if err != nil {
		return nil, err
	}
	limit, from, err := pageFrom(m)
	if err != nil {
		return nil, err
	}
	if err := s.requireViewAll(ctx); err != nil {
		return nil, err
	}
	state, err := s.reader.Read(ctx)
	if err != nil {
		return nil, err
	}
	out := &gatekeeperv1.ListKnownResponse{}
	var taken page
	i := uint64(0)
	for sighting := range state.Sightings() {
		if i++; i <= from.token || !groups.Match(sighting.Group) {
			continue
		}
		caller := toCallers([]fsm.Sighting{sighting})[0]
		if !taken.add(limit, caller) {
			out.NextPageToken = pageKey{name: "known", token: i - 1}.String()
			break
		}
		out.Callers = append(out.Callers, caller)
	}
	return out, nil
}
