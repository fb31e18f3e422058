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
	// waitTimeout bounds one Acquire call. The server ends it after 60 s.
	waitTimeout = 75 * time.Second
	// lastWord bounds what is sent to the servers after the caller's context has ended.
	lastWord = 2 * time.Second
)

// answer is what one attempt brought; exactly one of grant and denial is set, or repeat.
type answer struct {
	grant  *gatekeeperv1.Grant
	denial *gatekeeperv1.Denial
	// repeat: the server ended the call, still waiting.
	repeat bool
	// belief is set with grant.
	belief belief
}

// asking is one attempt. It reads the clock before it hands the call to the transport.
type asking func(context.Context, *link, *acquisition) (answer, error)

// acquire makes attempts until there is an answer; timeout bounds each.
func (c *Client) acquire(ctx context.Context, a *acquisition, timeout time.Duration, ask asking) (*Permit, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err() // no outage: nobody was asked
	}
	if a.weightless {
		return nil, invalidField("weight", "0", "must be above 0") // the API takes 0 for its default
	}
	if err := c.renewer.enter(ctx, a); err != nil {
		return nil, err
	}
	defer c.renewer.exit(a)
	var got answer
	tries := 0
	for got = (answer{repeat: true}); got.repeat; {
		err := c.do(ctx, call{repeatable: true, timeout: timeout}, func(ctx context.Context, conn *link) (err error) {
			tries++
			got, err = ask(ctx, conn, a)
			return err
		})
		if revision, tooOld := tooOldSince(err); tooOld && !a.named && revision > a.revision {
			// The servers may have forgotten requests since this one was drawn, so they cannot tell whether it is new.
			// A permit that it had has ended.
			c.saw(revision)
			a.draw(revision)
			got.repeat = true
			continue
		}
		if err != nil {
			// An earlier attempt, or the place in the queue, may have been granted.
			if tries > 1 && !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrOutcomeUnknown) {
				c.takeBack(a)
			}
			return nil, err
		}
	}
	if got.denial != nil {
		return nil, newDenied(a, got.denial)
	}
	p, err := c.renewer.take(ctx, a, got)
	if err != nil {
		c.takeBack(a)
		return nil, err
	}
	return p, nil
}

// wait makes attempts of Acquire.
func (c *Client) wait(ctx context.Context, a *acquisition) (*Permit, error) {
	started := time.Now()
	return c.acquire(ctx, a, waitTimeout, func(ctx context.Context, conn *link, a *acquisition) (answer, error) {
		return c.waitOnce(ctx, conn, a, time.Since(started))
	})
}

// timedOut is the denial of an acquisition whose time in the queue is over. Who holds is read now, if that is quickly
// done.
func (c *Client) timedOut(ctx context.Context, a *acquisition, timeout time.Duration) *DeniedError {
	d := &DeniedError{
		Semaphore: a.semaphore, Group: a.group, Acquirer: a.acquirer, asked: a,
		Reason: ReasonNoFreePermit, Retry: true, QueueLength: a.place.QueueLength,
		Message: fmt.Sprintf("%s: no permit became free within %s; it was place %d of %d in the queue.", a.semaphore, brief(timeout), a.place.Place, a.place.QueueLength),
	}
	if d.Pause = a.place.Pause; d.Pause != nil {
		d.Reason = ReasonPaused
		d.Message = fmt.Sprintf("%s: it is %s; after %s it was place %d of %d in the queue.", a.semaphore, pausedText(d.Pause), brief(timeout), a.place.Place, a.place.QueueLength)
	}
	ctx, cancel := context.WithTimeout(ctx, lastWord)
	defer cancel()
	r, err := c.Permits().ListHolders(ctx, &gatekeeperv1.ListHoldersRequest{Names: []string{a.semaphore}, PageSize: maxPage})
	if err != nil {
		return d // the denial stands without it
	}
	d.HolderCount = len(r.GetPermits())
	d.Holders = r.GetPermits()[:min(d.HolderCount, maxHolders)]
	return d
}

// pausedText says until when a semaphore is paused, and why.
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

// invalidField refuses a request that no message can hold, as a server would.
func invalidField(field, value, rule string) error {
	s := status.New(codes.InvalidArgument, fmt.Sprintf("the %s is %s and %s", field, value, rule))
	return &InvalidFieldError{Field: field, Value: value, Rule: rule, StatusError: &StatusError{
		Code: s.Code(), Reason: reasonInvalidField, Message: s.Message(), status: s,
	}}
}

