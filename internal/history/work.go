package history

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Kinds of requests about jobs and tasks. Each request has a Job.
const (
	// Submit stores a job. The result is Submitted or Differs.
	Submit Kind = "submit"
	// EndTask reports the outcome of the task that was handed out with Token: NotRun, CutShort, Failed, or done with
	// Content as its result. The result is Recorded, Unrecorded or Returned.
	EndTask Kind = "end task"
	// FollowJob follows a job until it has finished. JobEnd reads it after the last fault, when every job must have
	// finished. The result is JobRead or NoJob.
	FollowJob Kind = "follow job"
	JobEnd    Kind = "job end"
	// CancelJob, DeleteJob, RetryTasks and DropTasks are an operator's changes to a job. The result is Done.
	CancelJob  Kind = "cancel job"
	DeleteJob  Kind = "delete job"
	RetryTasks Kind = "retry tasks"
	DropTasks  Kind = "drop tasks"
)

const (
	// Submitted is a result of Submit: the job is stored. Revision is the revision of its submission.
	Submitted Result = "submitted"
	// Differs is a result of Submit: the id belongs to a job with different content.
	Differs Result = "differs"
	// Recorded is a result of EndTask: this outcome is recorded for the task or, for a failure in a job with
	// RetryFailed, for the attempt.
	Recorded Result = "recorded"
	// Unrecorded is a result of EndTask: the outcome is not recorded and never will be.
	Unrecorded Result = "unrecorded"
	// Returned is a result of EndTask: the task was returned, and its attempt does not count. A failed task may also be
	// returned.
	Returned Result = "returned"
	// JobRead is a result of FollowJob and JobEnd: State is the job's state at that time. Revision is the revision of
	// its submission.
	JobRead Result = "job read"
	// NoJob is a result of FollowJob and JobEnd: the job does not exist.
	NoJob Result = "no job"
)

// Job holds the parts of a job that the checkers use.
type Job struct {
	ID string `json:"id"`
	// Indexes are the tasks that RetryTasks and DropTasks name. An empty list means all failed tasks.
	Indexes []uint32 `json:"indexes,omitempty"`
	// Submission restricts DeleteJob to the submission with the given revision. 0 means any.
	Submission uint64 `json:"submission,omitempty"`
	// Tasks are the contents of the payloads, in order. Only Submit sets this field and the fields below.
	Tasks []string `json:"tasks,omitempty"`
	// MaxAttempts is how many workers may start a task, not counting workers that return it. 0 means 3.
	MaxAttempts uint32 `json:"max_attempts,omitempty"`
	RetryFailed bool   `json:"retry_failed,omitempty"`
	// Timeout reports whether the job has a timeout, after which it is cancelled. Submitter reports whether it is
	// cancelled when its submitter's permit ends.
	Timeout   bool `json:"timeout,omitempty"`
	Submitter bool `json:"submitter,omitempty"`
	// Cut means that the submission stops before its last task, so it must not result in a job with this content.
	Cut bool `json:"cut,omitempty"`
}

// Attempts returns MaxAttempts or its default.
func (j *Job) Attempts() uint32 {
	if j.MaxAttempts == 0 {
		return 3
	}
	return j.MaxAttempts
}

// HandedTask records that a worker was handed a task together with the permit Token.
type HandedTask struct {
	Client string        `json:"client"`
	At     time.Duration `json:"at"`
	Token  uint64        `json:"token"`
	// Semaphore, Identity and Weight describe the permit. A weight of 0 means 1. The model omits permits without a
	// semaphore.
	Semaphore string   `json:"semaphore,omitempty"`
	Identity  Identity `json:"identity,omitzero"`
	Weight    uint32   `json:"weight,omitempty"`
	Job       string   `json:"job"`
	Index     uint32   `json:"index"`
	// Content is the content of the payload.
	Content string `json:"content"`
	Attempt uint32 `json:"attempt"`
}

