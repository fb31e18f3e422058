package work

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// submitAndWaitRetention is the default retention of a SubmitAndWait job. Only that call knows the job's ID.
const submitAndWaitRetention = 30 * time.Second

// Submitted describes a stored job.
type Submitted struct {
	ID string
	// Job is the state of the job when the servers responded.
	Job *gatekeeperv1.Job
	// Repeated reports whether the job had already been submitted.
	Repeated bool
	// Submitter is the permit whose end cancels the job. The Client keeps it alive. If Submit acquired it, the Client
	// releases it when the job has ended. To cancel the job earlier, release the permit. Submitter is nil under
	// SubmitterKeep, for a job that has ended, and if this Client had already submitted the job.
	Submitter *client.Permit
}

// Submit stores a job with one task for each payload, and returns when the whole job is committed. Workers receive
// tasks only after that. By default a payload can be at most 64 KiB, and a job's payloads together at most 64 MiB. The
// cluster's settings can change these limits.
//
// Submit retries until ctx ends, even after an unknown outcome, because the ID makes that safe. While no server is
// responding, the number of waiting submissions is limited by client.WithSubmitBuffer.
//
// The error is a *client.JobDiffersError if the ID belongs to a job with different content, a
// *client.NoSuchDefinitionError if the semaphore does not exist, a *client.WorkLimitError, a *client.SubmitBufferError,
// a *client.UnavailableError, or an error that any call can return. After a *client.UnavailableError the job may have
// been stored: submit it again under the same ID.
func Submit(ctx context.Context, c *client.Client, job Job, payloads [][]byte) (*Submitted, error) {
	return SubmitSeq(ctx, c, job, func(yield func([]byte, error) bool) {
		for _, p := range payloads {
			if !yield(p, nil) {
				return
			}
		}
	})
}

// SubmitSeq is like Submit, but does not need all payloads in memory. It iterates over payloads once for each attempt,
// so payloads must yield the same sequence each time. If it yields an error, SubmitSeq stores nothing and returns that
// error.
func SubmitSeq(ctx context.Context, c *client.Client, job Job, payloads iter.Seq2[[]byte, error]) (*Submitted, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	explicitID := job.ID != ""
	job.ID = cmp.Or(job.ID, client.NewRequestID())
	job.Author = cmp.Or(job.Author, c.Semaphore(job.Semaphore).Acquirer())
	spec := job.spec()
	var own *ownSemaphore
	var permit *client.Permit
	switch {
	case job.OnSubmitterLoss != SubmitterCancel:
	case job.Submitter != nil:
		permit = job.Submitter
		spec.SubmitterToken = permit.Token()
	default:
		if explicitID {
			if over, err := isOver(ctx, c, job.ID); err != nil {
				return nil, err
			} else if over {
				break // a job that has ended needs no submitter
			}
		}
		var err error
		if own, err = createOwnSemaphore(ctx, c, job.ID); err != nil {
			return nil, err
		}
		permit = own.permit
		spec.OwnSemaphore, spec.SubmitterToken = own.name, own.token
	}
	r, err := c.SubmitJob(ctx, spec, payloads)
	if own != nil && explicitID && errors.Is(err, client.ErrUnavailable) {
		own.releaseAtEnd() // the job may have been stored; another call with the same ID reuses this permit
		return nil, err
	}
	if own != nil && (err != nil || r.GetJob().GetOver() || r.GetJob().GetSpec().GetOwnSemaphore() != own.name) {
		own.remove(ctx, c)
		permit = nil
	}
	if err != nil {
		return nil, err
	}
	if permit != nil && own != nil {
		own.releaseAtEnd()
	}
	return &Submitted{ID: job.ID, Job: r.GetJob(), Repeated: r.GetRepeated(), Submitter: permit}, nil
}

func isOver(ctx context.Context, c *client.Client, id string) (bool, error) {
	j, err := Get(ctx, c, id)
	if _, notFound := errors.AsType[*client.NoSuchJobError](err); notFound {
		return false, nil
	}
	return j.GetOver(), err
}

// SubmitAndWait submits one task, waits until it ends, and returns its result. If the task ends without a result, the
// error is a *TaskError that says why. Other errors are those of Submit and Wait.
//
// If ctx ends first and the job has a generated ID, the job is cancelled, because no other process knows that ID. If
// you chose the ID, the job continues, and another call with the same ID waits for it.
func SubmitAndWait(ctx context.Context, c *client.Client, job Job, payload []byte) ([]byte, error) {
	generatedID := job.ID == ""
	if generatedID {
		job.ID = client.NewRequestID()
		job.Retention = cmp.Or(job.Retention, submitAndWaitRetention)
	}
	s, err := Submit(ctx, c, job, [][]byte{payload})
	if err == nil {
		for task, e := range Results(ctx, c, s.ID) {
			if e == nil {
				return Result(s.ID, task)
			}
			err = e
		}
	}
	if generatedID && ctx.Err() != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
		defer cancel()
		_, _ = Cancel(ctx, c, job.ID, "its submitter stopped waiting") // on an error, either the job was not stored, or no one will read its result
	}
	return nil, err
}

// cleanupTimeout bounds calls to the servers after the caller's context has ended.
const cleanupTimeout = 2 * time.Second
