package keeper

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// mustReacquire makes a call by an identity that already holds a permit, and returns the new permit.
func (w *world) mustReacquire(call *AcquireCall, supersedes uint64) *semaphore.Permit {
	w.t.Helper()
	a := w.tryAcquire(call)
	if a.Outcome != semaphore.Reacquired || a.Superseded != supersedes || a.Permit.Token <= supersedes {
		w.t.Fatalf("TryAcquire() by %s = %+v, want it to supersede token %d", call.Identity.Acquirer, a, supersedes)
	}
	synctest.Wait()
	return a.Permit
}

func (w *world) cancel(host, requestID string) fsm.CancelResult {
	w.t.Helper()
	r, err := w.Cancel(context.Background(), "job", semaphore.Identity{Group: "prod", Acquirer: host}, requestID)
	if err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	return r
}

// wantFreeAfter checks that the slot is still taken after d, and free soon afterwards.
func (w *world) wantFreeAfter(d time.Duration) {
	w.t.Helper()
	w.sleep(d)
	w.wantDenied(newCall("other", "1"), semaphore.NoFreePermit)
	w.sleep(3 * semaphore.Grace(time.Minute))
	w.mustAcquire(newCall("other", "2"))
}

func TestReacquire_AnotherRequest_SupersedesTheToken(t *testing.T) {
	for name, requestID := range map[string]string{"another request id": "2", "no request id": ""} {
		t.Run(name, func(t *testing.T) {
			inUpgradedWorld(t, func(w *world) {
				w.define("job", nil)
				first := w.mustAcquire(newCall("a", "1"))
				l := w.follow(first.Token)
				defer l.Close()
				w.sleep(10 * time.Second)
				second := w.mustReacquire(newCall("a", requestID), first.Token)
				if second.GrantedNanos != first.GrantedNanos || second.GrantedRevision != first.GrantedRevision {
					t.Errorf("permit = %+v, want the grant time and revision of %+v", second, first)
				}
				if n := w.notice(l); n.Status != StatusLost || n.SupersededBy != second.Token {
					t.Errorf("notice to the old holder = %+v, want lost and superseded", n)
				}
				if r := w.wantStatus(first.Token, StatusLost); r.SupersededBy != second.Token {
					t.Errorf("refresh of the old token = %+v, want superseded", r)
				}
				w.wantStatus(second.Token, StatusRefreshed)
				// Late calls from the old holder change nothing, and report that its token was superseded.
				r, err := w.Release(context.Background(), fsm.Release{Token: first.Token, Job: semaphore.JobDone}, semaphore.Owner{})
				if err != nil || r.Released || r.Ended == nil || r.Ended.Outcome != semaphore.EndSuperseded {
					t.Errorf("Release() of the old token = %+v, %v, want superseded", r, err)
				}
				if r := w.cancel("a", "1"); r.ReturnedPermit != nil || r.Ended == nil || r.Ended.Outcome != semaphore.EndSuperseded {
					t.Errorf("Cancel() of the old request = %+v, want superseded", r)
				}
				var ended *RequestEndedError
				if _, err := w.TryAcquire(context.Background(), newCall("a", "1")); !errors.As(err, &ended) {
					t.Errorf("retry of the old request: got %v, want RequestEndedError", err)
				}
				w.wantStatus(second.Token, StatusRefreshed)
			})
		})
	}
}

