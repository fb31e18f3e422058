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
	// Semaphore is empty for cordons and settings.
	Semaphore string
	Author    string
	Reason    string
	At        time.Time
	// Before and After are an edited definition. For a cordon they hold only its id, as the name, and its patterns.
	Before, After *semaphore.Definition
	// Permit is the permit that ended, as it last was; nil otherwise.
	Permit *semaphore.Permit
}

// note adds an entry of the current revision to the journal and lets the oldest go.
func (d *draft) note(e JournalEntry) {
	if d.settings.JournalPerSemaphore == 0 || d.settings.JournalTotal == 0 {
		return
	}
	e.Revision, e.Ordinal = d.revision, d.ordinal
	d.ordinal++
	d.addJournal(&e)
	if d.tally(e.Semaphore).journal > int(d.settings.JournalPerSemaphore) {
		d.dropJournal(d.oldestOf(e.Semaphore))
	}
	if d.journal.Len() > int(d.settings.JournalTotal) {
		oldest, _ := d.journal.Min()
		d.dropJournal(oldest)
	}
}

func (d *draft) addJournal(e *JournalEntry) {
	d.journal.Set(e)
	d.journalBySemaphore.Set(e)
	t := d.tally(e.Semaphore)
	t.journal++
	d.setTally(e.Semaphore, t)
}

func (d *draft) dropJournal(e *JournalEntry) {
	d.journal.Delete(e)
	d.journalBySemaphore.Delete(e)
	t := d.tally(e.Semaphore)
	t.journal--
	d.setTally(e.Semaphore, t)
}

func (d *draft) oldestOf(sem string) *JournalEntry {
	var oldest *JournalEntry
	d.journalBySemaphore.Ascend(&JournalEntry{Semaphore: sem}, func(e *JournalEntry) bool {
		oldest = e
		return false
	})
	return oldest
}

// remember keeps how a request ended, under the current revision, and forgets the oldest. Without a request id it is found
// by its token only. At most one is remembered a revision.
func (d *draft) remember(r Remembered) {
	r.Revision = d.revision
	if older := d.Request(r.Semaphore, r.Identity, r.RequestID); older != nil {
		// A permit held for an operator was cancelled, and now is cleared.
		d.forgetRequest(older)
	}
	d.addRequest(&r)
	d.trimRequests()
}

func (d *draft) addRequest(r *Remembered) {
	d.requests.Set(r.Revision, r)
	if r.RequestID != "" {
		d.requestKeys.Set(r)
	}
	if r.Token != 0 {
		d.requestTokens.Set(r.Token, r)
	}
}

func (d *draft) forgetRequest(r *Remembered) {
	d.requests.Delete(r.Revision)
	if r.RequestID != "" {
		d.requestKeys.Delete(r)
	}
	if r.Token != 0 {
		d.requestTokens.Delete(r.Token)
	}
}

func (d *draft) trimRequests() {
	for d.requests.Len() > int(d.settings.RememberedRequests) {
		_, oldest, _ := d.requests.Min()
		d.forgetRequest(oldest)
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

// trimJournal brings the journal back within bounds that were lowered: first that of each semaphore, then that of all.
func (d *draft) trimJournal() {
	var over []string
	d.tallies.Scan(func(name string, t *tally) bool {
		if t.journal > int(d.settings.JournalPerSemaphore) {
			over = append(over, name)
		}
		return true
	})
	for _, name := range over {
		for d.tally(name).journal > int(d.settings.JournalPerSemaphore) {
			d.dropJournal(d.oldestOf(name))
		}
	}
	for d.journal.Len() > int(d.settings.JournalTotal) {
		oldest, _ := d.journal.Min()
		d.dropJournal(oldest)
	}
}
