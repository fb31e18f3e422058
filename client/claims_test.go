package client

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// increasingTokens returns a hook that grants increasing tokens, starting with 1.
func increasingTokens(duration time.Duration) func(context.Context, *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
	token := uint64(0)
	return func(_ context.Context, q *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
		token++
		return granted(q.GetSemaphore(), token, duration), nil
	}
}

// unanswered is a hook that never responds, so the outcome of the call is unknown.
func unanswered[Q, A any](ctx context.Context, _ Q) (none A, err error) {
	<-ctx.Done()
	return none, status.FromContextError(ctx.Err()).Err()
}

func wantInUse(t *testing.T, err error, token uint64) {
	t.Helper()
	e, ok := errors.AsType[*InUseError](err)
	if !ok || e.Semaphore != "export" || e.Group != "prod" || e.Acquirer != "app1" || e.HolderID != "worker" || e.Token != token {
		t.Errorf("error = %#v (%v), want an *InUseError with the holder's identity and token", err, err)
	}
}

func TestTryAcquire_HolderIDInUse_IsRefusedUntilItsPermitHasEnded(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.tryAcquire, a.release = increasingTokens(time.Minute), releases
		sem := c.Semaphore("export", WithHolderID("worker"))
		p := acquire(t, sem)
		_, err := sem.TryAcquire(t.Context())
		wantInUse(t, err, 1)
		_, err = sem.Acquire(t.Context())
		wantInUse(t, err, 1)
		if n := get(a, func(s *server) int { return len(s.acquired) }); n != 1 {
			t.Errorf("sent %d requests, want 1: a rejected acquisition must not reach the servers", n)
		}
		for _, other := range []*Semaphore{
			c.Semaphore("import", WithHolderID("worker")), c.Semaphore("export", WithHolderID("other")), c.Semaphore("export"),
			c.Semaphore("export", WithHolderID("worker"), WithGroup("dr")), c.Semaphore("export", WithHolderID("worker"), WithAcquirer("app2")),
		} {
			if _, err := other.TryAcquire(t.Context()); err != nil {
				t.Errorf("TryAcquire() by another identity: error = %v", err)
			}
		}

		release(t, p)
		if _, err := sem.TryAcquire(t.Context()); err != nil {
			t.Errorf("TryAcquire() after the release: error = %v", err)
		}
		last := get(a, func(s *server) *gatekeeperv1.TryAcquireRequest { return s.acquired[len(s.acquired)-1] })
		if last.GetReplacesToken() != 0 {
			t.Errorf("ReplacesToken = %d, want 0 after a release", last.GetReplacesToken())
		}
	})
}

func TestTryAcquire_HolderIDBeingAcquired_IsRefused(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.tryAcquire = unanswered
		sem := c.Semaphore("export", WithHolderID("worker"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		first := make(chan error, 1)
		go func() {
			_, err := sem.TryAcquire(ctx)
			first <- err
		}()
		synctest.Wait()
		_, err := sem.TryAcquire(t.Context())
		wantInUse(t, err, 0)
		if err := <-first; !errors.Is(err, ErrOutcomeUnknown) {
			t.Error(err)
		}
		a.set(func(s *server) { s.tryAcquire = increasingTokens(time.Minute) })
		if _, err := sem.TryAcquire(t.Context()); err != nil {
			t.Errorf("TryAcquire() after the first call returned: error = %v", err)
		}
	})
}

// A permit that was lost at its deadline, or whose release got no response, may still be live on the servers.
func TestTryAcquire_PreviousPermitMayBeLive_SendsReplacedToken(t *testing.T) {
	for how, end := range map[string]func(*testing.T, *server, *Permit){
		"lost at deadline": func(t *testing.T, a *server, p *Permit) {
			t.Helper()
			a.down()
			<-p.Done()
			a.up()
		},
		"unanswered release": func(t *testing.T, a *server, p *Permit) {
			t.Helper()
			a.set(func(s *server) { s.release = unanswered })
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := p.Release(ctx); !errors.Is(err, ErrOutcomeUnknown) {
				t.Error(err)
			}
		},
	} {
		t.Run(how, func(t *testing.T) {
			withServer(t, func(t *testing.T, c *Client, a *server) {
				a.tryAcquire = increasingTokens(10 * time.Second)
				sem := c.Semaphore("export", WithHolderID("worker"))
				p := acquire(t, sem)
				end(t, a, p)
				q := acquire(t, sem)
				if got := get(a, func(s *server) uint64 { return s.acquired[len(s.acquired)-1].GetReplacesToken() }); got != p.Token() {
					t.Errorf("ReplacesToken = %d, want %d", got, p.Token())
				}
				a.set(func(s *server) { s.release = releases })
				release(t, q)
				if n := len(c.renewer.claims.byKey); n != 0 {
					t.Errorf("%d claims remain, want 0", n)
				}
			})
		})
	}
}

