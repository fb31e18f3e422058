package fsm_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// newUndoLog returns a log at feature level 2.
func newUndoLog(t *testing.T) *log {
	l := newLog(t)
	l.apply(fsm.RaiseFeatureLevel{Level: 2})
	return l
}

// replace returns a batch that replaces a definition with a modified copy.
func (l *log) replace(name string, change ...func(*semaphore.Definition)) fsm.EditBatch {
	d := l.state().Definition(name)
	modified := d.Definition.Clone()
	for _, c := range change {
		c(modified)
	}
	return fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Replace, Name: name, Definition: modified, ExpectedVersion: d.Version}}, Author: "ann", At: at(2)}
}

func TestUndo_ReplacedPause_IsRestored(t *testing.T) {
	l := newUndoLog(t)
	l.define("a")
	l.define("b")
	l.grant("a", "h")
	l.apply(fsm.Pause{Names: []string{"a"}, Reason: "the database", Until: at(60), Stop: true, Drain: time.Minute, Author: "ann"})
	first := l.state().Definition("a").Pause
	l.apply(fsm.Pause{Names: []string{"a", "b"}, Reason: "lunch", Author: "bob"})
	second := l.state().Revision()
	entries := collect(l.state().Journal("a", second))
	equal(t, "replaced pause", entries[0].Details().PauseBefore, first)

	restore := *first
	restore.Change = first.Revision
	r := applyOne[fsm.UndoResult](l, fsm.Undo{
		Change: second, Author: "bob", Reason: "wrong", At: at(5), Pauses: []fsm.UndoPause{
			{Pause: &restore, Expected: []fsm.ExpectedPause{{Name: "a", Revision: second}}}, {Expected: []fsm.ExpectedPause{{Name: "b", Revision: second}}},
		},
	})
	equal(t, "result", r, fsm.UndoResult{Revision: second + 1})
	want := restore
	want.Revision = second + 1
	equal(t, "pause of a", l.state().Definition("a").Pause, &want)
	if l.state().Definition("b").Pause != nil {
		t.Error("b is still paused, want its pause undone")
	}
	equal(t, "events", kinds(l.events), []fsm.EventKind{fsm.PausedEvent, fsm.ResumedEvent})
	for _, name := range []string{"a", "b"} {
		e := collect(l.state().Journal(name, second+1))
		if len(e) != 1 || e[0].Details().Undoes != second || e[0].Author != "bob" {
			t.Errorf("journal of %s = %+v, want one entry by bob that undoes the change", name, e)
		}
	}
	// Operators can still use the revision of the change that first set the pause, but a timer with that revision has
	// no effect.
	if r := unchanged[fsm.RevisionResult](l, fsm.Resume{Names: []string{"a"}, Term: l.term, Revision: first.Revision}); r.Applied {
		t.Error("the replaced pause's timer was applied")
	}
	if r := applyOne[fsm.RevisionResult](l, fsm.Resume{Names: []string{"a"}, Revision: first.Revision}); !r.Applied {
		t.Error("Resume with the pause's original revision was not applied")
	}
}

func TestUndo_ReplacedCordon_IsRestored(t *testing.T) {
	l := newUndoLog(t)
	l.apply(
		fsm.SetCordon{ID: "z", GroupPattern: "dr", Until: at(60), Author: "ann", Reason: "power", Drain: time.Minute},
		fsm.SetCordon{ID: "z", GroupPattern: "dr", Author: "bob"},
	)
	second := l.state().Cordons()[0]
	before := collect(l.state().Journal("", second.Revision))[0].Details().CordonBefore
	restore := *before
	restore.Change = before.Revision
	r := applyOne[fsm.UndoResult](l, fsm.Undo{
		Change: second.Revision, Author: "bob", Cordons: []fsm.UndoCordon{{ID: "z", Expected: second.Revision, Cordon: &restore}},
	})
	restore.Revision = r.Revision
	equal(t, "cordons", l.state().Cordons(), []*fsm.Cordon{&restore})
	equal(t, "cordon revision", l.state().CordonRevision(), r.Revision)
	equal(t, "events", kinds(l.events), []fsm.EventKind{fsm.CordonedEvent})
	applyOne[fsm.UndoResult](l, fsm.Undo{Change: r.Revision, Cordons: []fsm.UndoCordon{{ID: "z", Expected: r.Revision}}})
	equal(t, "cordons", len(l.state().Cordons()), 0)
	equal(t, "events", kinds(l.events), []fsm.EventKind{fsm.UncordonedEvent})
}

