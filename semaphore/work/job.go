package work

import (
	"cmp"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// JobState is the state of a job. The numbers must not change, because snapshots contain them.
type JobState uint8

const (
	// Receiving means that tasks are still being submitted. None of them can be handed out yet.
	Receiving JobState = 1
	// Open means that some tasks are waiting or held.
	Open JobState = 2
	// Ended means that all tasks have ended.
	Ended JobState = 3
	// Cancelled means that the job hands out no more tasks. Held tasks end with their permits.
	Cancelled JobState = 4
)

// A CancelCause says why a job was cancelled. The numbers are frozen: they are in the log.
type CancelCause uint8

const (
	// CancelRequested means that a caller cancelled the job.
	CancelRequested CancelCause = 1
	// CancelTimeout means that the job's timeout elapsed.
	CancelTimeout CancelCause = 2
	// CancelSubmitterGone means that the submitter's permit ended.
	CancelSubmitterGone CancelCause = 3
)

// A Spec is a job as specified by its submitter. It is immutable, and shared by all versions of the job.
type Spec struct {
	// ID identifies the job within the cluster. Repeating a submission with the same ID does not create another job.
	ID        string
	Semaphore string
	Labels    semaphore.Labels
	Author    string
	// Principal is the submitter's principal; see semaphore.Identity. That principal may change the job.
	Principal string
	// Timeout is how long the job may take after its submission; 0 means no limit. The leader measures the time, and a
	// new leader starts over.
	Timeout time.Duration
	// Retention is how long the job is kept after it has ended; 0 means DefaultRetention.
	Retention time.Duration
	// Priority orders the jobs of a semaphore; higher priorities go first.
	Priority int32
	// MaxAttempts is the maximum number of workers that may attempt a task; 0 means DefaultMaxAttempts. A worker that
	// returns the task unfinished does not count.
	MaxAttempts uint32
	// MaxResult is the maximum size in bytes of a task's result. This space is reserved at submission.
	MaxResult uint32
	// RetryFailed hands a task out again after its worker reports an error, as long as it has attempts left. Otherwise
	// the error is the task's result.
	RetryFailed bool
	// Own is the semaphore that was created for this job, or empty. The submitter holds a permit of that semaphore,
	// which is deleted when the job has finished. Its definition names the job in the label OwnLabel.
	Own string
}

// Defaults and bounds for jobs.
const (
	DefaultMaxAttempts = 3
	MaxAttempts        = 1000
	DefaultMaxResult   = 1 << 10
	DefaultRetention   = 24 * time.Hour
	// MaxTasks is the maximum number of tasks per job.
	MaxTasks = 100_000
	// OwnLabel is the label of a semaphore that was created for a job. Its value is the job's id.
	OwnLabel = "gatekeeper/job"
	// OwnPrefix is the prefix of that semaphore's name if a client with the acquirer role creates it.
	OwnPrefix = "submitter/"
)

// RetentionOrDefault returns Retention or its default.
func (s *Spec) RetentionOrDefault() time.Duration { return cmp.Or(s.Retention, DefaultRetention) }

// MayAttempt reports whether a task may be handed out again after the given number of attempts.
func (s *Spec) MayAttempt(attempts uint32) bool {
	return attempts < cmp.Or(s.MaxAttempts, DefaultMaxAttempts)
}

// A Job is the state of a job after one change. It is immutable once it is stored.
type Job struct {
	*Spec
	// Number is the revision at which the submission began. It identifies the job in the Ref of each task.
	Number uint64
	// Submitted is the revision at which the submission was completed. It orders jobs with the same priority, and is 0
	// while the job is Receiving.
	Submitted uint64
	// Revision is the revision of the last change to the job or to one of its tasks.
	Revision uint64
	// Digest is the SHA-256 of the spec and all tasks. It is empty while the job is Receiving.
	Digest string
	// Submitter is the token of the submitter's permit, or 0. The job is cancelled when that permit ends.
	Submitter uint64
	// SubmittedAt and EndedAt are times on the leaders' clocks. They are used only when a leader chooses which jobs to
	// remove.
	SubmittedAt, EndedAt time.Time
	// Cancel is set once the job is Cancelled.
	Cancel *Cancel
	// Bytes is the number of bytes stored and reserved for the job; see Spec.Stored.
	Bytes uint64
	// Payload is the total size in bytes of all submitted payloads.
	Payload uint64

	// Tasks is the number of tasks. Tasks with an index of Fresh or above have never been handed out.
	Tasks, Fresh uint32
	// Returned, Held, Done, Failed and Dropped count the tasks below Fresh by state. Returned counts the ones that are
	// waiting again.
	Returned, Held, Done, Failed, Dropped uint32

	State JobState
}

// Cancel says who cancelled a job, and why. It is immutable.
type Cancel struct {
	Author, Reason string
	Cause          CancelCause
}

// CancelText describes in human-readable form who or what cancelled the job, and why, such as "by ann: wrong bucket".
// It is empty if the job was not cancelled.
func (j *Job) CancelText() string {
	c := j.Cancel
	if c == nil {
		return ""
	}
	switch c.Cause {
	case CancelTimeout:
		return "after its timeout of " + semaphore.FormatDuration(j.Timeout)
	case CancelSubmitterGone:
		return "because its submitter's permit has ended"
	case CancelRequested:
	}
	text := "by " + cmp.Or(c.Author, "an unknown author")
	if c.Reason != "" {
		text += ": " + c.Reason
	}
	return text
}

// Waiting returns the number of tasks waiting for a worker. In a cancelled job, these are the cancelled tasks.
func (j *Job) Waiting() uint32 { return j.Tasks - j.Fresh + j.Returned }

// HasWaitingTasks reports whether a worker can get a task from the job.
func (j *Job) HasWaitingTasks() bool { return j.State == Open && j.Waiting() > 0 }

// Finished reports whether the job is finished: no task is held and none can be handed out, unless an operator retries
// tasks.
func (j *Job) Finished() bool { return j.State == Ended || j.State == Cancelled && j.Held == 0 }

// Compare orders jobs in the order in which workers get their tasks: by semaphore, then by priority, highest first,
// then by order of submission.
func (j *Job) Compare(o *Job) int {
	return cmp.Or(cmp.Compare(j.Semaphore, o.Semaphore), cmp.Compare(o.Priority, j.Priority), cmp.Compare(j.Submitted, o.Submitted))
}