// An acquisition waits for an earlier cancellation. Otherwise, the servers could process the cancellation after the
// acquisition.
func TestTryAcquire_CancellationInProgress_WaitsForIt(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.tryAcquire = unanswered
		a.cancel = func(context.Context, *gatekeeperv1.CancelRequest) (*gatekeeperv1.CancelResponse, error) {
			pass(700 * time.Millisecond)
			return &gatekeeperv1.CancelResponse{}, nil
		}
		sem := c.Semaphore("export", WithHolderID("worker"))
		unknown := func() {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if _, err := sem.TryAcquire(ctx); !errors.Is(err, ErrOutcomeUnknown) {
				t.Fatal(err)
			}
		}
		unknown()
		ended := time.Now()
		var sentAt time.Time
		grant := func(_ context.Context, q *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
			sentAt = time.Now()
			return granted("export", 7, time.Minute), nil
		}
		a.set(func(s *server) { s.tryAcquire, s.release = grant, releases })
		p, err := sem.TryAcquire(t.Context())
		if err != nil || sentAt.Sub(ended) != 700*time.Millisecond {
			t.Fatalf("TryAcquire() sent its request after %s, error = %v; want 700ms", sentAt.Sub(ended), err)
		}
		release(t, p)

		// The wait for an unanswered cancellation is bounded. After that, the servers must handle it.
		a.set(func(s *server) { s.tryAcquire, s.cancel = unanswered, unanswered })
		unknown()
		ended = time.Now()
		a.set(func(s *server) { s.tryAcquire = grant })
		shortCtx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := sem.TryAcquire(shortCtx); !errors.Is(err, context.DeadlineExceeded) || time.Since(ended) != 100*time.Millisecond {
			t.Errorf("TryAcquire() with a timeout of 100ms took %s, error = %v", time.Since(ended), err)
		}
		if _, err := sem.TryAcquire(t.Context()); err != nil || sentAt.Sub(ended) != cleanupTimeout {
			t.Errorf("TryAcquire() sent its request after %s, error = %v; want cleanupTimeout", sentAt.Sub(ended), err)
		}
	})
}

// The application may retry the request, perhaps in another process. A late cancellation would end the permit granted
// to the retry.
func TestTryAcquire_RequestIDFromTheApplication_IsNotCancelled(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		a.tryAcquire = unanswered
		opts := []AcquireOption{WithHolderID("worker"), WithRequestID("import")}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Semaphore("export", opts...).TryAcquire(ctx); !errors.Is(err, ErrOutcomeUnknown) {
			t.Fatal(err)
		}
		a.set(func(s *server) { s.tryAcquire = increasingTokens(time.Minute) })
		acquire(t, c.Semaphore("export", opts...))
		pass(time.Minute)
		if n := get(a, func(s *server) int { return len(s.canceled) }); n != 0 {
			t.Errorf("sent %d cancellations, want 0", n)
		}
	})
}

func TestRelease_SendsTheIdentity(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, time.Minute, WithHolderID("worker"))
		release(t, p)
		id := get(a, func(s *server) *gatekeeperv1.Identity { return s.releaseIdentities[0] })
		if id.GetGroup() != "prod" || id.GetAcquirer() != "app1" || id.GetHolderId() != "worker" {
			t.Errorf("release identity = %v, want prod, app1 and worker", id)
		}
	})
}

// A Client must not keep the claims of unanswered releases forever.
func TestClaims_UnansweredReleases_AreSweptAfterPermitLifetime(t *testing.T) {
	k, clock := idleRenewer(t)
	const many = 10_000
	for i := range uint64(many) {
		id := fmt.Sprintf("worker-%d", i)
		a := &acquisition{semaphore: "s", holderID: &id, holderIDSet: true}
		if err := k.enter(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		p := must(k.add(t.Context(), a, attemptResult{grant: grant("s", i+1, time.Minute, 0), belief: newBelief(clock.now, 0, time.Minute, clock.now)}))(t)
		k.exit(a)
		done := k.beginCall(p.claim)
		k.drop(p)
		done()
		clock.now += time.Second
	}
	// A permit's lifetime includes one leader change. The limit is twice that, because claims are swept when their
	// number has doubled.
	life := time.Minute + afterDeadline(time.Minute)
	if n, limit := len(k.claims.byKey), 2*int(life/time.Second)+minSweep; n > limit {
		t.Errorf("%d claims remain after %d unanswered releases, want at most %d", n, many, limit)
	}
}

// Generated holder ids are never reused, so no claim needs to be kept.
func TestClaims_GeneratedHolderID_LeavesNoClaim(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, time.Minute)
		a.set(func(s *server) {
			s.release = func(context.Context, *gatekeeperv1.ReleaseRequest) (*gatekeeperv1.ReleaseResponse, error) {
				return nil, refused(codes.Unavailable, reasonOutcomeUnknown)
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Release(ctx); !errors.Is(err, ErrOutcomeUnknown) {
			t.Error(err)
		}
		if n := len(c.renewer.claims.byKey); n != 0 {
			t.Errorf("%d claims remain, want 0", n)
		}
	})
}
