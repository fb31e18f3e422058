package fsm

import (
	"time"

	"github.com/tidwall/btree"

	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// A JournalEntry is one entry of the replicated history. It is immutable.
type JournalEntry struct {
	Revision uint64
	// Ordinal distinguishes the entries of one revision, starting at 0.
	Ordinal uint32
	Kind    EventKind
	// Missed is set for a MissedEvent.
	Missed Missed
	// Semaphore is empty for cordons, settings, bindings, recoveries and the end of their quarantine.
	Semaphore string
	Author    string
	Reason    string
	At        time.Time
	// Before and After are the edited definition before and after the edit.
	Before, After *semaphore.Definition
	// Permit is the permit that ended, was held for an operator or was revoked; else nil.
	Permit *semaphore.Permit
	// Cordon is the cordon that a CordonedEvent set or an UncordonedEvent lifted; else nil.
	Cordon *Cordon
	// Pause is the pause that a PausedEvent set or a ResumedEvent ended, or the pause of a definition that was deleted
	// or restored; else nil.
	Pause *semaphore.Pause
	// Drain is the drain of an edit, a pause, a cordon or a revoke, or the drain started by the end of a temporary
	// edit; 0 means none.
	Drain time.Duration

	// More holds data that only a few entries have, or nil. See Details.
	More *Details
	// Change holds data about the whole change and is shared by the entries of one change. It is nil for entries that
	// were written below feature level 3.
	Change *WholeChange
}

// Details holds the data that only a few journal entries have. It is written at feature level 2 and above.
type Details struct {
	// Until is the time at which the old values of the edited fields are restored; zero means never.
	Until time.Time
	// PauseBefore is the pause that a PausedEvent replaced. CordonBefore is the cordon that a CordonedEvent replaced.
	PauseBefore  *semaphore.Pause
	CordonBefore *Cordon
	// RemovedEnds lists the temporary edits that were removed with a deleted definition or by an undo. RestoredEnds
	// lists those that an undo restored.
	RemovedEnds, RestoredEnds []*EditEnd
	// Undoes is the undone change, if an undo wrote the entry; else 0.
	Undoes uint64
	// Firings lists the firings that a FiringsForgotten forgot or a FiringsRemembered restored; else nil. It requires
	// feature level 3.
	Firings *FiringsChange
	// BindingBefore and BindingAfter are the binding before and after a BindingChanged, without token hashes. They are
	// nil if the binding did not exist before, or no longer exists. They require feature level 4.
	BindingBefore, BindingAfter *access.Binding
}

// FiringsChange describes a change to a semaphore's remembered firings. It is immutable.
type FiringsChange struct {
	// Claims are the claims that were forgotten or restored.
	Claims []*semaphore.Claim
	// MarkBefore and MarkAfter are the low-water mark before and after the change. They are the same if it did not
	// change.
	MarkBefore, MarkAfter time.Time
}

// Details returns the data that only a few entries have.
func (e *JournalEntry) Details() Details {
	if e.More == nil {
		return Details{}
	}
	return *e.More
}

// With returns e with the given details. Empty details are stored as nil.
func (e JournalEntry) With(more Details) JournalEntry {
	e.More = nil
	if more.nonEmpty() {
		e.More = &more
	}
	return e
}

func (m *Details) nonEmpty() bool {
	return !m.Until.IsZero() || m.PauseBefore != nil || m.CordonBefore != nil || len(m.RemovedEnds)+len(m.RestoredEnds) > 0 || m.Undoes != 0 ||
		m.Firings != nil || m.BindingBefore != nil || m.BindingAfter != nil
}

// WholeChange holds the data that all entries of one change share.
type WholeChange struct {
	// Names lists the semaphore of each entry by ordinal, including entries that the journal has forgotten. A name is
	// empty for a cordon. Names is nil if the change has only one entry.
	Names []string
	// AlsoUndoes are the changes that an undo reversed in addition to Details.Undoes.
	AlsoUndoes []uint64
	// Partial is true if the undo left some effects of these changes in place.
	Partial bool
}

// singleEntry is the WholeChange of nearly all entries.
//
//nolint:gochecknoglobals // never written
var singleEntry = &WholeChange{}

// note adds an entry with the current revision to the journal and drops the oldest entries beyond the limits.
func (d *draft) note(e JournalEntry) {
	if d.settings.JournalPerSemaphore == 0 || d.settings.JournalTotal == 0 {
		return
	}
	if d.featureLevel < 2 {
		e.More = nil // a server at that level would not write it
	}
	e.Revision, e.Ordinal = d.revision, d.ordinal
	d.ordinal++
	noted := &e
	d.setWholeChange(noted)
	d.addJournal(noted)
	d.trimJournalOf(e.Semaphore)
	d.trimJournal()
	d.expireJournal(e.At)
}

// setWholeChange sets an entry's WholeChange. Entries of one change are published together, so earlier ones can still
// be modified.
func (d *draft) setWholeChange(e *JournalEntry) {
	switch {
	case d.featureLevel < 3:
	case e.Ordinal == 0:
		d.firstEntry = e
		if e.Change == nil {
			e.Change = singleEntry
		}
	case e.Ordinal == 1:
		whole := *d.firstEntry.Change
		whole.Names = []string{d.firstEntry.Semaphore, e.Semaphore}
		d.firstEntry.Change, e.Change = &whole, &whole
	default:
		e.Change = d.firstEntry.Change
		e.Change.Names = append(e.Change.Names, e.Semaphore)
	}
}

func (d *draft) addJournal(e *JournalEntry) {
	g := d.write(e.Semaphore)
	if !e.Kind.isRun() {
		d.edits.Set(e)
		g.edits = g.edits.push(e)
		return
	}
	d.State.runs.Set(e)
	now := g.runLog()
	now.entries = now.entries.push(e)
	g.runs = &now
}

func (d *draft) trimJournalOf(name string) {
	for {
		g := d.gate(name)
		var edit, run *JournalEntry
		edits, runs := g.edits.len(), g.runLog().entries.len()
		if edits > 0 {
			edit = g.edits.first()
		}
		if runs > 0 {
			run = g.runs.entries.first()
		}
		excess := d.excess(edit, run, edits, runs, d.settings.JournalPerSemaphore)
		if excess == nil {
			return
		}
		d.dropJournal(excess)
	}
}

func (d *draft) trimJournal() {
	for {
		edit, _ := d.edits.Min()
		run, _ := d.State.runs.Min()
		excess := d.excess(edit, run, d.edits.Len(), d.State.runs.Len(), d.settings.JournalTotal)
		if excess == nil {
			return
		}
		d.dropJournal(excess)
	}
}

// excess returns the entry to drop: the oldest edit or the oldest run entry, depending on how many there are of each.
// It returns nil if the counts are within the limit. Below feature level 3, one limit applies to both together.
func (s *State) excess(edit, run *JournalEntry, edits, runs int, limit uint32) *JournalEntry {
	switch {
	case s.featureLevel >= 3 && edits > int(limit):
		return edit
	case s.featureLevel >= 3 && runs > int(limit):
		return run
	case s.featureLevel >= 3 || edits+runs <= int(limit):
		return nil
	case run == nil || edit != nil && journalBefore(edit, run):
		return edit
	default:
		return run
	}
}

const (
	// maxExpiredAtOnce is how many entries of each kind may be dropped because of their age when an entry is added. It
	// is large enough to catch up, and small enough that a leader whose clock is far ahead does not empty the journal.
	maxExpiredAtOnce = 2
	// maxUndatedScan is how many of the oldest entries are searched for one that has a time.
	maxUndatedScan = 8
)

// expireJournal drops entries that have expired by the time of a new entry.
func (d *draft) expireJournal(now time.Time) {
	if d.featureLevel < 3 || now.IsZero() {
		return
	}
	cutoff := now.Add(-d.settings.JournalLife())
	for _, tree := range [...]*btree.BTreeG[*JournalEntry]{d.edits, d.State.runs} {
		for range maxExpiredAtOnce {
			if at := oldestTime(tree); at.IsZero() || !at.Before(cutoff) {
				break
			}
			oldest, _ := tree.Min()
			d.dropJournal(oldest)
		}
	}
}

func oldestTime(tree *btree.BTreeG[*JournalEntry]) (at time.Time) {
	remaining := maxUndatedScan
	tree.Scan(func(e *JournalEntry) bool {
		at = e.At
		remaining--
		return at.IsZero() && remaining > 0
	})
	return at
}

// dropJournal drops an entry, which must be the oldest edit or the oldest run entry for its name.
func (d *draft) dropJournal(e *JournalEntry) {
	g := d.write(e.Semaphore)
	endsPermit := e.Permit != nil && e.Kind.End() != semaphore.NotEnded && !e.At.IsZero()
	switch keepMarks := d.featureLevel >= 3; {
	case e.Kind.isRun():
		d.State.runs.Delete(e)
		now := g.runLog()
		now.entries = now.entries.pop()
		if keepMarks && endsPermit {
			now.forgotten = max(now.forgotten, e.At.UnixNano())
		}
		g.runs = &now
	default:
		d.edits.Delete(e)
		g.edits = g.edits.pop()
		if keepMarks && endsPermit {
			now := g.runLog()
			now.forgotten = max(now.forgotten, e.At.UnixNano())
			g.runs = &now
		}
	}
	if d.featureLevel >= 3 && e.Change == nil {
		d.changesForgotten = max(d.changesForgotten, e.Revision)
	}
	d.sweep(e.Semaphore, g)
}

// markChangesForgotten marks the changes that may have lost entries before the entries of each change were counted. It
// assumes that entries were lost wherever the journal has reached a limit.
func (d *draft) markChangesForgotten() {
	d.gates.Scan(func(_ string, g *gate) bool {
		if edits, runs := g.edits.len(), g.runLog().entries.len(); edits+runs >= int(d.settings.JournalPerSemaphore) {
			for _, e := range [...]fifo[*JournalEntry]{g.edits, g.runLog().entries} {
				if e.len() > 0 {
					d.changesForgotten = max(d.changesForgotten, e.first().Revision)
				}
			}
		}
		return true
	})
	if d.edits.Len()+d.State.runs.Len() >= int(d.settings.JournalTotal) {
		for e := range d.Journal("", 0) {
			d.changesForgotten = max(d.changesForgotten, e.Revision)
			break
		}
	}
}

// rememberDeletion records the deletion of a name at the current revision and forgets the oldest deletions beyond the
// limit.
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

// addSighting adds a sighting, replacing the older one of the same caller, if any.
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

// trim enforces all limits after they have been lowered.
func (d *draft) trim() {
	d.boundRequests()
	d.trimDeletions()
	var excess []string
	d.gates.Scan(func(name string, g *gate) bool {
		if g.edits.len()+g.runLog().entries.len() > int(d.settings.JournalPerSemaphore) {
			excess = append(excess, name)
		}
		return true
	})
	for _, name := range excess {
		d.trimJournalOf(name)
	}
	d.trimJournal()
}
