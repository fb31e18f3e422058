package fsm

import (
	"cmp"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// What the leader has seen and what it waits for: who asks, what has fallen silent, the end of a quarantine.

// sight remembers callers. It is no change: what was seen decides nothing, and sightings come every second, so that with a
// revision each they would wake whoever waits for changes.
func (d *draft) sight(c Sight) Result {
	if !d.timely(c.Term) {
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
				seen.Group, seen.Acquirer = last.Group, last.Acquirer // the texts that permits share
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

// noteSilence tells of a semaphore that fell silent or was heard again. The state keeps nothing of it but the journal.
func (d *draft) noteSilence(c NoteSilence) Result {
	if !d.timely(c.Term) || d.Definition(c.Semaphore) == nil {
		return RevisionResult{}
	}
	kind := SilentEvent
	if c.Silence == Heard {
		kind = HeardEvent
	}
	revision := d.advance()
	d.note(JournalEntry{Kind: kind, Semaphore: c.Semaphore, Author: ownAuthor, Reason: c.Text, At: c.At, Silence: c.Silence})
	d.emit(Event{Kind: kind, Semaphore: c.Semaphore, Silence: c.Silence, Author: ownAuthor, Reason: c.Text, At: c.At})
	return RevisionResult{Applied: true, Revision: revision}
}

// endQuarantine lets permits be granted again.
func (d *draft) endQuarantine(c EndQuarantine) Result {
	if !d.timely(c.Term) || d.quarantine == 0 {
		return RevisionResult{}
	}
	revision := d.advance()
	d.quarantine = 0
	d.note(JournalEntry{Kind: QuarantineEnded, Author: ownAuthor, At: c.At})
	d.emit(Event{Kind: QuarantineEnded, Author: ownAuthor, At: c.At})
	return RevisionResult{Applied: true, Revision: revision}
}
