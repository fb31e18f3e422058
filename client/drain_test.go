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

// drains returns a keepAlive hook for a server that is draining token 7. Until the given time, it grants refreshes
// along with a stop order. After that, it refuses them.
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
	n := result(7, gatekeeperv1.RefreshStatus_REFRESH_STATUS_STOPPING, gatekeeperv1.StopCause_STOP_CAUSE_NO_LONGER_ADMITTED, "moving to dr-site")
	n.DrainLeft = durationpb.New(left)
	return n
}

// draining returns a 10 s permit and the time when its 2 min drain ends. The drain starts 12 s after the grant. The
// server reports it in a notice if notice is set, and otherwise in the response to the next refresh.
func draining(t *testing.T, notice bool) (a *server, p *Permit, ends time.Time) {
	w := newCluster(t, "a")
	a = w.servers["a"]
	p = acquireFrom(t, w.dial([]string{"a"}), a, 10*time.Second)
	pass(12 * time.Second)
	ends = time.Now().Add(2 * time.Minute)
	a.set(func(s *server) { s.keepAlive = drains(ends, 10*time.Second) })
	if notice {
		a.notify(drainNotice(2 * time.Minute))
	} else {
		pass(4 * time.Second)
	}
	synctest.Wait()
	return a, p, ends
}

func TestDrain_NoticeOrResult_EndsContextAndReportsDrain(t *testing.T) {
	for name, notice := range map[string]bool{"notice": true, "missed notice": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, p, ends := draining(t, notice)
				stop, ok := errors.AsType[*StopError](endCause(p))
				if !ok || !errors.Is(stop, ErrMoved) || !errors.Is(stop, ErrStopped) || stop.Message != "moving to dr-site" {
					t.Fatalf("context cause = %v, want ErrMoved", endCause(p))
				}
				if stop.Drain > 2*time.Minute || stop.Drain < 115*time.Second {
					t.Errorf("Drain = %s, want 2m", stop.Drain)
				}
				// Both times are conservative: they allow for clock drift and are measured from before the frame was
				// sent.
				if early := ends.Sub(stop.Until); early < 2*time.Second || early > 7*time.Second {
					t.Errorf("StopError.Until is %s before the end of the drain, want 2s to 7s", early)
				}
				if early := ends.Sub(p.DrainUntil()); early < 2*time.Second || early > 3*time.Second {
					t.Errorf("DrainUntil() is %s before the end of the drain, want 2s to 3s", early)
				}
				if left := time.Until(p.SafeUntil()); left > 10*time.Second || !p.Held() {
					t.Errorf("SafeUntil() is %s away, want at most 10s despite the drain", left)
				}
			})
		})
	}
}

func TestDrain_Permit_IsRefreshedDuringDrainAndHeldUntilDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, p, ends := draining(t, true)
		for time.Now().Before(ends) {
			if !p.Held() {
				t.Fatalf("permit was lost %s before the end of the drain", time.Until(ends))
			}
			// Ensure needs a separate context, because the job's context has ended.
			if err := p.Ensure(t.Context(), 5*time.Second); err != nil && time.Now().Before(p.DrainUntil()) {
				t.Fatal(err)
			}
			pass(time.Second)
		}
		if err := p.Ensure(p.Context(), time.Millisecond); !errors.Is(err, ErrMoved) {
			t.Errorf("Ensure() with the job's context = %v, want ErrMoved", err)
		}
		if err := p.Refresh(t.Context()); !errors.Is(err, ErrMoved) {
			t.Errorf("Refresh() after the drain = %v, want ErrMoved", err)
		}
		deadline, frames := p.SafeUntil(), get(a, func(s *server) int { return len(s.frames) })
		if !p.DrainUntil().IsZero() {
			t.Error("DrainUntil() is set after the drain")
		}
		<-p.Done()
		if !time.Now().Equal(deadline) || deadline.After(ends.Add(10*time.Second)) {
			t.Errorf("permit ended %s after the drain, want at its deadline", time.Since(ends))
		}
		if n := get(a, func(s *server) int { return len(s.frames) }); n != frames {
			t.Errorf("sent %d more frames after the refusal, want 0", n-frames)
		}
	})
}

func TestDrain_NoticeWithoutRefresh_DoesNotMoveDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a")
		p := acquireFrom(t, w.dial([]string{"a"}), w.servers["a"], 10*time.Second)
		pass(2 * time.Second)
		w.servers["a"].ignoreFrames()
		before := p.SafeUntil()
		w.servers["a"].notify(drainNotice(time.Hour))
		synctest.Wait()
		if after := p.SafeUntil(); endCause(p) == nil || !after.Equal(before) {
			t.Errorf("notice moved the deadline by %s, want 0s", after.Sub(before))
		}
		<-p.Done()
		if !time.Now().Equal(before) {
			t.Errorf("permit ended %s after the deadline, want 0s", time.Since(before))
		}
	})
}

