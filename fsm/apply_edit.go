package fsm

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// editBatch applies either all edits or none. It validates the whole batch before it writes anything. A name may occur
// only once in a batch, so no edit affects another.
func (d *draft) editBatch(c EditBatch) Result {
	request := editRequest{EditDefinitions, c.RequestID, c.RequestHash, c.RequestRevision}
	if r := d.repeated(request, func(done *Remembered) Result {
		first := done.OriginalResponse()
		return EditResult{Revision: done.Revision, Skipped: first.Skipped, Repeated: true, Definition: first.Definition, Permits: first.Permits}
	}); r != nil {
		return r
	}
	if err := validDrain("edit", c.Drain); err != nil {
		return invalid("%v", err)
	}
	names := make(map[string]struct{}, len(c.Changes))
	for i, change := range c.Changes {
		_, repeated := names[change.Name]
		names[change.Name] = struct{}{}
		if repeated {
			return invalid("edit %d (%q): the batch edits this name twice", i, change.Name)
		}
		if err := d.validChange(change); err != nil {
			return invalid("edit %d (%q): %v", i, change.Name, err)
		}
		if c.Until.IsZero() {
			continue
		}
		if change.Kind != Replace {
			return invalid("edit %d (%q): only a replacement can be temporary; create or delete it without an end time", i, change.Name)
		}
		if len(d.Ends(change.Name)) >= MaxEditEnds {
			return invalid("edit %d (%q): it already has the maximum of %d temporary edits; wait until one ends, or make a permanent edit", i, change.Name, MaxEditEnds)
		}
	}
	var skipped []string
	for i, change := range c.Changes {
		if conflict := d.conflict(i, change); conflict != nil {
			return EditResult{Conflict: conflict}
		}
		if d.skips(change) {
			skipped = append(skipped, change.Name)
		}
	}
	if len(skipped) == len(c.Changes) {
		return EditResult{Skipped: skipped} // not remembered: a retry skips the same names, even if they have been deleted since
	}

	revision := d.advance()
	for _, change := range c.Changes {
		skip := slices.Contains(skipped, change.Name)
		if d.featureLevel < 4 { // below level 4, a deletion in this batch may evict the remembered deletion of a declared name
			skip = d.skips(change)
		}
		if !skip {
			d.edit(c, UndoEdit{Change: change}, nil)
		}
	}
	answer := EditResponse{Skipped: skipped}
	if len(c.Changes) == 1 {
		name := c.Changes[0].Name
		answer.Definition = d.Definition(name)
		if answer.Definition == nil {
			answer.Permits = uint32(d.HolderCount(name))
		}
	}
	d.rememberEdit(request, answer)
	return EditResult{Revision: revision, Skipped: skipped, Definition: answer.Definition, Permits: answer.Permits}
}

func (d *draft) validChange(change Change) error {
	if change.Kind == Delete {
		if change.Name == "" {
			return &semaphore.FieldError{Field: "name", Rule: "must not be empty"}
		}
		return nil
	}
	def := change.Definition
	if def == nil {
		return &semaphore.FieldError{Field: "definition", Rule: "must be given"}
	}
	if def.Name != change.Name {
		return &semaphore.FieldError{Field: "name", Value: def.Name, Rule: "must equal the name of the change"}
	}
	return d.validDefinition(def)
}

// validDefinition makes the same checks as Validate, except that it does not compile the patterns: servers may run
// different Go versions, and only the leader matches patterns.
func (d *draft) validDefinition(def *semaphore.Definition) error {
	for _, p := range [...]struct{ field, pattern string }{
		{"group_pattern", def.GroupPattern}, {"acquirer_pattern", def.AcquirerPattern},
	} {
		if p.pattern == "" || len(p.pattern) > semaphore.MaxPattern {
			return &semaphore.FieldError{Field: p.field, Rule: fmt.Sprintf("must be 1 to %d bytes", semaphore.MaxPattern)}
		}
	}
	plain := *def
	plain.GroupPattern, plain.AcquirerPattern = semaphore.DefaultPattern, semaphore.DefaultPattern
	return plain.Validate(d.settings.MaxDuration)
}

// conflict returns the conflict that prevents a change, or nil.
func (d *draft) conflict(i int, change Change) *Conflict {
	current := d.Definition(change.Name)
	var kind ConflictKind
	switch {
	case change.Kind == Declare:
	case change.Kind == Create && current != nil:
		kind = ConflictExists
	case change.Kind == Create:
	case current == nil:
		kind = ConflictAbsent
	case current.Version != change.ExpectedVersion:
		kind = ConflictStale
	}
	if kind == 0 {
		return nil
	}
	return &Conflict{Index: i, Kind: kind, Name: change.Name, Current: current}
}

// skips reports whether a change declares a name that exists or was deleted.
func (d *draft) skips(change Change) bool {
	return change.Kind == Declare && (d.Definition(change.Name) != nil || d.WasDeleted(change.Name))
}

