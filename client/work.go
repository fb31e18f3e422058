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

// DefaultSubmitBuffer is the default for WithSubmitBuffer.
const DefaultSubmitBuffer = 1000

const (
	// taskChunk is the maximum payload of one submission message, in bytes, unless a single task is larger.
	taskChunk = 256 << 10
	// taskOverhead is the overhead of each task in a message, in bytes.
	taskOverhead = 16
	// maxPayload is the largest payload limit that can be set for a task. Much larger messages would not even reach the
	// server's check.
	maxPayload = 512 << 10
)

// Work returns the API's WorkService, with retries as described in the package comment. It is meant for tools: use
// package work to submit, follow and execute tasks. After an unknown outcome, RetryTasks and DropTasks are retried only
// with as_of, and DeleteJob only with submitted_revision, because then a retry has no further effect.
func (c *Client) Work() gatekeeperv1.WorkServiceClient {
	return gatekeeperv1.NewWorkServiceClient(caller{c})
}

// SubmitJob stores a job with its tasks, and returns when everything is committed; work.Submit is built on it.
// SubmitJob ranges over tasks once for each attempt, so tasks must yield the same payloads each time. If tasks yields
// an error, the submission ends and returns that error.
//
// The job's id makes it safe to repeat the call, so it is also retried after an unknown outcome. The error is a
// *JobDiffersError, a *WorkLimitError, a *NoSuchDefinitionError, a *SubmitBufferError, a *NoSuchPermitError if the
// submitter's permit has ended, or an error that any call can return.
func (c *Client) SubmitJob(ctx context.Context, job *gatekeeperv1.JobSpec, tasks iter.Seq2[[]byte, error]) (*gatekeeperv1.SubmitJobResponse, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err() // not an outage: no server was called
	}
	place := place{buffer: &c.submitting, limit: int64(c.settings.submitBuffer)}
	defer place.leave()
	var r *gatekeeperv1.SubmitJobResponse
	err := c.do(ctx, call{idempotent: true, timeout: forever}, func(ctx context.Context, conn *link) (err error) {
		if err := place.enter(); err != nil {
			return err
		}
		r, err = c.submitOnce(ctx, conn, job, tasks)
		return err
	})
	if local, ok := errors.AsType[*localError](err); ok {
		err = local.error
	}
	c.observe(r.GetJob().GetSubmittedRevision())
	return r, err
}

// localError is an error from this process. It does not unwrap, so that it is never mistaken for a server's error.
type localError struct{ error }

// submitOnce makes one attempt. The attempt fails if no message gets through, or no response arrives, within twice the
// attempt timeout of other calls.
func (c *Client) submitOnce(ctx context.Context, conn *link, job *gatekeeperv1.JobSpec, tasks iter.Seq2[[]byte, error]) (*gatekeeperv1.SubmitJobResponse, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	idleTimeout := 2 * c.settings.attemptTimeout
	watchdog := time.AfterFunc(idleTimeout, cancel)
	defer watchdog.Stop()
	var p peer.Peer
	stream, err := gatekeeperv1.NewWorkServiceClient(conn).SubmitJob(ctx, grpc.Peer(&p))
	if err != nil {
		return nil, markUnsent(&p, err)
	}
	m, size, count := &gatekeeperv1.SubmitJobRequest{Job: job}, 0, 0
	send := func() error {
		err := stream.Send(m)
		watchdog.Reset(idleTimeout)
		m, size = new(gatekeeperv1.SubmitJobRequest), 0
		return err
	}
	for payload, err := range tasks {
		switch {
		case err != nil:
			return nil, &localError{err}
		case len(payload) > maxPayload:
			return nil, &localError{payloadTooLarge(count, len(payload))}
		}
		if size > 0 && size+len(payload) > taskChunk {
			if err := send(); errors.Is(err, io.EOF) {
				break // CloseAndRecv returns the reason
			} else if err != nil {
				return nil, markUnsent(&p, err)
			}
		}
		m.Tasks = append(m.Tasks, payload)
		size += len(payload) + taskOverhead
		count++
	}
	if count == 0 {
		return nil, &localError{invalidField("number of tasks", "0", "must be greater than 0")}
	}
	m.Last = true
	if err := send(); err != nil && !errors.Is(err, io.EOF) {
		return nil, markUnsent(&p, err)
	}
	r, err := stream.CloseAndRecv()
	return r, markUnsent(&p, err)
}

// payloadTooLarge returns the error that a server would return for a payload above every possible limit.
func payloadTooLarge(index, bytes int) error {
	s := status.New(codes.ResourceExhausted, fmt.Sprintf("the payload of task %d is %d bytes, which exceeds the highest possible limit of %d", index, bytes, maxPayload))
	return &WorkLimitError{Limit: "max_task_bytes", Needed: uint64(bytes), Max: maxPayload, StatusError: &StatusError{
		Code: s.Code(), Reason: reasonWorkLimit, Message: s.Message(), status: s,
	}}
}

// place is a submission's place in the buffer of submissions that are waiting for a server to respond.
type place struct {
	buffer  *atomic.Int64
	limit   int64
	tried   bool
	waiting bool
}

// enter is called before each attempt. From the second attempt on, the submission counts as waiting.
func (p *place) enter() error {
	full := p.buffer.Load() >= p.limit
	if p.tried && !p.waiting {
		p.waiting = p.buffer.Add(1) <= p.limit
		if full = !p.waiting; full {
			p.buffer.Add(-1)
		}
	}
	if full && !p.waiting {
		return &SubmitBufferError{Limit: int(p.limit)}
	}
	p.tried = true
	return nil
}

func (p *place) leave() {
	if p.waiting {
		p.buffer.Add(-1)
	}
}

// SubmitBufferError means that a submission failed because no server was responding and the limit set by
// WithSubmitBuffer had been reached. It matches ErrUnavailable. An earlier attempt may have been applied, so submit
// again with the same id.
type SubmitBufferError struct{ Limit int }

func (e *SubmitBufferError) Error() string {
	return fmt.Sprintf("%v, and the limit on waiting submissions (%d) has been reached: submit again later with the same id, or allow more with WithSubmitBuffer", ErrUnavailable, e.Limit)
}

// Is reports whether target is ErrUnavailable.
func (e *SubmitBufferError) Is(target error) bool { return target == ErrUnavailable }

// FollowJob streams a job until it has ended. It yields the job's current state, with the tasks that have changed since
// req's revision, and then each change. A broken stream is reopened, on another member if necessary, and continues
// after the last complete revision. Messages after that revision are sent again. An error is yielded last, and only if
// a server refuses the request, for example with a *NoSuchJobError.
func (c *Client) FollowJob(ctx context.Context, req *gatekeeperv1.FollowJobRequest) iter.Seq2[*gatekeeperv1.FollowJobResponse, error] {
	return func(yield func(*gatekeeperv1.FollowJobResponse, error) bool) {
		next := proto.CloneOf(req)
		c.follow(ctx, func(ctx context.Context, conn *link) (over, received bool, err error) {
			stream, err := gatekeeperv1.NewWorkServiceClient(conn).FollowJob(ctx, next)
			ended := false // the job ended in the change that is being received
			for err == nil {
				var r *gatekeeperv1.FollowJobResponse
				if r, err = stream.Recv(); err != nil {
					break
				}
				received = true
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
				err = errNoResponse
			}
			return false, received, err
		}, func(err error) { yield(nil, err) })
	}
}
