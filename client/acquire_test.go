package client

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestTryAcquire_Retries_KeepIDsAndMeasureDurationFromSuccessfulAttempt(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.ignoreFrames()
		a.release = releases
		var last time.Time
		a.tryAcquire = func(_ context.Context, q *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
			last = time.Now()
			pass(time.Second)
			if n := get(a, func(s *server) int { return len(s.acquired) }); n < 3 {
				return nil, refused(codes.Unavailable, reasonOutcomeUnknown)
			}
			r := granted("export", 7, time.Minute)
			r.GetGrant().Permit.Firing = q.GetFiring()
			return r, nil
		}
		p := acquire(t, c.Semaphore("export", WithWeight(2)), WithFiring("nightly", time.Unix(1, 0)), WithMetadata(map[string]string{"pid": "1"}))
		sent := get(a, func(s *server) []*gatekeeperv1.TryAcquireRequest { return s.acquired })
		for _, q := range sent {
			if q.GetRequestId() == "" || q.GetRequestId() != sent[0].GetRequestId() || q.GetIdentity().GetHolderId() != sent[0].GetIdentity().GetHolderId() || q.GetIdentity().GetHolderId() == "" {
				t.Errorf("attempt %v does not reuse the first attempt's ids", q)
			}
			if q.GetWeight() != 2 || q.GetFiring().GetName() != "nightly" || q.GetMetadata()["pid"] != "1" || q.GetIdentity().GetGroup() != "prod" || q.GetIdentity().GetAcquirer() != "app1" {
				t.Errorf("sent request %v, want all fields set", q)
			}
		}
		synctest.Wait()
		if want := last.Add(58800 * time.Millisecond); !p.SafeUntil().Equal(want) {
			t.Errorf("SafeUntil() = %s, want %s", p.SafeUntil(), want)
		}
		if p.HolderID() != sent[0].GetIdentity().GetHolderId() || p.Token() != 7 || p.Semaphore() != "export" {
			t.Errorf("permit has holder id %q, token %d and semaphore %q, want the first attempt's holder id, token 7 and \"export\"", p.HolderID(), p.Token(), p.Semaphore())
		}
		if name, due := p.Firing(); name != "nightly" || !due.Equal(time.Unix(1, 0)) {
			t.Errorf("Firing() = %q, %v, want the request's firing", name, due)
		}
		release(t, p)
		acquire(t, c.Semaphore("export"))
		again := get(a, func(s *server) *gatekeeperv1.TryAcquireRequest { return s.acquired[len(s.acquired)-1] })
		if again.GetRequestId() == sent[0].GetRequestId() || again.GetIdentity().GetHolderId() == sent[0].GetIdentity().GetHolderId() {
			t.Error("two acquisitions share a request id or holder id")
		}
	})
}

func TestTryAcquire_Denied_ReturnsTheReason(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.tryAcquire = func(context.Context, *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
			return &gatekeeperv1.TryAcquireResponse{Outcome: &gatekeeperv1.TryAcquireResponse_Denial{Denial: &gatekeeperv1.Denial{
				Reason: gatekeeperv1.Reason_REASON_NO_FREE_PERMIT, Message: "app2 holds it", HolderCount: 1, Holders: []*gatekeeperv1.Permit{{Token: 3}},
			}}}, nil
		}
		p, err := c.Semaphore("export").TryAcquire(t.Context())
		d, ok := errors.AsType[*DeniedError](err)
		if p != nil || !ok || d.Reason != ReasonNoFreePermit || d.Message != "app2 holds it" || len(d.Holders) != 1 || d.Retry {
			t.Errorf("TryAcquire() = %v, %#v, want a denial with its reason and holders", p, err)
		}
	})
}

func TestTryAcquire_LateResponse_IsRetried(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		n := 0
		a.tryAcquire = func(context.Context, *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
			if n++; n == 1 {
				pass(900 * time.Millisecond)
			}
			return granted("export", 7, time.Second), nil
		}
		p, err := c.Semaphore("export").TryAcquire(t.Context())
		if err != nil || n != 2 || !p.Held() {
			t.Errorf("TryAcquire() error = %v after %d attempts, want nil after 2", err, n)
		}
	})
}