// edit makes one change in a batch or an undo.
func (d *draft) edit(c EditBatch, change UndoEdit, undo *Undo) {
	name := change.Name
	before := d.Definition(name)
	var after *StoredDefinition
	kind := Deleted
	if change.Kind != Delete {
		name = change.Definition.Name // use this string, so that all data stored under the name shares it
		after = &StoredDefinition{
			Definition: change.Definition, Version: d.revision, CreatedRevision: d.revision,
			UpdatedBy: c.Author, UpdatedAt: c.At, Reason: c.Reason, Pause: d.restored(change.Pause),
		}
		kind = Created
	}
	if change.Kind == Replace {
		// A pause is stored separately from the definition, so an edit does not lift it.
		after.CreatedRevision, after.Pause = before.CreatedRevision, before.Pause
		kind = Replaced
	}
	if after != nil {
		after.MisfiresFrom = misfiresFrom(before, after.Definition, c.At)
	}
	pending := d.pendingTimers(name)
	entry := JournalEntry{Kind: kind, Semaphore: name, Author: c.Author, Reason: c.Reason, At: c.At}
	details := Details{RestoredEnds: change.RestoredEnds}
	if undo != nil {
		details.Undoes, entry.Change = undo.Change, undo.wholeChange()
	}
	pending.ends, details.RemovedEnds = endsAfter(pending.ends, change)
	if before != nil {
		entry.Before = before.Definition
		entry.Drain, details.Until = c.Drain, c.Until
	}
	if after != nil {
		entry.After = after.Definition
	}
	switch {
	case kind == Created:
		entry.Pause = after.Pause
	case kind == Deleted && d.featureLevel >= 2:
		entry.Pause = before.Pause // for an undo
	}
	d.note(entry.With(details)) // before the write: after a deletion, the journal may be the only trace of the name
	d.setDefinition(name, after)
	d.schedule(c, name, pending, before, after)
	if change.Kind == Delete {
		d.rememberDeletion(name)
	} else {
		d.forgetDeletion(name)
	}
	d.emit(Event{Kind: kind, Semaphore: name, Definition: after, Before: before, Author: c.Author, Reason: c.Reason, At: c.At})
}

// misfiresFrom returns the time at which a definition's misfire policy was set, or zero if the policy is skip. Firings
// that were due earlier do not count as missed: either the previous policy applied to them, or there was no definition.
func misfiresFrom(before *StoredDefinition, after *semaphore.Definition, at time.Time) time.Time {
	switch {
	case after.Misfire == semaphore.MisfireSkip:
		return time.Time{}
	case before != nil && before.Definition.Misfire == after.Misfire:
		return before.MisfiresFrom
	}
	return at
}

// endsAfter returns the temporary edits that remain after a change and the temporary edits that it removes. The change
// itself does not count, even if it is temporary. A delete removes all temporary edits. A replace keeps them, but when
// they end, they do not revert the fields that the replace has set.
func endsAfter(ends []*EditEnd, change UndoEdit) (remaining, removed []*EditEnd) {
	if change.Kind == Delete {
		return nil, ends
	}
	for _, revision := range change.RemovedEnds {
		if i := slices.IndexFunc(ends, func(e *EditEnd) bool { return e.Revision == revision }); i >= 0 {
			removed = append(removed, ends[i])
			ends = withoutEnd(ends, i)
		}
	}
	if len(change.RestoredEnds) > 0 {
		ends = slices.Concat(ends, change.RestoredEnds)
		slices.SortFunc(ends, func(a, b *EditEnd) int { return cmp.Compare(a.Revision, b.Revision) })
	}
	return ends, removed
}

// schedule begins an edit's drain and, if the edit is temporary, registers its end. Existing drains and ends are kept.
func (d *draft) schedule(c EditBatch, name string, pending pendingTimers, before, after *StoredDefinition) {
	if before != nil && c.Drain > 0 && d.hasLivePermit(name) {
		pending.addDrain(semaphore.Drain{Revision: d.revision, Duration: c.Drain})
	}
	if after != nil && !c.Until.IsZero() {
		pending.ends = append(slices.Clip(pending.ends), &EditEnd{ // readers may be using the old slice
			Revision: d.revision, Until: c.Until, Before: before.Definition, After: after.Definition, Drain: c.Drain,
		})
	}
	d.setTimers(name, pending)
}

// addDrain adds a drain and drops the oldest one if there are too many.
func (w *pendingTimers) addDrain(drain semaphore.Drain) {
	w.drains = append(slices.Clip(w.drains), drain) // readers may be using the old slice
	if len(w.drains) > maxDrains {
		w.drains = w.drains[1:]
	}
}

func (d *draft) hasLivePermit(name string) bool {
	for p := range d.Holders(name) {
		if p.State == semaphore.Live {
			return true
		}
	}
	return false
}
