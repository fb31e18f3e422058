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

// The servers forget old requests. If they cannot tell whether a request is new or forgotten, the Client retries it
// with a new id.
func TestTryAcquire_RequestTooOld_IsRetriedWithANewID(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.release = releases
		var asked []*gatekeeperv1.TryAcquireRequest
		a.tryAcquire = func(_ context.Context, q *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
			asked = append(asked, q)
			if len(asked) == 2 {
				return nil, refused(codes.FailedPrecondition, reasonRequestTooOld, "revision", "50", "forgotten", "40")
			}
			r := granted("export", uint64(len(asked)), time.Minute)
			r.GetGrant().Permit.GrantedRevision = uint64(20 + len(asked))
			return r, nil
		}
		for range 2 {
			p := acquire(t, c.Semaphore("export"))
			release(t, p)
		}
		if len(asked) != 3 {
			t.Fatalf("sent %d requests, want 3", len(asked))
		}
		for i, want := range []uint64{0, 21, 50} {
			if got := asked[i].GetRequestRevision(); got != want {
				t.Errorf("attempt %d: request_revision = %d, want %d", i+1, got, want)
			}
		}
		if asked[1].GetRequestId() == asked[2].GetRequestId() || asked[1].GetIdentity().GetHolderId() != asked[2].GetIdentity().GetHolderId() {
			t.Errorf("the client sent %v after %v, want a new request id and the same holder id", asked[2], asked[1])
		}
	})
}

// Only the application knows when it generated its id. So the Client sends no revision with the request, and does not
// replace the id.
func TestTryAcquire_NamedRequest_HasNoRevision(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		c.saw(7)
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
func TestTryAcquire_TooOldWithoutANewerRevision_IsAnError(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		c.saw(50)
		asked := 0
		a.tryAcquire = func(context.Context, *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
			if asked++; asked > 1 {
				t.Error("the request was retried")
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

// A place in the queue proves that the request has no permit yet, so a long wait does not make the request too old.
func TestAcquire_Repeated_SendsTheRevisionOfItsPlace(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		c.saw(7)
		var asked []*gatekeeperv1.AcquireRequest
		a.acquire = func(q *gatekeeperv1.AcquireRequest, stream gatekeeperv1.PermitService_AcquireServer) error {
			if asked = append(asked, q); len(asked) == 1 {
				return stream.Send(&gatekeeperv1.AcquireResponse{Progress: &gatekeeperv1.AcquireResponse_Place{
					Place: &gatekeeperv1.Place{Place: 1, QueueLength: 1, Repeat: true, Revision: 90},
				}})
			}
			return stream.Send(&gatekeeperv1.AcquireResponse{Progress: &gatekeeperv1.AcquireResponse_Grant{
				Grant: granted("export", 3, time.Minute).GetGrant(),
			}})
		}
		must(c.Semaphore("export").Acquire(t.Context()))(t)
		if len(asked) != 2 || asked[0].GetRequestRevision() != 7 || asked[1].GetRequestRevision() != 90 || asked[0].GetRequestId() != asked[1].GetRequestId() {
			t.Errorf("sent requests %v", asked)
		}
	})
}

// The Client sends a revision with a change as it does with an acquisition.
func TestPause_RequestTooOld_IsRetriedWithANewID(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		var asked []*gatekeeperv1.PauseRequest
		a.pause = func(_ context.Context, q *gatekeeperv1.PauseRequest) (*gatekeeperv1.PauseResponse, error) {
			asked = append(asked, q)
			switch len(asked) {
			case 2:
				return nil, notLeader("nowhere", 1) // certainly not applied
			case 3:
				return nil, refused(codes.FailedPrecondition, reasonRequestTooOld, "revision", "50")
			}
			return &gatekeeperv1.PauseResponse{Revision: uint64(20 + len(asked))}, nil
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
		for _, q := range asked {
			sent = append(sent, q.GetRequestRevision())
		}
		if want := []uint64{0, 21, 21, 50, 50, 0}; !slices.Equal(sent, want) {
			t.Errorf("request_revision was %v, want %v", sent, want)
		}
		if asked[1].GetRequestId() != asked[2].GetRequestId() || asked[2].GetRequestId() == asked[3].GetRequestId() {
			t.Errorf("sent requests %v", asked)
		}
	})
}

// An earlier attempt may have been applied and then forgotten, so the Client must not pause again with a new id.
func TestPause_RetryIsTooOld_OutcomeIsUnknown(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		c.saw(7)
		asked := 0
		a.pause = func(context.Context, *gatekeeperv1.PauseRequest) (*gatekeeperv1.PauseResponse, error) {
			if asked++; asked == 1 {
				return nil, status.Error(codes.Unavailable, "the connection broke")
			}
			return nil, refused(codes.FailedPrecondition, reasonRequestTooOld, "revision", "50")
		}
		_, err := c.Pause(t.Context(), PauseRequest{})
		if _, tooOld := tooOldSince(err); !tooOld || !errors.Is(err, ErrOutcomeUnknown) || asked != 2 {
			t.Errorf("sent %d requests, error = %v; want 2 and an unknown outcome", asked, err)
		}
	})
}
