package fsm

import (
	"slices"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Pauses and cordons close semaphores for a time. Instants in them are for people and for the leader's timer; nothing here
// compares times.

// pause pauses all the named semaphores or none. Pausing what is paused replaces the pause.
func (d *draft) pause(c Pause) Result {
	if why := d.invalidNames("pause", c.Names); why != nil {
		return *why
	}
	if why := invalidDrain("pause", c.Drain); why != nil {
		return *why
	}
	if c.Drain > 0 && !c.Stop {
		return invalid("pause: only a pause that stops holders has a drain")
	}
	revision := d.advance()
	for _, name := range c.Names {
		d.setPause(name, &semaphore.Pause{Reason: c.Reason, Until: c.Until, Stop: c.Stop, Revision: revision, Author: c.Author, Drain: c.Drain},
			Event{Kind: PausedEvent, Author: c.Author, Reason: c.Reason, At: c.At})
	}
	return RevisionResult{Applied: true, Revision: revision}
}

// resume ends pauses. With a revision it ends only pauses of that revision: one that was set since is left alone.
func (d *draft) resume(c Resume) Result {
	if c.Term == 0 {
		if why := d.invalidNames("resume", c.Names); why != nil {
			return *why
		}
	} else if !d.timely(c.Term) {
		return RevisionResult{}
	}
	var ends []string
	for _, name := range c.Names {
		def := d.Definition(name)
		if def != nil && def.Pause != nil && (c.Revision == 0 || def.Pause.Revision == c.Revision) {
			ends = append(ends, name)
		}
	}
	if len(ends) == 0 {
		return RevisionResult{}
	}
	revision := d.advance()
	for _, name := range ends {
		if d.Definition(name).Pause != nil { // a name may stand twice in the command
			d.setPause(name, nil, Event{Kind: ResumedEvent, Author: c.Author, Reason: c.Reason, At: c.At})
		}
	}
	return RevisionResult{Applied: true, Revision: revision}
}

// invalidNames says what is wrong with the names of a command that an operator gave.
func (d *draft) invalidNames(command string, names []string) *InvalidResult {
	if len(names) == 0 {
		why := invalid("%s: no semaphore is named", command)
		return &why
	}
	seen := make(map[string]struct{}, len(names))
	for _, name := range names {
		if d.Definition(name) == nil {
			why := invalid("%s: there is no semaphore %q", command, name)
			return &why
		}
		if _, twice := seen[name]; twice {
			why := invalid("%s: %q is named twice", command, name)
			return &why
		}
		seen[name] = struct{}{}
	}
	return nil
}

// setPause sets or, with nil, lifts the pause of a definition, whose version stays.
func (d *draft) setPause(name string, p *semaphore.Pause, e Event) {
	before := d.Definition(name)
	after := *before
	after.Pause = p
	d.setDefinition(name, &after)
	e.Semaphore, e.Definition, e.Before = name, &after, before
	d.emit(e)
	entry := JournalEntry{Kind: e.Kind, Semaphore: name, Pause: p, Author: e.Author, Reason: e.Reason, At: e.At}
	if p != nil {
		entry.Drain = p.Drain
	} else {
		entry.Pause = before.Pause // what ended is noted
	}
	d.note(entry)
}

func cordonID(c *Cordon) string { return c.ID }

// setCordon adds or replaces a cordon.
func (d *draft) setCordon(c SetCordon) Result {
	if c.ID == "" {
		return invalid("cordon: it needs an id")
	}
	if why := invalidDrain("cordon", c.Drain); why != nil {
		return *why
	}
	revision := d.advance()
	d.cordonRevision = revision
	now := &Cordon{
		ID: c.ID, GroupPattern: c.GroupPattern, AcquirerPattern: c.AcquirerPattern, Until: c.Until,
		Author: c.Author, Reason: c.Reason, Revision: revision, Drain: c.Drain,
	}
	cordons := slices.Clone(d.cordons) // the old slice belongs to published states
	i, found := search(cordons, c.ID, cordonID)
	if found {
		cordons[i] = now
	} else {
		cordons = slices.Insert(cordons, i, now)
	}
	d.cordons = cordons
	d.emit(Event{Kind: CordonedEvent, Cordon: now, Author: c.Author, Reason: c.Reason, At: c.At})
	d.note(JournalEntry{Kind: CordonedEvent, Cordon: now, Author: c.Author, Reason: c.Reason, At: c.At, Drain: c.Drain})
	return RevisionResult{Applied: true, Revision: revision}
}

// uncordon ends a cordon. With a revision it ends only a cordon of that revision: one that was set since is left alone.
func (d *draft) uncordon(c Uncordon) Result {
	i, found := search(d.cordons, c.ID, cordonID)
	if !found || (c.Term != 0 && !d.timely(c.Term)) || (c.Revision != 0 && d.cordons[i].Revision != c.Revision) {
		return RevisionResult{}
	}
	revision := d.advance()
	d.cordonRevision = revision
	ended := d.cordons[i]
	d.cordons = slices.Delete(slices.Clone(d.cordons), i, i+1)
	d.emit(Event{Kind: UncordonedEvent, Cordon: ended, Author: c.Author, Reason: c.Reason, At: c.At})
	d.note(JournalEntry{Kind: UncordonedEvent, Cordon: ended, Author: c.Author, Reason: c.Reason, At: c.At})
	return RevisionResult{Applied: true, Revision: revision}
}
