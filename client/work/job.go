package work

import (
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// NoResult is the MaxResult of a job whose tasks return no results.
const NoResult = -1

// Job describes a job to submit. Only Semaphore is required.
type Job struct {
	// ID identifies the job in the cluster; 1 to 256 bytes. Submitting a job again under the same ID has no effect, so
	// an application that must survive its own crash should choose the ID. If empty, each call generates one and uses
	// it for all of its retries.
	ID string
	// Semaphore is the name of the semaphore whose workers execute the tasks.
	Semaphore string
	Labels    map[string]string
	// Author is shown to operators. Default: the acquirer of the Client.
	Author string
	// Priority orders a semaphore's jobs. Tasks of higher-priority jobs are handed out first. Among jobs with the same
	// priority, the job submitted first has precedence.
	Priority int32
	// MaxAttempts is how many times a task may be handed to a worker before it fails. An attempt that returns the task
	// unfinished does not count. 0 means 3.
	MaxAttempts int
	// MaxResult is the maximum size of a task's result in bytes. This much is reserved when the job is submitted, or
	// 256 bytes if that is more, because a failure can be that long. 0 means 1 KiB. See NoResult.
	MaxResult int
	// RetryFailed hands a task out again if its worker reported an error and attempts are left. By default the error is
	// the outcome of the task.
	RetryFailed bool
	// Timeout is how long the job may take after it is submitted. After that it is cancelled. A change of leader
	// restarts the full timeout. 0 means no limit. To limit a single attempt, set max_hold in the semaphore's
	// definition.
	Timeout time.Duration
	// Retention is how long the job is kept after it ends. 0 means 24 h, or 30 s for SubmitAndWait without an ID.
	Retention time.Duration

	// OnSubmitterLoss decides what happens to the job when its submitter dies.
	OnSubmitterLoss SubmitterPolicy
	// Submitter is the permit whose end cancels the job under SubmitterCancel. Its semaphore must not be the job's. If
	// nil, Submit creates a semaphore for the job and holds its permit. The servers delete that semaphore when the job
	// has ended.
	Submitter *client.Permit
}

// SubmitterPolicy decides what happens to a job when its submitter dies. The zero value is SubmitterKeep.
type SubmitterPolicy int

const (
	// SubmitterKeep lets the job continue. It is the default, because a job and its results are stored under its ID and
	// any process can read them.
	SubmitterKeep SubmitterPolicy = iota
	// SubmitterCancel cancels the job when its submitter's permit has ended. After a crash this takes at most
	// SubmitterLease. Closing the Client and losing the network also end the permit. Use this policy if no one else
	// needs the results.
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

// spec converts the job to its API message.
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