// The process that holds the old token may still rely on it. However the new token ends, the slot cools until the old
// token's deadline.
func TestReacquire_NewTokenEnds_CoolsUntilOldDeadline(t *testing.T) {
	for name, end := range map[string]func(w *world, p *semaphore.Permit){
		"release": func(w *world, p *semaphore.Permit) { w.release(p.Token) },
		"cancel":  func(w *world, _ *semaphore.Permit) { w.cancel("a", "2") },
		"abandonment": func(w *world, p *semaphore.Permit) {
			w.lessor.Abandon(w.term, p.Token)
			synctest.Wait()
		},
		"release in the next epoch": func(w *world, p *semaphore.Permit) {
			w.demote()
			w.promote(w.term + 1)
			w.release(p.Token)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inUpgradedWorld(t, func(w *world) {
				w.define("job", nil)
				first := w.mustAcquire(newCall("a", "1"))
				w.sleep(20 * time.Second)
				w.wantStatus(first.Token, StatusRefreshed) // relied on for a minute from here
				w.sleep(10 * time.Second)
				second := w.mustReacquire(newCall("a", "2"), first.Token)
				left := 50 * time.Second
				if name == "release in the next epoch" {
					left = time.Minute
				}
				end(w, second)
				if p := w.machine.State().Permit(second.Token); p == nil || p.State != semaphore.Cooling {
					t.Fatalf("permit = %+v, want it cooling", p)
				}
				w.wantFreeAfter(left)
			})
		})
	}
}

func TestReacquire_ReplacesToken_ReleaseFreesImmediately(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		first := w.mustAcquire(newCall("a", "1"))
		again := newCall("a", "2")
		again.ReplacesToken = first.Token
		second := w.mustReacquire(again, first.Token)
		w.release(second.Token)
		w.mustAcquire(newCall("b", "1"))
	})
	inUpgradedWorld(t, func(w *world) { // ReplacesToken applies only to the token it names
		w.define("job", nil)
		first := w.mustAcquire(newCall("a", "1"))
		second := w.mustReacquire(newCall("a", "2"), first.Token)
		again := newCall("a", "3")
		again.ReplacesToken = second.Token
		third := w.mustReacquire(again, second.Token)
		w.release(third.Token)
		w.wantFreeAfter(time.Minute)
	})
}

func TestReacquire_ReleaseInFlight_IsGrantedAfterRelease(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		first := w.mustAcquire(newCall("a", "1"))
		w.tape.hold()
		released := w.startRelease(first.Token)
		answers := make(chan Answer, 1)
		go w.sendAnswer(newCall("a", "2"), answers)
		synctest.Wait()
		w.tape.releaseHeld()
		if err := <-released; err != nil {
			t.Fatal(err)
		}
		a := <-answers
		if a.Outcome != semaphore.Granted || a.Permit.Token == first.Token {
			t.Fatalf("acquire after the release = %+v, want a new permit", a)
		}
		w.wantDenied(newCall("b", "1"), semaphore.NoFreePermit)
	})
}

func TestReacquire_WithFiring_IsDenied(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		first, again := newCall("a", "1"), newCall("a", "2")
		first.Firing, again.Firing = &semaphore.Firing{Name: "f"}, &semaphore.Firing{Name: "f"}
		p := w.mustAcquire(first)
		d := w.wantDenied(again, semaphore.FiringClaimed)
		if d.Decision.Claim == nil || d.Decision.Claim.Winner != p.Identity || d.RetryAfter <= 0 {
			t.Errorf("denial = %+v, want the claim of the same permit", d)
		}
	})
}

func TestReacquire_MaxHoldAndMinHold_CountFromTheGrant(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.MinHold, d.MaxHold = 50*time.Second, 90*time.Second })
		first := w.mustAcquire(newCall("a", "1"))
		w.sleep(40 * time.Second)
		again := newCall("a", "2")
		again.ReplacesToken = first.Token
		second := w.mustReacquire(again, first.Token)
		w.sleep(49 * time.Second)
		w.wantStatus(second.Token, StatusRefreshed)
		w.sleep(2 * time.Second)
		w.wantStatus(second.Token, StatusStopping)
	})
}

// Cancelling a request that has already been granted does not shorten min_hold.
func TestCancel_GrantedRequest_KeepsMinHold(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.MinHold = 30 * time.Second })
		w.mustAcquire(newCall("a", "1"))
		w.sleep(10 * time.Second)
		if r := w.cancel("a", "1"); r.ReturnedPermit == nil {
			t.Fatalf("Cancel() = %+v, want ReturnedPermit", r)
		}
		w.wantFreeAfter(20 * time.Second)
	})
}

