package fsm

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Pauses and cordons close semaphores temporarily. Their end times are for display and for the leader's timers. This
// package never compares them with a clock.

// repeatedChange returns the result of a retried change. It describes the original change.
func repeatedChange(done *Remembered) Result {
	first := done.OriginalResponse()
	return RevisionResult{Revision: done.ChangeID(), Repeated: true, Names: first.Names, Cordon: first.Cordon}
}

// pause pauses either all of the given semaphores or none. It replaces an existing pause unless c.Keep is set.
func (d *draft) pause(c Pause) Result {
	request := editRequest{EditPause, c.RequestID, c.RequestHash, c.RequestRevision}
	if r := d.repeated(request, repeatedChange); r != nil {
		return r
	}
	if other := d.unexpected("pause", c.Names, c.Expected); other != nil {
		return other
	}
	if err := d.validNames(c.Names); err != nil {
		return invalid("pause: %v", err)
	}
	if err := validDrain("pause", c.Drain); err != nil {
		return invalid("%v", err)
	}
	if c.Drain > 0 && !c.Stop {
		return invalid("pause: a drain requires stop")
	}
	names := c.Names
	if c.Keep {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return d.Definition(name).Pause != nil })
		if len(names) == 0 {
			d.rememberNoOp(request)
			return RevisionResult{}
		}
	}
	revision := d.advance()
	for _, name := range names {
		d.setPause(name, &semaphore.Pause{Reason: c.Reason, Until: c.Until, Stop: c.Stop, Revision: revision, Author: c.Author, Drain: c.Drain},
			JournalEntry{Author: c.Author, Reason: c.Reason, At: c.At})
	}
	d.rememberEdit(request, EditResponse{Names: names})
	return RevisionResult{Applied: true, Revision: revision, Names: names}
}

// resume ends pauses. If a revision is given, later pauses remain.
func (d *draft) resume(c Resume) Result {
	request := editRequest{EditResume, c.RequestID, c.RequestHash, c.RequestRevision}
	if r := d.repeated(request, repeatedChange); r != nil {
		return r
	}
	if other := d.unexpected("resume", c.Names, c.Expected); other != nil {
		return other
	}
	foundNone := len(c.Names) == 0 && c.RequestID != "" && d.featureLevel >= 3
	if c.Term == 0 && !foundNone {
		if err := d.validNames(c.Names); err != nil {
			return invalid("resume: %v", err)
		}
	} else if c.Term != 0 && !d.inCurrentTerm(c.Term) {
		return RevisionResult{}
	}
	var resumed []string
	for _, name := range c.Names {
		def := d.Definition(name)
		if def == nil || def.Pause == nil || !c.endsPause(def.Pause) {
			continue
		}
		if len(resumed) == 0 {
			d.advance()
		}
		d.setPause(name, nil, JournalEntry{Author: c.Author, Reason: c.Reason, At: c.At})
		resumed = append(resumed, name)
	}
	if len(resumed) == 0 {
		d.rememberNoOp(request)
		return RevisionResult{}
	}
	d.rememberEdit(request, EditResponse{Names: resumed})
	return RevisionResult{Applied: true, Revision: d.revision, Names: resumed}
}

// unexpected returns the result of a pause or resume whose expectations are not met, or nil if they are met or there
// are none.
func (d *draft) unexpected(command string, names []string, expected []Expected) Result {
	if len(expected) == 0 {
		return nil
	}
	if len(expected) != len(names) {
		return invalid("%s: got %d semaphores but %d expectations", command, len(names), len(expected))
	}
	for i, name := range names {
		current := d.Definition(name)
		kind := ConflictPause
		switch {
		case current == nil:
			kind = ConflictAbsent
		case current.Version != expected[i].Version:
			kind = ConflictStale
		case current.AsExpected() == expected[i]:
			continue
		}
		return RevisionResult{Conflict: &Conflict{Index: i, Kind: kind, Name: name, Current: current}}
	}
	return nil
}

// endsPause reports whether c ends p. A timer ends only a pause set at exactly c.Revision. An operator may also specify
// the change that originally set the pause, even if an undo has since restored it.
func (c Resume) endsPause(p *semaphore.Pause) bool {
	return c.Revision == 0 || c.Revision == p.Revision || c.Term == 0 && c.Revision == p.Origin()
}