func TestUndo_LaterChange_IsConflict(t *testing.T) {
	l := newUndoLog(t)
	l.define("a")
	l.define("b")
	l.apply(fsm.Pause{Names: []string{"a"}})
	paused := l.state().Revision()
	l.apply(fsm.SetCordon{ID: "z", GroupPattern: "dr"})
	cordoned := l.state().Revision()
	pause := &semaphore.Pause{Change: paused}
	good := fsm.Undo{Change: paused, Pauses: []fsm.UndoPause{{Expected: []fsm.ExpectedPause{{Name: "a", Revision: paused}}}}}
	for what, x := range map[string]struct {
		extra func(*fsm.Undo)
		kind  fsm.ConflictKind
		name  string
	}{
		"no longer paused": {func(u *fsm.Undo) {
			u.Pauses = append(u.Pauses, fsm.UndoPause{Expected: []fsm.ExpectedPause{{Name: "b", Revision: paused}}})
		}, fsm.ConflictPause, "b"},
		"paused since": {func(u *fsm.Undo) {
			u.Pauses = []fsm.UndoPause{{Pause: pause, Expected: []fsm.ExpectedPause{{Name: "b"}, {Name: "a"}}}}
		}, fsm.ConflictPause, "a"},
		"deleted since": {func(u *fsm.Undo) {
			u.Pauses = append(u.Pauses, fsm.UndoPause{Pause: pause, Expected: []fsm.ExpectedPause{{Name: "none"}}})
		}, fsm.ConflictAbsent, "none"},
		"cordoned since": {func(u *fsm.Undo) {
			u.Cordons = []fsm.UndoCordon{{ID: "z", Cordon: &fsm.Cordon{GroupPattern: "x", Change: cordoned}}}
		}, fsm.ConflictCordon, "z"},
		"cordon no longer exists": {func(u *fsm.Undo) { u.Cordons = []fsm.UndoCordon{{ID: "y", Expected: cordoned}} }, fsm.ConflictCordon, "y"},
		"edited since": {func(u *fsm.Undo) {
			u.Edits = []fsm.UndoEdit{{Change: fsm.Change{Kind: fsm.Delete, Name: "b", ExpectedVersion: 1}}}
		}, fsm.ConflictStale, "b"},
	} {
		t.Run(what, func(t *testing.T) {
			u := good
			x.extra(&u)
			r := unchanged[fsm.UndoResult](l, u)
			if r.Conflict == nil || r.Conflict.Kind != x.kind || r.Conflict.Name != x.name {
				t.Errorf("Undo: got conflict %+v, want kind %v of %q", r.Conflict, x.kind, x.name)
			}
		})
	}
	if r := applyOne[fsm.UndoResult](l, good); r.Revision == 0 {
		t.Errorf("Undo: got %+v", r)
	}
}

func TestUndo_Malformed_IsInvalid(t *testing.T) {
	l := newUndoLog(t)
	v := l.define("a").Version
	other := definition("b")
	replace := func(e fsm.UndoEdit) []fsm.UndoEdit {
		e.Change = fsm.Change{Kind: fsm.Replace, Name: "a", Definition: definition("a"), ExpectedVersion: v}
		return []fsm.UndoEdit{e}
	}
	end := func(revision uint64) *fsm.EditEnd {
		return &fsm.EditEnd{Revision: revision, Until: at(9), Before: definition("a"), After: definition("a")}
	}
	duplicates := []fsm.ExpectedPause{{Name: "a", Revision: v}, {Name: "a", Revision: v}}
	for what, u := range map[string]fsm.Undo{
		"no effects":           {},
		"no such change":       {Change: 99, Pauses: []fsm.UndoPause{{Expected: duplicates[:1]}}},
		"duplicate name":       {Pauses: []fsm.UndoPause{{Expected: duplicates}}},
		"pause without a name": {Pauses: []fsm.UndoPause{{}}},
		"resume of a semaphore that is not paused": {Pauses: []fsm.UndoPause{{Expected: []fsm.ExpectedPause{{Name: "a"}}}}},
		"pause without origin":                     {Pauses: []fsm.UndoPause{{Pause: &semaphore.Pause{}, Expected: duplicates[:1]}}},
		"drain without stop":                       {Pauses: []fsm.UndoPause{{Pause: &semaphore.Pause{Change: 1, Drain: time.Minute}, Expected: duplicates[:1]}}},
		"drain too long":                           {Drain: 25 * time.Hour, Pauses: []fsm.UndoPause{{Expected: duplicates[:1]}}},
		"uncordon without a cordon":                {Cordons: []fsm.UndoCordon{{ID: "z"}}},
		"cordon without origin":                    {Cordons: []fsm.UndoCordon{{ID: "z", Cordon: &fsm.Cordon{GroupPattern: "g"}}}},
		"declaration":                              {Edits: []fsm.UndoEdit{{Change: fsm.Change{Kind: fsm.Declare, Name: "b", Definition: other}}}},
		"different name":                           {Edits: []fsm.UndoEdit{{Change: fsm.Change{Kind: fsm.Create, Name: "c", Definition: other}}}},
		"replace with a pause":                     {Edits: replace(fsm.UndoEdit{Pause: &semaphore.Pause{Change: 1}})},
		"temporary edits out of order":             {Edits: replace(fsm.UndoEdit{RestoredEnds: []*fsm.EditEnd{end(2), end(1)}})},
		"temporary edit of a future revision":      {Edits: replace(fsm.UndoEdit{RestoredEnds: []*fsm.EditEnd{end(99)}})},
		"temporary edit of another definition": {Edits: replace(fsm.UndoEdit{RestoredEnds: []*fsm.EditEnd{
			{Revision: 1, Until: at(9), Before: other, After: other},
		}})},
	} {
		t.Run(what, func(t *testing.T) {
			if u.Change == 0 {
				u.Change = v
			}
			unchanged[fsm.InvalidResult](l, u)
		})
	}
}

