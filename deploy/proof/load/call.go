package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/internal/history"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// maxClockDrift is the largest relative difference between the rates of two clocks.
const maxClockDrift = 0.01

// margin returns the time that a caller subtracts from a duration measured by the leader's clock.
func margin(d time.Duration) time.Duration { return time.Duration(2 * maxClockDrift * float64(d)) }

// jobOutcome is the outcome of a job, as named in the API.
type jobOutcome string

const (
	jobDone     jobOutcome = "DONE"
	jobNotRun   jobOutcome = "NOT_RUN"
	jobCutShort jobOutcome = "CUT_SHORT"
	jobFailed   jobOutcome = "FAILED"
)

// randomOutcome returns a random outcome of a permit's job.
func randomOutcome(random *rand.Rand) jobOutcome {
	switch n := random.IntN(10); {
	case n < 2:
		return jobNotRun
	case n < 4:
		return jobCutShort
	case n < 5:
		return jobFailed
	}
	return jobDone
}

// outcome returns what is known about a call after an error. A call that was not definitely refused may have been
// executed.
func outcome(err error) history.Outcome {
	if e, ok := errors.AsType[*client.UnavailableError](err); ok {
		if e.Unknown {
			return history.Unknown
		}
		return history.Refused
	}
	if _, ok := errors.AsType[*client.InUseError](err); ok {
		return history.Refused // refused by the client itself
	}
	if reason(err) == "REQUEST_ENDED" {
		return history.Unknown // another attempt may have been granted, and may have superseded the identity's permit
	}
	switch status.Code(err) {
	case codes.OK:
		return history.Known
	case codes.InvalidArgument, codes.NotFound, codes.AlreadyExists, codes.Aborted, codes.FailedPrecondition, codes.ResourceExhausted:
		return history.Refused
	}
	// These reasons mean that the server did not execute the call. The harness relies on this, so if it is not true,
	// the checkers report a violation.
	if slices.Contains([]string{"NO_LEADER", "NOT_LEADER", "NOT_APPENDED", "HOP_LIMIT"}, reason(err)) {
		return history.Refused
	}
	return history.Unknown
}

// reason returns the machine-readable reason in a server's error, or "".
func reason(err error) string {
	for _, d := range status.Convert(err).Details() {
		if i, ok := d.(*errdetails.ErrorInfo); ok {
			return i.GetReason()
		}
	}
	return ""
}

// stubs are the API stubs for one server.
type stubs struct {
	permits     gatekeeperv1.PermitServiceClient
	definitions gatekeeperv1.DefinitionServiceClient
	operator    gatekeeperv1.OperatorServiceClient
	watch       gatekeeperv1.WatchServiceClient
	work        gatekeeperv1.WorkServiceClient
}

// caller makes direct calls and records each one.
type caller struct {
	*history.Recorder
}

func identity(id history.Identity) *gatekeeperv1.Identity {
	return &gatekeeperv1.Identity{Group: id.Group, Acquirer: id.Acquirer, HolderId: id.HolderID}
}

// firingAt returns the semaphore's current firing, in the history's format, or "" if it has no firings.
func (s *Semaphore) firingAt(now time.Time) string {
	if s.FiringInterval == 0 {
		return ""
	}
	return "tick@" + now.Truncate(s.FiringInterval).UTC().Format(time.RFC3339Nano)
}

// firing parses "name@due". It returns the firing and its due time, which has nanosecond precision.
func firing(text string) (*gatekeeperv1.Firing, time.Time) {
	if text == "" {
		return nil, time.Time{}
	}
	_, due, _ := strings.Cut(text, "@")
	at, err := time.Parse(time.RFC3339Nano, due)
	if err != nil {
		panic("load: firing without a due time: " + text)
	}
	return &gatekeeperv1.Firing{Name: "tick", Due: timestamppb.New(at)}, at
}

// acquire makes one acquire call. If wait is true, the call waits in the queue.
func (c caller) acquire(ctx context.Context, on stubs, r history.Request, wait bool) (history.Response, history.Outcome) {
	return c.acquireLate(ctx, on, r, wait, 0)
}