func TestReleaseAndRefresh_ByAnotherIdentity_AreRefused(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		other := semaphore.Identity{Group: "prod", Acquirer: "b"}
		if _, err := w.Release(context.Background(), fsm.Release{Token: p.Token, Job: semaphore.JobDone}, semaphore.Owner{Identity: &other}); !errors.Is(err, ErrRefused) {
			t.Errorf("Release() by another identity: got %v, want ErrRefused", err)
		}
		w.sleep(30 * time.Second)
		r, err := w.Refresh(context.Background(), time.Now(), semaphore.Owner{Identity: &other}, []TokenRefresh{{Token: p.Token}})
		if err != nil || r[0].Status != StatusLost {
			t.Errorf("Refresh() by another identity = %+v, %v, want lost", r, err)
		}
		w.sleep(32 * time.Second)
		if w.isLive(p.Token) {
			t.Error("the refresh by another identity moved the deadline")
		}
	})
}

// inWorldWithHook is like inUpgradedWorld, but with a hook: a function passed to beforeEvent runs once, after the next
// grant is published and before its event is delivered. It runs in the first subscriber.
func inWorldWithHook(t *testing.T, test func(w *world, beforeEvent func(func()))) {
	t.Helper()
	var hook func()
	inWorldWith(t, func() *fsm.Machine {
		m := fsm.New("test")
		m.Subscribe(func(a fsm.Applied) {
			for i := range a.Events {
				if do := hook; a.Events[i].Kind == fsm.Granted && do != nil {
					hook = nil
					do()
				}
			}
		})
		return m
	}, func(w *world) {
		w.raiseFeatureLevel()
		test(w, func(do func()) { hook = do })
	})
}

func TestRefresh_BetweenGrantAndEvent_KeepsPermit(t *testing.T) {
	inWorldWithHook(t, func(w *world, beforeEvent func(func())) {
		w.define("job", nil)
		w.sleep(5 * time.Minute)
		w.tape.hold()
		ctx, cancel := context.WithCancel(context.Background())
		failed := make(chan error)
		go func() {
			_, err := w.TryAcquire(ctx, newCall("a", "1"))
			failed <- err
		}()
		synctest.Wait()
		cancel() // the caller disconnects before the entry is committed
		<-failed
		var token uint64
		beforeEvent(func() {
			token = w.machine.State().Own("job", newCall("a", "").Identity).Token
			w.wantStatus(token, StatusRefreshed)
		})
		w.tape.releaseHeld()
		w.sleep(59 * time.Second)
		if !w.isLive(token) {
			t.Error("the permit ended even though it had been refreshed")
		}
	})
}

func TestRefresh_BetweenTheGrantAndItsEvent_HoldBeginsNow(t *testing.T) {
	inWorldWithHook(t, func(w *world, beforeEvent func(func())) {
		w.define("job", func(d *semaphore.Definition) { d.MaxHold, d.MinHold = 2*time.Minute, time.Minute })
		w.sleep(5 * time.Minute)
		beforeEvent(func() {
			p := w.machine.State().Own("job", newCall("a", "").Identity)
			w.wantStatus(p.Token, StatusRefreshed)
			if held := w.lessor.Held(p); held != 0 {
				t.Errorf("Held() = %v, want 0", held)
			}
		})
		w.mustAcquire(newCall("a", "1"))
	})
}

// A client that does not read its notices must not fill the leader's memory.
func TestNotices_ClientDoesNotRead_AreBounded(t *testing.T) {
	inWorld(t, func(w *world) {
		l := w.Listen()
		defer l.Close()
		for token := range uint64(3 * maxNotices) {
			l.push(TokenResult{Token: token, Status: StatusLost})
		}
		n := 0
		for batch := range l.Notices() {
			n += len(batch)
		}
		if n > maxNotices+1 {
			t.Errorf("got %d notices, want at most %d and the end of the stream", n, maxNotices)
		}
	})
}