func TestUndo_Deletion_RestoresPauseAndTemporaryEdits(t *testing.T) {
	l := newUndoLog(t)
	l.define("a", permits(1))
	batch := l.replace("a", permits(5))
	batch.Until, batch.Drain = at(60), time.Minute
	l.apply(batch)
	l.apply(fsm.Pause{Names: []string{"a"}, Reason: "the database", Author: "ann"})
	original, ends := l.state().Definition("a"), l.state().Ends("a")
	l.apply(edits(remove("a", original.Version)))
	deleted := l.state().Revision()
	entry := collect(l.state().Journal("a", deleted))[0]
	equal(t, "removed pause and temporary edits", []any{entry.Pause, entry.Details().RemovedEnds}, []any{original.Pause, ends})
	equal(t, "temporary edits of the deleted name", len(l.state().Ends("a")), 0)

	restore := *original.Pause
	restore.Change = original.Pause.Revision
	r := applyOne[fsm.UndoResult](l, fsm.Undo{Change: deleted, Edits: []fsm.UndoEdit{{
		Change: fsm.Change{Kind: fsm.Create, Name: "a", Definition: entry.Before}, Pause: &restore, RestoredEnds: entry.Details().RemovedEnds,
	}}})
	restore.Revision = r.Revision
	equal(t, "pause", l.state().Definition("a").Pause, &restore)
	equal(t, "ends", l.state().Ends("a"), ends)
	equal(t, "event pause", l.events[0].Definition.Pause, &restore)
	restored(t, l.state())
	// The temporary edit ends as scheduled.
	l.apply(fsm.Revert{Change: ends[0].Revision, Term: l.term, Names: []string{"a"}, At: at(60)})
	equal(t, "permits", l.state().Definition("a").Definition.Permits, uint32(1))
	equal(t, "pause", l.state().Definition("a").Pause, &restore)
}

// If the scheduled end were kept, it would later revert a permanent edit to the same value.
func TestUndo_TemporaryEdit_RemovesScheduledEnd(t *testing.T) {
	l := newUndoLog(t)
	l.define("a", permits(1))
	batch := l.replace("a", permits(5))
	batch.Until = at(60)
	l.apply(batch)
	ends := l.state().Ends("a")
	undo := func(to uint32, e fsm.UndoEdit) {
		c := l.replace("a", permits(to)).Changes[0]
		e.Change = c
		applyOne[fsm.UndoResult](l, fsm.Undo{Change: c.ExpectedVersion, Edits: []fsm.UndoEdit{e}})
	}
	undo(1, fsm.UndoEdit{RemovedEnds: []uint64{ends[0].Revision}})
	equal(t, "ends", len(l.state().Ends("a")), 0)
	equal(t, "removed temporary edits", collect(l.state().Journal("a", l.state().Revision()))[0].Details().RemovedEnds, ends)
	undo(5, fsm.UndoEdit{RestoredEnds: ends})
	equal(t, "ends", l.state().Ends("a"), ends)
	equal(t, "restored temporary edits", collect(l.state().Journal("a", l.state().Revision()))[0].Details().RestoredEnds, ends)
	restored(t, l.state())
}

func TestUndo_Repeat_ReturnsFirstResult(t *testing.T) {
	l := newUndoLog(t)
	l.define("a")
	l.apply(fsm.Pause{Names: []string{"a"}})
	paused := l.state().Revision()
	u := fsm.Undo{Change: paused, RequestID: "u", Pauses: []fsm.UndoPause{{Expected: []fsm.ExpectedPause{{Name: "a", Revision: paused}}}}}
	first := applyOne[fsm.UndoResult](l, u)
	l.apply(fsm.Pause{Names: []string{"a"}})
	equal(t, "repeat", unchanged[fsm.UndoResult](l, u), fsm.UndoResult{Revision: first.Revision, Repeated: true})
}

