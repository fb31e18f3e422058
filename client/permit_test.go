package client

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// endCause returns the cause of the permit's context, or nil if the context has not ended.
func endCause(p *Permit) error { return context.Cause(p.Context()) }

func isDone(p *Permit) bool {
	select {
	case <-p.Done():
		return true
	default:
		return false
	}
}

// acquireFrom acquires a permit with token 7 from server a.
func acquireFrom(t *testing.T, c *Client, a *server, duration time.Duration, opts ...AcquireOption) *Permit {
	t.Helper()
	a.set(func(s *server) { s.tryAcquire, s.release = grants(7, duration), releases })
	return acquire(t, c.Semaphore("export", opts...))
}

func acquire(t *testing.T, s *Semaphore, opts ...AcquireOption) *Permit {
	t.Helper()
	return must(s.TryAcquire(t.Context(), opts...))(t)
}

func release(t *testing.T, p *Permit) {
	t.Helper()
	if err := p.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestPermit_ReachableServer_IsKeptAliveForHours(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, 10*time.Second)
		for range 3600 {
			pass(time.Second)
			if !p.Held() || endCause(p) != nil || isDone(p) {
				t.Fatalf("permit was lost: %v", endCause(p))
			}
			if left := time.Until(p.SafeUntil()); left < 6*time.Second || left > 9800*time.Millisecond {
				t.Fatalf("SafeUntil() is %s away, want 6s to 9.8s", left)
			}
		}
		frames := get(a, func(s *server) []sentFrame { return s.frames })
		if n := len(frames); n < 3600/4 || n > 3600/2 {
			t.Errorf("sent %d refreshes in an hour for a 10 s permit, want 900 to 1800", n)
		}
		if n := get(a, func(s *server) int { return s.streams }); n != 1 {
			t.Errorf("opened %d streams, want 1", n)
		}
	})
}

func TestPermit_NoServerResponds_ContextEndsAtStopTimeAndPermitAtDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a", "b")
		c := w.dial([]string{"a", "b"})
		start := time.Now()
		p := acquireFrom(t, c, w.servers["a"], 10*time.Second, WithStopTime(3*time.Second))
		w.servers["a"].down()
		w.servers["b"].down()

		<-p.Context().Done()
		if at := time.Since(start); at != 6800*time.Millisecond { // 10 s - 2% - 3 s
			t.Errorf("context ended after %s, want 6.8s", at)
		}
		stop, ok := errors.AsType[*StopError](endCause(p))
		if !ok || !errors.Is(stop, ErrExpiring) || errors.Is(stop, ErrStopped) {
			t.Errorf("context cause = %v, want ErrExpiring", endCause(p))
		}
		if left := stop.Until.Sub(start); left != 9800*time.Millisecond {
			t.Errorf("Until is %s after the grant, want 9.8s", left)
		}
		if !strings.Contains(stop.Error(), "connection refused") && !strings.Contains(stop.Error(), "down") {
			t.Errorf("context cause does not contain the connection error: %v", stop)
		}
		if !p.Held() || isDone(p) {
			t.Error("permit ended together with its context")
		}
		<-p.Done()
		if at := time.Since(start); at != 9800*time.Millisecond {
			t.Errorf("permit ended after %s, want 9.8s", at)
		}
		if p.Held() || !p.SafeUntil().IsZero() {
			t.Error("permit is held after its deadline")
		}
		if err := p.Refresh(t.Context()); !errors.Is(err, ErrExpiring) && !errors.Is(err, ErrLost) {
			t.Errorf("Refresh() after the loss = %v, want ErrExpiring or ErrLost", err)
		}
	})
}

func TestPermit_DefaultStopTime_IsAFifthAndAtMostTenSeconds(t *testing.T) {
	for duration, want := range map[time.Duration]time.Duration{10 * time.Second: 2 * time.Second, time.Hour: 10 * time.Second} {
		if got := stopTime(0, duration); got != want {
			t.Errorf("stopTime(0, %s) = %s, want %s", duration, got, want)
		}
	}
}

