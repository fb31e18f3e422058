package fsm

import (
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// A Result describes what a command did. Every command has one result type, which its comment names, but a refused
// command may return an InvalidResult instead.
type Result interface{ result() }

// GrantOutcome is the outcome of a Grant.
type GrantOutcome uint8

const (
	// GrantGranted means that a new permit was granted; see Permit.
	GrantGranted GrantOutcome = iota + 1
	// GrantHeld means that this request already holds a live permit; see Permit. The leader treats it as a refresh.
	GrantHeld
	// GrantDenied means that the request was denied; see Decision.
	GrantDenied
	// GrantChanged means that the definition, the set of cordons or the identity's own permit has changed since the
	// leader decided. Nothing happened; decide again.
	GrantChanged
	// GrantRevisionChanged means that the permit revision is not the expected one. Nothing happened.
	GrantRevisionChanged
	// GrantRequestEnded means that a request with this id was already granted or cancelled and has ended; see Ended. It
	// is never granted again.
	GrantRequestEnded
	// GrantQuarantined means that the request would be granted if there were no quarantine; see State.Quarantine.
	// Nothing happened.
	GrantQuarantined
	// GrantRequestReused means that this request id belongs to an ended request with different parameters; see Ended.
	// Nothing happened.
	GrantRequestReused
	// GrantRequestTooOld means that this request may have been granted and then forgotten; see TooOld. Nothing
	// happened.
	GrantRequestTooOld
	// GrantReacquired means that the identity keeps its permit under a new token; see Permit and Superseded.
	GrantReacquired
)

// GrantResult is the result of a Grant.
type GrantResult struct {
	Outcome GrantOutcome
	Permit  *semaphore.Permit
	// Job and Task are the job and the task that a worker's new permit carries.
	Job  *work.Job
	Task *work.Task
	// Superseded is the permit with its old token, in its last state.
	Superseded *semaphore.Permit
	Decision   semaphore.Decision
	Ended      *Remembered
	TooOld     *TooOld
	// PermitRevision is the permit revision of the semaphore after this command.
	PermitRevision uint64
}

// PermitResult is the result of a command that names a token.
type PermitResult struct {
	// Applied is false if nothing happened: there is no such permit in the state that the command requires, or the
	// command's term has ended.
	Applied bool
	// Permit is the permit after the command, or its last state if the command ended it. It is nil if there was none.
	Permit   *semaphore.Permit
	Revision uint64 // revision of the change; 0 if nothing happened
}

// ReleaseResult is the result of a Release.
type ReleaseResult struct {
	// Released is true if this command ended the permit.
	Released bool
	// Permit is the permit after the command (cooling, or held for an operator), or its last state if the command ended
	// it. It is nil if there was none.
	Permit *semaphore.Permit
	// Ended says how the permit had already ended, if that is still known.
	Ended *Remembered
	// Revision is the revision of the change, or 0 if nothing happened. It is also set, with Released false, if the
	// release came too late for the permit but completed its firing or task.
	Revision uint64
	// Task is the task that the permit carried, in its state after the command. It is nil if there was none, if another
	// worker has it, or if its job was removed. Recorded is true if the holder's report about the task is recorded, by
	// this or an earlier release, as the task's outcome or as the failure of an attempt.
	Task     *work.Task
	Recorded bool
}

// SubmitOutcome is the outcome of a SubmitJob or SubmitTasks.
type SubmitOutcome uint8

const (
	// SubmitAccepted means that the tasks are stored.
	SubmitAccepted SubmitOutcome = iota + 1
	// SubmitExists means that a job with this id has been submitted before; see Job. Nothing happened.
	SubmitExists
	// SubmitNoSemaphore means that the semaphore is not defined. Nothing happened.
	SubmitNoSemaphore
	// SubmitNoSubmitter means that the submitter's token does not belong to a live permit. Nothing happened.
	SubmitNoSubmitter
	// SubmitLimit means that the tasks would exceed a limit; see Limit. Nothing happened.
	SubmitLimit
	// SubmitLost means that there is no such unfinished submission, or that the submission expects a different task
	// next. Nothing happened.
	SubmitLost
)

// SubmitResult is the result of SubmitJob and SubmitTasks.
type SubmitResult struct {
	Outcome SubmitOutcome
	Job     *work.Job
	Limit   *work.LimitError
}

// JobResult is the result of the other job commands.
type JobResult struct {
	// Applied is false if nothing happened: there is no such job, it is not in the state that the command requires, or
	// the command's term has ended.
	Applied bool
	// Job is the job after the command, or its last state. It is nil if there is none.
	Job *work.Job
	// Tasks is the number of changed tasks.
	Tasks uint32
	// Limit is the limit that prevents the tasks from being made available again, or nil.
	Limit *work.LimitError
}

// CancelResult is the result of a Cancel.
type CancelResult struct {
	// ReturnedPermit is the live permit of the request, which this command ended, or nil.
	ReturnedPermit *semaphore.Permit
	// Ended says how the request had already ended, or is nil. If both are nil and Changed is false, the request is now
	// remembered as cancelled.
	Ended *Remembered
	// Changed is true if the request's live permit is not the one that the command names. Nothing happened; read the
	// state again.
	Changed  bool
	Revision uint64 // revision of the change; 0 if nothing happened
}

// ConflictKind says why a batch of edits was refused.
type ConflictKind uint8

const (
	ConflictExists ConflictKind = iota + 1 // create: the name is taken
	ConflictAbsent                         // replace, delete, pause, resume: the definition does not exist
	ConflictStale                          // replace, delete, pause, resume: the version is not the expected one
	ConflictPause                          // undo, pause, resume: the pause is not the expected one
	ConflictCordon                         // undo: the cordon with that id is not the expected one
	// ConflictFirings means that a firing of the semaphore has been claimed, completed or forgotten in the meantime, or
	// that the low-water mark has changed.
	ConflictFirings
)

// A Conflict describes why a batch or an undo was refused.
type Conflict struct {
	Index   int // index of the edit, or of the name
	Kind    ConflictKind
	Name    string
	Current *StoredDefinition // the current definition; nil if there is none
}

// UndoResult is the result of an Undo.
type UndoResult struct {
	Revision uint64 // revision of the change; 0 if nothing happened
	Conflict *Conflict
	// Repeated is true if this request was applied before. Revision is then the revision of that change.
	Repeated bool
}

// FiringsResult is the result of a ForgetFirings.
type FiringsResult struct {
	Revision uint64         // revision of the change; 0 if nothing happened
	Firings  *FiringsChange // nil if nothing happened
	Conflict *Conflict
	// Repeated is true if this request was applied before. Revision and Firings then describe that change.
	Repeated bool
}

// EditResult is the result of an EditBatch.
type EditResult struct {
	// Revision is shared by all edits of the batch. It is 0 if nothing changed.
	Revision uint64
	Skipped  []string // names whose Declare was skipped
	Conflict *Conflict
	// Repeated is true if this request was applied before. Revision and Skipped then describe that change.
	Repeated bool
	// Definition and Permits are as in EditResponse. They are unknown in a retry of a request that was remembered below
	// feature level 3.
	Definition *StoredDefinition
	Permits    uint32
}

// RevisionResult is the result of the commands that have no result type of their own.
type RevisionResult struct {
	Applied  bool   // false if nothing happened
	Revision uint64 // revision of the change; 0 if nothing happened
	// Repeated is true if this request was applied before. Revision is then the revision of that change, and nothing
	// happened this time.
	Repeated bool
	// Names and Cordon are as in EditResponse. They are unknown in a retry of a request that was remembered below
	// feature level 3.
	Names  []string
	Cordon *Cordon
	// Conflict describes the first name that is not in the state expected by a pause or a resume. If it is set, nothing
	// happened.
	Conflict *Conflict
}

// InvalidResult is the result of a command that was refused because of its contents, for example a pause of an unknown
// semaphore or an invalid definition. Nothing happened. Any command can have this result.
type InvalidResult struct {
	Why string
	// UsedBy is the edit to which the request id belongs, if the command differs from that edit.
	UsedBy *Remembered
	// TooOld is set if the edit may have been made and then forgotten.
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
