package fsm

import (
	"cmp"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// EventKind is what an Event reports. The numbers are frozen: they are in the journal.
type EventKind uint8

const (
	Created EventKind = iota + 1
	Replaced
	Deleted
	PausedEvent
	ResumedEvent
	CordonedEvent
	UncordonedEvent
	Granted
	Released
	Expired
	HeldEvent // expired under on_expiry hold
	// CoolingEvent: the holder is gone, Permit is now cooling; Permit.Ended says how it went. The end itself has no
	// separate event.
	CoolingEvent
	CoolingEnded
	Cleared
	StoppingEvent // revoked
	Abandoned     // also given back by a cancel
	DurationChanged
	Configured
	// DrainedEvent: the drain of the change Change is over: of an edit or a pause of Semaphore, with Definition and
	// Before, equal but for the pause; or of Cordon; or of Permit. Not in the journal.
	DrainedEvent
	// RevertedEvent: an edit that ends has ended; Definition and Before are as of Replaced, and the same when nothing
	// came back.
	RevertedEvent
	MissedEvent // see Event.Missed
	HeardEvent
	// FreedUnsafely: an unsafe revoke ended the permit although its holder may still believe in it.
	FreedUnsafely
	// QuarantineEnded: permits are granted again after a recovery.
	QuarantineEnded
	// RecoveredEvent: the state was made from what was found of another cluster. Only in the journal.
	RecoveredEvent
	// SupersededEvent: an identity has acquired its live permit again. Permit is as it is under its new token, and
	// Superseded as it was; the journal has the old one.
	SupersededEvent
	// FiringsForgotten: an operator had firings forgotten, or an undo did. The journal says which.
	FiringsForgotten
	// FiringsRemembered: an undo brought firings back that had been forgotten.
	FiringsRemembered
	// ClaimsChanged: a holder that had lost its permit said how its job ended, and the claim of its firing says so now;
	// or the leader had firings forgotten that are old or too many. Not in the journal.
	ClaimsChanged
	// JobSubmitted: tasks of a job were stored. Once it is complete, Job is Open. Neither this kind nor those below are
	// in the journal.
	JobSubmitted
	// TaskSettled: a task was held, and is not any more; Task and Job are as they are now.
	TaskSettled
	// JobCancelled: a job was cancelled.
	JobCancelled
	// TasksChanged: failed tasks of a job were handed out again, or dropped.
	TasksChanged
	// JobDeleted: a job was removed; Job is as it last was.
	JobDeleted
	// BindingChanged: a binding was added, replaced or removed, or a token of it issued or revoked. In the journal.
	BindingChanged
)

// End is how the permit of a journal entry of this kind ended; semaphore.NotEnded for all other kinds. A permit that
// was given back by a cancel counts as abandoned.
func (k EventKind) End() semaphore.End {
	switch k {
	case Released:
		return semaphore.EndReleased
	case Expired:
		return semaphore.EndExpired
	case Cleared:
		return semaphore.EndCleared
	case Abandoned:
		return semaphore.EndAbandoned
	case FreedUnsafely:
		return semaphore.EndFreedUnsafely
	case SupersededEvent:
		return semaphore.EndSuperseded
	default:
		return semaphore.NotEnded
	}
}

// ofRun reports whether journal entries of this kind tell of runs: what comes with each of them, and is by nobody's
// hand. All others are edits here.
func (k EventKind) ofRun() bool {
	switch k {
	case Released, Expired, HeldEvent, Abandoned, SupersededEvent, MissedEvent, HeardEvent:
		return true
	default:
		return false
	}
}

// Event is one applied change. Events of one command share a revision.
type Event struct {
	Revision  uint64
	Kind      EventKind
	Semaphore string // empty for cordons and settings
	Permit    *semaphore.Permit
	// Superseded is set for SupersededEvent, and Replaces as in the Grant that did it.
	Superseded *semaphore.Permit
	Replaces   bool
	Definition *StoredDefinition // after; nil when deleted
	Before     *StoredDefinition
	Cordon     *Cordon
	// Change is the change whose drain or time is over, of DrainedEvent and RevertedEvent.
	Change uint64
	// Job and Task are those of a permit that carries one, when it is granted, and of the kinds from JobSubmitted on.
	Job    *work.Job
	Task   *work.Task
	Missed Missed
	Author string
	Reason string
	At     time.Time
}

// Applied is what one log entry did, with the state after it.
type Applied struct {
	Index, Term uint64
	State       *State
	Events      []Event
	// Restored: the state was replaced by a snapshot's. There are no events; what was derived from them must be
	// rebuilt.
	Restored bool
}

// StoredDefinition is a definition with what the cluster knows of it. It is immutable.
type StoredDefinition struct {
	Definition      *semaphore.Definition
	Version         uint64
	CreatedRevision uint64
	UpdatedBy       string
	UpdatedAt       time.Time
	Reason          string
	Pause           *semaphore.Pause
	// MisfiresFrom is since when the definition has its misfire policy; zero while that is skip. See
	// semaphore.Misfires.
	MisfiresFrom time.Time
}

// AsExpected is what a pause or a resume that was decided from this definition expects to find.
func (s *StoredDefinition) AsExpected() Expected {
	e := Expected{Version: s.Version}
	if s.Pause != nil {
		e.Pause = s.Pause.Revision
	}
	return e
}

// Cordon is a group or acquirer pattern that for a time gets nothing and keeps nothing. It is immutable.
type Cordon struct {
	ID                            string
	GroupPattern, AcquirerPattern string
	Until                         time.Time
	Author, Reason                string
	Revision                      uint64
	// Drain is for how long permits granted before Revision may go on, in full; 0 when there is none, or it is over.
	Drain time.Duration
	// Change is the change that first set it, when an undo brought it back at Revision; else 0.
	Change uint64
}

// Origin is the change that set the cordon, also after an undo brought it back.
func (c *Cordon) Origin() uint64 { return cmp.Or(c.Change, c.Revision) }

// EditEnd is an edit whose fields get their old values back. Before and After are the definition then, but without what
// an edit before it had set for a time and that has ended since. It is immutable.
type EditEnd struct {
	Revision      uint64 // the change
	Until         time.Time
	Before, After *semaphore.Definition
	Drain         time.Duration // that its end begins, if it shuts holders out; that of the edit
}
