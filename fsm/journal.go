package fsm

import (
	"time"

	"github.com/tidwall/btree"

	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// JournalEntry is one line of the replicated history. It is immutable.
type JournalEntry struct {
	Revision uint64
	// Ordinal distinguishes the entries of one revision, from 0.
	Ordinal uint32
	Kind    EventKind
	// Missed is what a MissedEvent reports.
	Missed Missed
	// Semaphore is empty for cordons, settings, bindings, recoveries and the end of their quarantine.
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
	// Pause is what a PausedEvent set and a ResumedEvent ended, and the one with which a definition was deleted or came
	// back; nil otherwise.
	Pause *semaphore.Pause
	// Drain is the drain that was given with an edit, a pause, a cordon or a revoke, or that the end of an edit began;
	// 0: none.
	Drain time.Duration

	// More is what few entries have; nil for none. See Details.
	More *Details
	// Change is what holds for the whole change; entries of one change share it. Nil for what was noted below feature
	// level 3.
	Change *WholeChange
}

// Details are what only few entries of the journal hold; zero for all others. Noted since feature level 2.
type Details struct {
	// Until is when an edit's fields get their old values back; zero: never.
	Until time.Time
	// PauseBefore is what a PausedEvent replaced, and CordonBefore what a CordonedEvent did.
	PauseBefore  *semaphore.Pause
	CordonBefore *Cordon
	// EndsGone are the edits that end which went with a deleted definition or by an undo; EndsBack those that an undo
	// brought back.
	EndsGone, EndsBack []*EditEnd
	// Undoes is the change that an undo took back; 0 for everything else.
	Undoes uint64
	// Firings is what a FiringsForgotten forgot, and what a FiringsRemembered brought back; nil for everything else.
	// Feature level 3.
	Firings *FiringsChange
	// BindingBefore and BindingAfter are what a BindingChanged replaced and made, without the hashes of tokens; nil:
	// there was none, or is none. Feature level 4.
	BindingBefore, BindingAfter *access.Binding
}

// FiringsChange is what a change did to the memory of a semaphore's firings. It is immutable.
type FiringsChange struct {
	// Claims were forgotten, or are remembered again.
	Claims []*semaphore.Claim
	// MarkBefore and MarkAfter are the low-water mark; equal when it stayed.
	MarkBefore, MarkAfter time.Time
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
	return !m.Until.IsZero() || m.PauseBefore != nil || m.CordonBefore != nil || len(m.EndsGone)+len(m.EndsBack) > 0 || m.Undoes != 0 ||
		m.Firings != nil || m.BindingBefore != nil || m.BindingAfter != nil
}

// WholeChange is what holds for all entries of one change.
type WholeChange struct {
	// Names are the semaphores of its entries by ordinal, those included that the journal has forgotten; empty for
	// cordons. Nil for a change of one entry.
	Names []string
	// AlsoUndoes are the changes that an undo took back beside Details.Undoes.
	AlsoUndoes []uint64
	// Partial: the undo left some of what these changes did as it is.
	Partial bool
}

// alone is the WholeChange of nearly all entries.
//
//nolint:gochecknoglobals // never written
var alone = &WholeChange{}

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
	noted := &e
	d.belongs(noted)
	d.addJournal(noted)
	d.trimJournalOf(e.Semaphore)
	d.trimJournal()
	d.ageJournal(e.At)
}

// belongs gives an entry the change that makes it. Entries of one change are published together, so those before it can
// still be written.
func (d *draft) belongs(e *JournalEntry) {
	switch {
	case d.featureLevel < 3:
	case e.Ordinal == 0:
		d.noted = e
		if e.Change == nil {
			e.Change = alone
		}
	case e.Ordinal == 1:
		whole := *d.noted.Change
		whole.Names = []string{d.noted.Semaphore, e.Semaphore}
		d.noted.Change, e.Change = &whole, &whole
	default:
		e.Change = d.noted.Change
		e.Change.Names = append(e.Change.Names, e.Semaphore)
	}
}

func (d *draft) addJournal(e *JournalEntry) {
	g := d.write(e.Semaphore)
	if !e.Kind.ofRun() {
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
		over := d.over(edit, run, edits, runs, d.settings.JournalPerSemaphore)
		if over == nil {
			return
		}
		d.dropJournal(over)
	}
}

func (d *draft) trimJournal() {
	for {
		edit, _ := d.edits.Min()
		run, _ := d.State.runs.Min()
		over := d.over(edit, run, d.edits.Len(), d.State.runs.Len(), d.settings.JournalTotal)
		if over == nil {
			return
		}
		d.dropJournal(over)
	}
}

// over is which of the oldest edit and the oldest entry of a run goes when there are so many of both; nil: neither.
// Below feature level 3 one bound holds for both together.
func (s *State) over(edit, run *JournalEntry, edits, runs int, most uint32) *JournalEntry {
	switch {
	case s.featureLevel >= 3 && edits > int(most):
		return edit
	case s.featureLevel >= 3 && runs > int(most):
		return run
	case s.featureLevel >= 3 || edits+runs <= int(most):
		return nil
	case run == nil || edit != nil && journalBefore(edit, run):
		return edit
	default:
		return run
	}
}

const (
	// agedAtOnce is how many entries of each kind an entry lets go for their age: enough to catch up, and few enough
	// that a leader whose clock is far ahead does not empty the journal.
	agedAtOnce = 2
	// undatedNear is how many entries without a time are passed over to find how old the oldest is.
	undatedNear = 8
)

// ageJournal lets entries go that are older than the lifetime at the time of a new one.
func (d *draft) ageJournal(now time.Time) {
	if d.featureLevel < 3 || now.IsZero() {
		return
	}
	dead := now.Add(-d.settings.JournalLife())
	for _, tree := range [...]*btree.BTreeG[*JournalEntry]{d.edits, d.State.runs} {
		for range agedAtOnce {
			if at := oldestTime(tree); at.IsZero() || !at.Before(dead) {
				break
			}
			oldest, _ := tree.Min()
			d.dropJournal(oldest)
		}
	}
}

func oldestTime(tree *btree.BTreeG[*JournalEntry]) (at time.Time) {
	left := undatedNear
	tree.Scan(func(e *JournalEntry) bool {
		at = e.At
		left--
		return at.IsZero() && left > 0
	})
	return at
}

// dropJournal drops an entry that is the oldest edit, or the oldest of a run, of its name.
func (d *draft) dropJournal(e *JournalEntry) {
	g := d.write(e.Semaphore)
	ends := e.Permit != nil && e.Kind.End() != semaphore.NotEnded && !e.At.IsZero()
	switch marks := d.featureLevel >= 3; {
	case e.Kind.ofRun():
		d.State.runs.Delete(e)
		now := g.runLog()
		now.entries = now.entries.pop()
		if marks && ends {
			now.forgotten = max(now.forgotten, e.At.UnixNano())
		}
		g.runs = &now
	default:
		d.edits.Delete(e)
		g.edits = g.edits.pop()
		if marks && ends {
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

// markChangesForgotten marks the changes of which some entries may have gone before anything was counted: where a bound
// is reached.
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
		if g.edits.len()+g.runLog().entries.len() > int(d.settings.JournalPerSemaphore) {
			over = append(over, name)
		}
		return true
	})
	for _, name := range over {
		d.trimJournalOf(name)
	}
	d.trimJournal()
}
