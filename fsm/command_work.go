package fsm

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// SubmitJob begins the submission of a job with its first tasks; its result is a SubmitResult. With a Digest they are
// all of its tasks, and workers get them from here on. An unfinished submission of the same id is dropped. Feature
// level 4.
type SubmitJob struct {
	Spec *work.Spec
	// Submitter is the token of a live permit; when that has ended, the job is cancelled. 0: the job outlives its
	// submitter.
	Submitter uint64
	Tasks     [][]byte
	Digest    string // the SHA-256 of spec and tasks; empty: more tasks follow
	At        time.Time
}

// SubmitTasks goes on with a submission; its result is a SubmitResult. Feature level 4.
type SubmitTasks struct {
	Job    uint64 // its number
	Offset uint32 // the index of the first of Tasks
	Tasks  [][]byte
	Digest string // as in SubmitJob
	At     time.Time
}

// CancelJob has no more tasks of a job handed out, and orders the workers of held tasks to stop; its result is a
// JobResult. Term is 0 when somebody asked for it. Feature level 4.
type CancelJob struct {
	Job, Term      uint64
	Cause          work.CancelCause
	Author, Reason string
	At             time.Time
}

// ChangeTasks hands failed tasks out again, with all their attempts, or with Drop gives them up; its result is a
// JobResult. Feature level 4.
type ChangeTasks struct {
	Job     uint64
	Indexes []uint32 // empty: all that failed
	Drop    bool
	// AsOf leaves out tasks that have failed after this revision; 0: none. A task that was changed has a newer one, so
	// a repeat finds nothing.
	AsOf uint64
	At   time.Time
}

// DeleteJob removes a job that is over, or, with a Term, a submission that was not finished; its result is a JobResult.
// Term is as in CancelJob. Feature level 4.
type DeleteJob struct {
	Job, Term uint64
	At        time.Time
}

func (c SubmitJob) apply(d *draft) Result   { return d.submitJob(c) }
func (c SubmitTasks) apply(d *draft) Result { return d.submitTasks(c) }
func (c CancelJob) apply(d *draft) Result   { return d.askedToCancel(c) }
func (c ChangeTasks) apply(d *draft) Result { return d.changeTasks(c) }
func (c DeleteJob) apply(d *draft) Result   { return d.deleteJob(c) }