// acquireLate is like acquire, but simulates a request that takes some time to reach the server.
func (c caller) acquireLate(ctx context.Context, on stubs, r history.Request, wait bool, delay time.Duration) (history.Response, history.Outcome) {
	r.Kind, r.Wait = history.Acquire, wait
	sent := c.Now()
	done := c.Call(r)
	pause(ctx, delay)
	f, _ := firing(r.Firing)
	var grant *gatekeeperv1.Grant
	var denial *gatekeeperv1.Denial
	var err error
	if wait {
		grant, denial, err = queue(ctx, on, &gatekeeperv1.AcquireRequest{
			Semaphore: r.Semaphore, Identity: identity(r.Identity), Weight: r.Weight, Firing: f, RequestId: r.RequestID,
			ReplacesToken: r.Replaces,
		})
	} else {
		var resp *gatekeeperv1.TryAcquireResponse
		resp, err = on.permits.TryAcquire(ctx, &gatekeeperv1.TryAcquireRequest{
			Semaphore: r.Semaphore, Identity: identity(r.Identity), Weight: r.Weight, Firing: f, RequestId: r.RequestID,
			ReplacesToken: r.Replaces,
		})
		grant, denial = resp.GetGrant(), resp.GetDenial()
	}
	response, what := history.Response{}, outcome(err)
	switch {
	case grant != nil:
		response = granted(grant, sent, c.Now())
	case denial != nil:
		response = history.Response{
			Result: history.Denied, Reason: strings.TrimPrefix(denial.Reason.String(), "REASON_"), Waiting: denial.QueueLength, Token: denial.GetFiring().GetToken(),
		}
	case what == history.Known:
		what = history.Unknown // the call timed out in the queue
	}
	done(what, response, err)
	return response, what
}

// queue waits for a grant or a denial. It returns neither if the server asks the caller to retry the call.
func queue(ctx context.Context, on stubs, r *gatekeeperv1.AcquireRequest) (*gatekeeperv1.Grant, *gatekeeperv1.Denial, error) {
	stream, err := on.permits.Acquire(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	for {
		resp, err := stream.Recv()
		if err != nil {
			return nil, nil, err
		}
		if resp.GetPlace() == nil || resp.GetPlace().Repeat {
			return resp.GetGrant(), resp.GetDenial(), nil
		}
	}
}

// granted returns the guarantees of a grant, computed the way every caller must compute them.
func granted(g *gatekeeperv1.Grant, sent, now time.Duration) history.Response {
	waited, duration := g.GetWaited().AsDuration(), g.GetPermit().GetDuration().AsDuration()
	return history.Response{
		Result: history.Granted, Token: g.GetPermit().GetToken(), Superseded: g.GetSupersededToken(), Fresh: !g.GetRefreshed() && g.GetSupersededToken() == 0,
		Revision:  g.GetPermit().GetGrantedRevision(),
		SafeUntil: min(sent+waited+duration-margin(waited+duration), now+duration-margin(duration)),
	}
}

func (c caller) refresh(ctx context.Context, on stubs, semaphore string, token uint64, duration time.Duration) (history.Response, history.Outcome) {
	sent := c.Now()
	done := c.Call(history.Request{Kind: history.Refresh, Semaphore: semaphore, Token: token})
	resp, err := on.permits.Refresh(ctx, &gatekeeperv1.RefreshRequest{Tokens: []*gatekeeperv1.TokenRefresh{{Token: token, Duration: durationpb.New(duration)}}})
	response, what := history.Response{}, outcome(err)
	if err == nil {
		what = history.Unknown
		for _, r := range resp.Results {
			if r.Token != token {
				continue
			}
			what = history.Known
			switch r.Status {
			case gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED:
				d := r.Duration.AsDuration()
				response = history.Response{Result: history.Refreshed, SafeUntil: sent + d - margin(d)}
			case gatekeeperv1.RefreshStatus_REFRESH_STATUS_STOPPING:
				response.Result = history.Stopping
			case gatekeeperv1.RefreshStatus_REFRESH_STATUS_LOST:
				response.Result = history.Lost
			default:
				what = history.Unknown
			}
		}
	}
	done(what, response, err)
	return response, what
}

func (c caller) release(ctx context.Context, on stubs, semaphore string, token uint64, end jobOutcome) history.Outcome {
	r := history.NewRelease(semaphore, token, string(end))
	done := c.Call(r)
	resp, err := on.permits.Release(ctx, &gatekeeperv1.ReleaseRequest{
		Token: token, Failure: r.Failure, Outcome: gatekeeperv1.ReleaseOutcome(gatekeeperv1.ReleaseOutcome_value["RELEASE_OUTCOME_"+string(end)]),
	})
	response, what := history.Response{Result: history.Ended}, outcome(err)
	if resp.GetReleased() {
		response.Result = history.Released
	}
	done(what, response, err)
	return what
}

func (c caller) verify(ctx context.Context, on stubs, semaphore string, token uint64) {
	done := c.Call(history.Request{Kind: history.Verify, Semaphore: semaphore, Token: token})
	resp, err := on.permits.Verify(ctx, &gatekeeperv1.VerifyRequest{Semaphore: semaphore, Token: token})
	result := history.Invalid
	if resp.GetValid() {
		result = history.Valid
	}
	done(outcome(err), history.Response{Result: result}, err)
}

func (c caller) cancel(ctx context.Context, on stubs, r history.Request) {
	r.Kind = history.Cancel
	done := c.Call(r)
	_, err := on.permits.Cancel(ctx, &gatekeeperv1.CancelRequest{Semaphore: r.Semaphore, Identity: identity(r.Identity), RequestId: r.RequestID})
	done(outcome(err), history.Response{Result: history.Done}, err)
}
