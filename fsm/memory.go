package fsm

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// JournalEntry is one line of the replicated history. It is immutable.
type JournalEntry struct {
	Revision uint64
	// Ordinal tells the entries of one revision apart, from 0.
	Ordinal uint32
	Kind    EventKind
	// Silence is what a SilentEvent tells.
	Silence Silence
	// Semaphore is empty for cordons, settings, recoveries and the end of their quarantine.
	Semaphore string
	Author    string
	Reason    string
	At        time.Time
	// Before and After are an edited definition.
	Before, After *semaphore.Definition
	// Permit is the permit that ended, or that was held or revoked; nil otherwise.
	Permit *semaphore.Permit
	// Cordon is what a CordonedEvent set and an UncordonedEvent ended; nil otherwise.
	Cordon *Cordon
	// Pause is what a PausedEvent set and a ResumedEvent ended, and the one with which a definition was deleted or came back; nil otherwise.
	Pause *semaphore.Pause
	// Drain is the drain that was given with an edit, a pause, a cordon or a revoke, or that the end of an edit began; 0: none.
	Drain time.Duration

	// More is what few entries have; nil for none. See Details.
	More *Details
}

// Details are what only few entries of the journal hold; zero for all others. Noted since feature level 2.
type Details struct {
	// Until is when an edit's fields get their old values back; zero: never.
	Until time.Time
	// PauseBefore is what a PausedEvent replaced, and CordonBefore what a CordonedEvent did.
	PauseBefore  *semaphore.Pause
	CordonBefore *Cordon
	// EndsGone are the edits that end which went with a deleted definition or by an undo; EndsBack those that an undo brought back.
	EndsGone, EndsBack []*EditEnd
	// Undoes is the change that an undo took back; 0 for everything else.
	Undoes uint64
}

// Details returns what few entries hold beside.
func (e *JournalEntry) Details() Details {
	if e.More == nil {
		return Details{}
	}
	return *e.More
}

// With returns e with other details. Nothing is stored of those that say nothing.
func (e JournalEntry) With(more Details) JournalEntry {
	e.More = nil
	if more.any() {
		e.More = &more
	}
	return e
}

func (m *Details) any() bool {
	return !m.Until.IsZero() || m.PauseBefore != nil || m.CordonBefore != nil || len(m.EndsGone)+len(m.EndsBack) > 0 || m.Undoes != 0
}

// note adds an entry of the current revision to the journal and lets the oldest go.
func (d *draft) note(e JournalEntry) {
	if d.settings.JournalPerSemaphore == 0 || d.settings.JournalTotal == 0 {
		return
	}
	if d.featureLevel < 2 {
		e.More = nil // a server of that level would not note it
	}
	e.Revision, e.Ordinal = d.revision, d.ordinal
	d.ordinal++
	d.addJournal(&e)
	d.trimJournalOf(e.Semaphore)
	d.trimJournal()
}

func (d *draft) addJournal(e *JournalEntry) {
	d.journal.Set(e)
	g := d.write(e.Semaphore)
	g.journal = g.journal.push(e)
}

func (d *draft) trimJournalOf(name string) {
	for d.gate(name).journal.len() > int(d.settings.JournalPerSemaphore) {
		d.dropJournal(name)
	}
}

func (d *draft) trimJournal() {
	for d.journal.Len() > int(d.settings.JournalTotal) {
		oldest, _ := d.journal.Min()
		d.dropJournal(oldest.Semaphore)
	}
}

// dropJournal drops the oldest entry of a name.
func (d *draft) dropJournal(name string) {
	g := d.write(name)
	d.journal.Delete(g.journal.first())
	g.journal = g.journal.pop()
	d.sweep(name, g)
}

// rememberDeletion keeps the name under the current revision, and forgets the oldest.
func (d *draft) rememberDeletion(name string) {
	d.addDeletion(deletion{revision: d.revision, name: name})
	d.trimDeletions()
}

func (d *draft) addDeletion(del deletion) {
	d.deletions.Set(del.name, del.revision)
	d.deletionAges.Set(del)
}

func (d *draft) forgetDeletion(name string) {
	if revision, ok := d.deletions.Delete(name); ok {
		d.deletionAges.Delete(deletion{revision: revision, name: name})
	}
}

func (d *draft) trimDeletions() {
	for d.deletionAges.Len() > int(d.settings.RememberedDeletions) {
		oldest, _ := d.deletionAges.Min()
		d.forgetDeletion(oldest.name)
	}
}

// addSighting replaces an older one of that caller.
func (d *draft) addSighting(now Sighting) {
	if old, ok := d.sightings.Set(now); ok {
		d.sightingAges.Delete(old)
	}
	d.sightingAges.Set(now)
}

func (d *draft) trimSightings() {
	for d.sightings.Len() > MaxSightings {
		oldest, _ := d.sightingAges.PopMin()
		d.sightings.Delete(oldest)
	}
}

// trim brings everything back within bounds that were lowered.
func (d *draft) trim() {
	d.boundRequests()
	d.trimDeletions()
	var over []string
	d.gates.Scan(func(name string, g *gate) bool {
		if g.journal.len() > int(d.settings.JournalPerSemaphore) {
			over = append(over, name)
		}
		return true
	})
	for _, name := range over {
		d.trimJournalOf(name)
	}
	d.trimJournal()
}
