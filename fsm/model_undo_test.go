package fsm_test

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// This file models pauses, cordons and undos, and generates undo commands.

// renewed returns a copy of the pause with the current revision.
func (m *model) renewed(p *semaphore.Pause) *semaphore.Pause {
	if p == nil {
		return nil
	}
	now := *p
	now.Revision = m.revision
	return &now
}

func (m *model) putPause(name string, p *semaphore.Pause, e fsm.JournalEntry) {
	d := m.definition(name)
	e.Semaphore, e.Kind, e.Pause = name, fsm.ResumedEvent, d.Pause
	if p != nil {
		e.Kind, e.Pause, e.Drain = fsm.PausedEvent, p, p.Drain
		if m.level >= 2 {
			e = e.With(fsm.Details{PauseBefore: d.Pause, Undoes: e.Details().Undoes})
		}
	}
	d.Pause = p
	m.note(e)
}

func (m *model) putCordon(id string, now *fsm.Cordon, e fsm.JournalEntry) {
	before := m.dropCordon(id)
	m.cordonRevision = m.revision
	e.Kind, e.Cordon = fsm.UncordonedEvent, before
	if now != nil {
		m.cordons = append(m.cordons, *now)
		e.Kind, e.Cordon, e.Drain = fsm.CordonedEvent, now, now.Drain
		if m.level >= 2 {
			e = e.With(fsm.Details{CordonBefore: before, Undoes: e.Details().Undoes})
		}
	}
	m.note(e)
}

func modelWholeChange(c fsm.Undo) *fsm.WholeChange {
	if len(c.OtherChanges) == 0 && !c.Partial {
		return nil
	}
	return &fsm.WholeChange{AlsoUndoes: c.OtherChanges, Partial: c.Partial}
}

// undo models fsm.Undo. It checks only the conditions that a generated undo can violate: the drain, the undone changes,
// and the expected state.
func (m *model) undo(c fsm.Undo) fsm.Result {
	request := modelEdit{fsm.EditUndo, c.RequestID, c.RequestHash, c.RequestRevision}
	if r := m.repeated(request, func(r fsm.Remembered) fsm.Result {
		return fsm.UndoResult{Revision: r.Revision, Repeated: true}
	}); r != nil {
		return r
	}
	if invalidDrain(c.Drain) || c.Change == 0 || c.Change > m.revision {
		return fsm.InvalidResult{}
	}
	for i, also := range c.OtherChanges {
		if also <= append([]uint64{0}, c.OtherChanges...)[i] || also > m.revision || also == c.Change {
			return fsm.InvalidResult{}
		}
	}
	for _, e := range c.Edits {
		for _, p := range c.Pauses {
			paused := slices.ContainsFunc(p.Expected, func(target fsm.ExpectedPause) bool { return target.Name == e.Name })
			if paused && (e.Kind != fsm.Replace || len(c.OtherChanges) == 0) {
				return fsm.InvalidResult{}
			}
		}
		if d := e.Definition; d != nil && (d.Duration < semaphore.MinDuration || d.Duration > m.settings.MaxDuration) {
			return fsm.InvalidResult{}
		}
		if len(m.ends[e.Name])-len(e.RemovedEnds)+len(e.RestoredEnds) > 16 {
			return fsm.InvalidResult{}
		}
		for _, end := range m.ends[e.Name] {
			restores := slices.ContainsFunc(e.RestoredEnds, func(b *fsm.EditEnd) bool { return b.Revision == end.Revision })
			if restores && e.Kind != fsm.Delete && !slices.Contains(e.RemovedEnds, end.Revision) {
				return fsm.InvalidResult{}
			}
		}
	}
	for i, e := range c.Edits {
		conflict := &fsm.Conflict{Index: i, Name: e.Name}
		if d := m.definition(e.Name); d != nil {
			current := *d
			conflict.Current = &current
		}
		switch {
		case e.Kind == fsm.Create && conflict.Current != nil:
			conflict.Kind = fsm.ConflictExists
		case e.Kind == fsm.Create:
			continue
		case conflict.Current == nil:
			conflict.Kind = fsm.ConflictAbsent
		case conflict.Current.Version == e.ExpectedVersion:
			continue
		default:
			conflict.Kind = fsm.ConflictStale
		}
		return fsm.UndoResult{Conflict: conflict}
	}
	for _, p := range c.Pauses {
		for _, target := range p.Expected {
			d := m.definition(target.Name)
			if d == nil {
				return fsm.UndoResult{Conflict: &fsm.Conflict{Kind: fsm.ConflictAbsent, Name: target.Name}}
			}
			var now uint64
			if d.Pause != nil {
				now = d.Pause.Revision
			}
			if now != target.Revision {
				current := *d
				return fsm.UndoResult{Conflict: &fsm.Conflict{Kind: fsm.ConflictPause, Name: target.Name, Current: &current}}
			}
		}
	}
	for _, o := range c.Cordons {
		var now uint64
		for _, existing := range m.cordons {
			if existing.ID == o.ID {
				now = existing.Revision
			}
		}
		if now != o.Expected {
			return fsm.UndoResult{Conflict: &fsm.Conflict{Kind: fsm.ConflictCordon, Name: o.ID}}
		}
	}
	for _, f := range c.Firings {
		if !m.firingsMatch(f) {
			return fsm.UndoResult{Conflict: &fsm.Conflict{Kind: fsm.ConflictFirings, Name: f.Semaphore}}
		}
	}
	m.revision++
	entry := fsm.JournalEntry{Author: c.Author, Reason: c.Reason, At: c.At, Change: modelWholeChange(c)}.With(fsm.Details{Undoes: c.Change})
	for _, f := range c.Firings {
		m.undoFirings(f, entry)
	}
	for _, e := range c.Edits {
		m.change(fsm.EditBatch{Author: c.Author, Reason: c.Reason, At: c.At, Drain: c.Drain}, e, c)
	}
	for _, p := range c.Pauses {
		for _, target := range p.Expected {
			m.putPause(target.Name, m.renewed(p.Pause), entry)
		}
	}
	for _, o := range c.Cordons {
		var now *fsm.Cordon
		if o.Cordon != nil {
			renewed := *o.Cordon
			renewed.ID, renewed.Revision = o.ID, m.revision
			now = &renewed
		}
		m.putCordon(o.ID, now, entry)
	}
	m.rememberEdit(request, fsm.EditResponse{})
	return fsm.UndoResult{Revision: m.revision}
}

