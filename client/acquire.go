package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// waitTimeout bounds one Acquire call. The server ends the call after 60 s.
	waitTimeout = 75 * time.Second
	// cleanupTimeout bounds a call made after the caller's context has ended.
	cleanupTimeout = 2 * time.Second
)

// attemptResult is the result of one attempt. Exactly one of grant, denial and repeat is set.
type attemptResult struct {
	grant  *gatekeeperv1.Grant
	denial *gatekeeperv1.Denial
	// repeat is set if the server ended the call while the request was waiting.
	repeat bool
	// belief is set together with grant.
	belief belief
}

// attemptFunc makes one attempt. It must read the clock before it hands the call to the transport.
type attemptFunc func(context.Context, *link, *acquisition) (attemptResult, error)

// acquire makes attempts until one is granted or denied a permit. timeout bounds each attempt.
func (c *Client) acquire(ctx context.Context, a *acquisition, timeout time.Duration, attempt attemptFunc) (*Permit, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err() // not an outage: no server was called
	}
	if a.zeroWeight {
		return nil, invalidField("weight", "0", "must be greater than 0") // the API treats 0 as unset
	}
	if err := c.renewer.enter(ctx, a); err != nil {
		return nil, err
	}
	defer c.renewer.exit(a)
	var got attemptResult
	tries := 0
	for got = (attemptResult{repeat: true}); got.repeat; {
		err := c.do(ctx, call{idempotent: true, timeout: timeout}, func(ctx context.Context, conn *link) (err error) {
			tries++
			got, err = attempt(ctx, conn, a)
			return err
		})
		if revision, tooOld := tooOldSince(err); tooOld && !a.requestIDSet && revision > a.revision {
			// The servers may have forgotten requests as old as this one, so they cannot tell whether it is new. If an
			// earlier attempt was granted a permit, that permit has since ended.
			c.observe(revision)
			a.renewRequestID(revision)
			got.repeat = true
			continue
		}
		if err != nil {
			// An earlier attempt, or the waiter in the queue, may have been granted a permit.
			if tries > 1 && !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrOutcomeUnknown) {
				c.abandon(a)
			}
			return nil, err
		}
	}
	if got.denial != nil {
		return nil, newDenied(a, got.denial)
	}
	p, err := c.renewer.add(ctx, a, got)
	if err != nil {
		c.abandon(a)
		return nil, err
	}
	return p, nil
}

// wait makes Acquire attempts until one is granted or denied a permit.
func (c *Client) wait(ctx context.Context, a *acquisition) (*Permit, error) {
	started := time.Now()
	return c.acquire(ctx, a, waitTimeout, func(ctx context.Context, conn *link, a *acquisition) (attemptResult, error) {
		return c.waitOnce(ctx, conn, a, time.Since(started))
	})
}

// timedOut returns the denial for an acquisition whose wait in the queue timed out. It includes the current holders if
// a server reports them within cleanupTimeout.
func (c *Client) timedOut(ctx context.Context, a *acquisition, timeout time.Duration) *DeniedError {
	d := &DeniedError{
		Semaphore: a.semaphore, Group: a.group, Acquirer: a.acquirer, request: a,
		Reason: ReasonNoFreePermit, Retry: true, QueueLength: a.place.QueueLength,
		Message: fmt.Sprintf("%s: no permit became free within %s; the request had reached place %d of %d in the queue.", a.semaphore, brief(timeout), a.place.Place, a.place.QueueLength),
	}
	if d.Pause = a.place.Pause; d.Pause != nil {
		d.Reason = ReasonPaused
		d.Message = fmt.Sprintf("%s is %s; after %s the request had reached place %d of %d in the queue.", a.semaphore, pausedText(d.Pause), brief(timeout), a.place.Place, a.place.QueueLength)
	}
	ctx, cancel := context.WithTimeout(ctx, cleanupTimeout)
	defer cancel()
	r, err := c.Permits().ListHolders(ctx, &gatekeeperv1.ListHoldersRequest{Names: []string{a.semaphore}, PageSize: maxPage})
	if err != nil {
		return d // the holders are optional
	}
	d.HolderCount = len(r.GetPermits())
	d.Holders = r.GetPermits()[:min(d.HolderCount, maxHolders)]
	return d
}

// pausedText describes a pause, including its end time and reason if they are set.
func pausedText(p *gatekeeperv1.Pause) string {
	text := "paused"
	if p.GetUntil() != nil {
		text += " until " + p.GetUntil().AsTime().UTC().Format(time.RFC3339)
	}
	if p.GetReason() != "" {
		text += " (" + p.GetReason() + ")"
	}
	return text
}

// invalidField returns the error a server would return for a value that the API's message cannot represent.
func invalidField(field, value, rule string) error {
	s := status.New(codes.InvalidArgument, fmt.Sprintf("the %s is %s, but %s", field, value, rule))
	return &InvalidFieldError{Field: field, Value: value, Rule: rule, StatusError: &StatusError{
		Code: s.Code(), Reason: reasonInvalidField, Message: s.Message(), status: s,
	}}
}

// brief rounds a duration for display.
func brief(d time.Duration) time.Duration {
	if d < 100*time.Millisecond {
		return d
	}
	return d.Round(10 * time.Millisecond)
}