func TestDrain_Withdrawn_KeepsPermitButNotContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, p, ends := draining(t, true)
		a.respondWith(refreshed(7, 10*time.Second))
		pass(time.Until(ends) + time.Minute)
		if !errors.Is(endCause(p), ErrMoved) || !p.Held() || !p.DrainUntil().IsZero() {
			t.Errorf("cause = %v, Held() = %v, DrainUntil() = %s; want ErrMoved, true and zero", endCause(p), p.Held(), p.DrainUntil())
		}
		if err := p.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestDrain_CutShort_KeepsThePermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, p, _ := draining(t, true)
		a.notify(result(7, gatekeeperv1.RefreshStatus_REFRESH_STATUS_STOPPING, gatekeeperv1.StopCause_STOP_CAUSE_CORDONED, "fire"))
		synctest.Wait()
		if !p.DrainUntil().IsZero() || !errors.Is(endCause(p), ErrMoved) || !p.Held() {
			t.Errorf("DrainUntil() = %s, cause = %v, Held() = %v; want zero, ErrMoved and true", p.DrainUntil(), endCause(p), p.Held())
		}
	})
}

func TestRunner_JobFinishesDuringDrain_ReturnsNilWithoutOverrun(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		time.AfterFunc(3*time.Second, func() {
			ends := time.Now().Add(time.Minute)
			s.a.set(func(srv *server) { srv.keepAlive = drains(ends, 10*time.Second) })
			s.a.notify(drainNotice(time.Minute))
		})
		err := s.runner(func(ctx context.Context) error {
			<-ctx.Done()
			pass(50 * time.Second) // the job finishes its current item
			return nil
		}).Run(t.Context())
		if err != nil {
			t.Error(err)
		}
		s.wantHooks("granted", "lost", "finished")
		s.wantReleased(doneOutcome)
	})
}

func TestRunner_JobIgnoresDrain_ReportsOverrunAtDrainEndAndExpiry(t *testing.T) {
	withHarness(t, func(t *testing.T, s *harness) {
		var ends time.Time
		time.AfterFunc(3*time.Second, func() {
			ends = time.Now().Add(time.Minute)
			s.a.set(func(srv *server) { srv.keepAlive = drains(ends, 10*time.Second) })
			s.a.notify(drainNotice(time.Minute))
		})
		var at []time.Duration
		late := WithHooks(Hooks{Overrun: func(context.Context, Overrun) { at = append(at, time.Since(ends)) }})
		err := s.runner(func(context.Context) error { pass(5 * time.Minute); return nil }, late).Run(t.Context())
		if !errors.Is(err, ErrLost) || !errors.Is(err, ErrMoved) {
			t.Errorf("Run() = %v, want ErrLost and ErrMoved", err)
		}
		s.wantHooks("granted", "lost", "overrun", "overrun", "finished")
		if s.overruns[0].Gone || !s.overruns[1].Gone || at[0] < -time.Second || at[0] > 0 || at[1] <= 0 || at[1] > 10*time.Second {
			t.Errorf("overruns were reported %v after the drain: %+v; want one when it ends, and one with Gone up to 10s later", at, s.overruns)
		}
	})
}

func TestProgress_AfterFirstCall_IsSentWithEveryRefresh(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, 10*time.Second)
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
			t.Errorf("SinceProgress = %s, want none before the first call to Progress", d.AsDuration())
		}
		p.Progress()
		pass(4 * time.Second)
		if d := since(); d.AsDuration() != 4*time.Second {
			t.Errorf("SinceProgress = %s, want 4s", d.AsDuration())
		}
		p.Progress()
		if d := since(); d == nil || d.AsDuration() != 0 {
			t.Errorf("SinceProgress = %s, want 0s", d.AsDuration())
		}
	})
}

func TestProgress_StallLimit_CountsFromTheGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a")
		p := acquireFrom(t, w.dial([]string{"a"}), w.servers["a"], 10*time.Second, WithStallLimit(time.Hour))
		pass(2 * time.Second)
		if err := p.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		frames := get(w.servers["a"], func(s *server) []sentFrame { return s.frames })
		if d := frames[len(frames)-1].message.GetTokens()[0].GetSinceProgress(); d.AsDuration() != 2*time.Second {
			t.Errorf("SinceProgress = %s, want 2s", d.AsDuration())
		}
	})
}
