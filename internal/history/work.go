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

// Kinds of requests about jobs and tasks. All name a Job.
const (
	// Submit stores a job. An answer is Submitted or Differs.
	Submit Kind = "submit"
	// EndTask says how the task that Token carries has ended: NotRun, CutShort, Failed, or done, with Content as its
	// result. An answer is Recorded, Unrecorded or Returned.
	EndTask Kind = "end task"
	// FollowJob hears of a job until it is over, and JobEnd reads it after the last fault, when every job must be over.
	// An answer is JobRead or NoJob.
	FollowJob Kind = "follow job"
	JobEnd    Kind = "job end"
	// CancelJob, DeleteJob, RetryTasks and DropTasks are what an operator does to a job. An answer is Done.
	CancelJob  Kind = "cancel job"
	DeleteJob  Kind = "delete job"
	RetryTasks Kind = "retry tasks"
	DropTasks  Kind = "drop tasks"
)

const (
	// Submitted answers Submit: the job is stored, and Revision is that of its submission.
	Submitted Result = "submitted"
	// Differs answers Submit: the id belongs to a job of other content.
	Differs Result = "differs"
	// Recorded answers EndTask: this end is recorded, as that of the task or, for a failure of a job with RetryFailed,
	// as that of an attempt.
	Recorded Result = "recorded"
	// Unrecorded answers EndTask: it is not recorded, and never will be.
	Unrecorded Result = "unrecorded"
	// Returned answers EndTask: the task went back, and its attempt is not counted. A task that failed may have been
	// returned too.
	Returned Result = "returned"
	// JobRead answers FollowJob and JobEnd: State is the job as it was then. Revision is that of its submission.
	JobRead Result = "job read"
	// NoJob answers them: there is no such job.
	NoJob Result = "no job"
)

// Job is as much of a job as the checkers know.
type Job struct {
	ID string `json:"id"`
	// Indexes are the tasks that RetryTasks and DropTasks name; none: all that have failed.
	Indexes []uint32 `json:"indexes,omitempty"`
	// Submission is the revision of the only one that DeleteJob removes; 0: any.
	Submission uint64 `json:"submission,omitempty"`
	// Tasks are the contents of its payloads, in their order. Only Submit has them, and what follows.
	Tasks []string `json:"tasks,omitempty"`
	// MaxAttempts is how many workers may begin a task, without those that return it; 0: 3.
	MaxAttempts uint32 `json:"max_attempts,omitempty"`
	RetryFailed bool   `json:"retry_failed,omitempty"`
	// Timeout and Submitter: the job is cancelled when it takes too long, and when the permit of its submitter has
	// ended.
	Timeout   bool `json:"timeout,omitempty"`
	Submitter bool `json:"submitter,omitempty"`
	// Cut: the submission ends before its last task, so that no job of this content may come of it.
	Cut bool `json:"cut,omitempty"`
}

// Attempts is MaxAttempts or its default.
func (j *Job) Attempts() uint32 {
	if j.MaxAttempts == 0 {
		return 3
	}
	return j.MaxAttempts
}

// Handed says that a worker was handed a task, with the permit Token.
type Handed struct {
	Client string        `json:"client"`
	At     time.Duration `json:"at"`
	Token  uint64        `json:"token"`
	// Semaphore, Identity and Weight are those of the permit; a weight of 0 is 1. The model leaves out a permit without
	// a semaphore.
	Semaphore string   `json:"semaphore,omitempty"`
	Identity  Identity `json:"identity,omitzero"`
	Weight    uint32   `json:"weight,omitempty"`
	Job       string   `json:"job"`
	Index     uint32   `json:"index"`
	// Content is that of the payload.
	Content string `json:"content"`
	Attempt uint32 `json:"attempt"`
}

// JobState is a job as an answer had it.
type JobState struct {
	// State is that of the job, and Cause why it was cancelled, in the words of the API ("ENDED", "TIMEOUT").
	State string `json:"state"`
	Cause string `json:"cause,omitempty"`
	Over  bool   `json:"over,omitempty"`
	// Count is how many tasks it has, and the others how many of them ended so.
	Count     uint32 `json:"count"`
	Done      uint32 `json:"done,omitempty"`
	Failed    uint32 `json:"failed,omitempty"`
	Dropped   uint32 `json:"dropped,omitempty"`
	Cancelled uint32 `json:"cancelled,omitempty"`
	// Tasks are those of which the answer said something: at least all that were ever handed out.
	Tasks []TaskState `json:"tasks,omitempty"`
}

// TaskState is a task as an answer had it.
type TaskState struct {
	Index uint32 `json:"index"`
	// State is in the words of the API ("DONE").
	State string `json:"state"`
	// Token is the last with which it was handed out.
	Token uint64 `json:"token,omitempty"`
	// Content is that of the result.
	Content  string `json:"content,omitempty"`
	Failure  string `json:"failure,omitempty"`
	Attempts uint32 `json:"attempts,omitempty"`
}

// Lost says that the servers gave the task up because its last worker was lost.
func (t *TaskState) Lost() bool {
	return strings.HasPrefix(t.Failure, "the permit of its worker was lost")
}

// JobOf is a job as it is submitted.
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

// ReadJob is the answer that brought a job and its tasks. One whose submission is not finished is none.
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

// readable is how many bytes of a payload or a result are written as they are.
const readable = 64

// Content is a payload or a result as histories have it: a short one as it is, a longer one by its beginning and its
// hash.
func Content(b []byte) string {
	if len(b) <= readable {
		return string(b)
	}
	return fmt.Sprintf("%s… %d bytes %x", b[:readable/2], len(b), sha256.Sum256(b))
}

// Handed notes that the client was handed a task. It is noted before the client begins with it.
func (r *Recorder) Handed(t Handed) {
	t.Client, t.At = r.client, r.now()
	r.put(Entry{Handed: &t})
}

// Ending is the request that ends a task so: outcome is as in Releasing, and content that of the result.
func Ending(semaphore, job string, token uint64, outcome, content string) Request {
	r := Releasing(semaphore, token, outcome)
	r.Kind, r.Job, r.Content = EndTask, &Job{ID: job}, content
	return r
}
