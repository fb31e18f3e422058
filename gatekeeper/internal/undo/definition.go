package undo

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/phrase"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// undoCreation deletes the definition that the change created, unless it has been changed since.
func (p *planner) undoCreation(entry *fsm.JournalEntry) {
	name := entry.Semaphore
	current := p.definition(name)
	if current == nil {
		p.noteFor(name, "it has since been deleted.")
		return
	}
	if p.recreated(name) {
		p.noteFor(name, "it has since been deleted; the current definition was created by change %d and is kept.", current.CreatedRevision)
		return
	}
	if changed := semaphore.Changed(entry.After, current.Definition); len(changed) > 0 {
		p.conflict("%s: %s since it was created, at version %d by %s", name, setAgainText(changed), current.Version, current.UpdatedBy)
		return
	}
	p.edit(fsm.UndoEdit{Change: fsm.Change{Kind: fsm.Delete, Name: name, ExpectedVersion: current.Version}})
}

// recreated reports whether the changed definition has since been deleted and a new one, possibly identical, created
// under the same name. A definition restored by an undo counts as the original.
func (p *planner) recreated(name string) bool {
	created := p.definition(name).CreatedRevision
	for created > p.change {
		deleted := p.undoneDeletion(name, created)
		if deleted <= p.change {
			return true
		}
		created = p.previousCreation(name, deleted)
	}
	return false
}

// undoneDeletion returns the deletion whose undo created the definition, or 0 if the definition was not created by an
// undo.
func (p *planner) undoneDeletion(name string, created uint64) uint64 {
	for entry := range p.state.Journal(name, created) {
		if entry.Revision == created && entry.Kind == fsm.Created {
			return entry.Details().Undoes
		}
		if entry.Revision > created {
			break
		}
	}
	return 0
}

// previousCreation returns the change that created the definition that existed before the given change, or 0 if the
// journal does not go back far enough.
func (p *planner) previousCreation(name string, change uint64) uint64 {
	for entry := range p.state.JournalBackward(name, change) {
		if entry.Kind == fsm.Created {
			return entry.Revision
		}
	}
	return 0
}

// addDeletedConflict adds a conflict because the definition has since been deleted and possibly recreated.
func (p *planner) addDeletedConflict(name string) {
	if current := p.definition(name); current != nil {
		p.conflict("%s: it has since been deleted; the current definition was created by change %d", name, current.CreatedRevision)
	} else {
		p.conflict("%s: it has since been deleted", name)
	}
}

// undoDeletion restores a definition with its pause and temporary edits, as of now.
func (p *planner) undoDeletion(entry *fsm.JournalEntry) {
	name := entry.Semaphore
	if current := p.definition(name); current != nil {
		p.conflict("%s: it has since been re-created, at version %d by %s", name, current.Version, current.UpdatedBy)
		return
	}
	e := fsm.UndoEdit{Change: fsm.Change{Kind: fsm.Create, Name: name}}
	e.Definition, e.RestoredEnds = p.asOfNow(name, entry.Before, entry.Details().RemovedEnds)
	if e.Pause = p.restoredPause(name, entry.Pause); e.Pause != nil {
		p.noteFor(name, "it is restored in its paused state: %s.", phrase.Pause(e.Pause))
	}
	p.edit(e)
}

// undoEdit restores the fields that the change set, unless any of them has been set again since.
func (p *planner) undoEdit(entry *fsm.JournalEntry) {
	name := entry.Semaphore
	current := p.definition(name)
	if current == nil || p.recreated(name) {
		p.addDeletedConflict(name)
		return
	}
	details := entry.Details()
	restored, kept := semaphore.Revert(current.Definition, entry.Before, entry.After)
	if len(kept) > 0 {
		p.conflict("%s: %s since, at version %d by %s", name, setAgainText(kept), current.Version, current.UpdatedBy)
		return
	}
	if fields, by := p.fieldsSetSince(entry, semaphore.Changed(current.Definition, restored)); by != nil {
		p.conflict("%s: %s since, in change %d by %s", name, setAgainText(fields), by.Revision, cmp.Or(by.Author, "an unknown author"))
		return
	}
	e := fsm.UndoEdit{Change: fsm.Change{Kind: fsm.Replace, Name: name, ExpectedVersion: current.Version}}
	for _, end := range p.ends(name) {
		sameEdit := end.Revision == entry.Revision
		if sameEdit || slices.ContainsFunc(details.RestoredEnds, func(b *fsm.EditEnd) bool { return b.Revision == end.Revision }) {
			e.RemovedEnds = append(e.RemovedEnds, end.Revision)
		}
	}
	e.Definition, e.RestoredEnds = p.asOfNow(name, restored, details.RemovedEnds)
	if len(semaphore.Changed(current.Definition, e.Definition)) == 0 && len(e.RemovedEnds)+len(e.RestoredEnds) == 0 {
		p.noteFor(name, "there is nothing left to undo.")
		return
	}
	if entry.Kind == fsm.RevertedEvent {
		p.noteFor(name, "the temporary values have been restored and are now permanent.")
	}
	p.edit(e)
}

