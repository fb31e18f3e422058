package work

import (
	"cmp"
	"fmt"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// TaskState is how far a task has come. The numbers are frozen: they are in snapshots.
type TaskState uint8

const (
	// Waiting: it waits for a worker.
	Waiting TaskState = 1
	// Held: a permit carries it.
	Held TaskState = 2
	// Done: its result is recorded.
	Done TaskState = 3
	// Failed: its worker reported an error, or all of its workers were lost.
	Failed TaskState = 4
	// Dropped: it had failed, and an operator gave it up.
	Dropped TaskState = 5
	// TaskCancelled: its job was cancelled before it ended. Never stored; see Job.StateOf.
	TaskCancelled TaskState = 6
)

// Ref names a task in the cluster.
type Ref struct {
	Job   uint64 // the number of its job
	Index uint32 // its place in the job, from 0
}

// Compare orders tasks by job and index.
func (r Ref) Compare(o Ref) int {
	return cmp.Or(cmp.Compare(r.Job, o.Job), cmp.Compare(r.Index, o.Index))
}

// Task is a task as it is after one change. It is immutable once it is stored.
type Task struct {
	Ref
	Attempts uint32 // workers that it was handed to, without those that returned it unfinished
	Returns  uint32 // workers that returned it unfinished
	State    TaskState
	Token    uint64 // of the permit that carries it, or carried it last
	Revision uint64 // of its last change
	// Payload is nil once it is Done or Dropped.
	Payload []byte
	Result  []byte
	Failure string // what was said of the last attempt that failed or was returned
}

// Over reports whether the task has ended, as far as its own state says.
func (t *Task) Over() bool { return t.State >= Done }

// StateOf is a task's state, which the end of its job decides too.
func (j *Job) StateOf(t *Task) TaskState {
	if t.State == Waiting && j.State == Cancelled {
		return TaskCancelled
	}
	return t.State
}

// Report is what a worker says of its task when it releases the permit. Failure is why the task failed, or why it goes
// back. A result that comes with a failure is kept if both fit into the reserved room, the larger one of MaxResult and
// MaxFailure.
type Report struct {
	Result  []byte
	Failure string
}

// Settle returns a held task as it is when its permit has ended in that way. While a slot cools whose holder was lost,
// the caller waits with that: somebody may still be working.
func (s *Spec) Settle(t *Task, run semaphore.Run, report Report) Task {
	after := *t
	after.State = Waiting
	switch {
	case run.End == semaphore.NotEnded, run.End == semaphore.EndSuperseded:
		after.State = Held
	case !run.Began(), run.End == semaphore.EndReleased && run.Job == semaphore.JobCutShort:
		after.Attempts-- // it was counted when it was handed out
		after.Returns++
		after.Failure = cmp.Or(report.Failure, after.Failure)
	case run.CutShort() && !s.MayAttempt(t.Attempts):
		after.State = Failed
		after.Failure = fmt.Sprintf("the permit of its worker was lost, in attempt %d of %d", t.Attempts, t.Attempts)
	case run.CutShort():
	case run.Job == semaphore.JobFailed:
		after.Result, after.Failure = report.Result, report.Failure
		if uint64(len(after.Result)+len(after.Failure)) > s.room() {
			after.Result = nil
		}
		if !s.RetryFailed || !s.MayAttempt(t.Attempts) {
			after.State = Failed
		}
	default:
		after.State, after.Result, after.Failure, after.Payload = Done, report.Result, "", nil
	}
	if after.State == Waiting {
		after.Result = nil
	}
	return after
}

// Late reports whether a worker that has lost its permit may still record how its task ended: nobody got the task
// since, and it is not over.
func (j *Job) Late(t *Task, token uint64) bool {
	return t.Token == token && !t.Over() && j.StateOf(t) != TaskCancelled
}
