package fsm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func edits(changes ...fsm.Change) fsm.EditBatch {
	return fsm.EditBatch{Changes: changes, Author: "ann", Reason: "because", At: at(7)}
}

func create(d *semaphore.Definition) fsm.Change {
	return fsm.Change{Kind: fsm.Create, Name: d.Name, Definition: d}
}

func declare(d *semaphore.Definition) fsm.Change {
	return fsm.Change{Kind: fsm.Declare, Name: d.Name, Definition: d}
}

func replace(d *semaphore.Definition, version uint64) fsm.Change {
	return fsm.Change{Kind: fsm.Replace, Name: d.Name, Definition: d, ExpectedVersion: version}
}

func remove(name string, version uint64) fsm.Change {
	return fsm.Change{Kind: fsm.Delete, Name: name, ExpectedVersion: version}
}

func TestEditBatch_SeveralChanges_ShareRevision(t *testing.T) {
	l := newLog(t)
	l.define("old")
	l.define("gone")
	r := applyOne[fsm.EditResult](l, edits(create(definition("new")), replace(definition("old", permits(4)), 1), remove("gone", 2), declare(definition("more"))))
	equal(t, "result", r, fsm.EditResult{Revision: 3})
	s := l.state()
	equal(t, "new", s.Definition("new"), &fsm.StoredDefinition{
		Definition: definition("new"), Version: 3, CreatedRevision: 3, UpdatedBy: "ann", UpdatedAt: at(7), Reason: "because",
	})
	equal(t, "old", s.Definition("old"), &fsm.StoredDefinition{
		Definition: definition("old", permits(4)), Version: 3, CreatedRevision: 1, UpdatedBy: "ann", UpdatedAt: at(7), Reason: "because",
	})
	if s.Definition("gone") != nil || !s.WasDeleted("gone") {
		t.Fatal("gone still exists, or WasDeleted() = false")
	}
	equal(t, "events", kinds(l.events), []fsm.EventKind{fsm.Created, fsm.Replaced, fsm.Deleted, fsm.Created})
	for _, e := range l.events {
		equal(t, "event revision", e.Revision, uint64(3))
	}
	var ordinals []uint32
	for e := range s.Journal("", 3) {
		ordinals = append(ordinals, e.Ordinal)
		equal(t, "author", e.Author, "ann")
	}
	equal(t, "ordinals", ordinals, []uint32{0, 1, 2, 3})
	for e := range s.Journal("old", 3) {
		equal(t, "before", e.Before, definition("old"))
		equal(t, "after", e.After, definition("old", permits(4)))
	}
}

func TestEditBatch_OneInvalidEdit_ChangesNothing(t *testing.T) {
	good := create(definition("good"))
	for _, tc := range []struct {
		name     string
		bad      fsm.Change
		conflict fsm.ConflictKind
		invalid  string
	}{
		{name: "name is taken", bad: create(definition("s")), conflict: fsm.ConflictExists},
		{name: "nothing to replace", bad: replace(definition("none"), 1), conflict: fsm.ConflictAbsent},
		{name: "nothing to delete", bad: remove("none", 1), conflict: fsm.ConflictAbsent},
		{name: "replace with a stale version", bad: replace(definition("s"), 9), conflict: fsm.ConflictStale},
		{name: "delete with a stale version", bad: remove("s", 9), conflict: fsm.ConflictStale},
		{name: "duplicate name", bad: create(definition("good")), invalid: `edit 1 ("good"): the batch edits this name twice`},
		{name: "duration too long", bad: create(definition("b", func(d *semaphore.Definition) { d.Duration = 2 * time.Hour })), invalid: `edit 1 ("b"): duration "2h"`},
		{name: "declared min_hold too long", bad: declare(definition("s", func(d *semaphore.Definition) { d.MinHold = 2 * time.Hour })), invalid: `edit 1 ("s"): min_hold "2h"`},
		{name: "unknown on_expiry", bad: create(definition("b", func(d *semaphore.Definition) { d.OnExpiry = 3 })), invalid: `edit 1 ("b"): on_expiry`},
		{name: "empty pattern", bad: create(definition("b", func(d *semaphore.Definition) { d.AcquirerPattern = "" })), invalid: `edit 1 ("b"): acquirer_pattern`},
		{name: "pattern too long", bad: create(definition("b", func(d *semaphore.Definition) { d.GroupPattern = strings.Repeat("a", 513) })), invalid: `edit 1 ("b"): group_pattern`},
		{name: "mismatched names", bad: fsm.Change{Kind: fsm.Create, Name: "b", Definition: definition("c")}, invalid: `edit 1 ("b"): name "c"`},
		{name: "delete without a name", bad: remove("", 1), invalid: `edit 1 (""): name`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := newLog(t)
			l.define("s")
			batch := edits(good, tc.bad)
			batch.RequestID = "e1"
			if tc.conflict != 0 {
				r := unchanged[fsm.EditResult](l, batch)
				equal(t, "conflict", r.Conflict, &fsm.Conflict{Index: 1, Kind: tc.conflict, Name: tc.bad.Name, Current: l.state().Definition(tc.bad.Name)})
			} else if r := unchanged[fsm.InvalidResult](l, batch); !strings.HasPrefix(r.Why, tc.invalid) {
				t.Fatalf("EditBatch: got %q, want prefix %q", r.Why, tc.invalid)
			}
		})
	}
}