// maxHolders is the maximum number of holders in a denial.
const maxHolders = 16

// abandon asks the servers to undo an acquisition that this process no longer relies on, regardless of its outcome. The
// request leaves the queue, and a permit granted to it is freed. If the cancellation does not get through, the permit
// expires.
//
// A request whose id came from the application is not cancelled. The application, or the process that replaces it, may
// retry the request, and a late cancellation would end the permit granted to the retry.
func (c *Client) abandon(a *acquisition) {
	if a.requestIDSet {
		return
	}
	done := c.renewer.beginCall(a.claim)
	sent := c.inBackground(func() {
		defer done()
		ctx, cancel := context.WithTimeout(c.ctx, cleanupTimeout)
		defer cancel()
		_, _ = c.Permits().Cancel(ctx, &gatekeeperv1.CancelRequest{Semaphore: a.semaphore, Identity: a.identity(), RequestId: a.requestID})
	})
	if !sent {
		done()
	}
}

// tryOnce makes one TryAcquire attempt.
func (c *Client) tryOnce(ctx context.Context, conn *link, a *acquisition) (attemptResult, error) {
	var p peer.Peer
	sent := c.settings.clock.Now()
	r, err := gatekeeperv1.NewPermitServiceClient(conn).TryAcquire(ctx, &gatekeeperv1.TryAcquireRequest{
		Semaphore: a.semaphore, Identity: a.identity(), Weight: a.weight, Firing: a.firing,
		RequestId: a.requestID, RequestRevision: a.revision, ExpectedRevision: a.expected, Metadata: a.metadata,
		ReplacesToken: a.replaces, SentAt: timestamppb.Now(),
	}, grpc.Peer(&p))
	if err != nil {
		return attemptResult{}, markUnsent(&p, err)
	}
	return c.checkResponse(r.GetGrant(), r.GetDenial(), sent, a)
}

// waitOnce makes one Acquire attempt. waited is how long earlier attempts have waited.
func (c *Client) waitOnce(ctx context.Context, conn *link, a *acquisition, waited time.Duration) (attemptResult, error) {
	ctx, cancel := context.WithCancel(ctx) // ends the stream when the response has been read
	defer cancel()
	a.place = nil
	var p peer.Peer
	sent := c.settings.clock.Now()
	stream, err := gatekeeperv1.NewPermitServiceClient(conn).Acquire(ctx, &gatekeeperv1.AcquireRequest{
		Semaphore: a.semaphore, Identity: a.identity(), Weight: a.weight, Firing: a.firing,
		RequestId: a.requestID, RequestRevision: a.revision, Metadata: a.metadata, WaitedBefore: durationpb.New(waited),
		ReplacesToken: a.replaces, SentAt: timestamppb.Now(), LeaveOnPause: a.leaveOnPause, OnePerAcquirer: a.onePerAcquirer,
	}, grpc.Peer(&p))
	if err != nil {
		return attemptResult{}, markUnsent(&p, err)
	}
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return attemptResult{}, errNoResponse
		}
		if a.place != nil && tokenRejected(err) {
			return attemptResult{}, errTokenRejected
		}
		if err != nil {
			return attemptResult{}, markUnsent(&p, err)
		}
		place := r.GetPlace()
		if place == nil {
			return c.checkResponse(r.GetGrant(), r.GetDenial(), sent, a)
		}
		if place.GetRepeat() {
			if !a.requestIDSet {
				a.revision = max(a.revision, place.GetRevision())
			}
			return attemptResult{repeat: true}, nil
		}
		a.place = &Place{Place: int(place.GetPlace()), QueueLength: int(place.GetQueueLength()), Pause: place.GetPause()}
		if a.onPlace != nil {
			a.onPlace(*a.place)
		}
	}
}

// observe records a cluster revision from a response.
func (c *Client) observe(revision uint64) {
	for seen := c.seen.Load(); revision > seen && !c.seen.CompareAndSwap(seen, revision); seen = c.seen.Load() {
	}
}

// errNoResponse is the error for a stream that ended without an error or a response. The call is retried.
var errNoResponse = status.Error(codes.Unavailable, "the server ended the call without responding")

// errInvalidResponse is the error for a response that no Gatekeeper server would send.
var errInvalidResponse = status.Error(codes.Internal, "the server's response is invalid: it is neither a grant nor a denial, or it grants a permit without a token or a duration")

// checkResponse validates a response and computes how long a granted permit can be relied on.
func (c *Client) checkResponse(g *gatekeeperv1.Grant, d *gatekeeperv1.Denial, sent time.Duration, a *acquisition) (attemptResult, error) {
	if d != nil {
		return attemptResult{denial: d}, nil
	}
	duration, waited := g.GetPermit().GetDuration().AsDuration(), g.GetWaited().AsDuration()
	if g.GetPermit().GetToken() == 0 || duration <= 0 || waited < 0 {
		return attemptResult{}, errInvalidResponse
	}
	now := c.settings.clock.Now()
	b := newBelief(sent, waited, duration, now)
	if now >= b.deadline-stopTime(a.stopTime, duration) && a.stopTime <= duration/2 {
		return attemptResult{}, errTooLate
	}
	c.observe(g.GetPermit().GetGrantedRevision())
	return attemptResult{grant: g, belief: b}, nil
}
