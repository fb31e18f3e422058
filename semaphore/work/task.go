package work

import (
	"cmp"
	"fmt"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// TaskState is the state of a task. The numbers must not change, because snapshots contain them.
type TaskState uint8

const (
	// Waiting means that the task is waiting for a worker.
	Waiting TaskState = 1
	// Held means that a worker has the task, under a permit.
	Held TaskState = 2
	// Done means that the task's result has been recorded.
	Done TaskState = 3
	// Failed means that a worker reported an error, or that every worker that held the task was lost.
	Failed TaskState = 4
	// Dropped means that the task failed and an operator gave up on it.
	Dropped TaskState = 5
	// TaskCancelled means that the job was cancelled before the task ended. It is never stored; see Job.StateOf.
	TaskCancelled TaskState = 6
)

// A Ref identifies a task within the cluster.
type Ref struct {
	Job   uint64 // the number of its job
	Index uint32 // its position in the job, starting at 0
}

// Compare orders tasks by job and index.
func (r Ref) Compare(o Ref) int {
	return cmp.Or(cmp.Compare(r.Job, o.Job), cmp.Compare(r.Index, o.Index))
}

// A Task is the state of a task after one change. It is immutable once it is stored.
type Task struct {
	Ref
	Attempts uint32 // number of workers that received it, except those that returned it unfinished
	Returns  uint32 // number of workers that returned it unfinished
	State    TaskState
	Token    uint64 // of the last permit that carried it
	Revision uint64 // of its last change
	// Payload is nil once the task is Done or Dropped.
	Payload []byte
	Result  []byte
	Failure string // the error text of the last attempt that failed or was returned
}

// Finished reports whether the task has ended, based only on its own state.
func (t *Task) Finished() bool { return t.State >= Done }

// StateOf returns the state of a task, taking into account whether its job was cancelled.
func (j *Job) StateOf(t *Task) TaskState {
	if t.State == Waiting && j.State == Cancelled {
		return TaskCancelled
	}
	return t.State
}

// A Report is a worker's account of its task when it releases the permit. Failure says why the task failed or was
// returned. A result that comes with a failure is kept if both fit into the reserved space, which is the larger of
// MaxResult and MaxFailure.
type Report struct {
	Result  []byte
	Failure string
}

// Settle returns the state of a held task after its permit has ended as described by run. While the slot of a lost
// holder is cooling, the caller must delay the call: the holder may still be working.
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
		after.Failure = fmt.Sprintf("its worker's permit was lost on attempt %d of %d", t.Attempts, t.Attempts)
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

// Late reports whether a worker that has lost its permit may still record how its task ended. It may, provided that the
// task has not been handed out again and has not ended.
func (j *Job) Late(t *Task, token uint64) bool {
	return t.Token == token && !t.Finished() && j.StateOf(t) != TaskCancelled
}
