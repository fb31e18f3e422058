package work

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Change is news of a job.
type Change struct {
	// Revision is up to where all is known. Store it with what was done with the tasks: Follow after it yields only
	// what is missing. It is that of an earlier change while the rest of a large one follows.
	Revision uint64
	// Job is the job as it is now.
	Job *gatekeeperv1.Job
	// Tasks are those that have changed, in any order, with their results if they have ended. A task that was handed
	// out is among them as it is now: states between two changes may be missing.
	Tasks []*gatekeeperv1.Task
}

// Dispatched are the tasks that a worker has now.
func (c *Change) Dispatched() []*gatekeeperv1.Task {
	return c.in(gatekeeperv1.TaskState_TASK_STATE_HELD)
}

// Returned are the tasks that have ended: done, failed, dropped or cancelled.
func (c *Change) Returned() []*gatekeeperv1.Task {
	return c.in(gatekeeperv1.TaskState_TASK_STATE_DONE, gatekeeperv1.TaskState_TASK_STATE_FAILED,
		gatekeeperv1.TaskState_TASK_STATE_DROPPED, gatekeeperv1.TaskState_TASK_STATE_CANCELLED)
}

func (c *Change) in(states ...gatekeeperv1.TaskState) (tasks []*gatekeeperv1.Task) {
	for _, t := range c.Tasks {
		for _, s := range states {
			if t.GetState() == s {
				tasks = append(tasks, t)
			}
		}
	}
	return tasks
}

// Started says that workers have begun with the job.
func (c *Change) Started() bool {
	j := c.Job
	return j.GetHeld()+j.GetDone()+j.GetFailed()+j.GetDropped() > 0
}

// Ended says that the job is over: all of its tasks have ended, or it was cancelled and no worker has one any more.
func (c *Change) Ended() bool { return c.Job.GetOver() }

// Follow yields a job as it is now, with the tasks that have changed after a revision, then each change, until the job
// is over. After 0, all tasks come that were ever handed out. A stream that breaks is opened again where it was; a task
// may then come twice, as it is now.
//
// An error is the last element: that of ctx, a *client.NoSuchJobError, or another refusal.
func Follow(ctx context.Context, c *client.Client, id string, after uint64) iter.Seq2[*Change, error] {
	return func(yield func(*Change, error) bool) {
		revision, job := after, (*gatekeeperv1.Job)(nil)
		req := &gatekeeperv1.FollowJobRequest{Id: id, AfterRevision: after, Results: true}
		over := false
		for r, err := range c.FollowJob(ctx, req) {
			if err != nil {
				yield(nil, err)
				return
			}
			if r.GetJob() != nil {
				job = r.GetJob()
			}
			if r.GetRevision() != 0 {
				revision = r.GetRevision()
			}
			over = job.GetOver() && r.GetRevision() != 0
			if !yield(&Change{Revision: revision, Job: job, Tasks: r.GetTasks()}, nil) {
				return
			}
		}
		if !over {
			yield(nil, ended(ctx))
		}
	}
}

// ended is why a stream has ended without an answer.
func ended(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return client.ErrClosed
}

// Wait waits until a job is over, and returns it: its State and counts say how it has ended. Errors are those of
// Follow.
func Wait(ctx context.Context, c *client.Client, id string) (*gatekeeperv1.Job, error) {
	var last *gatekeeperv1.Job
	for r, err := range c.FollowJob(ctx, &gatekeeperv1.FollowJobRequest{Id: id}) {
		if err != nil {
			return nil, err
		}
		if r.GetJob() != nil {
			last = r.GetJob()
		}
	}
	if !last.GetOver() {
		return nil, ended(ctx)
	}
	return last, nil
}

// Results yields the tasks of a job in the order of their indexes, each when it and all before it have ended, until the
// job is over. Result says what a task brought. Results that come early are kept in memory until it is their turn.
// Errors are those of Follow.
func Results(ctx context.Context, c *client.Client, id string) iter.Seq2[*gatekeeperv1.Task, error] {
	return func(yield func(*gatekeeperv1.Task, error) bool) {
		early, next := make(map[uint32]*gatekeeperv1.Task), uint32(0)
		var job *gatekeeperv1.Job
		for change, err := range Follow(ctx, c, id, 0) {
			if err != nil {
				yield(nil, err)
				return
			}
			job = change.Job
			for _, t := range change.Returned() {
				if t.GetIndex() >= next { // one that was retried came before
					early[t.GetIndex()] = t
				}
			}
			for t := early[next]; t != nil; t = early[next] {
				delete(early, next)
				next++
				if !yield(t, nil) {
					return
				}
			}
		}
		for ; next < job.GetTasks(); next++ { // the job was cancelled
			t := early[next]
			if t == nil {
				t = &gatekeeperv1.Task{Index: next, State: gatekeeperv1.TaskState_TASK_STATE_CANCELLED, Failure: job.GetCancelText()}
			}
			if !yield(t, nil) {
				return
			}
		}
	}
}

// Why a task has no result: every *TaskError is one of these.
var (
	// ErrFailed: its worker reported an error, or all of its workers were lost. It is kept, and can be retried or
	// dropped.
	ErrFailed = errors.New("the task has failed")
	// ErrDropped: it had failed, and was given up.
	ErrDropped = errors.New("the task was dropped")
	// ErrCancelled: its job was cancelled before it ended.
	ErrCancelled = errors.New("the task was cancelled")
	// ErrNotEnded: it waits, or a worker has it.
	ErrNotEnded = errors.New("the task has not ended")
)

// TaskError says why a task has no result.
type TaskError struct {
	Job      string
	Index    int
	State    gatekeeperv1.TaskState
	Attempts int
	// Failure is what was said of the last attempt that failed or went back; empty when nothing was. Of a task that was
	// cancelled it says by whom, and why.
	Failure string
	// Result is what the last attempt returned together with its error.
	Result []byte
}

func (e *TaskError) Error() string {
	text := fmt.Sprintf("task %d of job %s: %s", e.Index, e.Job, e.Unwrap())
	if e.State == gatekeeperv1.TaskState_TASK_STATE_FAILED {
		text += fmt.Sprintf(" in attempt %d", e.Attempts)
	}
	switch {
	case e.Failure == "":
		return text
	case e.State == gatekeeperv1.TaskState_TASK_STATE_CANCELLED:
		return text + " " + e.Failure
	}
	return text + ": " + e.Failure
}

// Unwrap returns the sentinel of the task's state.
func (e *TaskError) Unwrap() error {
	switch e.State {
	case gatekeeperv1.TaskState_TASK_STATE_FAILED:
		return ErrFailed
	case gatekeeperv1.TaskState_TASK_STATE_DROPPED:
		return ErrDropped
	case gatekeeperv1.TaskState_TASK_STATE_CANCELLED:
		return ErrCancelled
	case gatekeeperv1.TaskState_TASK_STATE_UNSPECIFIED, gatekeeperv1.TaskState_TASK_STATE_WAITING,
		gatekeeperv1.TaskState_TASK_STATE_HELD, gatekeeperv1.TaskState_TASK_STATE_DONE:
	}
	return ErrNotEnded
}

// Result returns the result of a task that is done. For any other task the error is a *TaskError.
func Result(job string, t *gatekeeperv1.Task) ([]byte, error) {
	if t.GetState() == gatekeeperv1.TaskState_TASK_STATE_DONE {
		return t.GetResult(), nil
	}
	return nil, &TaskError{
		Job: job, Index: int(t.GetIndex()), State: t.GetState(), Attempts: int(t.GetAttempts()), Failure: t.GetFailure(), Result: t.GetResult(),
	}
}