// Servers may run different Go versions, so the state machine does not check whether a pattern compiles.
func TestEditBatch_PatternThatDoesNotCompile_IsStored(t *testing.T) {
	l := newLog(t)
	l.define("s", func(d *semaphore.Definition) { d.GroupPattern = "(?<new>syntax" })
}

func TestEditBatch_Declare_NeverReplacesOrRestores(t *testing.T) {
	l := newLog(t)
	l.define("there")
	l.define("deleted")
	l.apply(edits(remove("deleted", 2)))
	all := edits(declare(definition("there", permits(7))), declare(definition("deleted")))
	r := unchanged[fsm.EditResult](l, all)
	equal(t, "result", r, fsm.EditResult{Skipped: []string{"there", "deleted"}})
	all.Changes = append(all.Changes, declare(definition("new")))
	all.RequestID = "e1"
	r = applyOne[fsm.EditResult](l, all)
	equal(t, "result", r, fsm.EditResult{Revision: 4, Skipped: []string{"there", "deleted"}})
	equal(t, "repeat", unchanged[fsm.EditResult](l, all), fsm.EditResult{Revision: 4, Skipped: []string{"there", "deleted"}, Repeated: true})
	equal(t, "restored", snapshotRecords(t, restored(t, l.state()).State()), snapshotRecords(t, l.state()))

	l.define("deleted")
	if l.state().WasDeleted("deleted") {
		t.Fatal("WasDeleted() = true for a name that was re-created")
	}
}

// Skipped names are determined before the batch is applied, because a deletion in the batch may evict an older
// remembered deletion.
func TestEditBatch_DeletionEvictsRememberedName_DeclareIsStillSkipped(t *testing.T) {
	l := newWorkLog(t)
	settings := l.state().Settings()
	settings.RememberedDeletions = 1
	l.apply(fsm.Configure{Settings: settings})
	l.define("deleted")
	l.apply(edits(remove("deleted", l.state().Revision())))
	l.define("going")
	r := applyOne[fsm.EditResult](l, edits(remove("going", l.state().Revision()), declare(definition("deleted"))))
	equal(t, "skipped", r.Skipped, []string{"deleted"})
	if l.state().Definition("deleted") != nil {
		t.Fatal("the skipped declaration created a definition")
	}
}

func TestEditBatch_Repeat_ReturnsFirstResult(t *testing.T) {
	l := newLog(t)
	batch := edits(create(definition("s")))
	batch.RequestID = "e1"
	equal(t, "first", applyOne[fsm.EditResult](l, batch), fsm.EditResult{Revision: 1, Definition: l.state().Definition("s")})
	l.apply(edits(remove("s", 1)))
	equal(t, "repeat", unchanged[fsm.EditResult](l, batch), fsm.EditResult{Revision: 1, Repeated: true})
	equal(t, "remembered", l.state().EditRequest("e1"), &fsm.Remembered{RequestID: "e1", Revision: 1})
	equal(t, "empty batch", unchanged[fsm.EditResult](l, edits()), fsm.EditResult{})
}

func TestEditBatch_Replace_KeepsPause(t *testing.T) {
	l := newLog(t)
	l.define("s")
	l.apply(fsm.Pause{Names: []string{"s"}, Reason: "moving", Until: at(99), Author: "ann"})
	l.apply(edits(replace(definition("s"), 1)))
	d := l.state().Definition("s")
	equal(t, "pause", d.Pause, &semaphore.Pause{Reason: "moving", Until: at(99), Author: "ann", Revision: 2})
	equal(t, "version after a replace with unchanged fields", d.Version, uint64(3))
	l.apply(edits(remove("s", 3)))
	if l.define("s").Pause != nil {
		t.Fatal("definition is still paused after being deleted and re-created")
	}
}

func TestDelete_LivePermits_CountInNewDefinition(t *testing.T) {
	l := newLog(t)
	l.define("s", permits(2))
	p := l.grant("s", "a", firing("f", 5))
	l.apply(edits(remove("s", 1)))
	s := l.state()
	equal(t, "own", s.Own("s", identity("a")), p)
	equal(t, "used", s.Used("s"), uint64(1))
	if r := unchanged[fsm.GrantResult](l, l.request("s", "b")); r.Decision.Reason != semaphore.NoSuchSemaphore {
		t.Fatalf("grant after the deletion: got %+v, want NO_SUCH_SEMAPHORE", r)
	}
	l.define("s")
	if r := unchanged[fsm.GrantResult](l, l.request("s", "b")); r.Decision.Reason != semaphore.NoFreePermit {
		t.Fatalf("grant: got %+v, want a denial because of the deleted definition's permits", r)
	}
	if r := applyOne[fsm.ReleaseResult](l, fsm.Release{Token: p.Token}); !r.Released {
		t.Fatalf("Release of the old permit: got %+v, want it released", r)
	}
	l.grant("s", "b")
	// A finished firing stays finished when the semaphore is re-created.
	if r := unchanged[fsm.GrantResult](l, l.request("s", "c", firing("f", 5))); r.Decision.Reason != semaphore.FiringDone {
		t.Fatalf("grant for a finished firing: got %+v, want FIRING_DONE", r)
	}
}

