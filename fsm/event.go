package fsm

import (
	"cmp"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// An EventKind is the kind of change that an Event reports. The numbers are frozen because the journal stores them.
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
	HeldEvent // the permit expired under on_expiry: hold
	// CoolingEvent reports that the holder is gone and Permit is now cooling. Permit.Ended says how the permit ended;
	// there is no separate event for that.
	CoolingEvent
	CoolingEnded
	Cleared
	StoppingEvent // the holder was ordered to stop
	Abandoned     // the grant never reached the caller, or a cancel released the permit
	DurationChanged
	Configured
	// DrainedEvent reports that the drain started by Change has ended. The drain belonged to an edit or a pause of
	// Semaphore, to Cordon, or to Permit. For a semaphore, Definition and Before may differ only in the pause. The
	// event is not in the journal.
	DrainedEvent
	// RevertedEvent reports that a temporary edit has ended. Definition and Before have the same meaning as for
	// Replaced, and are identical if nothing was reverted.
	RevertedEvent
	MissedEvent // expected work is missed; see Event.Missed
	HeardEvent  // expected work is no longer missed
	// FreedUnsafely reports that an unsafe revoke ended the permit even though its holder may still rely on it.
	FreedUnsafely
	// QuarantineEnded reports that permits are granted again after a recovery.
	QuarantineEnded
	// RecoveredEvent reports that the state was built from another cluster's data. It appears only in the journal.
	RecoveredEvent
	// SupersededEvent reports that an identity acquired its live permit again. Permit has the new token, and Superseded
	// is the permit with the old one. The journal entry contains the old permit.
	SupersededEvent
	// FiringsForgotten reports that firings were forgotten by an operator or by an undo. The journal lists them.
	FiringsForgotten
	// FiringsRemembered reports that an undo restored forgotten firings.
	FiringsRemembered
	// ClaimsChanged reports one of two changes. Either a holder that had lost its permit reported how its job ended,
	// which updated its firing's claim, or the leader forgot firings because they were too old or too numerous. It is
	// not in the journal.
	ClaimsChanged
	// JobSubmitted reports that some of a job's tasks were stored. Job is Open once the submission is complete. This
	// kind and the kinds below it, except BindingChanged, are not in the journal.
	JobSubmitted
	// TaskSettled reports that a task is no longer held. Task and Job have their new states.
	TaskSettled
	// JobCancelled reports that a job was cancelled.
	JobCancelled
	// TasksChanged reports that some of a job's failed tasks were made available again or dropped.
	TasksChanged
	// JobDeleted reports that a job was removed. Job has its last state.
	JobDeleted
	// BindingChanged reports that a binding was added, replaced or removed, or that one of its tokens was issued or
	// revoked. It is in the journal.
	BindingChanged
)

// End returns how the permit in a journal entry of this kind ended, or semaphore.NotEnded for other kinds. A permit
// that a cancel released counts as abandoned.
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

// isRun reports whether journal entries of this kind belong to runs. Such entries record how runs end and whether
// expected work is missed, not what operators do. All other entries count as edits.
func (k EventKind) isRun() bool {
	switch k {
	case Released, Expired, HeldEvent, Abandoned, SupersededEvent, MissedEvent, HeardEvent:
		return true
	default:
		return false
	}
}

// An Event is one applied change. Events of one command share a revision.
type Event struct {
	Revision  uint64
	Kind      EventKind
	Semaphore string // empty for cordons and settings
	Permit    *semaphore.Permit
	// Superseded is set for SupersededEvent. Replaces is copied from the Grant that caused the event.
	Superseded *semaphore.Permit
	Replaces   bool
	Definition *StoredDefinition // after the change; nil if deleted
	Before     *StoredDefinition
	Cordon     *Cordon
	// Change is set for DrainedEvent and RevertedEvent. It is the change that started the drain, or the temporary edit
	// that has ended.
	Change uint64
	// Job and Task are set for the grant of a permit that carries a task. Kinds from JobSubmitted to JobDeleted set
	// Job, and also Task if they concern a single task.
	Job    *work.Job
	Task   *work.Task
	Missed Missed
	Author string
	Reason string
	At     time.Time
}

// Applied describes what one log entry did, together with the state after it.
type Applied struct {
	Index, Term uint64
	State       *State
	Events      []Event
	// Restored is true if a snapshot replaced the state. Events is then empty, and data derived from events must be
	// rebuilt.
	Restored bool
}

// StoredDefinition is a definition and the data that the cluster stores about it. It is immutable.
type StoredDefinition struct {
	Definition      *semaphore.Definition
	Version         uint64
	CreatedRevision uint64
	UpdatedBy       string
	UpdatedAt       time.Time
	Reason          string
	Pause           *semaphore.Pause
	// MisfiresFrom is the time at which the definition's misfire policy was set, or zero if the policy is skip. See
	// semaphore.Misfires.
	MisfiresFrom time.Time
}

// AsExpected returns the precondition of a pause or resume that is based on this definition.
func (s *StoredDefinition) AsExpected() Expected {
	e := Expected{Version: s.Version}
	if s.Pause != nil {
		e.Pause = s.Pause.Revision
	}
	return e
}

// A Cordon temporarily excludes callers that match a group or acquirer pattern: they get no permits and must give up
// those they hold. It is immutable.
type Cordon struct {
	ID                            string
	GroupPattern, AcquirerPattern string
	Until                         time.Time
	Author, Reason                string
	Revision                      uint64
	// Drain is how long permits granted before Revision may continue. It is the full duration, not the remaining time.
	// It is 0 if there is no drain or it has ended.
	Drain time.Duration
	// Change is the change that first set the cordon, if an undo restored it at Revision; else 0.
	Change uint64
}

// Origin returns the change that first set the cordon, even if an undo restored it later.
func (c *Cordon) Origin() uint64 { return cmp.Or(c.Change, c.Revision) }

// EditEnd is a temporary edit. The old values of its fields are restored at Until. Before and After are the definition
// before and after the edit, without the values of earlier temporary edits that have since ended. It is immutable.
type EditEnd struct {
	Revision      uint64 // the revision of the edit
	Until         time.Time
	Before, After *semaphore.Definition
	Drain         time.Duration // drain of the edit; if reverting the edit excludes holders, a drain of the same duration starts
}