// fieldsSetSince returns which of the fields were set again after the change, and the first entry that did so. An entry
// counts even if it set a field back to an earlier value, because someone wanted that value. Entries that have been
// undone, their undos, and temporary edits that have ended do not count.
func (p *planner) fieldsSetSince(entry *fsm.JournalEntry, fields []string) (again []string, by *fsm.JournalEntry) {
	for later := range p.state.Journal(entry.Semaphore, entry.Revision+1) {
		details := later.Details()
		expired := !details.Until.IsZero() && !slices.ContainsFunc(p.ends(entry.Semaphore), func(e *fsm.EditEnd) bool { return e.Revision == later.Revision })
		if later.Kind != fsm.Replaced || p.isUndone(later.Revision, subjectOf(later)) || p.undoesLaterChange(later) || expired {
			continue
		}
		changed := semaphore.Changed(later.Before, later.After)
		again = slices.DeleteFunc(slices.Clone(fields), func(field string) bool { return !slices.Contains(changed, field) })
		if len(again) > 0 {
			return again, later
		}
	}
	return nil, nil
}

// undoesLaterChange reports whether an entry belongs to an undo that covers only changes after the one being undone.
func (p *planner) undoesLaterChange(entry *fsm.JournalEntry) bool {
	if entry.Change != nil && len(entry.Change.AlsoUndoes) > 0 && entry.Change.AlsoUndoes[0] <= p.change {
		return false
	}
	return entry.Details().Undoes > p.change
}

// asOfNow returns a definition and its temporary edits as of now: edits that have since expired are reverted.
func (p *planner) asOfNow(name string, d *semaphore.Definition, ends []*fsm.EditEnd) (*semaphore.Definition, []*fsm.EditEnd) {
	ends = slices.Clone(ends)
	for {
		expired := -1
		for i, end := range ends {
			if !end.Until.After(p.now) && (expired < 0 || end.Until.Before(ends[expired].Until)) {
				expired = i
			}
		}
		if expired < 0 {
			break
		}
		ended := ends[expired]
		ends = slices.Delete(ends, expired, expired+1)
		p.noteFor(name, "the temporary values from change %d have since expired and are not restored.", ended.Revision)
		// An old value that has become invalid is not restored, just as when a temporary edit ends on time.
		reverted, _ := semaphore.Revert(d, ended.Before, ended.After)
		if reverted.Validate(p.state.Settings().MaxDuration) != nil {
			continue
		}
		d = reverted
		for i := expired; i < len(ends); i++ {
			ends[i] = ends[i].Without(ended)
		}
	}
	for _, end := range ends {
		p.noteFor(name, "the values from change %d still expire at %s.", end.Revision, phrase.Instant(end.Until))
	}
	return d, ends
}

func setAgainText(fields []string) string {
	if len(fields) == 1 {
		return fields[0] + " has been set again"
	}
	return strings.Join(fields, ", ") + " have been set again"
}

// edit applies an edit to the plan.
func (p *planner) edit(e fsm.UndoEdit) {
	switch e.Kind {
	case fsm.Create:
		created := p.previousCreation(e.Name, p.change)
		p.set(e.Name, undoSemaphore{&fsm.StoredDefinition{Definition: e.Definition, CreatedRevision: created, Pause: e.Pause}, e.RestoredEnds})
	case fsm.Delete:
		p.set(e.Name, undoSemaphore{})
	default:
		updated := *p.definition(e.Name)
		updated.Definition = e.Definition
		ends := slices.DeleteFunc(slices.Clone(p.ends(e.Name)), func(end *fsm.EditEnd) bool { return slices.Contains(e.RemovedEnds, end.Revision) })
		ends = append(ends, e.RestoredEnds...)
		slices.SortFunc(ends, func(a, b *fsm.EditEnd) int { return cmp.Compare(a.Revision, b.Revision) })
		p.set(e.Name, undoSemaphore{&updated, ends})
	}
}
