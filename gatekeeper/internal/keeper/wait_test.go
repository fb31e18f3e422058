package keeper

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/queue"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// testWaiter is a waiting call.
type testWaiter struct {
	answer chan Answer
	err    chan error
	places []Place
	cancel context.CancelFunc
}

func (w *world) startAcquire(call *AcquireCall) *testWaiter {
	ctx, cancel := context.WithCancel(context.Background())
	tw := &testWaiter{answer: make(chan Answer, 1), err: make(chan error, 1), cancel: cancel}
	call.Received = time.Now()
	go func() {
		a, err := w.Acquire(ctx, call, func(p Place) error {
			tw.places = append(tw.places, p)
			return nil
		})
		if err != nil {
			tw.err <- err
			return
		}
		tw.answer <- a
	}()
	synctest.Wait()
	return tw
}

func (tw *testWaiter) isWaiting() bool { return len(tw.answer) == 0 && len(tw.err) == 0 }

func (w *world) release(token uint64) {
	w.t.Helper()
	if r, err := w.Release(context.Background(), fsm.Release{Token: token, Job: semaphore.JobDone}, semaphore.Owner{}); err != nil || !r.Released {
		w.t.Fatal(r, err)
	}
	synctest.Wait()
}

func TestAcquire_FirstInQueue_IsGrantedInSameEntryAsRelease(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		before := w.tape.entries()
		b, c := w.startAcquire(newCall("b", "2")), w.startAcquire(newCall("c", "3"))
		if w.tape.entries() != before {
			t.Fatal("waiting wrote a log entry")
		}
		if got := w.Waiters(func(string) bool { return true }, queue.Cursor{}, 10); len(got) != 2 || got[1].Place != 2 || got[1].Identity.Acquirer != "c" {
			t.Fatalf("Waiters() = %+v, want b and c", got)
		}
		w.wantDenied(newCall("d", "4"), semaphore.NoFreePermit)
		w.release(p.Token)
		a := <-b.answer
		if a.Outcome != semaphore.Granted || !c.isWaiting() {
			t.Fatalf("Acquire() by b = %+v, c is waiting: %v; want granted, true", a, c.isWaiting())
		}
		if n := w.tape.entries() - before; n != 1 {
			t.Fatalf("the release and the grant took %d entries, want 1", n)
		}
		w.release(a.Permit.Token)
		c.wantGranted(t)
	})
}

func TestAcquire_Waited_ExcludesHandover(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		b := w.startAcquire(newCall("b", "2"))
		w.sleep(20 * time.Second)
		w.release(p.Token)
		if a := <-b.answer; a.Waited < 20*time.Second || a.Waited > 20*time.Second+time.Millisecond {
			t.Fatalf("Waited = %v, want 20s", a.Waited)
		}
	})
}

func TestAcquire_HolderExpires_WaiterIsGranted(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.mustAcquire(newCall("a", "1"))
		w.sleep(30 * time.Second)
		b := w.startAcquire(newCall("b", "2"))
		w.sleep(31 * time.Second)
		if b.isWaiting() {
			t.Fatal("the waiter is still waiting")
		}
	})
}

func TestAcquire_LightCaller_DoesNotOvertakeHeavyWaiter(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 3 })
		p := w.mustAcquire(newCall("a", "1"))
		w.mustAcquire(newCall("z", "9"))
		heavy := newCall("b", "2")
		heavy.Weight = 2
		b := w.startAcquire(heavy)
		w.wantDenied(newCall("c", "3"), semaphore.NoFreePermit) // one permit is free, but a waiter is ahead
		c := w.startAcquire(newCall("c", "4"))
		if !c.isWaiting() {
			t.Fatal("a light waiter overtook a heavy one")
		}
		w.release(p.Token)
		if b.isWaiting() || !c.isWaiting() {
			t.Fatal("the heavy waiter was not served first")
		}
		tooHeavy := newCall("d", "5")
		tooHeavy.Weight = 4
		w.wantDenied(tooHeavy, semaphore.WeightExceedsPermits)
		w.define("job", func(d *semaphore.Definition) { d.Permits = 0 })
		if a := <-c.answer; a.Denial.Decision.Reason != semaphore.WeightExceedsPermits {
			t.Fatalf("Acquire() by c = %+v, want a denial because of its weight", a)
		}
	})
}

