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

// waitedRetention is how long the job of SubmitAndWait is kept after its end by default. Only that call knows its id.
const waitedRetention = 30 * time.Second

// Submitted is a job that is stored.
type Submitted struct {
	ID string
	// Job is the job as it was then.
	Job *gatekeeperv1.Job
	// Repeated: the job had been submitted before.
	Repeated bool
	// Submitter is the permit whose end cancels the job. The Client keeps it alive, and if Submit made it releases it
	// when the job is over. To cancel the job earlier, release it. It is nil under SubmitterKeep, for a job that is
	// over, and if this Client had submitted the job before.
	Submitter *client.Permit
}

// Submit stores a job of one task for each payload, and returns when all of it is committed. Workers get its tasks only
// then. A payload has at most 64 KiB and a job 64 MiB, unless the settings of the cluster say otherwise.
//
// Attempts are repeated until ctx ends, also after an unknown outcome, because the id makes that safe. While no server
// answers, at most as many submissions wait as client.WithSubmitBuffer allows.
//
// Errors: *client.JobDiffersError if the id belongs to a job of other content, *client.WorkLimitError,
// *client.NoSuchDefinitionError if there is no such semaphore, *client.SubmitBufferError, *client.UnavailableError, and
// those of every call. After an *client.UnavailableError the job may be stored: submit it again under the same id.
func Submit(ctx context.Context, c *client.Client, job Job, payloads [][]byte) (*Submitted, error) {
	return SubmitSeq(ctx, c, job, func(yield func([]byte, error) bool) {
		for _, p := range payloads {
			if !yield(p, nil) {
				return
			}
		}
	})
}

// SubmitSeq is Submit for payloads that need not be in memory all at once. payloads is ranged over once for each
// attempt, so it must yield the same each time. An error that it yields ends the submission, of which nothing is left,
// and is returned.
func SubmitSeq(ctx context.Context, c *client.Client, job Job, payloads iter.Seq2[[]byte, error]) (*Submitted, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	given := job.ID != ""
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
		if given {
			if over, err := isOver(ctx, c, job.ID); err != nil {
				return nil, err
			} else if over {
				break // it needs no submitter any more
			}
		}
		var err error
		if own, err = makeOwn(ctx, c, job.ID); err != nil {
			return nil, err
		}
		permit = own.permit
		spec.OwnSemaphore, spec.SubmitterToken = own.name, own.token
	}
	r, err := c.SubmitJob(ctx, spec, payloads)
	if own != nil && given && errors.Is(err, client.ErrUnavailable) {
		own.releaseAtEnd() // the job may be stored; the same call again continues with this permit
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
	if _, none := errors.AsType[*client.NoSuchJobError](err); none {
		return false, nil
	}
	return j.GetOver(), err
}

// SubmitAndWait submits one task, waits for its end, and returns its result. If it has not ended with one, the error is
// a *TaskError, which says why. Other errors are those of Submit and of Wait.
//
// When ctx ends first, the job is cancelled if its ID was drawn, because nobody else knows it. A job with an ID goes
// on, and the same call waits for it again.
func SubmitAndWait(ctx context.Context, c *client.Client, job Job, payload []byte) ([]byte, error) {
	drawn := job.ID == ""
	if drawn {
		job.ID = client.NewRequestID()
		job.Retention = cmp.Or(job.Retention, waitedRetention)
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
	if drawn && ctx.Err() != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWord)
		defer cancel()
		_, _ = Cancel(ctx, c, job.ID, "its submitter has given up") // otherwise it runs in vain, or was not stored
	}
	return nil, err
}

// lastWord bounds what is said to the servers after the caller's context has ended.
const lastWord = 2 * time.Second