func TestTryAcquire_ContextEndsWithUnknownOutcome_CancelsTheRequest(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.tryAcquire = func(ctx context.Context, _ *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Semaphore("export").TryAcquire(ctx)
		if !errors.Is(err, ErrOutcomeUnknown) || !errors.Is(err, ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("TryAcquire() error = %v, want ErrOutcomeUnknown and DeadlineExceeded", err)
		}
		synctest.Wait()
		sent := get(a, func(s *server) *gatekeeperv1.TryAcquireRequest { return s.acquired[0] })
		cancelled := get(a, func(s *server) []*gatekeeperv1.CancelRequest { return s.canceled })
		if len(cancelled) != 1 || cancelled[0].GetRequestId() != sent.GetRequestId() || cancelled[0].GetIdentity().GetHolderId() != sent.GetIdentity().GetHolderId() {
			t.Errorf("sent cancellations %v, want one with the request's ids", cancelled)
		}
	})
}

func TestTryAcquire_NoServerReached_SendsNoCancellation(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.down()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Semaphore("export").TryAcquire(ctx)
		if !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrOutcomeUnknown) {
			t.Errorf("TryAcquire() error = %v, want ErrUnavailable without an unknown outcome", err)
		}
		start := time.Now()
		if err := c.Close(); err != nil || time.Since(start) != 0 {
			t.Errorf("Close() took %s, error = %v; want 0s and nil", time.Since(start), err)
		}
	})
}

func TestTryAcquire_StopTimeTooLong_FailsAndFreesPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a")
		c := w.dial([]string{"a"}, WithStopTime(30*time.Second))
		w.servers["a"].tryAcquire = grants(7, 10*time.Second)
		_, err := c.Semaphore("export").TryAcquire(t.Context())
		if e, ok := errors.AsType[*StopTimeError](err); !ok || e.Duration != 10*time.Second {
			t.Errorf("TryAcquire() error = %v, want *StopTimeError", err)
		}
		synctest.Wait()
		if n := get(w.servers["a"], func(s *server) int { return len(s.canceled) }); n != 1 {
			t.Errorf("sent %d cancellations, want 1", n)
		}
	})
}

func TestAcquire_Queued_ReportsPlaceAndMeasuresDurationFromEndOfWait(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.ignoreFrames()
		var sent []*gatekeeperv1.AcquireRequest
		a.acquire = func(q *gatekeeperv1.AcquireRequest, s gatekeeperv1.PermitService_AcquireServer) error {
			sent = append(sent, q)
			place := func(n uint32, repeat bool) error {
				return s.Send(&gatekeeperv1.AcquireResponse{Progress: &gatekeeperv1.AcquireResponse_Place{Place: &gatekeeperv1.Place{Place: n, QueueLength: 3, Repeat: repeat}}})
			}
			if len(sent) == 1 {
				_ = place(2, false)
				pass(time.Minute)
				return place(2, true)
			}
			_ = place(1, false)
			pass(20 * time.Second)
			return s.Send(&gatekeeperv1.AcquireResponse{Progress: &gatekeeperv1.AcquireResponse_Grant{Grant: grant("export", 7, time.Minute, 20*time.Second)}})
		}
		var places []int
		start := time.Now()
		p := must(c.Semaphore("export", WithPlace(func(p Place) { places = append(places, p.Place) })).Acquire(t.Context()))(t)
		synctest.Wait()
		// The second attempt is sent at 60 s and granted 20 s later for 60 s. The margin is 2% of 80 s.
		if got, want := p.SafeUntil().Sub(start), 140*time.Second-1600*time.Millisecond; got != want {
			t.Errorf("SafeUntil() = %s after the start, want %s", got, want)
		}
		if len(places) != 2 || places[0] != 2 || places[1] != 1 {
			t.Errorf("got places %v, want [2 1]", places)
		}
		if sent[0].GetRequestId() != sent[1].GetRequestId() || sent[1].GetWaitedBefore().AsDuration() != time.Minute {
			t.Errorf("second attempt = %v, want the same request id and 1m waited", sent[1])
		}
	})
}

func TestTryAcquireFor_TimeoutDuringPause_ReturnsReasonPaused(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.acquire = func(_ *gatekeeperv1.AcquireRequest, s gatekeeperv1.PermitService_AcquireServer) error {
			_ = s.Send(&gatekeeperv1.AcquireResponse{Progress: &gatekeeperv1.AcquireResponse_Place{
				Place: &gatekeeperv1.Place{Place: 1, QueueLength: 1, Pause: &gatekeeperv1.Pause{Reason: "replacing disks"}},
			}})
			<-s.Context().Done()
			return s.Context().Err()
		}
		_, err := c.Semaphore("export").TryAcquireFor(t.Context(), time.Minute)
		d, ok := errors.AsType[*DeniedError](err)
		if !ok || d.Reason != ReasonPaused || d.Pause.GetReason() != "replacing disks" || !strings.Contains(d.Message, "paused (replacing disks)") {
			t.Errorf("TryAcquireFor() error = %v, want a denial with ReasonPaused", err)
		}
	})
}