// A denial caused by a waiter reports a queue length of at least 1, even if the queue is empty by the time it is
// returned.
func TestTryAcquire_QueueEmptiesBeforeAnswer_ReportsWaiter(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 2 })
		w.mustAcquire(newCall("a", "1"))
		heavy := newCall("b", "2")
		heavy.Weight = 2
		b := w.startAcquire(heavy)
		w.lead.set(func(context.Context, uint64, time.Time) error {
			w.lead.set(nil)
			w.Cancel(context.Background(), "job", heavy.Identity, heavy.RequestID)
			return nil
		})
		d := w.wantDenied(newCall("c", "3"), semaphore.NoFreePermit)
		synctest.Wait()
		if b.isWaiting() {
			t.Fatal("the waiter is still waiting")
		}
		if d.QueueLength != 1 || d.HolderCount != 1 {
			t.Fatalf("denial reports %d waiters and %d holders, want 1 and 1", d.QueueLength, d.HolderCount)
		}
	})
}

func TestAcquire_EditShutsOutWaiter_IsDenied(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.mustAcquire(newCall("a", "1"))
		b := w.startAcquire(newCall("b", "2"))
		w.define("job", func(d *semaphore.Definition) { d.AcquirerPattern = "a" })
		if a := <-b.answer; a.Denial.Decision.Reason != semaphore.AcquirerMismatch {
			t.Fatalf("Acquire() by b = %+v, want a denial because of the acquirer pattern", a)
		}
	})
}

func TestAcquire_MorePermits_WaiterIsGranted(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.mustAcquire(newCall("a", "1"))
		b := w.startAcquire(newCall("b", "2"))
		w.define("job", func(d *semaphore.Definition) { d.Permits = 2 })
		b.wantGranted(t)
	})
}

func TestAcquire_CallReachesMaxWait_PlaceIsKeptForRetry(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		l := w.Listen()
		defer l.Close()
		b := w.startAcquire(newCall("b", "2"))
		c := w.startAcquire(newCall("c", "3"))
		for range 3 {
			w.sleep(20 * time.Second)
			w.wantStatus(p.Token, StatusRefreshed)
		}
		if a := <-b.answer; a.Repeat == nil || a.Repeat.Place != 1 {
			t.Fatalf("Acquire() by b = %+v, want a request to retry", a)
		}
		<-c.answer
		c = w.startAcquire(newCall("c", "3"))
		b = w.startAcquire(newCall("b", "2"))
		w.release(p.Token)
		if b.isWaiting() || !c.isWaiting() {
			t.Fatal("b did not keep its place")
		}
		c.leave(t)
	})
}

func TestAcquire_DisconnectedWaiter_DelaysNobody(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		b, c := w.startAcquire(newCall("b", "2")), w.startAcquire(newCall("c", "3"))
		b.cancel()
		wantErr(t, <-b.err, context.Canceled)
		w.release(p.Token)
		c.wantGranted(t)
		w.sleep(10 * time.Second)
		w.wantWaiters(0)
	})
}

func TestAcquire_Cancelled_LeavesTheQueue(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.mustAcquire(newCall("a", "1"))
		b := w.startAcquire(newCall("b", "2"))
		if _, err := w.Cancel(context.Background(), "job", newCall("b", "2").Identity, "2"); err != nil {
			t.Fatal(err)
		}
		wantErr(t, <-b.err, ErrRequestEnded)
		w.wantWaiters(0)
	})
}

func TestAcquire_SecondCallForSameRequest_TakesOverPlace(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		first := w.startAcquire(newCall("b", "2"))
		second := w.startAcquire(newCall("b", "2"))
		wantErr(t, <-first.err, ErrSuperseded)
		w.release(p.Token)
		second.wantGranted(t)
	})
}

func TestAcquire_LeadershipLost_QueueIsRebuiltByAge(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.Gather = 300 * time.Millisecond
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		b := w.startAcquire(newCall("b", "2"))
		w.demote()
		var notLeader *consensus.NotLeaderError
		if err := <-b.err; !asError(err, &notLeader) {
			t.Fatal(err)
		}
		w.promote(2)
		young, old := newCall("c", "3"), newCall("b", "2")
		old.WaitedBefore = time.Minute
		c, b := w.startAcquire(young), w.startAcquire(old)
		w.release(p.Token)
		w.sleep(time.Second)
		if b.isWaiting() || !c.isWaiting() {
			t.Fatal("the queue was not rebuilt by age")
		}
		c.leave(t)
	})
}

func TestTryAcquire_WhileQueueIsRebuilt_IsAnsweredImmediately(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.Gather = 300 * time.Millisecond
		w.define("job", nil)
		w.define("other", nil)
		w.demote()
		w.promote(2)
		w.mustAcquire(newCall("a", "1")) // no waiter has rejoined yet
		b := w.startAcquire(&AcquireCall{Request: semaphore.Request{Semaphore: "other", Identity: newCall("b", "2").Identity, Weight: 1}, RequestID: "2"})
		if !b.isWaiting() {
			t.Fatal("a waiter was offered a permit before the queues were rebuilt")
		}
		call := newCall("c", "3")
		call.Semaphore = "other"
		w.wantDenied(call, semaphore.NoFreePermit) // a waiter has rejoined
		w.sleep(300 * time.Millisecond)
		b.wantGranted(t)
	})
}

