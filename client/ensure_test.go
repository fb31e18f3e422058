package client

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestEnsure_EnoughTimeLeft_DoesNotRefresh(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, 10*time.Second)
		if err := p.Ensure(t.Context(), 9*time.Second); err != nil {
			t.Fatal(err)
		}
		if n := get(a, func(s *server) int { return len(s.frames) }); n != 0 {
			t.Errorf("sent %d refreshes, want 0", n)
		}
		if p.ExpirationPeriod() != 10*time.Second {
			t.Errorf("ExpirationPeriod() = %s, want 10s", p.ExpirationPeriod())
		}
	})
}

func TestEnsure_TooLittleTimeLeft_RefreshesFirst(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, 10*time.Second)
		pass(2 * time.Second)
		before := get(a, func(s *server) int { return len(s.frames) })
		if err := p.Ensure(t.Context(), 9700*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if n := get(a, func(s *server) int { return len(s.frames) }); n != before+1 {
			t.Errorf("sent %d refreshes, want 1", n-before)
		}
		if left := time.Until(p.SafeUntil()); left < 9700*time.Millisecond {
			t.Errorf("SafeUntil() is %s away, want at least 9.7s", left)
		}
	})
}

func TestEnsure_LongerThanTheDuration_ReturnsTooShortError(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, 10*time.Second)
		e, ok := errors.AsType[*TooShortError](p.Ensure(t.Context(), 10*time.Second))
		if !ok || e.Left != 9800*time.Millisecond || e.Duration != 10*time.Second {
			t.Errorf("Ensure() = %#v, want a *TooShortError with 9.8s left", e)
		}
	})
}

func TestEnsure_JobMustStop_ReturnsTheCause(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, 10*time.Second)
		pass(2 * time.Second)
		a.notify(result(7, gatekeeperv1.RefreshStatus_REFRESH_STATUS_STOPPING, gatekeeperv1.StopCause_STOP_CAUSE_REVOKED, ""))
		synctest.Wait()
		if err := p.Ensure(p.Context(), time.Second); !errors.Is(err, ErrRevoked) {
			t.Errorf("Ensure() with the job's context = %v, want ErrRevoked", err)
		}
		if err := p.Ensure(t.Context(), time.Second); err != nil { // cleanup may use the permit's remaining time
			t.Error(err)
		}
	})
}

func TestEnsure_NoServer_FailsWhenItsContextEnds(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, 10*time.Second)
		a.down()
		pass(2 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Ensure(ctx, 9*time.Second); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Ensure() = %v, want DeadlineExceeded", err)
		}
		<-p.Done()
		if err := p.Ensure(t.Context(), 0); err == nil {
			t.Error("Ensure() on a lost permit = nil, want an error")
		}
	})
}

func TestStallLimit_NoProgress_EndsTheContextAndIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a")
		var log bytes.Buffer
		c := w.dial([]string{"a"}, WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		p := acquireFrom(t, c, w.servers["a"], 10*time.Second, WithStallLimit(time.Minute))
		for range 100 {
			pass(59 * time.Second)
			p.Progress()
		}
		if endCause(p) != nil {
			t.Fatal(endCause(p))
		}
		start := time.Now()
		<-p.Context().Done()
		if took := time.Since(start); took != time.Minute {
			t.Errorf("context ended after %s, want 1m", took)
		}
		if err := endCause(p); !errors.Is(err, ErrStalled) || errors.Is(err, ErrStopped) || errors.Is(err, ErrExpiring) {
			t.Errorf("context cause = %v, want ErrStalled", err)
		}
		pass(10 * time.Minute)
		if !p.Held() {
			t.Error("permit was lost while its job may still be running")
		}
		if n := strings.Count(log.String(), "no progress"); n != 1 || !strings.Contains(log.String(), "token=7") {
			t.Errorf("stall was logged %d times, want once with the token:\n%s", n, log.String())
		}
	})
}

