package work

import (
	"cmp"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// JobState is how far a job has come. The numbers are frozen: they are in snapshots.
type JobState uint8

const (
	// Receiving: its tasks are still being submitted. No worker gets one.
	Receiving JobState = 1
	// Open: some of its tasks wait or are held.
	Open JobState = 2
	// Ended: all of its tasks have ended.
	Ended JobState = 3
	// Cancelled: it hands out no more tasks. Those that are held end with their permits.
	Cancelled JobState = 4
)

// CancelCause is why a job was cancelled. The numbers are frozen: they are in the log.
type CancelCause uint8

const (
	// CancelAsked: somebody asked for it.
	CancelAsked CancelCause = 1
	// CancelTimeout: its timeout has passed.
	CancelTimeout CancelCause = 2
	// CancelSubmitterGone: the permit of its submitter has ended.
	CancelSubmitterGone CancelCause = 3
)

// Spec is what the submitter says of a job. It is immutable, and shared by all versions of the job.
type Spec struct {
	// ID names the job in the cluster. A submission that is repeated under it is the same job.
	ID        string
	Semaphore string
	Labels    semaphore.Labels
	Author    string
	// Principal is the submitter's, see semaphore.Identity. It may change the job.
	Principal string
	// Timeout is how long the job may take from its submission on; 0: as long as it needs. The leader measures it, and
	// begins again at its promotion.
	Timeout time.Duration
	// Retention is how long the job is kept after its end; 0: DefaultRetention.
	Retention time.Duration
	// Priority orders jobs of one semaphore; a higher one goes first.
	Priority int32
	// MaxAttempts is how many workers a task may be handed to; 0: DefaultMaxAttempts. One that is returned unfinished
	// does not count.
	MaxAttempts uint32
	// MaxResult is the most bytes of a task's result. That much is reserved from the submission on.
	MaxResult uint32
	// RetryFailed hands out a task whose worker reported an error again, while it has attempts left. Otherwise the
	// error is its result.
	RetryFailed bool
	// Own is the semaphore that was made for this job, of which its submitter holds a permit; it is deleted when the
	// job is over. Empty: there is none. Its definition says whose it is, by OwnLabel.
	Own string
}

// Defaults and bounds of a job.
const (
	DefaultMaxAttempts = 3
	MaxAttempts        = 1000
	DefaultMaxResult   = 1 << 10
	DefaultRetention   = 24 * time.Hour
	// MaxTasks is the most tasks of one job.
	MaxTasks = 100_000
	// OwnLabel is the label of a semaphore that was made for a job; its value is the job's id.
	OwnLabel = "gatekeeper/job"
	// OwnPrefix begins the names of such semaphores, where clients make them with the role of an acquirer.
	OwnPrefix = "submitter/"
)

// KeptFor is Retention or its default.
func (s *Spec) KeptFor() time.Duration { return cmp.Or(s.Retention, DefaultRetention) }

// MayAttempt reports whether a task that was handed out so often may be handed out again.
func (s *Spec) MayAttempt(attempts uint32) bool {
	return attempts < cmp.Or(s.MaxAttempts, DefaultMaxAttempts)
}

// Job is a job as it is after one change. It is immutable once it is stored.
type Job struct {
	*Spec
	// Number is the revision at which the submission began. It names the job's tasks.
	Number uint64
	// Submitted is the revision at which it became complete, which orders jobs of equal priority; 0 while it is
	// Receiving.
	Submitted uint64
	// Revision is that of its last change, and of the last change of a task.
	Revision uint64
	// Digest is the SHA-256 of the spec and all tasks; empty while it is Receiving.
	Digest string
	// Submitter is the token of the permit that keeps the job from being cancelled; 0: there is none.
	Submitter uint64
	// SubmittedAt and EndedAt are by the leaders' clocks. Only a leader's choice of what to remove looks at them.
	SubmittedAt, EndedAt time.Time
	// Cancel is set once it is Cancelled.
	Cancel *Cancel
	// Bytes is what it stores and has reserved; see Spec.Stored.
	Bytes uint64
	// Payload is the bytes of all payloads that were submitted.
	Payload uint64

	// Tasks is how many it has. Those from Fresh on were never handed out.
	Tasks, Fresh uint32
	// Returned, Held, Done, Failed and Dropped count tasks below Fresh by their state; Returned are those that wait
	// again.
	Returned, Held, Done, Failed, Dropped uint32

	State JobState
}

// Cancel says why a job was cancelled, and by whom. It is immutable.
type Cancel struct {
	Author, Reason string
	Cause          CancelCause
}

// CancelText says for a person by whom or what the job was cancelled, and why, as "by ann: wrong bucket"; empty if it
// was not.
func (j *Job) CancelText() string {
	c := j.Cancel
	if c == nil {
		return ""
	}
	switch c.Cause {
	case CancelTimeout:
		return "after its timeout of " + semaphore.FormatDuration(j.Timeout)
	case CancelSubmitterGone:
		return "because the permit of its submitter has ended"
	case CancelAsked:
	}
	text := "by " + cmp.Or(c.Author, "somebody")
	if c.Reason != "" {
		text += ": " + c.Reason
	}
	return text
}

// Waiting is how many tasks wait for a worker. In a cancelled job they are the ones that were cancelled.
func (j *Job) Waiting() uint32 { return j.Tasks - j.Fresh + j.Returned }

// HandsOut reports whether a worker can get a task of it.
func (j *Job) HandsOut() bool { return j.State == Open && j.Waiting() > 0 }

// Over reports whether nothing can become of it any more, unless somebody retries tasks: no task is held, and none can
// be.
func (j *Job) Over() bool { return j.State == Ended || j.State == Cancelled && j.Held == 0 }

// Compare orders the jobs of all semaphores as workers get their tasks: by semaphore, then a higher priority, then an
// earlier submission.
func (j *Job) Compare(o *Job) int {
	return cmp.Or(cmp.Compare(j.Semaphore, o.Semaphore), cmp.Compare(o.Priority, j.Priority), cmp.Compare(j.Submitted, o.Submitted))
}
