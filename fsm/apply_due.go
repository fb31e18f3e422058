package fsm

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// The leader's timers end drains and temporary edits. A timer names the change that it ends, so that later changes are
// not affected.

// maxDrains is the maximum number of drains per semaphore. If it is exceeded, the oldest drain is dropped: the newest
// covers every permit that the others cover, though perhaps for a different length of time.
const maxDrains = 16

// endDrain ends the drains begun by one change.
func (d *draft) endDrain(c EndDrain) Result {
	if !d.inCurrentTerm(c.Term) {
		return RevisionResult{}
	}
	before := d.revision
	// Allocate the revision when the first drain is found, so that a command that finds none consumes no revision.
	ensureRevision := func() {
		if d.revision == before {
			d.advance()
		}
	}
	for _, name := range c.Names {
		d.endNamedDrain(name, c, ensureRevision)
	}
	if i, found := search(d.cordons, c.Cordon, cordonID); found && d.cordons[i].Revision == c.Change && d.cordons[i].Drain > 0 {
		ensureRevision()
		drained := *d.cordons[i]
		drained.Drain = 0
		cordons := slices.Clone(d.cordons)
		cordons[i] = &drained
		d.setCordons(cordons) // this also invalidates cached caller matches
		d.emit(Event{Kind: DrainedEvent, Cordon: &drained, Change: c.Change, At: c.At})
	}
	if p := d.Permit(c.Token); p != nil && p.State == semaphore.Live && p.StopOrder().Revision == c.Change && p.StopOrder().Drain > 0 {
		ensureRevision()
		drained := *p
		drained.Order = p.Order.Drained()
		d.setPermit(p, &drained)
		d.emit(Event{Kind: DrainedEvent, Semaphore: p.Semaphore, Permit: &drained, Change: c.Change, At: c.At})
	}
	if d.revision == before {
		return RevisionResult{}
	}
	return RevisionResult{Applied: true, Revision: d.revision}
}

// endNamedDrain ends the drain that a change began for a name. The change was either an edit or a pause, never both.
func (d *draft) endNamedDrain(name string, c EndDrain, ensureRevision func()) {
	before := d.Definition(name)
	after := before
	pending := d.pendingTimers(name)
	switch i := slices.IndexFunc(pending.drains, func(o semaphore.Drain) bool { return o.Revision == c.Change }); {
	case i >= 0:
		ensureRevision()
		pending.drains = slices.Delete(slices.Clone(pending.drains), i, i+1) // readers may be using the old slice
		d.setTimers(name, pending)
	case before != nil && before.Pause != nil && before.Pause.Revision == c.Change && before.Pause.Drain > 0:
		ensureRevision()
		pause, now := *before.Pause, *before
		pause.Drain = 0
		now.Pause = &pause
		after = &now
		d.setDefinition(name, after)
	default:
		return
	}
	d.emit(Event{Kind: DrainedEvent, Semaphore: name, Definition: after, Before: before, Change: c.Change, At: c.At})
}

// revert ends the temporary edits made by one change.
func (d *draft) revert(c Revert) Result {
	if !d.inCurrentTerm(c.Term) {
		return RevisionResult{}
	}
	before := d.revision
	for _, name := range c.Names {
		pending := d.pendingTimers(name)
		i := slices.IndexFunc(pending.ends, func(e *EditEnd) bool { return e.Revision == c.Change })
		if i < 0 {
			continue
		}
		if d.revision == before {
			d.advance()
		}
		d.revertEdit(name, pending, i, c.At)
	}
	if d.revision == before {
		return RevisionResult{}
	}
	return RevisionResult{Applied: true, Revision: d.revision}
}

// revertEdit ends the temporary edit at index i. It emits an event even if nothing can be reverted.
func (d *draft) revertEdit(name string, pending pendingTimers, i int, at time.Time) {
	end, before := pending.ends[i], d.Definition(name)
	restored, kept := semaphore.Revert(before.Definition, end.Before, end.After)
	revertedFields := semaphore.Changed(before.Definition, restored)
	var invalidErr error
	if len(revertedFields) > 0 {
		invalidErr = d.validDefinition(restored)
	}
	after, drain := before, time.Duration(0)
	reason := revertReason(end.Revision, revertedFields, kept, invalidErr)
	if invalidErr == nil {
		pending.ends = withoutEnd(pending.ends, i)
	} else {
		pending.ends = slices.Delete(slices.Clone(pending.ends), i, i+1) // readers may be using the old slice
	}
	if len(revertedFields) > 0 && invalidErr == nil {
		after = &StoredDefinition{
			Definition: restored, Version: d.revision, CreatedRevision: before.CreatedRevision,
			UpdatedBy: systemAuthor, UpdatedAt: at, Reason: reason, Pause: before.Pause,
			MisfiresFrom: misfiresFrom(before, restored, at),
		}
		d.setDefinition(name, after)
		drain = end.Drain
		if drain > 0 && d.hasLivePermit(name) { // the edit admitted these holders, so its drain also applies when reverting it stops them
			pending.addDrain(semaphore.Drain{Revision: d.revision, Duration: drain})
		}
	}
	d.setTimers(name, pending)
	d.note(JournalEntry{
		Kind: RevertedEvent, Semaphore: name, Before: before.Definition, After: after.Definition, Author: systemAuthor, Reason: reason, At: at, Drain: drain,
	})
	d.emit(Event{
		Kind: RevertedEvent, Semaphore: name, Definition: after, Before: before, Change: end.Revision, Author: systemAuthor, Reason: reason, At: at,
	})
}

// systemAuthor is the author of changes that no caller requested.
const systemAuthor = "gatekeeper"

// withoutEnd removes the temporary edit at index i, and removes its values from the later ones, so that they do not
// restore a value that was only temporary.
func withoutEnd(ends []*EditEnd, i int) []*EditEnd {
	ended := ends[i]
	ends = slices.Delete(slices.Clone(ends), i, i+1) // readers may be using the old slice
	for j, later := range ends[i:] {
		ends[i+j] = later.Without(ended)
	}
	return ends
}

// Without returns e as it would be if the earlier temporary edit had never been made.
func (e *EditEnd) Without(ended *EditEnd) *EditEnd {
	now := *e
	now.Before, _ = semaphore.Revert(e.Before, ended.Before, ended.After)
	now.After, _ = semaphore.Revert(e.After, ended.Before, ended.After)
	return &now
}

func revertReason(change uint64, revertedFields, kept []string, invalidErr error) string {
	s := fmt.Sprintf("the edit made at revision %d has expired", change)
	switch {
	case invalidErr != nil:
		return s + "; its fields keep their current values, because the definition would be invalid with the old ones: " + invalidErr.Error()
	case len(revertedFields) > 0:
		s += "; reverted: " + strings.Join(revertedFields, ", ")
	case len(kept) == 0:
		s += "; there was nothing to revert"
	}
	if len(kept) > 0 {
		s += "; changed since then and not reverted: " + strings.Join(kept, ", ")
	}
	return s
}