func TestDeclare_ManyDefinitions_AreSentInBatches(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		var sizes []int
		ids := make(map[string]bool)
		a.batch = func(_ context.Context, q *gatekeeperv1.BatchEditRequest) (*gatekeeperv1.BatchEditResponse, error) {
			sizes = append(sizes, len(q.GetEdits()))
			ids[q.GetRequestId()] = true
			for _, e := range q.GetEdits() {
				if e.GetDeclare() == nil || q.GetAuthor() != "app1" {
					t.Fatalf("sent edit %v by %q, want a declare edit by app1", e, q.GetAuthor())
				}
			}
			return &gatekeeperv1.BatchEditResponse{Skipped: []string{q.GetEdits()[0].GetDeclare().GetName()}}, nil
		}
		definitions := make([]*gatekeeperv1.Definition, maxEdits+2)
		for i := range definitions {
			definitions[i] = &gatekeeperv1.Definition{Name: "d"}
		}
		big := &gatekeeperv1.Definition{Name: "big", Description: strings.Repeat("x", maxEditBytes-10)}
		skipped, err := c.Declare(t.Context(), append(definitions, big)...)
		if err != nil || len(skipped) != 3 || len(ids) != 3 || sizes[0] != maxEdits || sizes[1] != 2 || sizes[2] != 1 {
			t.Errorf("Declare() error = %v, sent batches of %v edits, skipped %v; want 3 batches and 3 skipped names", err, sizes, skipped)
		}
		if _, err := c.Declare(t.Context()); err != nil || len(sizes) != 3 {
			t.Errorf("Declare() without definitions: error = %v, %d calls in total, want 3", err, len(sizes))
		}
	})
}

func TestTryAcquireFor_TimeoutInQueue_ReturnsDenial(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.acquire = func(_ *gatekeeperv1.AcquireRequest, s gatekeeperv1.PermitService_AcquireServer) error {
			_ = s.Send(&gatekeeperv1.AcquireResponse{Progress: &gatekeeperv1.AcquireResponse_Place{Place: &gatekeeperv1.Place{Place: 2, QueueLength: 3}}})
			<-s.Context().Done()
			return s.Context().Err()
		}
		a.holders = func(*gatekeeperv1.ListHoldersRequest) *gatekeeperv1.ListHoldersResponse {
			return &gatekeeperv1.ListHoldersResponse{Permits: []*gatekeeperv1.Permit{{Token: 5}}}
		}
		start := time.Now()
		_, err := c.Semaphore("export").TryAcquireFor(t.Context(), 5*time.Second)
		d, ok := errors.AsType[*DeniedError](err)
		if !ok || d.Reason != ReasonNoFreePermit || d.QueueLength != 3 || d.HolderCount != 1 || d.Holders[0].GetToken() != 5 || !strings.Contains(d.Error(), "place 2 of 3") {
			t.Errorf("TryAcquireFor() error = %v, want a denial with the place and the holder", err)
		}
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("TryAcquireFor() took %s, want 5s", took)
		}
		synctest.Wait()
		if n := get(a, func(s *server) int { return len(s.canceled) }); n != 1 {
			t.Errorf("sent %d cancellations, want 1", n)
		}
	})
}

func TestTryAcquireFor_NoServer_ReturnsErrUnavailable(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		places := 0
		a.acquire = func(_ *gatekeeperv1.AcquireRequest, s gatekeeperv1.PermitService_AcquireServer) error {
			places++
			_ = s.Send(&gatekeeperv1.AcquireResponse{Progress: &gatekeeperv1.AcquireResponse_Place{Place: &gatekeeperv1.Place{Place: 1, QueueLength: 1}}})
			pass(time.Second)
			a.down()
			return errDown
		}
		_, err := c.Semaphore("export").TryAcquireFor(t.Context(), 5*time.Second)
		if _, ok := errors.AsType[*DeniedError](err); ok || !errors.Is(err, ErrUnavailable) || places != 1 {
			t.Errorf("TryAcquireFor() error = %v after queueing %d times, want ErrUnavailable after 1", err, places)
		}
	})
}

func TestTryAcquireFor_GrantedInTime_ReturnsThePermit(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.tryAcquire = grants(7, time.Minute)
		a.acquire = func(_ *gatekeeperv1.AcquireRequest, s gatekeeperv1.PermitService_AcquireServer) error {
			pass(time.Second)
			return s.Send(&gatekeeperv1.AcquireResponse{Progress: &gatekeeperv1.AcquireResponse_Grant{Grant: grant("export", 8, time.Minute, time.Second)}})
		}
		for timeout, token := range map[time.Duration]uint64{0: 7, 5 * time.Second: 8} {
			p, err := c.Semaphore("export").TryAcquireFor(t.Context(), timeout)
			if err != nil || p.Token() != token {
				t.Errorf("TryAcquireFor(%s) error = %v, want a permit with token %d", timeout, err, token)
			}
		}
	})
}