func TestAcquire_ContextEnds_LeavesTheQueue(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.acquire = func(_ *gatekeeperv1.AcquireRequest, s gatekeeperv1.PermitService_AcquireServer) error {
			<-s.Context().Done()
			return s.Context().Err()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if _, err := c.Semaphore("export").Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Acquire() error = %v, want DeadlineExceeded", err)
		}
		synctest.Wait()
		if n := get(a, func(s *server) int { return len(s.canceled) }); n != 1 {
			t.Errorf("sent %d cancellations, want 1", n)
		}
	})
}

func TestRelease_HeldPermit_EndsBeforeRequestIsSent(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, time.Minute)
		a.set(func(s *server) {
			s.release = func(context.Context, *gatekeeperv1.ReleaseRequest) (*gatekeeperv1.ReleaseResponse, error) {
				if p.Held() || !isDone(p) || !errors.Is(endCause(p), ErrReleased) {
					t.Errorf("release was sent while the permit was still held; context cause = %v", endCause(p))
				}
				return &gatekeeperv1.ReleaseResponse{Released: true}, nil
			}
		})
		for range 2 { // the second Release sends nothing
			release(t, p)
		}
		if n := get(a, func(s *server) int { return len(s.released) }); n != 1 {
			t.Errorf("sent %d releases, want 1", n)
		}
		if err := p.Refresh(t.Context()); !errors.Is(err, ErrReleased) {
			t.Errorf("Refresh() = %v, want ErrReleased", err)
		}
	})
}

func TestRelease_CanceledContext_IsStillSent(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.Release(ctx); err != nil {
			t.Error(err)
		}
	})
}

func TestRelease_PermitAlreadyEnded_ReturnsEndedError(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, time.Minute)
		a.set(func(s *server) {
			s.release = func(context.Context, *gatekeeperv1.ReleaseRequest) (*gatekeeperv1.ReleaseResponse, error) {
				return &gatekeeperv1.ReleaseResponse{Message: "it expired"}, nil
			}
		})
		if e, ok := errors.AsType[*EndedError](p.Release(t.Context())); !ok || e.Message != "it expired" || e.Token != 7 {
			t.Errorf("Release() = %v, want *EndedError", e)
		}
	})
}

// A release whose response was lost may still take effect, so the client must not accept the same token when it retries
// the request.
func TestRelease_Unanswered_TokenIsNotAcceptedAgain(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		opts := []AcquireOption{WithHolderID("me"), WithRequestID("import")}
		p := acquireFrom(t, c, a, time.Minute, opts...)
		a.set(func(s *server) {
			s.release = func(context.Context, *gatekeeperv1.ReleaseRequest) (*gatekeeperv1.ReleaseResponse, error) {
				return nil, refused(codes.Unavailable, reasonOutcomeUnknown)
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Release(ctx); !errors.Is(err, ErrOutcomeUnknown) {
			t.Fatal(err)
		}
		if _, err := c.Semaphore("export", opts...).TryAcquire(t.Context()); !errors.Is(err, ErrReleasePending) {
			t.Errorf("TryAcquire() error = %v, want ErrReleasePending", err)
		}
		synctest.Wait()
		if n := get(a, func(s *server) int { return len(s.canceled) }); n != 0 {
			t.Errorf("sent %d cancellations, want 0", n)
		}
		a.set(func(s *server) { s.release = releases })
		if err := p.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestClose_EndsPermitsWithoutRelease(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, time.Minute)
		pass(5 * time.Second)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if !isDone(p) || !errors.Is(endCause(p), ErrClosed) || p.Held() {
			t.Errorf("context cause = %v, want ErrClosed", endCause(p))
		}
		if n := get(a, func(s *server) int { return len(s.released) }); n != 0 {
			t.Error("Close sent a release")
		}
		if _, err := c.Semaphore("export").TryAcquire(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("TryAcquire() error = %v, want ErrClosed", err)
		}
	})
}
