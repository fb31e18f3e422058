package fsm

import (
	"fmt"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// undo reverses one change. It emits the same events and writes the same journal entries as the equivalent manual
// changes, so watchers need not know about undos. The journal entries also name the undone change.
func (d *draft) undo(c Undo) Result {
	request := editRequest{EditUndo, c.RequestID, c.Asked, c.RequestRevision}
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
	entry := JournalEntry{Author: c.Author, Reason: c.Reason, At: c.At, Change: c.whole()}.With(Details{Undoes: c.Change})
	for _, f := range c.Firings {
		d.undoFirings(f, entry)
	}
	batch := EditBatch{Author: c.Author, Reason: c.Reason, At: c.At, Drain: c.Drain}
	for _, e := range c.Edits {
		d.edit(batch, e, &c)
	}
	for _, p := range c.Pauses {
		again := d.again(p.Pause)
		for _, of := range p.Of {
			d.setPause(of.Name, again, entry)
		}
	}
	for _, o := range c.Cordons {
		var again *Cordon
		if o.Cordon != nil {
			cordon := *o.Cordon
			cordon.ID, cordon.Revision = o.ID, revision
			again = &cordon
		}
		d.putCordon(o.ID, again, entry)
	}
	d.rememberEdit(request, EditAnswer{})
	return UndoResult{Revision: revision}
}

// whole returns the journal data about the undo as a whole, or nil if there is none beyond what every change has.
func (c *Undo) whole() *WholeChange {
	if c == nil || len(c.Also) == 0 && !c.Partial {
		return nil
	}
	return &WholeChange{AlsoUndoes: c.Also, Partial: c.Partial}
}

// again returns a copy of p with the revision of the current change, or nil if p is nil.
func (d *draft) again(p *semaphore.Pause) *semaphore.Pause {
	if p == nil {
		return nil
	}
	again := *p
	again.Revision = d.revision
	return &again
}

func (d *draft) validUndo(c Undo) error {
	if c.Change == 0 || c.Change > d.revision {
		return fmt.Errorf("there is no such change; the last one is %d", d.revision)
	}
	if len(c.Edits)+len(c.Pauses)+len(c.Cordons)+len(c.Firings) == 0 {
		return fmt.Errorf("there is nothing to undo")
	}
	var last uint64
	for _, also := range c.Also {
		if also <= last || also > d.revision || also == c.Change {
			return fmt.Errorf("change %d in the list of other changes is out of order or unknown, or is the undone change itself", also)
		}
		last = also
	}
	edited, names, ids := make(map[string]struct{}), make(map[string]struct{}), make(map[string]struct{})
	once := func(in map[string]struct{}, name string) error {
		if _, twice := in[name]; twice || name == "" {
			return fmt.Errorf("%q is listed twice or is empty", name)
		}
		in[name] = struct{}{}
		return nil
	}
	for _, e := range c.Edits {
		if err := once(edited, e.Name); err != nil {
			return err
		}
		if e.Kind != Replace || len(c.Also) == 0 {
			names[e.Name] = struct{}{}
		}
		if err := d.validUndoEdit(e); err != nil {
			return fmt.Errorf("edit of %q: %w", e.Name, err)
		}
	}
	for _, p := range c.Pauses {
		if err := d.validPauseBack(p.Pause); err != nil {
			return err
		}
		for _, of := range p.Of {
			if err := once(names, of.Name); err != nil {
				return err
			}
			if p.Pause == nil && of.Revision == 0 {
				return fmt.Errorf("%q is resumed, but expected not to be paused", of.Name)
			}
		}
		if len(p.Of) == 0 {
			return fmt.Errorf("a pause lists no semaphores")
		}
	}
	for _, o := range c.Cordons {
		if err := once(ids, o.ID); err != nil {
			return err
		}
		if o.Cordon == nil && o.Expected == 0 {
			return fmt.Errorf("cordon %q is lifted, but expected not to exist", o.ID)
		}
		if o.Cordon != nil {
			if err := d.validBack(o.Cordon.Change); err != nil {
				return fmt.Errorf("cordon %q: %w", o.ID, err)
			}
			if err := validDrain("cordon", o.Cordon.Drain); err != nil {
				return err
			}
		}
	}
	remembering, tokens := make(map[string]struct{}), make(map[uint64]struct{})
	for _, f := range c.Firings {
		if err := once(remembering, f.Semaphore); err != nil {
			return err
		}
		if err := d.validUndoFirings(f, tokens); err != nil {
			return fmt.Errorf("firings of %q: %w", f.Semaphore, err)
		}
	}
	return nil
}

// validBack checks the change that first set the restored object.
func (d *draft) validBack(change uint64) error {
	if change == 0 || change > d.revision {
		return fmt.Errorf("it was first set by change %d, which does not exist", change)
	}
	return nil
}

func (d *draft) validPauseBack(p *semaphore.Pause) error {
	if p == nil {
		return nil
	}
	if err := validDrain("pause", p.Drain); err != nil {
		return err
	}
	if p.Drain > 0 && !p.Stop {
		return fmt.Errorf("a drain requires stop")
	}
	return d.validBack(p.Change)
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
	if e.Kind == Delete && len(e.EndsBack)+len(e.EndsGone) > 0 {
		return fmt.Errorf("a deletion cannot have temporary edits")
	}
	if err := d.validPauseBack(e.Pause); err != nil {
		return err
	}
	var last uint64
	left, _ := endsAfter(d.Ends(e.Name), UndoEdit{Change: e.Change, EndsGone: e.EndsGone})
	for _, end := range e.EndsBack {
		switch {
		case end.Revision <= last || end.Revision > d.revision || end.Until.IsZero():
			return fmt.Errorf("the temporary edit of revision %d is out of order or has no end", end.Revision)
		case end.Before == nil || end.Before.Name != e.Name || end.After == nil || end.After.Name != e.Name:
			return fmt.Errorf("the temporary edit of revision %d belongs to another definition", end.Revision)
		}
		if err := validDrain("end of an edit", end.Drain); err != nil {
			return err
		}
		for _, waits := range left {
			if waits.Revision == end.Revision {
				return fmt.Errorf("the temporary edit of revision %d already exists", end.Revision)
			}
		}
		last = end.Revision
	}
	if len(left)+len(e.EndsBack) > MaxEditEnds {
		return fmt.Errorf("it would have more than the maximum of %d temporary edits", MaxEditEnds)
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
		for _, of := range p.Of {
			def := d.Definition(of.Name)
			switch {
			case def == nil:
				return &Conflict{Kind: ConflictAbsent, Name: of.Name}
			case def.Pause == nil && of.Revision == 0:
			case def.Pause == nil || def.Pause.Revision != of.Revision:
				return &Conflict{Kind: ConflictPause, Name: of.Name, Current: def}
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
