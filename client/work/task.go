package work

import (
	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Task is a task that this process executes under a permit. It is safe for concurrent use.
type Task struct{ held *client.WorkTask }

// Job returns the ID of the job.
func (t *Task) Job() string { return t.held.Job.GetId() }

// Spec returns the job as its submitter described it. It must not be modified.
func (t *Task) Spec() *gatekeeperv1.JobSpec { return t.held.Job }

// Index returns the position of the task in the job, starting at 0.
func (t *Task) Index() int { return int(t.held.Task.GetIndex()) }

// Payload returns the payload that was submitted. It must not be modified.
func (t *Task) Payload() []byte { return t.held.Task.GetPayload() }

// Attempt returns the number of this attempt, starting at 1. Attempts that returned the task unfinished do not count.
func (t *Task) Attempt() int { return int(t.held.Task.GetAttempts()) }

// MaxResult returns the maximum size of the result in bytes.
func (t *Task) MaxResult() int {
	if t.held.Job.MaxResult == nil {
		return 1 << 10 // the API's default
	}
	return int(t.held.Job.GetMaxResult())
}

// LastFailure returns the message from the last attempt that failed or was returned.
func (t *Task) LastFailure() string { return t.held.Task.GetFailure() }

// Token returns the fencing token of the task's permit. It increases with every attempt. Send it with every write by
// the task, and let the resource reject a token that is older than the newest it has seen.
func (t *Task) Token() uint64 { return t.held.Permit.Token() }

// Permit returns the permit under which the task is held. Call its Ensure before a step that must not be cut short. Do
// not release it.
func (t *Task) Permit() *client.Permit { return t.held.Permit }

// Progress reports the task's progress to operators. fraction ranges from 0 to 1, and text can be at most 256 bytes
// long. Progress is cheap enough to call in every iteration of a loop. If the worker's Semaphore has a
// client.WithStallLimit, a task that does not report for that long must stop.
func (t *Task) Progress(fraction float64, text string) { t.held.Progress(fraction, text) }