func TestDelete_NoRemainingData_ForgetsName(t *testing.T) {
	l := newLog(t)
	settings := fsm.DefaultSettings()
	settings.JournalTotal = 0
	l.apply(fsm.Configure{Settings: settings})
	l.define("s")
	p := l.grant("s", "a", firing("f", 5))
	l.apply(edits(remove("s", 2)), fsm.Release{Token: p.Token})
	if l.state().PermitRevision("s") == 0 || l.state().ClaimCount("s") != 1 {
		t.Fatal("a name with a claim was forgotten")
	}
	equal(t, "claimed semaphores", collect(l.state().ClaimedSemaphores()), []string{"s"})
	l.apply(fsm.Forget{Semaphore: "s", Term: l.term, UpTo: at(5)})
	if s := l.state(); s.PermitRevision("s") != 0 || s.ClaimCount("s") != 0 || !s.LowWater("s").IsZero() {
		t.Fatal("the name still has data after its last claim was forgotten")
	}
	unchanged[fsm.RevisionResult](l, fsm.Forget{Semaphore: "s", Term: l.term, UpTo: at(6)})
	restored(t, l.state())
}

func TestDeletions_Remembered_AreBounded(t *testing.T) {
	l := newLog(t)
	settings := fsm.DefaultSettings()
	settings.RememberedDeletions = 2
	l.apply(fsm.Configure{Settings: settings})
	for _, name := range []string{"c", "b", "a"} {
		d := l.define(name)
		l.apply(edits(remove(name, d.Version)))
	}
	s := l.state()
	if s.WasDeleted("c") || !s.WasDeleted("b") || !s.WasDeleted("a") {
		t.Fatal("want WasDeleted() true for a and b, and false for c")
	}
	restored(t, s)
}

func TestJournal_IsBoundedPerSemaphoreAndInTotal(t *testing.T) {
	l := newLog(t)
	settings := fsm.DefaultSettings()
	settings.JournalPerSemaphore, settings.JournalTotal = 2, 4
	l.apply(fsm.Configure{Settings: settings})
	busy := func(name string) {
		p := l.grant(name, "a")
		l.apply(fsm.Release{Token: p.Token})
	}
	l.define("s")
	l.define("t")
	l.define("u")
	for range 5 {
		busy("s")
	}
	equal(t, "entries of s", len(collect(l.state().Journal("s", 0))), 2)
	busy("t")
	busy("u")
	var left []string
	for e := range l.state().Journal("", 0) {
		left = append(left, e.Semaphore)
	}
	equal(t, "entries in total", left, []string{"s", "s", "t", "u"})
	settings.JournalPerSemaphore, settings.JournalTotal = 1, 3
	l.apply(fsm.Configure{Settings: settings, Author: "ann"})
	left = nil
	for e := range l.state().Journal("", 0) {
		left = append(left, e.Semaphore)
	}
	equal(t, "journal entries after lowering the limits", left, []string{"t", "u", ""})
	restored(t, l.state())
}

// Nothing is stored for a deleted name that has no permits or journal entries. A permit revision read before the
// deletion must not match after the name is re-created.
func TestEdit_RecreatedName_HasNewPermitRevision(t *testing.T) {
	l := newLog(t)
	settings := fsm.DefaultSettings()
	settings.JournalPerSemaphore = 0
	l.apply(fsm.RaiseFeatureLevel{Level: 3}, fsm.Configure{Settings: settings})
	d := l.define("s")
	seen := l.state().PermitRevision("s")
	equal(t, "permit revision of a new semaphore", seen, d.CreatedRevision)
	l.apply(edits(remove("s", d.Version)))
	equal(t, "permit revision of a deleted semaphore", l.state().PermitRevision("s"), uint64(0))
	l.define("s")
	g := l.request("s", "a")
	g.ExpectedRevision = &seen
	if r := unchanged[fsm.GrantResult](l, g); r.Outcome != fsm.GrantRevisionChanged || r.PermitRevision != l.state().Definition("s").CreatedRevision {
		t.Fatalf("grant with the permit revision of the deleted semaphore: got %+v, want GrantRevisionChanged", r)
	}
	equal(t, "permit revision after a restore", restored(t, l.state()).State().PermitRevision("s"), l.state().PermitRevision("s"))
}
