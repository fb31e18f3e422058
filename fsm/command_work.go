package fsm

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// SubmitJob begins the submission of a job with its first tasks; its result is a SubmitResult. If Digest is set, these
// are all of its tasks, and they can be handed out immediately. An unfinished submission with the same id is dropped.
// It requires feature level 4.
type SubmitJob struct {
	Spec *work.Spec
	// Submitter is the token of a live permit. The job is cancelled when that permit ends. 0 means that the job
	// outlives its submitter.
	Submitter uint64
	Tasks     [][]byte
	Digest    string // the SHA-256 of the spec and the tasks, or empty if more tasks follow
	At        time.Time
}

// SubmitTasks continues a submission; its result is a SubmitResult. It requires feature level 4.
type SubmitTasks struct {
	Job    uint64 // the job's number
	Offset uint32 // the index of the first of Tasks
	Tasks  [][]byte
	Digest string // as in SubmitJob
	At     time.Time
}

// CancelJob stops handing out a job's tasks and orders the workers of held tasks to stop; its result is a JobResult.
// Term is 0 if a caller requested the cancellation. It requires feature level 4.
type CancelJob struct {
	Job, Term      uint64
	Cause          work.CancelCause
	Author, Reason string
	At             time.Time
}

// ChangeTasks makes failed tasks available again, with their attempts reset, or drops them if Drop is set; its result
// is a JobResult. It requires feature level 4.
type ChangeTasks struct {
	Job     uint64
	Indexes []uint32 // empty means all failed tasks
	Drop    bool
	// AsOf excludes tasks that failed after this revision; 0 excludes none. A changed task has a newer revision, so a
	// retry of the command has no effect.
	AsOf uint64
	At   time.Time
}

// DeleteJob removes a finished job or, if Term is set, an unfinished submission; its result is a JobResult. Term is as
// in CancelJob. It requires feature level 4.
type DeleteJob struct {
	Job, Term uint64
	At        time.Time
}

func (c SubmitJob) apply(d *draft) Result   { return d.submitJob(c) }
func (c SubmitTasks) apply(d *draft) Result { return d.submitTasks(c) }
func (c CancelJob) apply(d *draft) Result   { return d.applyCancelJob(c) }
func (c ChangeTasks) apply(d *draft) Result { return d.changeTasks(c) }
func (c DeleteJob) apply(d *draft) Result   { return d.deleteJob(c) }
