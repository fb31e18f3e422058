package work

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Change is an update to a job.
type Change struct {
	// Revision is the last revision whose changes have been delivered completely. Store it together with the results of
	// your processing: a later Follow from this revision yields only the changes since then. While a large change is
	// arriving in parts, Revision remains that of the previous change.
	Revision uint64
	// Job is the current state of the job.
	Job *gatekeeperv1.Job
	// Tasks lists the changed tasks in any order, with their results if they have ended. Each is in its current state,
	// so intermediate states may be missing.
	Tasks []*gatekeeperv1.Task
}

// Dispatched returns the tasks that workers currently hold.
func (c *Change) Dispatched() []*gatekeeperv1.Task {
	return c.tasksIn(gatekeeperv1.TaskState_TASK_STATE_HELD)
}

// Returned returns the tasks that have ended: done, failed, dropped or cancelled.
func (c *Change) Returned() []*gatekeeperv1.Task {
	return c.tasksIn(gatekeeperv1.TaskState_TASK_STATE_DONE, gatekeeperv1.TaskState_TASK_STATE_FAILED,
		gatekeeperv1.TaskState_TASK_STATE_DROPPED, gatekeeperv1.TaskState_TASK_STATE_CANCELLED)
}

func (c *Change) tasksIn(states ...gatekeeperv1.TaskState) (tasks []*gatekeeperv1.Task) {
	for _, t := range c.Tasks {
		for _, s := range states {
			if t.GetState() == s {
				tasks = append(tasks, t)
			}
		}
	}
	return tasks
}

// Started reports whether a worker has started the job.
func (c *Change) Started() bool {
	j := c.Job
	return j.GetHeld()+j.GetDone()+j.GetFailed()+j.GetDropped() > 0
}

// Ended reports whether the job has ended: all its tasks have ended, or it was cancelled and no worker still holds one.
func (c *Change) Ended() bool { return c.Job.GetOver() }

// Follow yields the current state of a job with the tasks that have changed since a revision, then each change, until
// the job has ended. If the revision is 0, all tasks that were ever handed out are included. If the stream breaks,
// Follow resumes where it stopped. A task can then be yielded twice, in its current state.
//
// An error is yielded last. It is ctx's error, a *client.NoSuchJobError, or another refusal by the servers.
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

// ended returns the reason why a stream has ended without an error.
func ended(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return client.ErrClosed
}

// Wait waits until a job has ended and returns it. The job's State and counts show how it ended. The errors are those
// of Follow.
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

// Results yields the tasks of a job in the order of their indexes until the job has ended. A task is yielded when it
// and all tasks before it have ended. Call Result to get a task's outcome. Results that arrive early are kept in memory
// until all earlier tasks have ended. The errors are those of Follow.
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
				if t.GetIndex() >= next { // a task that was retried may have been yielded before
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

// The reasons why a task has no result. Every *TaskError wraps one of them.
var (
	// ErrFailed means that the worker reported an error, or that every worker that had the task was lost. The task is
	// kept, and can be retried or dropped.
	ErrFailed = errors.New("the task failed")
	// ErrDropped means that the task failed and was abandoned.
	ErrDropped = errors.New("the task was dropped")
	// ErrCancelled means that the job was cancelled before the task ended.
	ErrCancelled = errors.New("the task was cancelled")
	// ErrNotEnded means that the task is waiting or held by a worker.
	ErrNotEnded = errors.New("the task has not ended")
)

// TaskError is the reason why a task has no result.
type TaskError struct {
	Job      string
	Index    int
	State    gatekeeperv1.TaskState
	Attempts int
	// Failure is the message from the last attempt that failed or was returned, or empty if there was none. For a
	// cancelled task it says who cancelled the job, and why.
	Failure string
	// Result is the data that the last attempt returned together with its error.
	Result []byte
}

func (e *TaskError) Error() string {
	text := fmt.Sprintf("task %d of job %s: %s", e.Index, e.Job, e.Unwrap())
	if e.State == gatekeeperv1.TaskState_TASK_STATE_FAILED {
		text += fmt.Sprintf(" on attempt %d", e.Attempts)
	}
	switch {
	case e.Failure == "":
		return text
	case e.State == gatekeeperv1.TaskState_TASK_STATE_CANCELLED:
		return text + " " + e.Failure
	}
	return text + ": " + e.Failure
}

// Unwrap returns the sentinel error for the task's state.
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

// Result returns the result of a task that is done. For any other task it returns a *TaskError.
func Result(job string, t *gatekeeperv1.Task) ([]byte, error) {
	if t.GetState() == gatekeeperv1.TaskState_TASK_STATE_DONE {
		return t.GetResult(), nil
	}
	return nil, &TaskError{
		Job: job, Index: int(t.GetIndex()), State: t.GetState(), Attempts: int(t.GetAttempts()), Failure: t.GetFailure(), Result: t.GetResult(),
	}
}
