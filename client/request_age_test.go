package client

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Servers forget old requests. If a server cannot tell whether a request is new or forgotten, the Client retries it
// with a new id.
func TestTryAcquire_RequestTooOld_IsRetriedWithANewID(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.release = releases
		var requests []*gatekeeperv1.TryAcquireRequest
		a.tryAcquire = func(_ context.Context, q *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
			requests = append(requests, q)
			if len(requests) == 2 {
				return nil, refused(codes.FailedPrecondition, reasonRequestTooOld, "revision", "50", "forgotten", "40")
			}
			r := granted("export", uint64(len(requests)), time.Minute)
			r.GetGrant().Permit.GrantedRevision = uint64(20 + len(requests))
			return r, nil
		}
		for range 2 {
			p := acquire(t, c.Semaphore("export"))
			release(t, p)
		}
		if len(requests) != 3 {
			t.Fatalf("sent %d requests, want 3", len(requests))
		}
		for i, want := range []uint64{0, 21, 50} {
			if got := requests[i].GetRequestRevision(); got != want {
				t.Errorf("attempt %d: request_revision = %d, want %d", i+1, got, want)
			}
		}
		if requests[1].GetRequestId() == requests[2].GetRequestId() || requests[1].GetIdentity().GetHolderId() != requests[2].GetIdentity().GetHolderId() {
			t.Errorf("sent %v after %v, want a new request id and the same holder id", requests[2], requests[1])
		}
	})
}

// The Client cannot determine the age of a request id from the application, so it sends no revision with the request
// and does not replace the id.
func TestTryAcquire_WithRequestID_SendsNoRevision(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		c.observe(7)
		a.tryAcquire = func(_ context.Context, q *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
			if q.GetRequestRevision() != 0 {
				t.Errorf("request_revision = %d, want 0", q.GetRequestRevision())
			}
			return nil, refused(codes.FailedPrecondition, reasonRequestTooOld, "revision", "50")
		}
		_, err := c.Semaphore("export").TryAcquire(t.Context(), WithRequestID("mine"))
		if e, ok := errors.AsType[*StatusError](err); !ok || e.Reason != reasonRequestTooOld {
			t.Errorf("TryAcquire() error = %v, want REQUEST_TOO_OLD", err)
		}
	})
}

// If the refusal's revision is no newer than the request's, a new request would be refused too.
func TestTryAcquire_TooOldWithoutNewerRevision_ReturnsError(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		c.observe(50)
		requests := 0
		a.tryAcquire = func(context.Context, *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
			if requests++; requests > 1 {
				t.Error("request was retried")
				return granted("export", 1, time.Minute), nil
			}
			return nil, refused(codes.FailedPrecondition, reasonRequestTooOld, "revision", "50")
		}
		_, err := c.Semaphore("export").TryAcquire(t.Context())
		if e, ok := errors.AsType[*StatusError](err); !ok || e.Reason != reasonRequestTooOld {
			t.Errorf("TryAcquire() error = %v, want REQUEST_TOO_OLD", err)
		}
	})
}

// A waiting request has no permit yet, so the Client may send the newer revision of its place in the queue. That way, a
// long wait does not make the request too old.
func TestAcquire_Repeated_SendsTheRevisionOfItsPlace(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		c.observe(7)
		var requests []*gatekeeperv1.AcquireRequest
		a.acquire = func(q *gatekeeperv1.AcquireRequest, stream gatekeeperv1.PermitService_AcquireServer) error {
			if requests = append(requests, q); len(requests) == 1 {
				return stream.Send(&gatekeeperv1.AcquireResponse{Progress: &gatekeeperv1.AcquireResponse_Place{
					Place: &gatekeeperv1.Place{Place: 1, QueueLength: 1, Repeat: true, Revision: 90},
				}})
			}
			return stream.Send(&gatekeeperv1.AcquireResponse{Progress: &gatekeeperv1.AcquireResponse_Grant{
				Grant: granted("export", 3, time.Minute).GetGrant(),
			}})
		}
		must(c.Semaphore("export").Acquire(t.Context()))(t)
		if len(requests) != 2 || requests[0].GetRequestRevision() != 7 || requests[1].GetRequestRevision() != 90 || requests[0].GetRequestId() != requests[1].GetRequestId() {
			t.Errorf("sent requests %v, want revisions 7 and 90 and the same request id", requests)
		}
	})
}

