package fsm

import (
	"slices"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// This file checks a snapshot's journal, entry by entry.

func (in *restorer) journal(e *JournalEntry, entries uint32) {
	if in.r.err != nil {
		return
	}
	last := in.lastEntry
	if last != nil && !journalBefore(last, e) {
		in.r.fail("journal entry %d.%d is out of order", e.Revision, e.Ordinal)
	}
	in.lastEntry = e
	in.checkWholeChange(last, e, entries)
	in.requireRevision(e.Revision, "a journal entry")
	in.checkCordonAndPause(e)
	in.checkDetails(e)
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

// checkWholeChange checks an entry's WholeChange; entries is the number of entries that the change made. If the
// previous entry, last, belongs to the same change, both share it.
func (in *restorer) checkWholeChange(last, e *JournalEntry, entries uint32) {
	if same := last != nil && last.Revision == e.Revision; same {
		if e.Change != nil && e.Change != singleEntry || (e.Change == nil) != (last.Change == nil) {
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

// checkCordonAndPause checks a journal entry's cordon or pause. An entry has one if and only if its kind requires it.
// If the entry set the cordon or pause, both have the same revision. If the entry ended or replaced it, the cordon or
// pause is older. An entry for deleting or restoring a definition may also have a pause.
func (in *restorer) checkCordonAndPause(e *JournalEntry) {
	if c := e.Cordon; (c != nil) != (e.Kind == CordonedEvent || e.Kind == UncordonedEvent) {
		in.r.fail("journal entry %d.%d of kind %d has an unexpected or missing cordon", e.Revision, e.Ordinal, e.Kind)
	} else if c != nil && (c.ID == "" || e.Semaphore != "" || !revisionFits(e, CordonedEvent, c.Revision)) {
		in.r.fail("journal entry %d.%d does not match its cordon %q with revision %d", e.Revision, e.Ordinal, c.ID, c.Revision)
	}
	p, createdOrDeleted := e.Pause, e.Kind == Created || e.Kind == Deleted
	if createdOrDeleted && p != nil {
		in.r.requires(2)
	}
	set := PausedEvent
	if e.Kind == Created {
		set = Created
	}
	if (p != nil) != (e.Kind == PausedEvent || e.Kind == ResumedEvent) && !createdOrDeleted {
		in.r.fail("journal entry %d.%d of kind %d has an unexpected or missing pause", e.Revision, e.Ordinal, e.Kind)
	} else if p != nil && (e.Semaphore == "" || !revisionFits(e, set, p.Revision)) {
		in.r.fail("journal entry %d.%d of %q does not match its pause with revision %d", e.Revision, e.Ordinal, e.Semaphore, p.Revision)
	}
	in.checkUndo(e)
}

// checkUndo checks the data that undoing a journal entry requires and, if an undo wrote the entry, the data about that
// undo.
func (in *restorer) checkUndo(e *JournalEntry) {
	details := e.Details()
	if e.More != nil {
		in.r.requires(2)
	}
	edits := e.Kind == Created || e.Kind == Replaced || e.Kind == Deleted
	switch {
	case details.PauseBefore != nil && (e.Kind != PausedEvent || details.PauseBefore.Revision == 0 || details.PauseBefore.Revision >= e.Revision),
		details.CordonBefore != nil && (e.Kind != CordonedEvent || details.CordonBefore.Revision == 0 || details.CordonBefore.Revision >= e.Revision):
		in.r.fail("journal entry %d.%d of kind %d replaced something that is not older", e.Revision, e.Ordinal, e.Kind)
	case len(details.RemovedEnds) > MaxEditEnds || len(details.RestoredEnds) > MaxEditEnds || len(details.RemovedEnds)+len(details.RestoredEnds) > 0 && !edits:
		in.r.fail("journal entry %d.%d of kind %d removed %d temporary edits and restored %d",
			e.Revision, e.Ordinal, e.Kind, len(details.RemovedEnds), len(details.RestoredEnds))
	case details.Undoes != 0 && (details.Undoes >= e.Revision || !edits && details.Firings == nil && (e.Kind < PausedEvent || e.Kind > UncordonedEvent)):
		in.r.fail("journal entry %d.%d of kind %d cannot have undone change %d", e.Revision, e.Ordinal, e.Kind, details.Undoes)
	}
	for _, end := range slices.Concat(details.RemovedEnds, details.RestoredEnds) {
		in.checkEnd(e.Semaphore, end, 0)
	}
	if (details.Firings != nil) != (e.Kind == FiringsForgotten || e.Kind == FiringsRemembered) {
		in.r.fail("journal entry %d.%d of kind %d has unexpected or missing firings", e.Revision, e.Ordinal, e.Kind)
	} else if details.Firings != nil {
		in.checkFirings(e.Semaphore, details.Firings)
	}
}

// checkFirings checks a change to remembered firings. Undoing the change relies on this data.
func (in *restorer) checkFirings(name string, f *FiringsChange) {
	for _, c := range f.Claims {
		if c.Semaphore != name || c.Firing.Name == "" || c.Token == 0 || c.Token > in.d.lastToken || c.State == semaphore.ClaimHeld {
			in.r.fail("a change to the firings of %q has firing %q of %q, with token %d", name, c.Firing.Name, c.Semaphore, c.Token)
		}
		in.requireRevision(c.Revision, "a firing that was forgotten")
	}
}

// checkDetails checks the data that only some kinds of entries have.
func (in *restorer) checkDetails(e *JournalEntry) {
	drains := e.Kind == Replaced || e.Kind == Deleted || e.Kind == PausedEvent || e.Kind == CordonedEvent || e.Kind == StoppingEvent ||
		e.Kind == RevertedEvent
	if e.Kind >= DrainedEvent {
		in.r.requires(2)
	}
	if e.Kind >= SupersededEvent {
		in.r.requires(3)
	}
	if e.Kind == BindingChanged {
		in.r.requires(4)
	}
	if details := e.Details(); (details.BindingBefore != nil || details.BindingAfter != nil) != (e.Kind == BindingChanged) {
		in.r.fail("journal entry %d.%d of kind %d has an unexpected or missing binding", e.Revision, e.Ordinal, e.Kind)
	}
	switch {
	case e.Drain > 0 && !drains:
		in.r.fail("journal entry %d.%d of kind %d has a drain", e.Revision, e.Ordinal, e.Kind)
	case !e.Details().Until.IsZero() && e.Kind != Replaced:
		in.r.fail("journal entry %d.%d of kind %d has an end", e.Revision, e.Ordinal, e.Kind)
	case (e.Missed != NothingMissed) != (e.Kind == MissedEvent):
		in.r.fail("journal entry %d.%d of kind %d has an unexpected or missing kind of missed work", e.Revision, e.Ordinal, e.Kind)
	}
}

// revisionFits reports whether the revision of a cordon or pause fits an entry. If the entry is of kind set, both must
// have the same revision. Otherwise the cordon or pause must be older.
func revisionFits(e *JournalEntry, set EventKind, revision uint64) bool {
	if e.Kind == set {
		return revision == e.Revision
	}
	return revision > 0 && revision < e.Revision
}
