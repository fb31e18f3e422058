package client

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

func TestDial_InvalidEndpoint_IsNamedInTheError(t *testing.T) {
	for _, endpoint := range []string{"http://gk1:7420", "https://gk1", "gk1:https", "gk1:", "gk1:0", "gk1:65536"} {
		if _, err := Dial(t.Context(), []string{"gk2", endpoint}); err == nil || !strings.Contains(err.Error(), endpoint) {
			t.Errorf("Dial(%s) error = %v, want an error that contains the endpoint", endpoint, err)
		}
	}
	for _, endpoint := range []string{"gk1", "gk1:7420", "::1", "[::1]:7420", "dns:///gk1:7420", "unix:/run/gk"} {
		c, err := Dial(t.Context(), []string{endpoint})
		if err != nil {
			t.Errorf("Dial(%s) error = %v", endpoint, err)
			continue
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An ended context must not count as an outage. Otherwise, a job with OutageRunUnguarded would run without a permit
// just because its caller's context has ended.
func TestCalls_ContextHasEnded_IsNotAnOutage(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.client.Semaphore("export").TryAcquire(ctx)
		if !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnavailable) {
			t.Errorf("TryAcquire() error = %v, want context.Canceled", err)
		}
		if _, err := s.client.Permits().Verify(ctx, nil); !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnavailable) {
			t.Errorf("Verify() error = %v, want context.Canceled", err)
		}
	})
}

func TestRunner_JobReturnsRightAfterLoss_ReportsNoOverrun(t *testing.T) {
	for range 50 {
		withHarness(t, func(t *testing.T, s *harness) {
			r := s.runner(func(ctx context.Context) error {
				p := PermitOf(ctx)
				p.renewer.mu.Lock()
				p.renewer.end(p, ErrLost)
				p.renewer.mu.Unlock()
				<-ctx.Done()
				synctest.Wait() // wait for the run's watcher to handle the end of the permit and its context
				return ctx.Err()
			})
			if err := r.Run(t.Context()); !errors.Is(err, ErrLost) {
				t.Errorf("Run() = %v, want ErrLost", err)
			}
			s.wantHooks("granted", "lost", "finished")
		})
	}
}

func TestRouter_AfterFailedRound_FollowsHintFromOlderTerm(t *testing.T) {
	r := &router{endpoints: []string{"a", "b"}, term: 9}
	if r.follow("a", leaderHint{address: "b", term: 2}) {
		t.Error("follow() = true, want false for a hint from an older term")
	}
	r.forget()
	if !r.follow("a", leaderHint{address: "b", term: 2}) {
		t.Error("follow() = false after forget, want true")
	}
}

func TestTryAcquire_ZeroWeight_IsRefused(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		_, err := s.client.Semaphore("export").TryAcquire(t.Context(), WithWeight(0))
		if e, ok := errors.AsType[*InvalidFieldError](err); !ok || e.Field != "weight" || e.Error() == "" {
			t.Errorf("TryAcquire() error = %v, want *InvalidFieldError for weight", err)
		}
	})
}