func TestPermit_ServerReturnsBeforeDeadline_IsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a", "b", "c")
		c := w.dial([]string{"a", "b", "c"})
		p := acquireFrom(t, c, w.servers["a"], 10*time.Second)
		for _, s := range w.servers {
			s.down()
		}
		pass(6 * time.Second)
		w.servers["c"].up()
		pass(30 * time.Second)
		if endCause(p) != nil || !p.Held() {
			t.Fatalf("permit was lost: %v", endCause(p))
		}
	})
}

func TestPermit_SilentLeader_ClientSwitchesToAnotherMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a", "b")
		c := w.dial([]string{"a", "b"})
		p := acquireFrom(t, c, w.servers["a"], 10*time.Second)
		w.servers["a"].ignoreFrames()
		pass(time.Minute)
		if endCause(p) != nil || !p.Held() {
			t.Fatalf("permit was lost: %v", endCause(p))
		}
		if n := len(get(w.servers["b"], func(s *server) []sentFrame { return s.frames })); n < 10 {
			t.Errorf("b received %d frames, want at least 10", n)
		}
	})
}

func TestPermit_SlowResponse_DeadlineCountsFromSendTime(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, 60*time.Second)
		answered := make(chan time.Time, 100)
		keep := a.keepAlive
		a.setKeepAlive(func(r *gatekeeperv1.KeepAliveRequest) (*gatekeeperv1.KeepAliveResponse, error) {
			pass(1500 * time.Millisecond)
			answered <- time.Now()
			return keep(r)
		})
		at := <-answered
		synctest.Wait()
		want := at.Add(-1500 * time.Millisecond).Add(60*time.Second - 1200*time.Millisecond)
		if got := p.SafeUntil(); !got.Equal(want) {
			t.Errorf("SafeUntil() = %s, want %s", got, want)
		}
	})
}

func TestPermit_RefusedRefresh_EndsContextImmediatelyAndPermitAtDeadline(t *testing.T) {
	causes := map[gatekeeperv1.StopCause]error{
		gatekeeperv1.StopCause_STOP_CAUSE_REVOKED:            ErrRevoked,
		gatekeeperv1.StopCause_STOP_CAUSE_DRAINED:            ErrMoved,
		gatekeeperv1.StopCause_STOP_CAUSE_NO_LONGER_ADMITTED: ErrMoved,
		gatekeeperv1.StopCause_STOP_CAUSE_TAKEN_OVER:         ErrTakenOver,
		gatekeeperv1.StopCause_STOP_CAUSE_HELD_TOO_LONG:      ErrHeldTooLong,
		gatekeeperv1.StopCause_STOP_CAUSE_PAUSED:             ErrPaused,
		gatekeeperv1.StopCause_STOP_CAUSE_CORDONED:           ErrCordoned,
	}
	for cause, want := range causes {
		t.Run(cause.String(), func(t *testing.T) {
			withServer(t, func(t *testing.T, c *Client, a *server) {
				start := time.Now()
				p := acquireFrom(t, c, a, 10*time.Second)
				a.respondWith(result(7, gatekeeperv1.RefreshStatus_REFRESH_STATUS_STOPPING, cause, "because"))
				<-p.Context().Done()
				if at := time.Since(start); at > 1200*time.Millisecond {
					t.Errorf("context ended after %s, want at most 1.2s", at)
				}
				if err := endCause(p); !errors.Is(err, want) || !errors.Is(err, ErrStopped) || !strings.Contains(err.Error(), "because") {
					t.Errorf("context cause = %v, want %v", err, want)
				}
				if err := p.Refresh(t.Context()); !errors.Is(err, want) {
					t.Errorf("Refresh() = %v, want %v", err, want)
				}
				<-p.Done()
				if at := time.Since(start); at != 9800*time.Millisecond {
					t.Errorf("permit ended after %s, want 9.8s", at)
				}
				if n := len(get(a, func(s *server) []sentFrame { return s.frames })); n != 1 {
					t.Errorf("sent %d frames, want 1", n)
				}
			})
		})
	}
}