func TestPauseAndCordon_Repeat_ChangesNothing(t *testing.T) {
	l := newUndoLog(t)
	l.define("a")
	for _, cmd := range []fsm.Command{
		fsm.Pause{Names: []string{"a"}, RequestID: "1"}, fsm.Resume{Names: []string{"a"}, RequestID: "2"},
		fsm.SetCordon{ID: "z", GroupPattern: "g", RequestID: "3"}, fsm.Uncordon{ID: "z", RequestID: "4"},
	} {
		r := applyOne[fsm.RevisionResult](l, cmd)
		if !r.Applied {
			t.Fatalf("%+v: got %+v", cmd, r)
		}
		l.apply(fsm.Pause{Names: []string{"a"}}, fsm.SetCordon{ID: "z", GroupPattern: "h"}) // another operator's changes
		equal(t, "repeat", unchanged[fsm.RevisionResult](l, cmd), fsm.RevisionResult{Revision: r.Revision, Repeated: true})
	}
}

// A script that uses the same request id for all its commands must get an error instead of a repeated result.
func TestOperatorChanges_ReusedRequestID_AreRefused(t *testing.T) {
	cmds := map[fsm.EditKind]func(l *log, id string) fsm.Command{
		fsm.EditDefinitions: func(_ *log, id string) fsm.Command {
			return fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Declare, Name: "new", Definition: definition("new")}}, RequestID: id}
		},
		fsm.EditPause:    func(_ *log, id string) fsm.Command { return fsm.Pause{Names: []string{"open"}, RequestID: id} },
		fsm.EditResume:   func(_ *log, id string) fsm.Command { return fsm.Resume{Names: []string{"paused"}, RequestID: id} },
		fsm.EditCordon:   func(_ *log, id string) fsm.Command { return fsm.SetCordon{ID: "new", GroupPattern: "g", RequestID: id} },
		fsm.EditUncordon: func(_ *log, id string) fsm.Command { return fsm.Uncordon{ID: "set", RequestID: id} },
		fsm.EditUndo: func(l *log, id string) fsm.Command {
			expected := []fsm.ExpectedPause{{Name: "undone", Revision: l.state().Definition("undone").Pause.Revision}}
			return fsm.Undo{Change: 1, RequestID: id, Pauses: []fsm.UndoPause{{Expected: expected}}}
		},
	}
	for first, build := range cmds {
		for other, extra := range cmds {
			if other == first {
				continue
			}
			l := newUndoLog(t)
			l.define("open")
			l.define("paused")
			l.define("undone")
			l.apply(fsm.Pause{Names: []string{"paused", "undone"}}, fsm.SetCordon{ID: "set", GroupPattern: "g"})
			results := l.apply(build(l, "1"), extra(l, "1")) // in one entry, as if sent concurrently
			done := &fsm.Remembered{RequestID: "1", Edit: first, Revision: l.state().Revision()}
			equal(t, "remembered", l.state().EditRequest("1"), done)
			want := fsm.InvalidResult{Why: fmt.Sprintf(`request id "1" belongs to %v, change %d: use a new one`, first, done.Revision), UsedBy: done}
			equal(t, "result in the same entry", results[1], fsm.Result(want))
			equal(t, "result in a later entry", unchanged[fsm.InvalidResult](l, extra(l, "1")), want)
			restored(t, l.state())
		}
	}
}

func TestRevert_EditWithDrain_StartsNewDrain(t *testing.T) {
	l := newUndoLog(t)
	l.define("a", permits(5))
	batch := l.replace("a", func(d *semaphore.Definition) { d.GroupPattern = "dr" })
	batch.Until, batch.Drain = at(60), 2*time.Minute
	l.apply(batch)
	set := l.state().Revision()
	l.grant("a", "admitted temporarily")
	l.apply(fsm.Revert{Change: set, Term: l.term, Names: []string{"a"}, At: at(60)})
	reverted := l.state().Revision()
	equal(t, "drains", l.state().Drains("a"), []semaphore.Drain{{Revision: reverted, Duration: 2 * time.Minute}})
	equal(t, "journal", collect(l.state().Journal("a", reverted))[0].Drain, 2*time.Minute)
	restored(t, l.state())
}

func TestRevert_NothingToRevert_StartsNoDrain(t *testing.T) {
	l := newUndoLog(t)
	l.define("a", permits(5))
	batch := l.replace("a", permits(6))
	batch.Until, batch.Drain = at(60), 2*time.Minute
	l.apply(batch)
	set := l.state().Revision()
	l.apply(l.replace("a", permits(7)))
	l.grant("a", "h")
	l.apply(fsm.Revert{Change: set, Term: l.term, Names: []string{"a"}, At: at(60)})
	equal(t, "drains", len(l.state().Drains("a")), 0)
}
