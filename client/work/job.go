package work

import (
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// NoResult is the MaxResult of a job whose tasks have no results.
const NoResult = -1

// Job is what its submitter says of a job. Only Semaphore must be set.
type Job struct {
	// ID names the job in the cluster; 1 to 256 bytes. Submitting the same job again under its id is the same as once,
	// so an application that must survive its own crash chooses the id. Empty: a new one is drawn for each call, and
	// all retries of the call use it.
	ID string
	// Semaphore is whose workers execute the tasks.
	Semaphore string
	Labels    map[string]string
	// Author is shown to people. Default: the acquirer of the Client.
	Author string
	// Priority orders the jobs of a semaphore: tasks of a higher one are handed out first, then those of the earlier
	// submission.
	Priority int32
	// MaxAttempts is how many workers a task is handed to; then it has failed. A worker that returns a task unfinished
	// does not count. Default, and 0: 3.
	MaxAttempts int
	// MaxResult is the most bytes of a task's result. That much is reserved from the submission on, and at least the
	// 256 bytes of a failure. Default, and 0: 1 KiB. See NoResult.
	MaxResult int
	// RetryFailed hands out a task whose worker reported an error again, while it has attempts left. Default: its error
	// is its result.
	RetryFailed bool
	// Timeout is how long the job may take from its submission on; then it is cancelled. A change of leader starts it
	// again in full. Default, and 0: as long as it needs. What one attempt may take is max_hold of the semaphore's
	// definition.
	Timeout time.Duration
	// Retention is how long the job is kept after its end. Default, and 0: 24 h; of SubmitAndWait without an ID 30 s.
	Retention time.Duration

	// OnSubmitterLoss says what becomes of the job when its submitter dies.
	OnSubmitterLoss SubmitterPolicy
	// Submitter is the permit whose end cancels the job under SubmitterCancel. It must be of another semaphore than the
	// job. nil: Submit makes a semaphore for the job, which the servers delete when the job is over, and holds its
	// permit.
	Submitter *client.Permit
}

// SubmitterPolicy says what becomes of a job when its submitter dies. The zero value is SubmitterKeep.
type SubmitterPolicy int

const (
	// SubmitterKeep lets the job go on. It is the default because a job and its results are stored under its id, for
	// any process to read.
	SubmitterKeep SubmitterPolicy = iota
	// SubmitterCancel cancels the job when the permit of its submitter has ended: after a crash, at the latest
	// SubmitterLease later; after Close of the Client, and after the loss of its network, too. Use it where nobody else
	// wants the results.
	SubmitterCancel
)

func (p SubmitterPolicy) String() string {
	switch p {
	case SubmitterKeep:
		return "keep"
	case SubmitterCancel:
		return "cancel"
	}
	return "SubmitterPolicy(" + strconv.Itoa(int(p)) + ")"
}

// spec is the job as the API writes it.
func (j Job) spec() *gatekeeperv1.JobSpec {
	s := &gatekeeperv1.JobSpec{
		Id: j.ID, Semaphore: j.Semaphore, Labels: j.Labels, Author: j.Author, Priority: j.Priority,
		MaxAttempts: uint32(max(j.MaxAttempts, 0)), RetryFailed: j.RetryFailed,
	}
	switch {
	case j.MaxResult > 0:
		n := uint32(min(j.MaxResult, 1<<31))
		s.MaxResult = &n
	case j.MaxResult < 0:
		s.MaxResult = new(uint32)
	}
	if j.Timeout != 0 {
		s.Timeout = durationpb.New(j.Timeout)
	}
	if j.Retention != 0 {
		s.Retention = durationpb.New(j.Retention)
	}
	return s
}
