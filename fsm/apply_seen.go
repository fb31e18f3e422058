package fsm

import (
	"cmp"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// This file applies the leader's observations: which callers make requests, which semaphores have missed their expected
// work, and when a quarantine ends.

// recordSightings remembers callers. This does not count as a change, because sightings do not affect decisions. They
// arrive every second, and a revision for each would wake every caller that waits for changes.
func (d *draft) recordSightings(c Sight) Result {
	if !d.inCurrentTerm(c.Term) {
		return RevisionResult{}
	}
	for i, seen := range c.Sightings {
		if err := validSighting(seen); err != nil {
			return invalid("sighting %d: %v", i, err)
		}
	}
	applied := false
	for _, seen := range c.Sightings {
		if last, ok := d.Sighting(seen.Group, seen.Acquirer); !ok || seen.At.After(last.At) {
			if ok {
				seen.Group, seen.Acquirer = last.Group, last.Acquirer // permits share these strings
			}
			d.addSighting(seen)
			applied = true
		}
	}
	d.trimSightings()
	return RevisionResult{Applied: applied}
}

func validSighting(s Sighting) error {
	if err := cmp.Or(semaphore.ValidName("group", s.Group), semaphore.ValidName("acquirer", s.Acquirer)); err != nil {
		return err
	}
	if s.At.IsZero() {
		return &semaphore.FieldError{Field: "at", Rule: "must be given"}
	}
	return nil
}

// noteMissed records that a semaphore has started or stopped missing its expected work. Only the journal stores it.
func (d *draft) noteMissed(c NoteMissed) Result {
	if !d.inCurrentTerm(c.Term) || d.Definition(c.Semaphore) == nil {
		return RevisionResult{}
	}
	kind := MissedEvent
	if c.Missed == NothingMissed {
		kind = HeardEvent
	}
	revision := d.advance()
	d.note(JournalEntry{Kind: kind, Semaphore: c.Semaphore, Author: systemAuthor, Reason: c.Text, At: c.At, Missed: c.Missed})
	d.emit(Event{Kind: kind, Semaphore: c.Semaphore, Missed: c.Missed, Author: systemAuthor, Reason: c.Text, At: c.At})
	return RevisionResult{Applied: true, Revision: revision}
}

// endQuarantine allows grants again.
func (d *draft) endQuarantine(c EndQuarantine) Result {
	if !d.inCurrentTerm(c.Term) || d.quarantine == 0 {
		return RevisionResult{}
	}
	revision := d.advance()
	d.quarantine = 0
	d.note(JournalEntry{Kind: QuarantineEnded, Author: systemAuthor, At: c.At})
	d.emit(Event{Kind: QuarantineEnded, Author: systemAuthor, At: c.At})
	return RevisionResult{Applied: true, Revision: revision}
}
