package undo

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/phrase"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// takeCreation deletes the definition that the change created, unless it has been changed since.
func (p *planner) takeCreation(entry *fsm.JournalEntry) {
	name := entry.Semaphore
	current := p.definition(name)
	if current == nil {
		p.noteOf(name, "it has since been deleted.")
		return
	}
	if p.recreated(name) {
		p.noteOf(name, "it has since been deleted; the current definition was created by change %d, and remains.", current.CreatedRevision)
		return
	}
	if changed := semaphore.Changed(entry.After, current.Definition); len(changed) > 0 {
		p.conflict("%s: %s since it was created, at version %d by %s", name, setSince(changed), current.Version, current.UpdatedBy)
		return
	}
	p.edit(fsm.UndoEdit{Change: fsm.Change{Kind: fsm.Delete, Name: name, ExpectedVersion: current.Version}})
}

// recreated reports whether the changed definition has since been deleted and another one, possibly identical, created
// under the same name. A definition restored by an undo counts as the original.
func (p *planner) recreated(name string) bool {
	created := p.definition(name).CreatedRevision
	for created > p.change {
		deleted := p.deletionUndone(name, created)
		if deleted <= p.change {
			return true
		}
		created = p.createdBefore(name, deleted)
	}
	return false
}

// deletionUndone returns the deletion whose undo created the definition, or 0 if the definition was not created by an
// undo.
func (p *planner) deletionUndone(name string, created uint64) uint64 {
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

// createdBefore returns the change that created the definition that existed before the given change, or 0 if the
// journal does not go back far enough.
func (p *planner) createdBefore(name string, change uint64) uint64 {
	for entry := range p.state.JournalBackward(name, change) {
		if entry.Kind == fsm.Created {
			return entry.Revision
		}
	}
	return 0
}

// deletedSince adds the conflict that the definition has since been deleted, and possibly replaced by another.
func (p *planner) deletedSince(name string) {
	if current := p.definition(name); current != nil {
		p.conflict("%s: it has since been deleted; the current definition was created by change %d", name, current.CreatedRevision)
	} else {
		p.conflict("%s: it has since been deleted", name)
	}
}

// takeDeletion restores a definition with its pause and temporary edits, as of now.
func (p *planner) takeDeletion(entry *fsm.JournalEntry) {
	name := entry.Semaphore
	if current := p.definition(name); current != nil {
		p.conflict("%s: it has since been re-created, at version %d by %s", name, current.Version, current.UpdatedBy)
		return
	}
	e := fsm.UndoEdit{Change: fsm.Change{Kind: fsm.Create, Name: name}}
	e.Definition, e.EndsBack = p.byNow(name, entry.Before, entry.Details().EndsGone)
	if e.Pause = p.pauseBack(name, entry.Pause); e.Pause != nil {
		p.noteOf(name, "it is restored in its paused state: %s.", phrase.Pause(e.Pause))
	}
	p.edit(e)
}

// takeEdit restores the fields that the change set, unless any of them has been set again since.
func (p *planner) takeEdit(entry *fsm.JournalEntry) {
	name := entry.Semaphore
	current := p.definition(name)
	if current == nil || p.recreated(name) {
		p.deletedSince(name)
		return
	}
	more := entry.Details()
	restored, kept := semaphore.Revert(current.Definition, entry.Before, entry.After)
	if len(kept) > 0 {
		p.conflict("%s: %s since, at version %d by %s", name, setSince(kept), current.Version, current.UpdatedBy)
		return
	}
	if fields, by := p.setAgain(entry, semaphore.Changed(current.Definition, restored)); by != nil {
		p.conflict("%s: %s since, in change %d by %s", name, setSince(fields), by.Revision, cmp.Or(by.Author, "somebody"))
		return
	}
	e := fsm.UndoEdit{Change: fsm.Change{Kind: fsm.Replace, Name: name, ExpectedVersion: current.Version}}
	for _, end := range p.ends(name) {
		own := end.Revision == entry.Revision
		if own || slices.ContainsFunc(more.EndsBack, func(b *fsm.EditEnd) bool { return b.Revision == end.Revision }) {
			e.EndsGone = append(e.EndsGone, end.Revision)
		}
	}
	e.Definition, e.EndsBack = p.byNow(name, restored, more.EndsGone)
	if len(semaphore.Changed(current.Definition, e.Definition)) == 0 && len(e.EndsGone)+len(e.EndsBack) == 0 {
		p.noteOf(name, "there is nothing left to undo.")
		return
	}
	if entry.Kind == fsm.RevertedEvent {
		p.noteOf(name, "the temporary values are restored, and are now permanent.")
	}
	p.edit(e)
}

// setAgain returns which of the fields were set again after the change, and the first entry that did so. An entry
// counts even if it set a field back to an earlier value, because somebody wanted that value. Entries that have been
// undone, their undos, and temporary edits that have ended do not count.
func (p *planner) setAgain(entry *fsm.JournalEntry, fields []string) (again []string, by *fsm.JournalEntry) {
	for later := range p.state.Journal(entry.Semaphore, entry.Revision+1) {
		more := later.Details()
		over := !more.Until.IsZero() && !slices.ContainsFunc(p.ends(entry.Semaphore), func(e *fsm.EditEnd) bool { return e.Revision == later.Revision })
		if later.Kind != fsm.Replaced || p.gone(later.Revision, aboutOf(later)) || p.undoesLater(later) || over {
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

// undoesLater reports whether an entry belongs to an undo of only changes that came after the one being undone.
func (p *planner) undoesLater(entry *fsm.JournalEntry) bool {
	if entry.Change != nil && len(entry.Change.AlsoUndoes) > 0 && entry.Change.AlsoUndoes[0] <= p.change {
		return false
	}
	return entry.Details().Undoes > p.change
}

// byNow returns a definition and its temporary edits as of now: edits that have since expired are reverted.
func (p *planner) byNow(name string, d *semaphore.Definition, ends []*fsm.EditEnd) (*semaphore.Definition, []*fsm.EditEnd) {
	ends = slices.Clone(ends)
	for {
		over := -1
		for i, end := range ends {
			if !end.Until.After(p.now) && (over < 0 || end.Until.Before(ends[over].Until)) {
				over = i
			}
		}
		if over < 0 {
			break
		}
		ended := ends[over]
		ends = slices.Delete(ends, over, over+1)
		p.noteOf(name, "the temporary values of change %d have since expired and are not restored.", ended.Revision)
		// As when a temporary edit ends on time, an old value that has become invalid is not restored.
		back, _ := semaphore.Revert(d, ended.Before, ended.After)
		if back.Validate(p.state.Settings().MaxDuration) != nil {
			continue
		}
		d = back
		for i := over; i < len(ends); i++ {
			ends[i] = ends[i].Without(ended)
		}
	}
	for _, end := range ends {
		p.noteOf(name, "the values of change %d still expire at %s.", end.Revision, phrase.Instant(end.Until))
	}
	return d, ends
}

func setSince(fields []string) string {
	if len(fields) == 1 {
		return fields[0] + " has been set again"
	}
	return strings.Join(fields, ", ") + " have been set again"
}

// edit applies an edit to the plan.
func (p *planner) edit(e fsm.UndoEdit) {
	switch e.Kind {
	case fsm.Create:
		created := p.createdBefore(e.Name, p.change)
		p.set(e.Name, undoSemaphore{&fsm.StoredDefinition{Definition: e.Definition, CreatedRevision: created, Pause: e.Pause}, e.EndsBack})
	case fsm.Delete:
		p.set(e.Name, undoSemaphore{})
	default:
		now := *p.definition(e.Name)
		now.Definition = e.Definition
		ends := slices.DeleteFunc(slices.Clone(p.ends(e.Name)), func(end *fsm.EditEnd) bool { return slices.Contains(e.EndsGone, end.Revision) })
		ends = append(ends, e.EndsBack...)
		slices.SortFunc(ends, func(a, b *fsm.EditEnd) int { return cmp.Compare(a.Revision, b.Revision) })
		p.set(e.Name, undoSemaphore{&now, ends})
	}
}
