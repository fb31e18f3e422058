package fsm

import (
	"slices"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// This file checks the journal of a snapshot, entry by entry.

func (in *restoring) journal(e *JournalEntry, entries uint32) {
	if in.r.err != nil {
		return
	}
	last := in.lastEntry
	if last != nil && !journalBefore(last, e) {
		in.r.fail("journal entry %d.%d is out of order", e.Revision, e.Ordinal)
	}
	in.lastEntry = e
	in.whole(last, e, entries)
	in.requireRevision(e.Revision, "a journal entry")
	in.closing(e)
	in.details(e)
	if def := in.d.Definition(e.Semaphore); def != nil {
		e.Semaphore = def.Definition.Name
		if e.After.Equal(def.Definition) {
			e.After = def.Definition // share the definition, as when the entry was made
		}
	}
	if e.Permit != nil {
		in.share(e.Permit)
	}
	in.d.addJournal(e)
}

// whole checks the WholeChange of an entry; entries is the number of entries that the change made. If the previous
// entry, last, belongs to the same change, both share it.
func (in *restoring) whole(last, e *JournalEntry, entries uint32) {
	if same := last != nil && last.Revision == e.Revision; same {
		if e.Change != nil && e.Change != alone || (e.Change == nil) != (last.Change == nil) {
			in.r.fail("journal entry %d.%d has data about its change that differs from the first entry's", e.Revision, e.Ordinal)
		}
		e.Change = last.Change
	}
	if e.Change == nil {
		return
	}
	if int(entries) != max(1, len(e.Change.Names)) {
		in.r.fail("journal entry %d.%d is one of %d, but its change has %d names", e.Revision, e.Ordinal, entries, len(e.Change.Names))
	}
	if names := e.Change.Names; len(names) == 0 && e.Ordinal > 0 || len(names) > 0 && (int(e.Ordinal) >= len(names) || names[e.Ordinal] != e.Semaphore) {
		in.r.fail("journal entry %d.%d does not match the names of its change", e.Revision, e.Ordinal)
	}
	if also := e.Change.AlsoUndoes; (len(also) > 0 || e.Change.Partial) && e.Details().Undoes == 0 || len(also) > 0 && also[len(also)-1] >= e.Revision {
		in.r.fail("journal entry %d.%d cannot have undone the changes %d", e.Revision, e.Ordinal, also)
	}
}

// closing checks the cordon or pause of a journal entry. An entry has one if and only if its kind requires it. If the
// entry set the cordon or pause, both have the same revision. If the entry ended or replaced it, the cordon or pause is
// older. An entry for the deletion or restoration of a definition may also have a pause.
func (in *restoring) closing(e *JournalEntry) {
	if c := e.Cordon; (c != nil) != (e.Kind == CordonedEvent || e.Kind == UncordonedEvent) {
		in.r.fail("journal entry %d.%d of kind %d has an unexpected or missing cordon", e.Revision, e.Ordinal, e.Kind)
	} else if c != nil && (c.ID == "" || e.Semaphore != "" || !closed(e, CordonedEvent, c.Revision)) {
		in.r.fail("journal entry %d.%d does not match its cordon %q of revision %d", e.Revision, e.Ordinal, c.ID, c.Revision)
	}
	p, moved := e.Pause, e.Kind == Created || e.Kind == Deleted
	if moved && p != nil {
		in.r.needs(2)
	}
	set := PausedEvent
	if e.Kind == Created {
		set = Created
	}
	if (p != nil) != (e.Kind == PausedEvent || e.Kind == ResumedEvent) && !moved {
		in.r.fail("journal entry %d.%d of kind %d has an unexpected or missing pause", e.Revision, e.Ordinal, e.Kind)
	} else if p != nil && (e.Semaphore == "" || !closed(e, set, p.Revision)) {
		in.r.fail("journal entry %d.%d of %q does not match its pause of revision %d", e.Revision, e.Ordinal, e.Semaphore, p.Revision)
	}
	in.undoable(e)
}

// undoable checks the data that a journal entry holds for undos, and its data about an undo.
func (in *restoring) undoable(e *JournalEntry) {
	more := e.Details()
	if e.More != nil {
		in.r.needs(2)
	}
	edits := e.Kind == Created || e.Kind == Replaced || e.Kind == Deleted
	switch {
	case more.PauseBefore != nil && (e.Kind != PausedEvent || more.PauseBefore.Revision == 0 || more.PauseBefore.Revision >= e.Revision),
		more.CordonBefore != nil && (e.Kind != CordonedEvent || more.CordonBefore.Revision == 0 || more.CordonBefore.Revision >= e.Revision):
		in.r.fail("journal entry %d.%d of kind %d replaced something that is not older", e.Revision, e.Ordinal, e.Kind)
	case len(more.EndsGone) > MaxEditEnds || len(more.EndsBack) > MaxEditEnds || len(more.EndsGone)+len(more.EndsBack) > 0 && !edits:
		in.r.fail("journal entry %d.%d of kind %d removed %d temporary edits and restored %d",
			e.Revision, e.Ordinal, e.Kind, len(more.EndsGone), len(more.EndsBack))
	case more.Undoes != 0 && (more.Undoes >= e.Revision || !edits && more.Firings == nil && (e.Kind < PausedEvent || e.Kind > UncordonedEvent)):
		in.r.fail("journal entry %d.%d of kind %d cannot have undone change %d", e.Revision, e.Ordinal, e.Kind, more.Undoes)
	}
	for _, end := range slices.Concat(more.EndsGone, more.EndsBack) {
		in.end(e.Semaphore, end, 0)
	}
	if (more.Firings != nil) != (e.Kind == FiringsForgotten || e.Kind == FiringsRemembered) {
		in.r.fail("journal entry %d.%d of kind %d has unexpected or missing firings", e.Revision, e.Ordinal, e.Kind)
	} else if more.Firings != nil {
		in.firings(e.Semaphore, more.Firings)
	}
}

// firings checks a change to remembered firings, on which an undo relies.
func (in *restoring) firings(name string, f *FiringsChange) {
	for _, c := range f.Claims {
		if c.Semaphore != name || c.Firing.Name == "" || c.Token == 0 || c.Token > in.d.lastToken || c.State == semaphore.ClaimHeld {
			in.r.fail("a change to the firings of %q has firing %q of %q, with token %d", name, c.Firing.Name, c.Semaphore, c.Token)
		}
		in.requireRevision(c.Revision, "a firing that was forgotten")
	}
}

// details checks the data that only some kinds of entries have.
func (in *restoring) details(e *JournalEntry) {
	drains := e.Kind == Replaced || e.Kind == Deleted || e.Kind == PausedEvent || e.Kind == CordonedEvent || e.Kind == StoppingEvent ||
		e.Kind == RevertedEvent
	if e.Kind >= DrainedEvent {
		in.r.needs(2)
	}
	if e.Kind >= SupersededEvent {
		in.r.needs(3)
	}
	if e.Kind == BindingChanged {
		in.r.needs(4)
	}
	if more := e.Details(); (more.BindingBefore != nil || more.BindingAfter != nil) != (e.Kind == BindingChanged) {
		in.r.fail("journal entry %d.%d of kind %d has an unexpected or missing binding", e.Revision, e.Ordinal, e.Kind)
	}
	switch {
	case e.Drain > 0 && !drains:
		in.r.fail("journal entry %d.%d of kind %d has a drain", e.Revision, e.Ordinal, e.Kind)
	case !e.Details().Until.IsZero() && e.Kind != Replaced:
		in.r.fail("journal entry %d.%d of kind %d has an end", e.Revision, e.Ordinal, e.Kind)
	case (e.Missed != Heard) != (e.Kind == MissedEvent):
		in.r.fail("journal entry %d.%d of kind %d has an unexpected or missing kind of missed work", e.Revision, e.Ordinal, e.Kind)
	}
}

// closed reports whether the revision of a cordon or pause fits an entry. If the entry is of kind set, both must have
// the same revision. Otherwise the cordon or pause must be older.
func closed(e *JournalEntry, set EventKind, revision uint64) bool {
	if e.Kind == set {
		return revision == e.Revision
	}
	return revision > 0 && revision < e.Revision
}