func TestPermit_StoppingNotice_EndsContextButNotRefreshes(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, 10*time.Second)
		pass(2 * time.Second)
		a.notify(result(7, gatekeeperv1.RefreshStatus_REFRESH_STATUS_STOPPING, gatekeeperv1.StopCause_STOP_CAUSE_DRAINED, "moving"))
		synctest.Wait()
		if !errors.Is(endCause(p), ErrMoved) {
			t.Fatalf("context cause = %v, want ErrMoved", endCause(p))
		}
		pass(time.Minute)
		if !p.Held() || isDone(p) {
			t.Error("permit was lost even though its refreshes were granted")
		}
	})
}

func TestPermit_Lost_EndsImmediately(t *testing.T) {
	lost := result(7, gatekeeperv1.RefreshStatus_REFRESH_STATUS_LOST, 0, "it expired")
	for name, send := range map[string]func(*server){
		"notice": func(s *server) { s.notify(lost) },
		"result": func(s *server) { s.respondWith(lost) },
	} {
		t.Run(name, func(t *testing.T) {
			withServer(t, func(t *testing.T, c *Client, a *server) {
				p := acquireFrom(t, c, a, 30*time.Second)
				pass(1500 * time.Millisecond)
				send(a)
				<-p.Done()
				if left := time.Until(p.SafeUntil()); p.Held() || left > 0 || !errors.Is(endCause(p), ErrLost) || !strings.Contains(endCause(p).Error(), "it expired") {
					t.Errorf("Held() = %v, SafeUntil() is %s away, cause %v; want a lost permit", p.Held(), left, endCause(p))
				}
			})
		})
	}
}

func TestPermit_RetryOrMissingResult_IsRefreshedAgainSoon(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, 10*time.Second)
		keep := a.keepAlive
		n := 0
		a.setKeepAlive(func(r *gatekeeperv1.KeepAliveRequest) (*gatekeeperv1.KeepAliveResponse, error) {
			switch n++; n {
			case 1:
				return &gatekeeperv1.KeepAliveResponse{Frame: r.GetFrame(), Results: []*gatekeeperv1.TokenResult{
					result(7, gatekeeperv1.RefreshStatus_REFRESH_STATUS_RETRY, 0, "not now"),
				}}, nil
			case 2:
				return &gatekeeperv1.KeepAliveResponse{Frame: r.GetFrame()}, nil
			}
			return keep(r)
		})
		start := time.Now()
		if err := p.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); n != 3 || took > time.Second {
			t.Errorf("made %d attempts in %s, want 3 within 1s", n, took)
		}
		if left := time.Until(p.SafeUntil()); left != 9800*time.Millisecond {
			t.Errorf("SafeUntil() is %s away, want 9.8s", left)
		}
	})
}

func TestPermit_ShortenedDuration_MovesDeadlineOnceAFrameStatesIt(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, 60*time.Second)
		keep := a.keepAlive
		a.respondWith(refreshed(7, 10*time.Second))
		before := p.SafeUntil()
		if err := p.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !p.SafeUntil().Equal(before) || p.Duration() != 10*time.Second {
			t.Fatalf("first response moved the deadline by %s, want 0s; Duration() = %s, want 10s", p.SafeUntil().Sub(before), p.Duration())
		}
		// The next frame states 10 s and is not answered. From then on, the deadline must count from that frame.
		a.ignoreFrames()
		pass(3700 * time.Millisecond)
		frames := get(a, func(s *server) []sentFrame { return s.frames })
		stated := frames[1]
		if got := stated.message.GetTokens()[0].GetDuration().AsDuration(); got != 10*time.Second {
			t.Fatalf("next frame states %s, want 10s", got)
		}
		if want := stated.at.Add(9800 * time.Millisecond); p.SafeUntil().After(want) {
			t.Errorf("SafeUntil() is %s after the deadline of the stated duration, want 0s", p.SafeUntil().Sub(want))
		}
		a.set(func(s *server) { s.keepAlive = keep })
		pass(time.Minute)
		if !p.Held() {
			t.Errorf("permit was lost: %v", endCause(p))
		}
	})
}