// JobState is the state of a job, as reported in a response.
type JobState struct {
	// State is the job's state, and Cause is the reason why it was cancelled, as in the API ("ENDED", "TIMEOUT").
	State string `json:"state"`
	Cause string `json:"cause,omitempty"`
	Over  bool   `json:"over,omitempty"`
	// Count is the number of tasks. The other fields count the tasks with each outcome.
	Count     uint32 `json:"count"`
	Done      uint32 `json:"done,omitempty"`
	Failed    uint32 `json:"failed,omitempty"`
	Dropped   uint32 `json:"dropped,omitempty"`
	Cancelled uint32 `json:"cancelled,omitempty"`
	// Tasks are the tasks in the response. They include at least all tasks that have ever been handed out.
	Tasks []TaskState `json:"tasks,omitempty"`
}

// TaskState is the state of a task, as reported in a response.
type TaskState struct {
	Index uint32 `json:"index"`
	// State is the task's state, as in the API ("DONE").
	State string `json:"state"`
	// Token is the token with which the task was last handed out.
	Token uint64 `json:"token,omitempty"`
	// Content is the content of the result.
	Content  string `json:"content,omitempty"`
	Failure  string `json:"failure,omitempty"`
	Attempts uint32 `json:"attempts,omitempty"`
}

// Lost reports whether the task failed because its last worker was lost.
func (t *TaskState) Lost() bool {
	return strings.HasPrefix(t.Failure, "its worker's permit was lost")
}

// JobOf returns the submitted job in the form that a history records.
func JobOf(spec *gatekeeperv1.JobSpec, tasks [][]byte) *Job {
	j := &Job{
		ID: spec.GetId(), MaxAttempts: spec.GetMaxAttempts(), RetryFailed: spec.GetRetryFailed(),
		Timeout: spec.GetTimeout() != nil, Submitter: spec.GetSubmitterToken() != 0,
	}
	for _, t := range tasks {
		j.Tasks = append(j.Tasks, Content(t))
	}
	return j
}

// ReadJob returns the record of a response with a job and its tasks. A job whose submission is incomplete counts as
// nonexistent.
func ReadJob(j *gatekeeperv1.Job, tasks []*gatekeeperv1.Task) Response {
	if j.GetState() == gatekeeperv1.JobState_JOB_STATE_RECEIVING {
		return Response{Result: NoJob}
	}
	s := &JobState{
		State: strings.TrimPrefix(j.GetState().String(), "JOB_STATE_"), Over: j.GetOver(), Count: j.GetTasks(),
		Done: j.GetDone(), Failed: j.GetFailed(), Dropped: j.GetDropped(), Cancelled: j.GetCancelled(),
	}
	if c := j.GetCancelCause(); c != 0 {
		s.Cause = strings.TrimPrefix(c.String(), "CANCEL_CAUSE_")
	}
	for _, t := range tasks {
		s.Tasks = append(s.Tasks, TaskState{
			Index: t.GetIndex(), State: strings.TrimPrefix(t.GetState().String(), "TASK_STATE_"), Token: t.GetToken(),
			Content: Content(t.GetResult()), Failure: t.GetFailure(), Attempts: t.GetAttempts(),
		})
	}
	slices.SortFunc(s.Tasks, func(a, b TaskState) int { return cmp.Compare(a.Index, b.Index) })
	return Response{Result: JobRead, Revision: j.GetSubmittedRevision(), State: s}
}

// maxVerbatim is the length in bytes up to which a payload or a result is recorded verbatim.
const maxVerbatim = 64

// Content returns the form in which a history records a payload or a result: a short one verbatim, a longer one as its
// first bytes and its hash.
func Content(b []byte) string {
	if len(b) <= maxVerbatim {
		return string(b)
	}
	return fmt.Sprintf("%s… %d bytes %x", b[:maxVerbatim/2], len(b), sha256.Sum256(b))
}

// HandedTask records that the client was handed a task. Call it before the client starts on the task.
func (r *Recorder) HandedTask(t HandedTask) {
	t.Client, t.At = r.client, r.now()
	r.put(Entry{HandedTask: &t})
}

// NewEndTask returns the request that ends a task. outcome is as in NewRelease, and content is the content of the
// result.
func NewEndTask(semaphore, job string, token uint64, outcome, content string) Request {
	r := NewRelease(semaphore, token, outcome)
	r.Kind, r.Job, r.Content = EndTask, &Job{ID: job}, content
	return r
}
