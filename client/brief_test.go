package client

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// changeDuration makes the server return a different duration for every refresh after the given time.
func (s *harness) changeDuration(after, to time.Duration) {
	start := time.Now()
	s.a.setKeepAlive(func(r *gatekeeperv1.KeepAliveRequest) (*gatekeeperv1.KeepAliveResponse, error) {
		duration := 10 * time.Second
		if time.Since(start) > after {
			duration = to
		}
		out := &gatekeeperv1.KeepAliveResponse{Frame: r.GetFrame()}
		for _, token := range r.GetTokens() {
			out.Results = append(out.Results, refreshed(token.GetToken(), duration))
		}
		return out, nil
	})
}

func TestShorterDuration_EnoughForStopTime_DoesNotStopJob(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		s.changeDuration(10*time.Second, 4*time.Second)
		p := acquire(t, s.client.Semaphore("export", WithStopTime(2*time.Second)))
		pass(time.Minute)
		if p.Context().Err() != nil || !p.Held() || p.Duration() != 4*time.Second {
			t.Errorf("cause = %v, Held() = %t, Duration() = %s; want a live permit with a duration of 4s", context.Cause(p.Context()), p.Held(), p.Duration())
		}
	})
}

func TestShorterDuration_TooShortForStopTime_StopsWithStopTimeError(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		s.changeDuration(10*time.Second, 4*time.Second)
		p := acquire(t, s.client.Semaphore("export", WithStopTime(3*time.Second)))
		<-p.Context().Done()
		cause := context.Cause(p.Context())
		stopErr, ok := errors.AsType[*StopTimeError](cause)
		if !ok || stopErr.Duration != 4*time.Second || !errors.Is(cause, ErrStopped) || errors.Is(cause, ErrExpiring) || !strings.Contains(cause.Error(), "edited") {
			t.Errorf("context cause = %v, want *StopTimeError and ErrStopped", cause)
		}
		if left := time.Until(p.SafeUntil()); left < 3*time.Second {
			t.Errorf("the job has %s left to stop, want at least 3s", left)
		}
	})
}

// Runs that fail until the definition is edited are retried with backoff, and the failure is logged once.
func TestLoop_StopTimeTooLong_BacksOffAndLogsOnce(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
		defer cancel()
		sem := s.client.Semaphore("export", WithStopTime(9*time.Second))
		err := NewRunner(sem, func(context.Context) error { t.Error("the job ran"); return nil }, WithDenialPolicy(DenialSkip)).Loop(ctx)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Loop() = %v, want DeadlineExceeded", err)
		}
		requests := get(s.a, func(s *server) int { return len(s.acquired) })
		if logged := strings.Count(s.log.String(), "a run of the loop failed"); requests > 90 || requests < 20 || logged != 1 {
			t.Errorf("sent %d requests and logged %d failures, want 20 to 90 requests and one log entry", requests, logged)
		}
	})
}
