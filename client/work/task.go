package work

import (
	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Task is a task that this process executes, and holds by a permit. Its methods may be called from any goroutine.
type Task struct{ held *client.WorkTask }

// Job is the job's id.
func (t *Task) Job() string { return t.held.Job.GetId() }

// Spec is what the submitter says of the job. It must not be changed.
func (t *Task) Spec() *gatekeeperv1.JobSpec { return t.held.Job }

// Index is the task's place in the job, from 0.
func (t *Task) Index() int { return int(t.held.Task.GetIndex()) }

// Payload is what was submitted. It must not be changed.
func (t *Task) Payload() []byte { return t.held.Task.GetPayload() }

// Attempt is 1 for the first worker that has the task. Workers that returned it unfinished do not count.
func (t *Task) Attempt() int { return int(t.held.Task.GetAttempts()) }

// MaxResult is the most bytes that the result may have.
func (t *Task) MaxResult() int {
	if t.held.Job.MaxResult == nil {
		return 1 << 10 // the API's default
	}
	return int(t.held.Job.GetMaxResult())
}

// LastFailure is what was said of the last attempt that failed or went back.
func (t *Task) LastFailure() string { return t.held.Task.GetFailure() }

// Token is the fencing token of the task's permit. It rises with every attempt. Pass it along with what the task
// writes, and let the resource refuse a token that is older than the newest it has seen.
func (t *Task) Token() uint64 { return t.held.Permit.Token() }

// Permit is what the task is held by, for Ensure before a step that must not be cut short. Do not release it.
func (t *Task) Permit() *client.Permit { return t.held.Permit }

// Progress reports how far the task has come, for people: fraction is from 0 to 1, and text has at most 256 bytes. It
// is cheap enough for every turn of a loop. With client.WithStallLimit on the worker's Semaphore, a task that does not
// report for that long must stop.
func (t *Task) Progress(fraction float64, text string) { t.held.Progress(fraction, text) }