func TestPermit_LengthenedDuration_ExtendsTheDeadline(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, 10*time.Second)
		a.respondWith(refreshed(7, time.Minute))
		if err := p.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := time.Until(p.SafeUntil()); left != 58800*time.Millisecond {
			t.Errorf("SafeUntil() is %s away, want 58.8s", left)
		}
	})
}

func TestPermit_ResponseAfterDeadline_StaysLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a")
		clock := &jumpingClock{start: time.Now()}
		c := w.dial([]string{"a"}, WithClock(clock))
		p := acquireFrom(t, c, w.servers["a"], 10*time.Second)
		keep := w.servers["a"].keepAlive
		w.servers["a"].setKeepAlive(func(r *gatekeeperv1.KeepAliveRequest) (*gatekeeperv1.KeepAliveResponse, error) {
			clock.jump(time.Hour) // the machine was suspended while the frame was in flight
			return keep(r)
		})
		if err := p.Refresh(t.Context()); !errors.Is(err, ErrLost) {
			t.Errorf("Refresh() = %v, want ErrLost", err)
		}
		if p.Held() || !isDone(p) || !errors.Is(endCause(p), ErrLost) {
			t.Errorf("Held() = %v, cause %v; want a lost permit", p.Held(), endCause(p))
		}
	})
}

func TestPermit_MachineSuspended_EndsWithinASecondOfWakingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a")
		clock := &jumpingClock{start: time.Now()}
		c := w.dial([]string{"a"}, WithClock(clock))
		p := acquireFrom(t, c, w.servers["a"], 10*time.Minute)
		w.servers["a"].down()
		pass(300 * time.Millisecond)
		clock.jump(time.Hour)
		if p.Held() {
			t.Error("Held() = true after the machine was suspended for an hour")
		}
		woke := time.Now()
		<-p.Done()
		if late := time.Since(woke); late > maxSleep {
			t.Errorf("Done was closed %s after the machine woke up, want at most %s", late, maxSleep)
		}
	})
}

// jumpingClock is the bubble's clock plus the time for which the machine was suspended.
type jumpingClock struct {
	start time.Time
	sleep atomicDuration
}

func (c *jumpingClock) Now() time.Duration   { return time.Since(c.start) + c.sleep.load() }
func (c *jumpingClock) jump(d time.Duration) { c.sleep.add(d) }

// A new leader restarts every permit with its full duration, so a release must be retried long after the deadline.
func TestRelease_FailoverOutlastsDeadline_FreesTheSlot(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, 10*time.Second)
		a.down()
		time.AfterFunc(18*time.Second, a.up) // a leader elected at 9 s keeps the permit until 19 s
		release(t, p)
		if n := len(get(a, func(s *server) []uint64 { return s.released })); n == 0 {
			t.Error("no server received the release")
		}
	})
}

func TestRelease_AfterTheDeadline_IsRetriedWhileAServerMayHoldThePermit(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, 10*time.Second)
		a.down()
		<-p.Done()
		pass(time.Second)
		time.AfterFunc(8*time.Second, a.up)
		release(t, p)
	})
}

func TestRelease_NoServerAnswers_ReturnsOnceNoServerCanHoldThePermit(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, 10*time.Second)
		a.down()
		for _, want := range []time.Duration{9800*time.Millisecond + 10400*time.Millisecond + 5*time.Second, cleanupTimeout} {
			start := time.Now()
			err := p.Release(t.Context())
			if e, ok := errors.AsType[*UnavailableError](err); !ok {
				t.Fatalf("Release() = %v (%v), want *UnavailableError", err, e)
			}
			if took := time.Since(start); took != want {
				t.Errorf("Release() took %v, want %s", took, want)
			}
		}
	})
}

func TestRelease_CallersContextEnds_ReturnsEarly(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		p := acquireFrom(t, c, a, 10*time.Second)
		a.down()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		if err := p.Release(ctx); !errors.Is(err, ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 3*time.Second {
			t.Errorf("Release() = %v after %s, want DeadlineExceeded after 3s", err, time.Since(start))
		}
	})
}
