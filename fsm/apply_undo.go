package fsm

import (
	"fmt"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// undo reverses one change. It emits the same events and writes the same journal entries as the equivalent manual
// changes, so watchers need no special handling for undos. The journal entries also name the undone change.
func (d *draft) undo(c Undo) Result {
	request := editRequest{EditUndo, c.RequestID, c.RequestHash, c.RequestRevision}
	if r := d.repeated(request, func(done *Remembered) Result {
		return UndoResult{Revision: done.Revision, Repeated: true}
	}); r != nil {
		return r
	}
	if err := validDrain("undo", c.Drain); err != nil {
		return invalid("%v", err)
	}
	if err := d.validUndo(c); err != nil {
		return invalid("undo of change %d: %v", c.Change, err)
	}
	if conflict := d.undoConflict(c); conflict != nil {
		return UndoResult{Conflict: conflict}
	}
	revision := d.advance()
	entry := JournalEntry{Author: c.Author, Reason: c.Reason, At: c.At, Change: c.wholeChange()}.With(Details{Undoes: c.Change})
	for _, f := range c.Firings {
		d.undoFirings(f, entry)
	}
	batch := EditBatch{Author: c.Author, Reason: c.Reason, At: c.At, Drain: c.Drain}
	for _, e := range c.Edits {
		d.edit(batch, e, &c)
	}
	for _, p := range c.Pauses {
		restored := d.restored(p.Pause)
		for _, expected := range p.Expected {
			d.setPause(expected.Name, restored, entry)
		}
	}
	for _, o := range c.Cordons {
		var restored *Cordon
		if o.Cordon != nil {
			cordon := *o.Cordon
			cordon.ID, cordon.Revision = o.ID, revision
			restored = &cordon
		}
		d.putCordon(o.ID, restored, entry)
	}
	d.rememberEdit(request, EditResponse{})
	return UndoResult{Revision: revision}
}

// wholeChange returns the data that the undo's journal entries share, or nil if it completely undoes a single change.
func (c *Undo) wholeChange() *WholeChange {
	if c == nil || len(c.OtherChanges) == 0 && !c.Partial {
		return nil
	}
	return &WholeChange{AlsoUndoes: c.OtherChanges, Partial: c.Partial}
}

// restored returns a copy of p with the current change's revision, or nil if p is nil.
func (d *draft) restored(p *semaphore.Pause) *semaphore.Pause {
	if p == nil {
		return nil
	}
	restored := *p
	restored.Revision = d.revision
	return &restored
}

func (d *draft) validUndo(c Undo) error {
	if c.Change == 0 || c.Change > d.revision {
		return fmt.Errorf("there is no such change; the last one is %d", d.revision)
	}
	if len(c.Edits)+len(c.Pauses)+len(c.Cordons)+len(c.Firings) == 0 {
		return fmt.Errorf("there is nothing to undo")
	}
	var last uint64
	for _, also := range c.OtherChanges {
		if also <= last || also > d.revision || also == c.Change {
			return fmt.Errorf("change %d in the list of other changes is out of order or unknown, or is the change being undone", also)
		}
		last = also
	}
	edited, names, ids := make(map[string]struct{}), make(map[string]struct{}), make(map[string]struct{})
	addUnique := func(in map[string]struct{}, name string) error {
		if _, duplicate := in[name]; duplicate || name == "" {
			return fmt.Errorf("%q is listed twice or is empty", name)
		}
		in[name] = struct{}{}
		return nil
	}
	for _, e := range c.Edits {
		if err := addUnique(edited, e.Name); err != nil {
			return err
		}
		if e.Kind != Replace || len(c.OtherChanges) == 0 {
			names[e.Name] = struct{}{}
		}
		if err := d.validUndoEdit(e); err != nil {
			return fmt.Errorf("edit of %q: %w", e.Name, err)
		}
	}
	for _, p := range c.Pauses {
		if err := d.validRestoredPause(p.Pause); err != nil {
			return err
		}
		for _, expected := range p.Expected {
			if err := addUnique(names, expected.Name); err != nil {
				return err
			}
			if p.Pause == nil && expected.Revision == 0 {
				return fmt.Errorf("%q would be resumed, but was expected not to be paused", expected.Name)
			}
		}
		if len(p.Expected) == 0 {
			return fmt.Errorf("a pause lists no semaphores")
		}
	}
	for _, o := range c.Cordons {
		if err := addUnique(ids, o.ID); err != nil {
			return err
		}
		if o.Cordon == nil && o.Expected == 0 {
			return fmt.Errorf("cordon %q would be lifted, but was expected not to exist", o.ID)
		}
		if o.Cordon != nil {
			if err := d.validOrigin(o.Cordon.Change); err != nil {
				return fmt.Errorf("cordon %q: %w", o.ID, err)
			}
			if err := validDrain("cordon", o.Cordon.Drain); err != nil {
				return err
			}
		}
	}
	firingNames, tokens := make(map[string]struct{}), make(map[uint64]struct{})
	for _, f := range c.Firings {
		if err := addUnique(firingNames, f.Semaphore); err != nil {
			return err
		}
		if err := d.validUndoFirings(f, tokens); err != nil {
			return fmt.Errorf("firings of %q: %w", f.Semaphore, err)
		}
	}
	return nil
}

// validOrigin checks the change that first set the restored object.
func (d *draft) validOrigin(change uint64) error {
	if change == 0 || change > d.revision {
		return fmt.Errorf("it was first set by change %d, which does not exist", change)
	}
	return nil
}

func (d *draft) validRestoredPause(p *semaphore.Pause) error {
	if p == nil {
		return nil
	}
	if err := validDrain("pause", p.Drain); err != nil {
		return err
	}
	if p.Drain > 0 && !p.Stop {
		return fmt.Errorf("a drain requires stop")
	}
	return d.validOrigin(p.Change)
}

func (d *draft) validUndoEdit(e UndoEdit) error {
	if e.Kind == Declare {
		return fmt.Errorf("a declaration cannot undo a change")
	}
	if err := d.validChange(e.Change); err != nil {
		return err
	}
	if e.Pause != nil && e.Kind != Create {
		return fmt.Errorf("only a created definition can have a pause")
	}
	if e.Kind == Delete && len(e.RestoredEnds)+len(e.RemovedEnds) > 0 {
		return fmt.Errorf("a deletion cannot have temporary edits")
	}
	if err := d.validRestoredPause(e.Pause); err != nil {
		return err
	}
	var last uint64
	remaining, _ := endsAfter(d.Ends(e.Name), UndoEdit{Change: e.Change, RemovedEnds: e.RemovedEnds})
	for _, end := range e.RestoredEnds {
		switch {
		case end.Revision <= last || end.Revision > d.revision || end.Until.IsZero():
			return fmt.Errorf("the temporary edit made at revision %d is out of order or has no end", end.Revision)
		case end.Before == nil || end.Before.Name != e.Name || end.After == nil || end.After.Name != e.Name:
			return fmt.Errorf("the temporary edit made at revision %d belongs to a different definition", end.Revision)
		}
		if err := validDrain("end of an edit", end.Drain); err != nil {
			return err
		}
		for _, pending := range remaining {
			if pending.Revision == end.Revision {
				return fmt.Errorf("the temporary edit made at revision %d already exists", end.Revision)
			}
		}
		last = end.Revision
	}
	if len(remaining)+len(e.RestoredEnds) > MaxEditEnds {
		return fmt.Errorf("it would exceed the maximum of %d temporary edits", MaxEditEnds)
	}
	return nil
}

// undoConflict returns a conflict if the state is not what the undo expects, or nil if it is.
func (d *draft) undoConflict(c Undo) *Conflict {
	for i, e := range c.Edits {
		if conflict := d.conflict(i, e.Change); conflict != nil {
			return conflict
		}
	}
	for _, p := range c.Pauses {
		for _, expected := range p.Expected {
			def := d.Definition(expected.Name)
			switch {
			case def == nil:
				return &Conflict{Kind: ConflictAbsent, Name: expected.Name}
			case def.Pause == nil && expected.Revision == 0:
			case def.Pause == nil || def.Pause.Revision != expected.Revision:
				return &Conflict{Kind: ConflictPause, Name: expected.Name, Current: def}
			}
		}
	}
	for _, o := range c.Cordons {
		i, found := search(d.cordons, o.ID, cordonID)
		if found && d.cordons[i].Revision != o.Expected || !found && o.Expected != 0 {
			return &Conflict{Kind: ConflictCordon, Name: o.ID}
		}
	}
	for _, f := range c.Firings {
		if conflict := d.firingsConflict(f); conflict != nil {
			return conflict
		}
	}
	return nil
}