func TestAcquire_DisconnectedWhileGrantIsInFlight_GrantIsAbandoned(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.mustAcquire(newCall("a", "1"))
		w.sleep(30 * time.Second)
		c := w.startAcquire(newCall("c", "3"))
		w.tape.hold()
		w.sleep(31 * time.Second)
		// The expiry is applied, the grant to c is proposed and held back, and then c leaves.
		w.tape.mu.Lock()
		expiry := w.tape.held
		w.tape.held = nil
		w.tape.mu.Unlock()
		w.tape.applyHeld(expiry)
		c.leave(t)
		w.tape.releaseHeld()
		w.mustAcquire(newCall("d", "4"))
	})
}

// --- durations ---

func TestRefresh_LongerDuration_IsCommittedBeforeItIsReturned(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		w.define("job", func(d *semaphore.Definition) { d.Duration = 10 * time.Minute })
		w.tape.hold()
		answered := make(chan TokenResult, 1)
		go func() { answered <- w.refreshOne(p.Token) }()
		synctest.Wait()
		if len(answered) != 0 {
			t.Fatal("the longer duration was returned before it was committed")
		}
		w.tape.releaseHeld()
		if r := <-answered; r.Duration != 10*time.Minute {
			t.Fatalf("refresh = %+v, want 10m", r)
		}
		w.demote()
		w.promote(2)
		w.sleep(9 * time.Minute)
		if !w.isLive(p.Token) {
			t.Fatal("the next leader did not use the longer duration")
		}
	})
}

// The holder may rely on the old, longer duration until it states the shorter one. So the next leader must still use
// the longer duration.
func TestRefresh_ShorterDuration_TakesEffectOnceHolderStatesIt(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		w.define("job", func(d *semaphore.Definition) { d.Duration = 10 * time.Second })
		l := w.Listen()
		defer l.Close()
		frame := func(stated time.Duration) TokenResult {
			r := w.refreshStating(l, p.Token, stated)
			w.sleep(time.Millisecond)
			return r
		}
		replicated := func() time.Duration { return w.machine.State().Permit(p.Token).Duration }

		if r := frame(time.Minute); r.Duration != 10*time.Second {
			t.Fatalf("refresh = %+v, want the shorter duration", r)
		}
		if replicated() != time.Minute {
			t.Fatal("the duration was shortened before the holder stated the shorter one")
		}
		frame(10 * time.Second)
		if replicated() != 10*time.Second {
			t.Fatal("the duration was not shortened after the holder stated the shorter one")
		}
		w.sleep(20 * time.Second)
		if !w.isLive(p.Token) {
			t.Fatal("the deadline was moved to an earlier time")
		}
	})
}

func TestPromotion_ShorterDurationNotYetStated_UsesLongerDuration(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		w.define("job", func(d *semaphore.Definition) { d.Duration = time.Second })
		w.wantStatus(p.Token, StatusRefreshed)
		w.demote()
		w.promote(2)
		w.sleep(59 * time.Second)
		if !w.isLive(p.Token) {
			t.Fatal("the new leader ended a permit that its holder could still rely on")
		}
	})
}

func TestRefresh_ShorterDurationInFlight_ReturnsNothingLonger(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		w.define("job", func(d *semaphore.Definition) { d.Duration = 10 * time.Second })
		l := w.Listen()
		defer l.Close()
		frame := func(stated time.Duration) TokenResult { return w.refreshStating(l, p.Token, stated) }
		frame(time.Minute)
		w.tape.hold()
		frame(10 * time.Second) // states the shorter duration; the entry is held back
		synctest.Wait()
		shorten := w.tape.failHeld()
		w.define("job", func(d *semaphore.Definition) { d.Duration = time.Minute })
		if r := frame(10 * time.Second); r.Duration != 10*time.Second {
			t.Fatalf("refresh = %+v, want 10s while a shorter duration may still be applied", r)
		}
		w.tape.applyHeld(shorten)
	})
}

func TestRefresh_Unary_NeverShortensDuration(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		w.define("job", func(d *semaphore.Definition) { d.Duration = 10 * time.Second })
		for range 3 {
			r, err := w.Refresh(context.Background(), time.Now(), semaphore.Owner{}, []TokenRefresh{{Token: p.Token, Duration: 10 * time.Second}})
			if err != nil || r[0].Duration != 10*time.Second {
				t.Fatal(r, err)
			}
			w.sleep(time.Second)
		}
		if got := w.machine.State().Permit(p.Token).Duration; got != time.Minute {
			t.Fatalf("replicated duration = %v, want 1m, because unary calls are not ordered", got)
		}
	})
}