// validNames checks the names in an operator's command.
func (d *draft) validNames(names []string) error {
	if len(names) == 0 {
		return errors.New("no semaphore names were given")
	}
	seen := make(map[string]struct{}, len(names))
	for _, name := range names {
		if d.Definition(name) == nil {
			return fmt.Errorf("there is no semaphore %q", name)
		}
		if _, duplicate := seen[name]; duplicate {
			return fmt.Errorf("%q is listed twice", name)
		}
		seen[name] = struct{}{}
	}
	return nil
}

// setPause sets the pause of a definition, or lifts it if p is nil. The version of the definition does not change. e
// provides the author, the reason and the time.
func (d *draft) setPause(name string, p *semaphore.Pause, e JournalEntry) {
	before := d.Definition(name)
	after := *before
	after.Pause = p
	d.setDefinition(name, &after)
	e.Semaphore = name
	if p != nil {
		e.Kind, e.Pause, e.Drain = PausedEvent, p, p.Drain
		details := e.Details()
		details.PauseBefore = before.Pause
		e = e.With(details)
	} else {
		e.Kind, e.Pause = ResumedEvent, before.Pause // the entry holds the pause that ended
	}
	d.emit(Event{Kind: e.Kind, Semaphore: name, Definition: &after, Before: before, Author: e.Author, Reason: e.Reason, At: e.At})
	d.note(e)
}

func cordonID(c *Cordon) string { return c.ID }

// setCordon adds or replaces a cordon.
func (d *draft) setCordon(c SetCordon) Result {
	request := editRequest{EditCordon, c.RequestID, c.RequestHash, c.RequestRevision}
	if r := d.repeated(request, repeatedChange); r != nil {
		return r
	}
	if c.ID == "" {
		return invalid("cordon: the id must not be empty")
	}
	if err := validDrain("cordon", c.Drain); err != nil {
		return invalid("%v", err)
	}
	revision := d.advance()
	now := &Cordon{
		ID: c.ID, GroupPattern: c.GroupPattern, AcquirerPattern: c.AcquirerPattern, Until: c.Until,
		Author: c.Author, Reason: c.Reason, Revision: revision, Drain: c.Drain,
	}
	d.putCordon(c.ID, now, JournalEntry{Author: c.Author, Reason: c.Reason, At: c.At})
	d.rememberEdit(request, EditResponse{Cordon: now})
	return RevisionResult{Applied: true, Revision: revision, Cordon: now}
}

// putCordon sets the cordon with the given id. If now is nil, it lifts the cordon, which must exist. e provides the
// author, the reason and the time.
func (d *draft) putCordon(id string, now *Cordon, e JournalEntry) {
	cordons := slices.Clone(d.cordons)
	i, found := search(cordons, id, cordonID)
	switch {
	case now == nil:
		e.Kind, e.Cordon = UncordonedEvent, cordons[i]
		cordons = slices.Delete(cordons, i, i+1)
	case found:
		details := e.Details()
		details.CordonBefore = cordons[i]
		e = e.With(details)
		cordons[i] = now
	default:
		cordons = slices.Insert(cordons, i, now)
	}
	if now != nil {
		e.Kind, e.Cordon, e.Drain = CordonedEvent, now, now.Drain
	}
	d.setCordons(cordons)
	d.emit(Event{Kind: e.Kind, Cordon: e.Cordon, Author: e.Author, Reason: e.Reason, At: e.At})
	d.note(e)
}

// uncordon lifts a cordon. If a revision is given, a later cordon remains.
func (d *draft) uncordon(c Uncordon) Result {
	request := editRequest{EditUncordon, c.RequestID, c.RequestHash, c.RequestRevision}
	if r := d.repeated(request, repeatedChange); r != nil {
		return r
	}
	if c.Term != 0 && !d.inCurrentTerm(c.Term) {
		return RevisionResult{}
	}
	i, found := search(d.cordons, c.ID, cordonID)
	if !found || (c.Revision != 0 && d.cordons[i].Revision != c.Revision) {
		d.rememberNoOp(request)
		return RevisionResult{}
	}
	revision := d.advance()
	d.putCordon(c.ID, nil, JournalEntry{Author: c.Author, Reason: c.Reason, At: c.At})
	d.rememberEdit(request, EditResponse{})
	return RevisionResult{Applied: true, Revision: revision}
}
