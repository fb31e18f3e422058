package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// DefaultSubmitBuffer is the default of WithSubmitBuffer.
const DefaultSubmitBuffer = 1000

const (
	// taskChunk is how many bytes of payload one message of a submission has at most, unless a single task has more.
	taskChunk = 256 << 10
	// perTask is what a task counts in a message besides its payload.
	perTask = 16
	// maxPayload is the most that the limit of a task can be set to. Much larger messages would not even reach the
	// server's check.
	maxPayload = 512 << 10
)

// Work is the API's WorkService, with calls repeated as the package comment says. Package work submits, follows and
// executes tasks; this is for tools. Retries and drops are repeated after an unknown outcome only with as_of, and
// deletions only with submitted_revision: a repeat changes nothing more then.
func (c *Client) Work() gatekeeperv1.WorkServiceClient {
	return gatekeeperv1.NewWorkServiceClient(caller{c})
}

// SubmitJob stores a job with its tasks, and returns when all of it is committed; see work.Submit, which is made of it.
// tasks is ranged over once for each attempt, so it must yield the same payloads each time. An error that it yields
// ends the submission, and is returned.
//
// The id of the job makes the call repeatable, so it is repeated after an unknown outcome too. Errors:
// *JobDiffersError, *WorkLimitError, *NoSuchDefinitionError, *NoSuchPermitError if the permit of the submitter has
// ended, *SubmitBufferError, and those of every call.
func (c *Client) SubmitJob(ctx context.Context, job *gatekeeperv1.JobSpec, tasks iter.Seq2[[]byte, error]) (*gatekeeperv1.SubmitJobResponse, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err() // no outage: nobody was asked
	}
	place := place{buffer: &c.submitting, limit: int64(c.settings.submitBuffer)}
	defer place.leave()
	var r *gatekeeperv1.SubmitJobResponse
	err := c.do(ctx, call{repeatable: true, timeout: forever}, func(ctx context.Context, conn *link) (err error) {
		if err := place.enter(); err != nil {
			return err
		}
		r, err = c.submitOnce(ctx, conn, job, tasks)
		return err
	})
	if own, ok := errors.AsType[*ownError](err); ok {
		err = own.error
	}
	c.saw(r.GetJob().GetSubmittedRevision())
	return r, err
}

// ownError is an error of this process. It does not unwrap, so it is never taken for a server's.
type ownError struct{ error }

// submitOnce is one attempt. It is given up when no message gets through, or is not answered, for twice as long as an
// attempt of another call may take.
func (c *Client) submitOnce(ctx context.Context, conn *link, job *gatekeeperv1.JobSpec, tasks iter.Seq2[[]byte, error]) (*gatekeeperv1.SubmitJobResponse, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	patience := 2 * c.settings.attemptTimeout
	silence := time.AfterFunc(patience, cancel)
	defer silence.Stop()
	var p peer.Peer
	stream, err := gatekeeperv1.NewWorkServiceClient(conn).SubmitJob(ctx, grpc.Peer(&p))
	if err != nil {
		return nil, reached(&p, err)
	}
	m, size, count := &gatekeeperv1.SubmitJobRequest{Job: job}, 0, 0
	send := func() error {
		err := stream.Send(m)
		silence.Reset(patience)
		m, size = new(gatekeeperv1.SubmitJobRequest), 0
		return err
	}
	for payload, err := range tasks {
		switch {
		case err != nil:
			return nil, &ownError{err}
		case len(payload) > maxPayload:
			return nil, &ownError{payloadTooLarge(count, len(payload))}
		}
		if size > 0 && size+len(payload) > taskChunk {
			if err := send(); errors.Is(err, io.EOF) {
				break // the answer says why
			} else if err != nil {
				return nil, reached(&p, err)
			}
		}
		m.Tasks = append(m.Tasks, payload)
		size += len(payload) + perTask
		count++
	}
	if count == 0 {
		return nil, &ownError{invalidField("number of tasks", "0", "must be above 0")}
	}
	m.Last = true
	if err := send(); err != nil && !errors.Is(err, io.EOF) {
		return nil, reached(&p, err)
	}
	r, err := stream.CloseAndRecv()
	return r, reached(&p, err)
}

// payloadTooLarge refuses a payload that no server can take, as a server would.
func payloadTooLarge(index, bytes int) error {
	s := status.New(codes.ResourceExhausted, fmt.Sprintf("the payload of task %d has %d bytes, and the limit of a task can be %d at most", index, bytes, maxPayload))
	return &WorkLimitError{Limit: "max_task_bytes", Needed: uint64(bytes), Max: maxPayload, StatusError: &StatusError{
		Code: s.Code(), Reason: reasonWorkLimit, Message: s.Message(), status: s,
	}}
}

// place is that of a submission among those that wait because no server answers.
type place struct {
	buffer *atomic.Int64
	limit  int64
	tried  bool
	taken  bool
}

// enter is called before each attempt. From the second one on, the submission waits for a server.
func (p *place) enter() error {
	full := p.buffer.Load() >= p.limit
	if p.tried && !p.taken {
		p.taken = p.buffer.Add(1) <= p.limit
		if full = !p.taken; full {
			p.buffer.Add(-1)
		}
	}
	if full && !p.taken {
		return &SubmitBufferError{Limit: int(p.limit)}
	}
	p.tried = true
	return nil
}

func (p *place) leave() {
	if p.taken {
		p.buffer.Add(-1)
	}
}

// SubmitBufferError refuses a submission because no server answers, and as many submissions of this Client as
// WithSubmitBuffer allows wait for one. It is ErrUnavailable. An earlier attempt may have been carried out, so submit
// under the same id again.
type SubmitBufferError struct{ Limit int }

func (e *SubmitBufferError) Error() string {
	return fmt.Sprintf("%v, and %d submissions wait already: submit again later under the same id, or allow more by WithSubmitBuffer", ErrUnavailable, e.Limit)
}

// Is reports whether target is ErrUnavailable.
func (e *SubmitBufferError) Is(target error) bool { return target == ErrUnavailable }

// FollowJob streams a job: as it is now, with the tasks that have changed after req's revision, then each change, until
// the job is over. A stream that breaks is opened again, on another member if necessary, after the last revision that
// was complete; what came after that revision comes again. An error is the last element; there is one only if a server
// refuses the request, such as a *NoSuchJobError.
func (c *Client) FollowJob(ctx context.Context, req *gatekeeperv1.FollowJobRequest) iter.Seq2[*gatekeeperv1.FollowJobResponse, error] {
	return func(yield func(*gatekeeperv1.FollowJobResponse, error) bool) {
		next := proto.CloneOf(req)
		c.follow(ctx, func(ctx context.Context, conn *link) (over, heard bool, err error) {
			stream, err := gatekeeperv1.NewWorkServiceClient(conn).FollowJob(ctx, next)
			ended := false // the job is, in the change that is under way
			for err == nil {
				var r *gatekeeperv1.FollowJobResponse
				if r, err = stream.Recv(); err != nil {
					break
				}
				heard = true
				if r.GetJob() != nil {
					ended = r.GetJob().GetOver()
				}
				if r.GetRevision() != 0 {
					next.AfterRevision = r.GetRevision()
				}
				if !yield(r, nil) || ended && r.GetRevision() != 0 {
					return true, true, nil
				}
			}
			if errors.Is(err, io.EOF) {
				err = errNoAnswer
			}
			return false, heard, err
		}, func(err error) { yield(nil, err) })
	}
}