// brief is a time without the digits that nobody reads.
func brief(d time.Duration) time.Duration {
	if d < 100*time.Millisecond {
		return d
	}
	return d.Round(10 * time.Millisecond)
}

// maxHolders is how many holders a denial names.
const maxHolders = 16

// takeBack lets the servers know that nobody counts on this acquisition, whatever became of it: it leaves the queue,
// and a permit that was granted to it is free. If it does not get through, the permit expires.
//
// A request that the application named is not taken back. The application, or its next process, may repeat it, and a
// cancellation that arrives late would end the permit that the repeat was answered with.
func (c *Client) takeBack(a *acquisition) {
	if a.named {
		return
	}
	over := c.renewer.speak(a.claim)
	sent := c.inBackground(func() {
		defer over()
		ctx, cancel := context.WithTimeout(c.ctx, lastWord)
		defer cancel()
		_, _ = c.Permits().Cancel(ctx, &gatekeeperv1.CancelRequest{Semaphore: a.semaphore, Identity: a.identity(), RequestId: a.requestID})
	})
	if !sent {
		over()
	}
}

// tryOnce is an attempt of TryAcquire.
func (c *Client) tryOnce(ctx context.Context, conn *link, a *acquisition) (answer, error) {
	var p peer.Peer
	sent := c.settings.clock.Now()
	r, err := gatekeeperv1.NewPermitServiceClient(conn).TryAcquire(ctx, &gatekeeperv1.TryAcquireRequest{
		Semaphore: a.semaphore, Identity: a.identity(), Weight: a.weight, Firing: a.firing,
		RequestId: a.requestID, RequestRevision: a.revision, ExpectedRevision: a.expected, Metadata: a.metadata,
		ReplacesToken: a.replaces, SentAt: timestamppb.Now(),
	}, grpc.Peer(&p))
	if err != nil {
		return answer{}, reached(&p, err)
	}
	return c.answer(r.GetGrant(), r.GetDenial(), sent, a)
}

// waitOnce is an attempt of Acquire, after waited in earlier ones.
func (c *Client) waitOnce(ctx context.Context, conn *link, a *acquisition, waited time.Duration) (answer, error) {
	ctx, cancel := context.WithCancel(ctx) // ends the stream when the answer was read
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
		return answer{}, reached(&p, err)
	}
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return answer{}, errNoAnswer
		}
		if a.place != nil && tokenEnded(err) {
			return answer{}, errTokenEnded
		}
		if err != nil {
			return answer{}, reached(&p, err)
		}
		place := r.GetPlace()
		if place == nil {
			return c.answer(r.GetGrant(), r.GetDenial(), sent, a)
		}
		if place.GetRepeat() {
			if !a.named {
				a.revision = max(a.revision, place.GetRevision())
			}
			return answer{repeat: true}, nil
		}
		a.place = &Place{Place: int(place.GetPlace()), QueueLength: int(place.GetQueueLength()), Pause: place.GetPause()}
		if a.onPlace != nil {
			a.onPlace(*a.place)
		}
	}
}

// saw notes a revision of the cluster that an answer had.
func (c *Client) saw(revision uint64) {
	for seen := c.seen.Load(); revision > seen && !c.seen.CompareAndSwap(seen, revision); seen = c.seen.Load() {
	}
}

// errNoAnswer is a call that ended well and said nothing: as good as no call.
var errNoAnswer = status.Error(codes.Unavailable, "the server ended the call without an answer")

// errNonsense is an answer that no server of ours gives.
var errNonsense = status.Error(codes.Internal, "the server's answer makes no sense: it grants no permit and denies none, or one without a token or a duration")

// answer checks an answer and counts what it is good for.
func (c *Client) answer(g *gatekeeperv1.Grant, d *gatekeeperv1.Denial, sent time.Duration, a *acquisition) (answer, error) {
	if d != nil {
		return answer{denial: d}, nil
	}
	duration, waited := g.GetPermit().GetDuration().AsDuration(), g.GetWaited().AsDuration()
	if g.GetPermit().GetToken() == 0 || duration <= 0 || waited < 0 {
		return answer{}, errNonsense
	}
	now := c.settings.clock.Now()
	b := believe(sent, waited, duration, now)
	if now >= b.deadline-stopTime(a.stopTime, duration) && a.stopTime <= duration/2 {
		return answer{}, errTooLate
	}
	c.saw(g.GetPermit().GetGrantedRevision())
	return answer{grant: g, belief: b}, nil
}