// undo generates an undo as a leader would plan it, sometimes with a wrong expected revision.
func (d draw) undo() fsm.Undo {
	expected := func(revision uint64) uint64 {
		if d.likely("as expected") {
			return revision
		}
		return revision + 1
	}
	c := fsm.Undo{
		Change: rapid.Uint64Range(1, max(1, d.m.revision)).Draw(d.T, "undone"), Author: d.text("author"), Reason: d.text("reason"), At: d.at(),
		RequestID: pick(d, "request", modelRequests...), Drain: d.drain(),
	}
	c.RequestHash, c.RequestRevision = d.requestHash()
	what := pick(d, "undo", "edit", "edit", "pause", "cordon", "all")
	pause := func() *semaphore.Pause {
		stop := rapid.Bool().Draw(d.T, "stop")
		p := &semaphore.Pause{Reason: d.text("reason"), Until: d.at(), Stop: stop, Author: d.text("author"), Change: c.Change}
		if stop {
			p.Drain = pick(d, "drain", 0, time.Minute)
		}
		return p
	}
	if d.m.level >= 3 {
		c.Partial = rapid.Bool().Draw(d.T, "partial")
		if rapid.Bool().Draw(d.T, "several") {
			c.OtherChanges = []uint64{rapid.Uint64Range(1, max(1, d.m.revision)).Draw(d.T, "also undone")}
		}
	}
	names := rapid.Permutation(modelSemaphores).Draw(d.T, "names")
	if what == "edit" || what == "all" {
		c.Edits = append(c.Edits, d.undoEdit(names[0], pause))
	}
	if what == "pause" || what == "all" {
		if len(c.OtherChanges) == 0 || len(c.Edits) == 0 {
			names = names[1:]
		}
		for _, name := range names {
			p := fsm.UndoPause{Expected: []fsm.ExpectedPause{{Name: name}}}
			if def := d.m.definition(name); def != nil && def.Pause != nil {
				p.Expected[0].Revision = expected(def.Pause.Revision)
			}
			if p.Expected[0].Revision == 0 || rapid.Bool().Draw(d.T, "pause again") {
				p.Pause = pause()
			}
			c.Pauses = append(c.Pauses, p)
		}
	}
	if what == "cordon" || what == "all" {
		o := fsm.UndoCordon{ID: pick(d, "id", "k", "l")}
		for _, existing := range d.m.cordons {
			if existing.ID == o.ID {
				o.Expected = expected(existing.Revision)
			}
		}
		if o.Expected == 0 || rapid.Bool().Draw(d.T, "cordon again") {
			o.Cordon = &fsm.Cordon{GroupPattern: d.text("pattern"), Until: d.at(), Author: d.text("author"), Drain: pick(d, "drain", 0, time.Minute), Change: c.Change}
		}
		c.Cordons = append(c.Cordons, o)
	}
	return c
}

func (d draw) undoEdit(name string, pause func() *semaphore.Pause) fsm.UndoEdit {
	e := fsm.UndoEdit{Change: fsm.Change{Kind: fsm.Create, Name: name}}
	if def := d.m.definition(name); def != nil {
		e.Kind = pick(d, "kind", fsm.Replace, fsm.Replace, fsm.Delete)
		e.ExpectedVersion = d.version(name)
	} else if rapid.Bool().Draw(d.T, "with a pause") {
		e.Pause = pause()
	}
	if e.Kind == fsm.Delete {
		return e
	}
	e.Definition = d.definition(name)
	for _, end := range d.m.ends[name] {
		if rapid.Bool().Draw(d.T, "remove end") {
			e.RemovedEnds = append(e.RemovedEnds, end.Revision)
		}
	}
	if d.m.revision > 0 && rapid.Bool().Draw(d.T, "restore end") {
		e.RestoredEnds = []*fsm.EditEnd{{
			Revision: rapid.Uint64Range(1, d.m.revision).Draw(d.T, "end"), Until: at(30), Before: d.definition(name), After: d.definition(name),
			Drain: pick(d, "drain", 0, time.Minute),
		}}
	}
	return e
}