// The Client also sends a revision with changes, as it does with acquisitions.
func TestPause_RequestTooOld_IsRetriedWithANewID(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		var requests []*gatekeeperv1.PauseRequest
		a.pause = func(_ context.Context, q *gatekeeperv1.PauseRequest) (*gatekeeperv1.PauseResponse, error) {
			requests = append(requests, q)
			switch len(requests) {
			case 2:
				return nil, notLeader("nowhere", 1) // definitely not applied
			case 3:
				return nil, refused(codes.FailedPrecondition, reasonRequestTooOld, "revision", "50")
			}
			return &gatekeeperv1.PauseResponse{Revision: uint64(20 + len(requests))}, nil
		}
		for range 3 {
			if _, err := c.Pause(t.Context(), PauseRequest{}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Pause(t.Context(), PauseRequest{RequestID: "mine"}); err != nil {
			t.Fatal(err)
		}
		var sent []uint64
		for _, q := range requests {
			sent = append(sent, q.GetRequestRevision())
		}
		if want := []uint64{0, 21, 21, 50, 50, 0}; !slices.Equal(sent, want) {
			t.Errorf("request_revision values = %v, want %v", sent, want)
		}
		if requests[1].GetRequestId() != requests[2].GetRequestId() || requests[2].GetRequestId() == requests[3].GetRequestId() {
			t.Errorf("sent requests %v, want a new request id only after the request was too old", requests)
		}
	})
}

// An earlier attempt may have been applied and then forgotten, so the Client must not pause again with a new id.
func TestPause_RetryIsTooOld_OutcomeIsUnknown(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		c.observe(7)
		requests := 0
		a.pause = func(context.Context, *gatekeeperv1.PauseRequest) (*gatekeeperv1.PauseResponse, error) {
			if requests++; requests == 1 {
				return nil, status.Error(codes.Unavailable, "the connection broke")
			}
			return nil, refused(codes.FailedPrecondition, reasonRequestTooOld, "revision", "50")
		}
		_, err := c.Pause(t.Context(), PauseRequest{})
		if _, tooOld := tooOldSince(err); !tooOld || !errors.Is(err, ErrOutcomeUnknown) || requests != 2 {
			t.Errorf("sent %d requests, error = %v; want 2 and an unknown outcome", requests, err)
		}
	})
}

// The first attempt may have been applied before the permit ended, so the refusal of the retry does not show whether
// the permit was taken over.
func TestTakeOver_PermitEndsBeforeTheRetry_OutcomeIsUnknown(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		requests, lost := 0, true
		a.takeOver = func(context.Context, *gatekeeperv1.TakeOverRequest) (*gatekeeperv1.TakeOverResponse, error) {
			if requests++; requests == 1 && lost {
				return nil, status.Error(codes.Unavailable, "the connection broke")
			}
			return nil, refused(codes.NotFound, reasonNoSuchPermit, "token", "7")
		}
		_, err := c.Semaphore("a").TakeOver(t.Context(), 7, "")
		if !errors.As(err, new(*NoSuchPermitError)) || !errors.Is(err, ErrOutcomeUnknown) || requests != 2 {
			t.Errorf("sent %d requests, error = %v; want 2, a *NoSuchPermitError and an unknown outcome", requests, err)
		}
		requests, lost = 0, false
		_, err = c.Semaphore("a").TakeOver(t.Context(), 7, "")
		if !errors.As(err, new(*NoSuchPermitError)) || errors.Is(err, ErrOutcomeUnknown) || requests != 1 {
			t.Errorf("sent %d requests, error = %v; want 1 and a *NoSuchPermitError", requests, err)
		}
	})
}

// The servers look up the job before they check its submitter's permit. If they refuse a retried SubmitJob because of
// the permit, no job was stored.
func TestMayFollowSuccess_PermitEnded_OnlyForCallsAboutThePermit(t *testing.T) {
	ended := typed(t.Context(), refused(codes.NotFound, reasonNoSuchPermit, "token", "7"))
	if submit := (call{idempotent: true}); submit.mayFollowSuccess(ended) {
		t.Error("mayFollowSuccess() = true for SubmitJob, want false")
	}
	for _, method := range []string{gatekeeperv1.PermitService_TakeOver_FullMethodName, gatekeeperv1.PermitService_Revoke_FullMethodName} {
		withServer(t, func(t *testing.T, c *Client, _ *server) {
			if !(caller{c}).callFor(method, &gatekeeperv1.RevokeRequest{}).mayFollowSuccess(ended) {
				t.Errorf("mayFollowSuccess() = false for %s, want true", method)
			}
		})
	}
}
