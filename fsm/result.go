package fsm

import (
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// Result is what a command did. Every command has exactly one type of result, named at the command.
type Result interface{ result() }

// GrantOutcome is what became of a Grant.
type GrantOutcome uint8

const (
	// GrantGranted: a new permit; see Permit.
	GrantGranted GrantOutcome = iota + 1
	// GrantHeld: this request holds a live permit already; see Permit. The leader treats it as a refresh.
	GrantHeld
	// GrantDenied: the rule says no; see Decision.
	GrantDenied
	// GrantChanged: the definition, the cordon set or the identity's own permit is no longer what the leader looked at.
	// Nothing happened; decide again.
	GrantChanged
	// GrantRevisionChanged: the permit revision is not the expected one. Nothing happened.
	GrantRevisionChanged
	// GrantRequestEnded: this request id was granted or cancelled before and has ended; see Ended. It never grants
	// again.
	GrantRequestEnded
	// GrantQuarantined: it would be granted, were it not for a quarantine; see State.Quarantine. Nothing happened.
	GrantQuarantined
	// GrantRequestReused: this request id belongs to an ended request that asked for something else; see Ended. Nothing
	// happened.
	GrantRequestReused
	// GrantRequestTooOld: this request may have been granted, and forgotten since; see TooOld. Nothing happened.
	GrantRequestTooOld
	// GrantReacquired: the identity keeps its permit, under a new token; see Permit and Superseded.
	GrantReacquired
)

// GrantResult is the result of a Grant.
type GrantResult struct {
	Outcome GrantOutcome
	Permit  *semaphore.Permit
	// Job and Task are those that the new permit of a worker carries.
	Job  *work.Job
	Task *work.Task
	// Superseded is the permit under its old token, as it last was.
	Superseded *semaphore.Permit
	Decision   semaphore.Decision
	Ended      *Remembered
	TooOld     *TooOld
	// PermitRevision is the semaphore's, after this command.
	PermitRevision uint64
}

// PermitResult is the result of a command that names a token.
type PermitResult struct {
	// Applied is false when nothing happened: there is no such permit in the state that the command needs, or its term
	// is over.
	Applied bool
	// Permit is the permit as it is after the command, or as it last was when the command ended it; nil when there was
	// none.
	Permit   *semaphore.Permit
	Revision uint64 // of the change; 0 when nothing happened
}

// ReleaseResult is the result of a Release.
type ReleaseResult struct {
	// Released is true when this command ended the permit.
	Released bool
	// Permit is the permit as it is after the command (cooling, or held for an operator), or as it last was when the
	// command ended it; nil when there was none.
	Permit *semaphore.Permit
	// Ended is how it had ended before, when that is still remembered.
	Ended *Remembered
	// Revision is that of the change; 0 when nothing happened. It is set without Released when the release came too
	// late for the permit but completed its firing or task.
	Revision uint64
	// Task is the one that the permit carried, as it is after the command; nil: none, another worker has it, or its job
	// was removed. Recorded: what this holder has reported of the task is recorded, now or by a release before, as its
	// end or as the failure of an attempt.
	Task     *work.Task
	Recorded bool
}

// SubmitOutcome is what became of a SubmitJob or SubmitTasks.
type SubmitOutcome uint8

const (
	// SubmitAccepted: the tasks are stored.
	SubmitAccepted SubmitOutcome = iota + 1
	// SubmitExists: a job of that id was submitted before; see Job. Nothing happened.
	SubmitExists
	// SubmitNoSemaphore: there is no such semaphore. Nothing happened.
	SubmitNoSemaphore
	// SubmitNoSubmitter: the token of the submitter is not that of a live permit. Nothing happened.
	SubmitNoSubmitter
	// SubmitLimit: a limit does not let the tasks in; see Limit. Nothing happened.
	SubmitLimit
	// SubmitLost: there is no such unfinished submission, or it is at another task. Nothing happened.
	SubmitLost
)

// SubmitResult is the result of a SubmitJob and of a SubmitTasks.
type SubmitResult struct {
	Outcome SubmitOutcome
	Job     *work.Job
	Limit   *work.LimitError
}

// JobResult is the result of the other commands of jobs.
type JobResult struct {
	// Applied is false when nothing happened: there is no such job, it is not as the command needs it, or its term is
	// over.
	Applied bool
	// Job is the job as it is after the command, or as it last was; nil: there is none.
	Job *work.Job
	// Tasks is how many tasks were changed.
	Tasks uint32
	// Limit is the limit that does not let tasks be handed out again.
	Limit *work.LimitError
}

// CancelResult is the result of a Cancel.
type CancelResult struct {
	// GaveBack is the live permit of that request, which this command ended; or nil.
	GaveBack *semaphore.Permit
	// Ended is how the request had ended before; or nil. With neither, and not Changed, the request is now remembered
	// as cancelled.
	Ended *Remembered
	// Changed: the request's live permit is not the one that the command names. Nothing happened; look again.
	Changed  bool
	Revision uint64 // of the change; 0 when nothing happened
}

// ConflictKind is why a batch of edits was refused.
type ConflictKind uint8

const (
	ConflictExists ConflictKind = iota + 1 // create: the name is taken
	ConflictAbsent                         // replace, delete, pause, resume: there is no such definition
	ConflictStale                          // replace, delete, pause, resume: its version is not the expected one
	ConflictPause                          // undo, pause, resume: its pause is not the expected one
	ConflictCordon                         // undo: the cordon of that name is not the expected one
	// ConflictFirings: a firing of that semaphore was claimed, completed or forgotten since, or its low-water mark is
	// another one.
	ConflictFirings
)

// Conflict names what is at fault in a refused batch or undo.
type Conflict struct {
	Index   int // of the edit, or of the name
	Kind    ConflictKind
	Name    string
	Current *StoredDefinition // as it is; nil when absent
}

// UndoResult is the result of an Undo.
type UndoResult struct {
	Revision uint64 // of the change; 0 when nothing happened
	Conflict *Conflict
	// Repeated: this request id was applied before, and Revision is that of what it did then.
	Repeated bool
}

// FiringsResult is the result of a ForgetFirings.
type FiringsResult struct {
	Revision uint64         // of the change; 0 when nothing happened
	Firings  *FiringsChange // nil when nothing happened
	Conflict *Conflict
	// Repeated: this request id was applied before, and Revision and Firings are what it did then.
	Repeated bool
}

// EditResult is the result of an EditBatch.
type EditResult struct {
	// Revision is shared by all edits of the batch; 0 when nothing changed.
	Revision uint64
	Skipped  []string // names whose Declare was skipped
	Conflict *Conflict
	// Repeated: this request id was applied before, and Revision and Skipped are what it did then.
	Repeated bool
	// Definition and Permits are as in EditAnswer. In a repeat of what was remembered below feature level 3 they are
	// not known.
	Definition *StoredDefinition
	Permits    uint32
}

// RevisionResult is the result of commands that have no other data to answer with.
type RevisionResult struct {
	Applied  bool   // false: nothing happened
	Revision uint64 // of the change; 0 when nothing happened
	// Repeated: this request id was applied before, and Revision is that of what it did then; nothing happened now.
	Repeated bool
	// Names and Cordon are as in EditAnswer. In a repeat of what was remembered below feature level 3 they are not
	// known.
	Names  []string
	Cordon *Cordon
	// Conflict is the first name under which a pause or a resume did not find what it expected; nothing happened then.
	Conflict *Conflict
}

// InvalidResult is the result of a command that was refused because of what it says, for example a pause that names no
// such semaphore, or a definition that breaks a rule. Nothing happened. Any command can have it.
type InvalidResult struct {
	Why string
	// Used is the edit to which the request id belongs, if the command asks for something else.
	Used *Remembered
	// TooOld is set if the edit may have been made, and forgotten since.
	TooOld *TooOld
}

func (GrantResult) result()    {}
func (PermitResult) result()   {}
func (ReleaseResult) result()  {}
func (CancelResult) result()   {}
func (EditResult) result()     {}
func (UndoResult) result()     {}
func (FiringsResult) result()  {}
func (RevisionResult) result() {}
func (InvalidResult) result()  {}
func (SubmitResult) result()   {}
func (JobResult) result()      {}
func (AccessResult) result()   {}
