package client

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func (s *server) Verify(ctx context.Context, q *gatekeeperv1.VerifyRequest) (*gatekeeperv1.VerifyResponse, error) {
	return serve(ctx, s, "Verify", q, &s.verify)
}

func verified(r *gatekeeperv1.VerifyResponse) func(context.Context, *gatekeeperv1.VerifyRequest) (*gatekeeperv1.VerifyResponse, error) {
	return func(context.Context, *gatekeeperv1.VerifyRequest) (*gatekeeperv1.VerifyResponse, error) {
		return r, nil
	}
}

func TestVerify_LivePermit_ReturnsVerification(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		var request *gatekeeperv1.VerifyRequest
		a.set(func(s *server) {
			s.verify = func(_ context.Context, q *gatekeeperv1.VerifyRequest) (*gatekeeperv1.VerifyResponse, error) {
				request = q
				return &gatekeeperv1.VerifyResponse{Valid: true, Permit: &gatekeeperv1.Permit{Token: 7}, Revision: 9}, nil
			}
		})
		v := must(c.Verify(t.Context(), "job", 7))(t)
		if request.GetSemaphore() != "job" || request.GetToken() != 7 || v.Permit.GetToken() != 7 || v.Revision != 9 || v.Stopping || v.Message != "" {
			t.Errorf("Verify(job, 7) sent %v and returned %+v, want token 7 at revision 9", request, v)
		}
	})
}

func TestVerify_HolderMustStop_IsStopping(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		stopping := &gatekeeperv1.Permit{Token: 7, Stop: gatekeeperv1.StopCause_STOP_CAUSE_REVOKED}
		a.set(func(s *server) {
			s.verify = verified(&gatekeeperv1.VerifyResponse{Valid: true, Permit: stopping, Message: "it is hung"})
		})
		if v, err := c.Verify(t.Context(), "job", 7); err != nil || !v.Stopping || v.Message != "it is hung" {
			t.Errorf("Verify() = %+v, %v, want Stopping and the message", v, err)
		}
	})
}

func TestVerify_InvalidToken_ReturnsErrorWithReason(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.set(func(s *server) {
			s.verify = verified(&gatekeeperv1.VerifyResponse{Message: "it was released", Revision: 4})
		})
		v, err := c.Verify(t.Context(), "job", 7)
		e, ok := errors.AsType[*NotValidError](err)
		if !ok || v != nil || e.Semaphore != "job" || e.Token != 7 || e.Revision != 4 || e.Error() != "it was released" {
			t.Errorf("Verify() = %+v, %#v, want a *NotValidError with the message", v, err)
		}
	})
}

// If a server cannot confirm its response, the client tries another server.
func TestVerify_NotConfirmed_TriesAnotherServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a", "b")
		c := w.dial([]string{"a", "b"})
		w.servers["a"].set(func(s *server) {
			s.verify = func(context.Context, *gatekeeperv1.VerifyRequest) (*gatekeeperv1.VerifyResponse, error) {
				return nil, status.Error(codes.Unavailable, "not confirmed")
			}
		})
		w.servers["b"].set(func(s *server) {
			s.verify = verified(&gatekeeperv1.VerifyResponse{Valid: true, Permit: &gatekeeperv1.Permit{Token: 7}})
		})
		must(c.Verify(t.Context(), "", 7))(t)
		ctx, cancel := context.WithCancel(t.Context())
		w.servers["b"].set(func(s *server) {
			s.verify = func(context.Context, *gatekeeperv1.VerifyRequest) (*gatekeeperv1.VerifyResponse, error) {
				cancel()
				return nil, status.Error(codes.Unavailable, "not confirmed")
			}
		})
		_, err := c.Verify(ctx, "", 7)
		if !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrOutcomeUnknown) || errors.As(err, new(*NotValidError)) {
			t.Errorf("Verify() error = %v, want ErrUnavailable and not ErrOutcomeUnknown", err)
		}
	})
}
