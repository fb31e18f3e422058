package client

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// drains makes a server answer as during a drain of token 7 that ends at that time: refreshes are granted, with the
// order to stop, and after it refused.
func drains(until time.Time, duration time.Duration) func(*gatekeeperv1.KeepAliveRequest) (*gatekeeperv1.KeepAliveResponse, error) {
	return func(r *gatekeeperv1.KeepAliveRequest) (*gatekeeperv1.KeepAliveResponse, error) {
		answer := drainNotice(time.Until(until))
		if time.Now().Before(until) {
			answer.Status, answer.Duration = gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED, durationpb.New(duration)
		} else {
			answer.DrainLeft = nil
		}
		return &gatekeeperv1.KeepAliveResponse{Frame: r.GetFrame(), Results: []*gatekeeperv1.TokenResult{answer}}, nil
	}
}

func drainNotice(left time.Duration) *gatekeeperv1.TokenResult {
	n := result(7, gatekeeperv1.RefreshStatus_REFRESH_STATUS_STOPPING, gatekeeperv1.StopCause_STOP_CAUSE_NO_LONGER_ADMITTED, "moving house")
	n.DrainLeft = durationpb.New(left)
	return n
}

// draining begins a drain of 2 min, 12 s after the grant of a permit of 10 s, with or without a notice.
func draining(t *testing.T, notice bool) (a *server, p *Permit, ends time.Time) {
	w := newCluster(t, "a")
	a = w.servers["a"]
	p = held(t, w.dial([]string{"a"}), a, 10*time.Second)
	pass(12 * time.Second)
	ends = time.Now().Add(2 * time.Minute)
	a.set(func(s *server) { s.keep = drains(ends, 10*time.Second) })
	if notice {
		a.notify(drainNotice(2 * time.Minute))
	} else {
		pass(4 * time.Second)
	}
	synctest.Wait()
	return a, p, ends
}

func TestDrain_NoticeOrResult_EndsTheContextAtOnceAndSaysForHowLong(t *testing.T) {
	for name, notice := range map[string]bool{"notice": true, "the notice was missed": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, p, ends := draining(t, notice)
				stop, ok := errors.AsType[*StopError](ended(p))
				if !ok || !errors.Is(stop, ErrMoved) || !errors.Is(stop, ErrStopped) || stop.Message != "moving house" {
					t.Fatalf("cause %v", ended(p))
				}
				if stop.Drain > 2*time.Minute || stop.Drain < 115*time.Second {
					t.Errorf("a drain of %s", stop.Drain)
				}
				// Conservatively: by the clock that may differ, and from before the frame that was answered.
				if early := ends.Sub(stop.Until); early < 2*time.Second || early > 7*time.Second {
					t.Errorf("it is to have stopped %s before the drain ends", early)
				}
				if early := ends.Sub(p.DrainUntil()); early < 2*time.Second || early > 3*time.Second {
					t.Errorf("the drain ends %s before it does", early)
				}
				if left := time.Until(p.SafeUntil()); left > 10*time.Second || !p.Held() {
					t.Errorf("believes for %s, by the drain", left)
				}
			})
		})
	}
}

func TestDrain_PermitIsKeptAliveUntilItEndsAndBelievedUntilItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, p, ends := draining(t, true)
		for time.Now().Before(ends) {
			if !p.Held() {
				t.Fatalf("lost %s before the drain ends", time.Until(ends))
			}
			// What may not be cut short is asked for on a separate context: the job's has ended.
			if err := p.Ensure(t.Context(), 5*time.Second); err != nil && time.Now().Before(p.DrainUntil()) {
				t.Fatal(err)
			}
			pass(time.Second)
		}
		if err := p.Ensure(p.Context(), time.Millisecond); !errors.Is(err, ErrMoved) {
			t.Errorf("on the job's own context: %v", err)
		}
		if err := p.Refresh(t.Context()); !errors.Is(err, ErrMoved) {
			t.Errorf("refresh after the drain: %v", err)
		}
		deadline, frames := p.SafeUntil(), get(a, func(s *server) int { return len(s.frames) })
		if !p.DrainUntil().IsZero() {
			t.Error("the drain goes on")
		}
		<-p.Done()
		if !time.Now().Equal(deadline) || deadline.After(ends.Add(10*time.Second)) {
			t.Errorf("belief ended %s after the drain", time.Since(ends))
		}
		if n := get(a, func(s *server) int { return len(s.frames) }); n != frames {
			t.Errorf("asked %d times more after the refusal", n-frames)
		}
	})
}

func TestDrain_NoticeWithoutAnAnswer_MovesNoDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a")
		p := held(t, w.dial([]string{"a"}), w.servers["a"], 10*time.Second)
		pass(2 * time.Second)
		w.servers["a"].refreshNothing()
		before := p.SafeUntil()
		w.servers["a"].notify(drainNotice(time.Hour))
		synctest.Wait()
		if after := p.SafeUntil(); ended(p) == nil || !after.Equal(before) {
			t.Errorf("the notice moved the deadline by %s", after.Sub(before))
		}
		<-p.Done()
		if !time.Now().Equal(before) {
			t.Errorf("belief ended %s after the deadline", time.Since(before))
		}
	})
}

func TestDrain_TakenBack_TheContextStaysEndedAndThePermitAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, p, ends := draining(t, true)
		a.answers(refreshed(7, 10*time.Second))
		pass(time.Until(ends) + time.Minute)
		if !errors.Is(ended(p), ErrMoved) || !p.Held() || !p.DrainUntil().IsZero() {
			t.Errorf("cause %v, held %v, drain until %s", ended(p), p.Held(), p.DrainUntil())
		}
		if err := p.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestDrain_CutShort_IsNoMoreThanARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, p, _ := draining(t, true)
		a.notify(result(7, gatekeeperv1.RefreshStatus_REFRESH_STATUS_STOPPING, gatekeeperv1.StopCause_STOP_CAUSE_CORDONED, "fire"))
		synctest.Wait()
		if !p.DrainUntil().IsZero() || !errors.Is(ended(p), ErrMoved) || !p.Held() {
			t.Errorf("drain until %s, cause %v, held %v", p.DrainUntil(), ended(p), p.Held())
		}
	})
}

func TestRunner_JobUsesItsDrain_IsNoErrorAndNotReported(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		time.AfterFunc(3*time.Second, func() {
			ends := time.Now().Add(time.Minute)
			s.a.set(func(srv *server) { srv.keep = drains(ends, 10*time.Second) })
			s.a.notify(drainNotice(time.Minute))
		})
		err := s.runner(func(ctx context.Context) error {
			<-ctx.Done()
			pass(50 * time.Second) // the item that it is at
			return nil
		}).Run(t.Context())
		if err != nil {
			t.Error(err)
		}
		s.wantTold("granted", "lost", "finished")
		s.wantReleased(doneOutcome)
	})
}

func TestRunner_JobIgnoresItsDrain_IsReportedAtItsEndAndWhenThePermitIsGone(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		var ends time.Time
		time.AfterFunc(3*time.Second, func() {
			ends = time.Now().Add(time.Minute)
			s.a.set(func(srv *server) { srv.keep = drains(ends, 10*time.Second) })
			s.a.notify(drainNotice(time.Minute))
		})
		var at []time.Duration
		late := WithHooks(Hooks{Overrun: func(context.Context, Overrun) { at = append(at, time.Since(ends)) }})
		err := s.runner(func(context.Context) error { pass(5 * time.Minute); return nil }, late).Run(t.Context())
		if !errors.Is(err, ErrLost) || !errors.Is(err, ErrMoved) {
			t.Errorf("%v", err)
		}
		s.wantTold("granted", "lost", "overrun", "overrun", "finished")
		if s.over[0].Gone || !s.over[1].Gone || at[0] < -time.Second || at[0] > 0 || at[1] <= 0 || at[1] > 10*time.Second {
			t.Errorf("got %v after the drain: %+v", at, s.over)
		}
	})
}

func TestProgress_IsToldWithEachRefreshFromTheFirstCallOn(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := held(t, c, a, 10*time.Second)
		since := func() *durationpb.Duration {
			if err := p.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			return get(a, func(s *server) *durationpb.Duration {
				return s.frames[len(s.frames)-1].message.GetTokens()[0].GetSinceProgress()
			})
		}
		pass(3 * time.Second)
		if d := since(); d != nil {
			t.Errorf("a job that never said so makes progress: %s", d.AsDuration())
		}
		p.Progress()
		pass(4 * time.Second)
		if d := since(); d.AsDuration() != 4*time.Second {
			t.Errorf("progress %s ago, want 4 s", d.AsDuration())
		}
		p.Progress()
		if d := since(); d == nil || d.AsDuration() != 0 {
			t.Errorf("progress %s ago", d.AsDuration())
		}
	})
}

func TestProgress_StallLimit_IsToldFromTheGrantOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a")
		p := held(t, w.dial([]string{"a"}), w.servers["a"], 10*time.Second, WithStallLimit(time.Hour))
		pass(2 * time.Second)
		if err := p.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		frames := get(w.servers["a"], func(s *server) []sentFrame { return s.frames })
		if d := frames[len(frames)-1].message.GetTokens()[0].GetSinceProgress(); d.AsDuration() != 2*time.Second {
			t.Errorf("progress %s ago, want 2 s", d.AsDuration())
		}
	})
}
