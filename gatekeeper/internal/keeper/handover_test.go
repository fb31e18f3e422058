package keeper

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/queue"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// startRelease starts a release while the log is holding entries, and returns once the release is in flight. The
// channel receives its result.
func (w *world) startRelease(token uint64) <-chan error {
	w.t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := w.Release(context.Background(), fsm.Release{Token: token, Job: semaphore.JobDone}, semaphore.Owner{})
		ended <- err
	}()
	synctest.Wait()
	if len(ended) > 0 {
		w.t.Fatal("the release returned while the log was holding it:", <-ended)
	}
	return ended
}

// holders returns the holders of "job", in grant order.
func (w *world) holders() (hosts []string) {
	for p := range w.machine.State().Holders("job") {
		hosts = append(hosts, p.Identity.Acquirer)
	}
	return hosts
}

// wantAnswer returns the result of the call. It fails the test if the call failed or is still waiting.
func (tw *testWaiter) wantAnswer(t *testing.T) Answer {
	t.Helper()
	select {
	case a := <-tw.answer:
		return a
	case err := <-tw.err:
		t.Fatal("Acquire() failed:", err)
	default:
		t.Fatal("the waiter is still waiting")
	}
	return Answer{}
}

func (tw *testWaiter) wantGranted(t *testing.T) *semaphore.Permit {
	t.Helper()
	a := tw.wantAnswer(t)
	if a.Outcome != semaphore.Granted {
		t.Fatalf("Acquire() = %+v, want granted", a)
	}
	return a.Permit
}

// leave cancels the waiter's call.
func (tw *testWaiter) leave(t *testing.T) {
	t.Helper()
	tw.cancel()
	wantErr(t, <-tw.err, context.Canceled)
	synctest.Wait()
}

func TestHandOver_ReleaseAndGrants_ShareOneEntry(t *testing.T) {
	for name, requestIDs := range map[string][3]string{"with request ids": {"2", "3", "4"}, "without request ids": {}} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.define("job", func(d *semaphore.Definition) { d.Permits = 2 })
				heavy := newCall("a", "1")
				heavy.Weight = 2
				p := w.mustAcquire(heavy)
				b, c, d := w.startAcquire(newCall("b", requestIDs[0])), w.startAcquire(newCall("c", requestIDs[1])), w.startAcquire(newCall("d", requestIDs[2]))
				before := w.tape.entries()
				w.release(p.Token)
				first, second := b.wantGranted(t), c.wantGranted(t)
				if first.Token >= second.Token || !d.isWaiting() {
					t.Fatalf("b has token %d, c has token %d, d is waiting: %t; want b before c, and d waiting", first.Token, second.Token, d.isWaiting())
				}
				if n := w.tape.entries() - before; n != 1 {
					t.Fatalf("the release and the grants took %d entries, want 1", n)
				}
				w.release(first.Token)
				d.wantGranted(t)
			})
		})
	}
}

// Each release in a shared entry hands its permit over to one waiter, in queue order.
func TestHandOver_SeveralReleasesInOneEntry_OneGrantPerRelease(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 3 })
		var permits []*semaphore.Permit
		for i := range 3 {
			permits = append(permits, w.mustAcquire(newCall(fmt.Sprint("holder", i), fmt.Sprint("h", i))))
		}
		var waiters []*testWaiter
		for i := range 4 {
			waiters = append(waiters, w.startAcquire(newCall(fmt.Sprint("waiter", i), fmt.Sprint("w", i))))
		}
		w.startEntry()
		before := w.tape.entries()
		var ended []<-chan error
		for _, p := range permits {
			ended = append(ended, w.startRelease(p.Token))
		}
		w.tape.releaseHeld()
		last := uint64(0)
		for i := range permits {
			if err := <-ended[i]; err != nil {
				t.Fatal(err)
			}
			token := waiters[i].wantGranted(t).Token
			if token <= last {
				t.Fatalf("waiter %d has token %d, want more than %d, the token of the waiter ahead of it", i, token, last)
			}
			last = token
		}
		if n := w.tape.entries() - before; n != 2 || !waiters[3].isWaiting() {
			t.Fatalf("got %d entries, and the last waiter is waiting: %t; want 2 (the entry in flight, and one with all releases and grants), true", n, waiters[3].isWaiting())
		}
	})
}

// A release of a permit that is already cooling frees nothing, so nothing is handed over. Otherwise the first waiter's
// grant would be refused for lack of space, and a lighter waiter behind it would be granted.
func TestHandOver_ExpiryPrecedesRelease_KeepsQueueOrder(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 3 })
		heavyHolder, heavyWaiter := newCall("a", "1"), newCall("b", "2")
		heavyHolder.Weight, heavyWaiter.Weight = 2, 2
		a, z := w.mustAcquire(heavyHolder), w.mustAcquire(newCall("z", "9"))
		b, c := w.startAcquire(heavyWaiter), w.startAcquire(newCall("c", "3"))
		w.startEntry()
		w.batcher.Go(fsm.Expire{Token: a.Token, Term: 1, At: time.Now(), Cooling: time.Hour}, func(batcher.Outcome) {})
		first, second := w.startRelease(a.Token), w.startRelease(z.Token)
		w.tape.releaseHeld()
		if err := errors.Join(<-first, <-second); err != nil {
			t.Fatal(err)
		}
		if !b.isWaiting() || !c.isWaiting() {
			t.Fatalf("b is waiting: %t, c is waiting: %t; want both waiting while the slots of a are cooling", b.isWaiting(), c.isWaiting())
		}
		b.leave(t)
		c.wantGranted(t)
	})
}

// A grant that was decided while the queue was empty may precede a release in the same entry, and take some of the
// permits that the release frees. If those were not subtracted, the first waiter's grant would be refused for lack of
// space, and a lighter waiter behind it would be granted.
func TestHandOver_GrantPrecedesRelease_KeepsQueueOrder(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 5 })
		holder, caller, heavy := newCall("a", "1"), newCall("x", "2"), newCall("b", "3")
		holder.Weight, caller.Weight, heavy.Weight = 3, 2, 4
		a := w.mustAcquire(holder)
		w.startEntry()
		x := make(chan Answer, 1)
		go w.sendAnswer(caller, x)
		synctest.Wait() // its grant waits for the next entry
		b, c := w.startAcquire(heavy), w.startAcquire(newCall("c", "4"))
		released := w.startRelease(a.Token)
		w.tape.releaseHeld()
		if err := <-released; err != nil {
			t.Fatal(err)
		}
		if got := <-x; got.Outcome != semaphore.Granted {
			t.Fatalf("TryAcquire() = %+v, want granted", got)
		}
		if !b.isWaiting() || !c.isWaiting() {
			t.Fatalf("b is waiting: %t, c is waiting: %t; want both waiting, because b is first and does not fit", b.isWaiting(), c.isWaiting())
		}
	})
}

// startEntry puts an entry in flight and keeps it there until releaseHeld, so that later commands share the next entry.
func (w *world) startEntry() {
	w.tape.hold()
	w.batcher.Go(fsm.Extend{Token: 1 << 60, Duration: time.Minute, Term: 1}, func(batcher.Outcome) {})
	synctest.Wait()
}

// The release of a heavy permit takes one entry, however many callers are waiting. Waiters whose grants do not fit into
// the entry are served afterwards, in order.
func TestHandOver_MoreWaitersThanFitInEntry_ReleaseIsNotDelayed(t *testing.T) {
	inWorld(t, func(w *world) {
		const waiters = maxHandover + 44
		w.define("job", func(d *semaphore.Definition) { d.Permits = waiters })
		heavy := newCall("a", "1")
		heavy.Weight = waiters
		p := w.mustAcquire(heavy)
		var all []*testWaiter
		for i := range waiters {
			all = append(all, w.startAcquire(newCall(fmt.Sprintf("h%03d", i), strconv.Itoa(i))))
		}
		w.tape.hold()
		ended := w.startRelease(p.Token)
		cmds, err := fsm.Decode(w.tape.held[0].entry)
		if err != nil {
			t.Fatal(err)
		}
		if _, release := cmds[0].(fsm.Release); !release || len(cmds) != 1+maxHandover || w.batcher.Waiting() > 0 {
			t.Fatalf("%d commands are in the entry and %d are waiting for the next one, want a full entry and none waiting", len(cmds), w.batcher.Waiting())
		}
		w.tape.releaseHeld()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		last := uint64(0)
		for i, waiter := range all {
			token := waiter.wantGranted(t).Token
			if token <= last {
				t.Fatalf("waiter %d has token %d, want more than %d, the token of the waiter ahead of it", i, token, last)
			}
			if i < maxHandover { // the rest are granted together
				last = token
			}
		}
	})
}

func wantOnlyRelease(t *testing.T, w *world) {
	t.Helper()
	cmds := w.tape.lastEntry()
	if _, ok := cmds[0].(fsm.Release); !ok || len(cmds) != 1 {
		t.Fatalf("last entry = %+v, want only a release", cmds)
	}
}

// In these cases, the entry contains no grant. The dispatcher serves the waiter when it checks the queue after the
// release has been applied.
func TestHandOver_NoGrantInReleaseEntry_DispatcherServesWaiter(t *testing.T) {
	t.Run("the slot is cooling", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.define("job", func(d *semaphore.Definition) { d.MinHold = 30 * time.Second })
			p := w.mustAcquire(newCall("a", "1"))
			b := w.startAcquire(newCall("b", "2"))
			w.release(p.Token)
			wantOnlyRelease(t, w)
			if _, err := w.Release(context.Background(), fsm.Release{Token: p.Token, Job: semaphore.JobDone}, semaphore.Owner{}); err != nil { // again, while the slot is cooling
				t.Fatal(err)
			}
			wantOnlyRelease(t, w)
			if !b.isWaiting() {
				t.Fatal("b is not waiting")
			}
			w.sleep(31 * time.Second)
			b.wantGranted(t)
		})
	})
	t.Run("the slot is held for an operator", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.define("job", func(d *semaphore.Definition) { d.OnExpiry = semaphore.OnExpiryHold })
			p := w.mustAcquire(newCall("a", "1"))
			w.sleep(61 * time.Second)
			b := w.startAcquire(newCall("b", "2"))
			if r, err := w.Release(context.Background(), fsm.Release{Token: p.Token, Job: semaphore.JobDone}, semaphore.Owner{}); err != nil || r.Released {
				t.Fatal(r, err)
			}
			wantOnlyRelease(t, w)
			if _, err := w.Clear(context.Background(), p.Token, "op", "it is dead"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			b.wantGranted(t)
		})
	})
	t.Run("waiters are still rejoining", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.define("job", nil)
			p := w.mustAcquire(newCall("a", "1"))
			w.cfg.Gather = 300 * time.Millisecond
			w.demote()
			w.promote(2)
			young, old := newCall("c", "3"), newCall("b", "2")
			old.WaitedBefore = time.Minute
			c := w.startAcquire(young)
			w.release(p.Token)
			b := w.startAcquire(old)
			w.sleep(time.Second)
			b.wantGranted(t)
			c.leave(t)
		})
	})
	t.Run("the first waiter is absent", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.define("job", nil)
			p := w.mustAcquire(newCall("a", "1"))
			b, c := w.startAcquire(newCall("b", "2")), w.startAcquire(newCall("c", "3"))
			b.leave(t)
			w.release(p.Token)
			c.wantGranted(t)
		})
	})
}

// The state changes before the entry is applied, so the grant is refused and the waiter keeps its place.
func TestHandOver_GrantRefusedWhenApplied_WaiterKeepsItsPlace(t *testing.T) {
	t.Run("another caller took the slot", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.define("job", func(d *semaphore.Definition) { d.Permits = 2 })
			p := w.mustAcquire(newCall("a", "1"))
			w.startEntry()
			other := make(chan Answer, 1)
			go w.sendAnswer(newCall("z", "9"), other) // nobody is waiting yet
			synctest.Wait()
			heavy := newCall("b", "2")
			heavy.Weight = 2
			b, c := w.startAcquire(heavy), w.startAcquire(newCall("c", "3"))
			released := w.startRelease(p.Token)
			w.tape.releaseHeld()
			if err := <-released; err != nil {
				t.Fatal(err)
			}
			z := (<-other).Permit
			if !b.isWaiting() || !c.isWaiting() {
				t.Fatalf("b is waiting: %t, c is waiting: %t; want both waiting while z holds one of two permits", b.isWaiting(), c.isWaiting())
			}
			w.release(z.Token)
			b.wantGranted(t)
			c.leave(t)
		})
	})
	t.Run("the definition was edited", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.define("job", nil)
			p := w.mustAcquire(newCall("a", "1"))
			b := w.startAcquire(newCall("b", "2"))
			w.startEntry()
			edited := make(chan error, 1)
			go func() { edited <- w.replace("job", func(d *semaphore.Definition) { d.Duration = time.Hour }) }()
			synctest.Wait()
			released := w.startRelease(p.Token)
			w.tape.releaseHeld()
			if err := errors.Join(<-edited, <-released); err != nil {
				t.Fatal(err)
			}
			if p := b.wantGranted(t); p.Duration != time.Hour {
				t.Fatalf("Duration = %v, want 1h, as in the edited definition", p.Duration)
			}
		})
	})
	t.Run("the edit shuts out the waiter", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.define("job", nil)
			p := w.mustAcquire(newCall("a", "1"))
			b, c := w.startAcquire(newCall("b", "2")), w.startAcquire(newCall("c", "3"))
			w.startEntry()
			edited := make(chan error, 1)
			go func() { edited <- w.replace("job", func(d *semaphore.Definition) { d.AcquirerPattern = "[ac]" }) }()
			synctest.Wait()
			released := w.startRelease(p.Token)
			w.tape.releaseHeld()
			if err := errors.Join(<-edited, <-released); err != nil {
				t.Fatal(err)
			}
			if a := b.wantAnswer(t); a.Outcome != semaphore.Denied || a.Denial.Decision.Reason != semaphore.AcquirerMismatch {
				t.Fatalf("Acquire() by b = %+v, want denied by the edited pattern", a)
			}
			c.wantGranted(t)
		})
	})
	t.Run("the identity already has a permit", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.define("job", func(d *semaphore.Definition) { d.Permits = 2 })
			heavy := newCall("a", "1")
			heavy.Weight = 2
			p := w.mustAcquire(heavy)
			first, second := w.startAcquire(newCall("b", "2")), w.startAcquire(newCall("b", "3"))
			w.release(p.Token)
			granted, again := first.wantGranted(t), second.wantAnswer(t)
			if again.Outcome != semaphore.Refreshed || again.Permit.Token != granted.Token {
				t.Fatalf("second call by the identity = %+v, want a refresh of its permit", again)
			}
		})
	})
}

func TestHandOver_ConcurrentReleases_EachSlotIsGrantedOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 2 })
		a, z := w.mustAcquire(newCall("a", "1")), w.mustAcquire(newCall("z", "9"))
		b, c, d := w.startAcquire(newCall("b", "2")), w.startAcquire(newCall("c", "3")), w.startAcquire(newCall("d", "4"))
		w.tape.hold()
		first, repeat, second := w.startRelease(a.Token), w.startRelease(a.Token), w.startRelease(z.Token)
		w.tape.releaseHeld()
		if err := errors.Join(<-first, <-repeat, <-second); err != nil {
			t.Fatal(err)
		}
		b.wantGranted(t)
		c.wantGranted(t)
		if !d.isWaiting() {
			t.Fatal("two slots were handed over to three waiters")
		}
		d.leave(t)
	})
}

func TestHandOver_WaiterLeavesWithGrantInFlight_NextIsGranted(t *testing.T) {
	for name, requestID := range map[string]string{"with a request id": "2", "without a request id": ""} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.define("job", nil)
				p := w.mustAcquire(newCall("a", "1"))
				b, c := w.startAcquire(newCall("b", requestID)), w.startAcquire(newCall("c", "3"))
				w.tape.hold()
				released := w.startRelease(p.Token)
				b.leave(t)
				w.tape.releaseHeld()
				if err := <-released; err != nil {
					t.Fatal(err)
				}
				c.wantGranted(t)
				if holders := w.holders(); len(holders) != 1 {
					t.Fatalf("holders = %v, want only c", holders)
				}
			})
		})
	}
}

// startStalledAcquire starts a waiter with a stalled connection: its call blocks while sending its place in the queue.
// unblock lets the call continue, or fail with an error.
func (w *world) startStalledAcquire(call *AcquireCall) (tw *testWaiter, unblock func(error)) {
	tw = &testWaiter{answer: make(chan Answer, 1), err: make(chan error, 1)}
	stuck := make(chan error, 1)
	call.Received = time.Now()
	go func() {
		a, err := w.Acquire(context.Background(), call, func(Place) error { return <-stuck })
		if err != nil {
			tw.err <- err
			return
		}
		tw.answer <- a
	}()
	synctest.Wait()
	return tw, func(err error) {
		stuck <- err
		close(stuck)
		synctest.Wait()
	}
}

func TestHandOver_CallEndsBeforeReceivingGrant_GrantIsReturned(t *testing.T) {
	for name, requestID := range map[string]string{"with a request id": "2", "without a request id": ""} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.define("job", nil)
				p := w.mustAcquire(newCall("a", "1"))
				b, unblock := w.startStalledAcquire(newCall("b", requestID))
				c := w.startAcquire(newCall("c", "3"))
				w.release(p.Token)
				broken := errors.New("the connection is broken")
				unblock(broken)
				wantErr(t, <-b.err, broken)
				c.wantGranted(t)
				w.wantWaiters(0)
			})
		})
	}
}

func TestHandOver_SlowCall_IsGranted(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		b, unblock := w.startStalledAcquire(newCall("b", "2"))
		w.release(p.Token)
		if hosts := w.holders(); len(hosts) != 1 || hosts[0] != "b" {
			t.Fatalf("holders = %v, want b", hosts)
		}
		w.sleep(10 * time.Second)
		unblock(nil)
		if a := b.wantAnswer(t); a.Outcome != semaphore.Granted || a.Waited > time.Millisecond {
			t.Fatalf("Acquire() by b = %+v, want granted, with Waited ending when the grant was handed to Raft", a)
		}
	})
}

func TestHandOver_FirstWaiterNotGranted_KeepsQueueOrder(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		b, unblock := w.startStalledAcquire(newCall("b", "2"))
		c := w.startAcquire(newCall("c", "3"))
		w.define("job", func(d *semaphore.Definition) { d.AcquirerPattern = "[ac]" }) // b cannot be notified yet
		w.release(p.Token)
		if hosts := w.holders(); len(hosts) != 0 {
			t.Fatalf("holders = %v while the first waiter's call is blocked, want none", hosts)
		}
		unblock(nil)
		if a := b.wantAnswer(t); a.Outcome != semaphore.Denied {
			t.Fatalf("Acquire() by b = %+v, want denied", a)
		}
		c.wantGranted(t)
	})
}

func TestHandOver_CallReachesMaxWait_IsAnsweredWithItsGrant(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Duration = time.Hour })
		p := w.mustAcquire(newCall("a", "1"))
		b := w.startAcquire(newCall("b", "2"))
		w.sleep(DefaultMaxWait - time.Second)
		w.tape.hold()
		released := w.startRelease(p.Token)
		w.sleep(2 * time.Second)
		w.tape.releaseHeld()
		if err := <-released; err != nil {
			t.Fatal(err)
		}
		b.wantGranted(t)
	})
}

func TestHandOver_RetryWithGrantInFlight_BothCallsAreAnswered(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		b := w.startAcquire(newCall("b", "2"))
		w.tape.hold()
		released := w.startRelease(p.Token)
		w.sleep(time.Second)
		repeat := w.startAcquire(newCall("b", "2"))
		w.tape.releaseHeld()
		if err := <-released; err != nil {
			t.Fatal(err)
		}
		granted, again := b.wantGranted(t), repeat.wantAnswer(t)
		if again.Outcome != semaphore.Refreshed || again.Permit.Token != granted.Token {
			t.Fatalf("retry = %+v, want a refresh of the same permit", again)
		}
	})
}

// The first call is stuck on a stalled connection, and its retry has taken over its place. The retry is granted.
func TestHandOver_RetryTookPlaceInQueue_IsGranted(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		b, unblock := w.startStalledAcquire(newCall("b", "2"))
		repeat := w.startAcquire(newCall("b", "2"))
		before := w.tape.entries()
		w.release(p.Token)
		repeat.wantGranted(t)
		if n := w.tape.entries() - before; n != 1 {
			t.Fatalf("the release and the grant took %d entries, want 1", n)
		}
		unblock(nil)
		wantErr(t, <-b.err, ErrSuperseded)
	})
}

// The retry was decided before the grant was proposed, and takes over the place before the first call receives the
// outcome.
func TestHandOver_CallSupersededBeforeReceivingGrant_IsGrantedAndRetryDecidesAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		b, unblock := w.startStalledAcquire(newCall("b", "2"))
		w.release(p.Token)
		repeat := w.joinQueue(newCall("b", "2"))
		unblock(nil)
		b.wantGranted(t)
		if !repeat.recheck.Load() || len(repeat.wake) == 0 {
			t.Fatal("the retry was not woken to decide again, and is waiting without a place in the queue")
		}
	})
}

// joinQueue adds a call to the queue as Acquire does, but without a goroutine that waits for its turn.
func (w *world) joinQueue(call *AcquireCall) *queuedCall {
	me := &queuedCall{call: call, wake: make(chan struct{}, 1)}
	place := queue.Key{Semaphore: call.Semaphore, Identity: call.Identity, RequestID: call.RequestID}
	if _, replaced := w.queue.Join(place, call.Request, nil, me, time.Now(), 0); replaced != nil {
		replaced.superseded.Store(true)
		replaced.signal()
	}
	return me
}

// When a call ends, either it receives the outcome of its grant or no grant is proposed for it.
func TestHandOver_CallEnds_ReceivesGrantOrNoneIsProposed(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 2 })
		heavy := newCall("a", "1")
		heavy.Weight = 2
		w.mustAcquire(heavy)
		current, state := w.tenure.Load(), w.machine.State()
		me := w.joinQueue(newCall("b", "2"))

		if grants := w.handOver(current, state, opening{semaphore: "job", freed: 2}, 9); len(grants) != 1 || len(me.wake) != 1 {
			t.Fatalf("handOver() made %d grants and woke the call %d times, want 1 and 1", len(grants), len(me.wake))
		}
		if w.assignGrant(current, &queuedCall{call: me.call}, fsm.Grant{}) != nil {
			t.Fatal("assignGrant() recorded a second grant for one acquisition")
		}
		if w.withdraw(me) {
			t.Fatal("withdraw() = true while a grant for the call is in flight")
		}
		if !w.giveUp(me) || w.giveUp(me) || !w.withdraw(me) {
			t.Fatal("the grant was not given up exactly once")
		}
		w.leave(queue.Key{Semaphore: "job", Identity: me.call.Identity, RequestID: "2"}, nil)

		gone := w.joinQueue(newCall("c", "3"))
		next := w.joinQueue(newCall("d", "4"))
		if !w.withdraw(gone) {
			t.Fatal("withdraw() = false even though no grant for c is in flight")
		}
		if grants := w.handOver(current, state, opening{semaphore: "job", freed: 2}, 9); len(grants) != 0 || len(next.wake) != 0 {
			t.Fatalf("handOver() made %d grants, want none, because the first call has ended and the next must not overtake it", len(grants))
		}
		if offers := w.queue.Offer("job", 2, 0); len(offers) != 2 {
			t.Fatalf("Offer() returned %d waiters, want 2, because no grant was proposed", len(offers))
		}
	})
}

func TestHandOver_CancelledWhileGrantIsInFlight_GrantIsReturned(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		b, c := w.startAcquire(newCall("b", "2")), w.startAcquire(newCall("c", "3"))
		w.tape.hold()
		released := w.startRelease(p.Token)
		cancelled := make(chan error, 1)
		go func() {
			_, err := w.Cancel(context.Background(), "job", newCall("b", "2").Identity, "2")
			cancelled <- err
		}()
		synctest.Wait()
		w.tape.releaseHeld()
		if err := errors.Join(<-released, <-cancelled); err != nil {
			t.Fatal(err)
		}
		if b.isWaiting() {
			t.Fatal("b is still waiting after Cancel")
		}
		c.wantGranted(t)
		_, err := w.TryAcquire(context.Background(), newCall("b", "2"))
		wantErr(t, err, ErrRequestEnded)
	})
}

func TestHandOver_LeadershipLostWithGrantInFlight_RetryFindsPermit(t *testing.T) {
	for name, wait := range map[string]func(w *world) (*testWaiter, func(error)){
		"the call is notified": func(w *world) (*testWaiter, func(error)) { return w.startAcquire(newCall("b", "2")), func(error) {} },
		"the call is stuck":    func(w *world) (*testWaiter, func(error)) { return w.startStalledAcquire(newCall("b", "2")) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.define("job", nil)
				p := w.mustAcquire(newCall("a", "1"))
				b, unblock := wait(w)
				w.tape.hold()
				released := w.startRelease(p.Token)
				w.demote()
				lost := w.tape.failHeld()
				wantErr(t, <-released, consensus.ErrUnknownOutcome)
				unblock(nil)
				if a, waits := b.err, b.isWaiting(); waits || len(a) == 0 {
					t.Fatalf("b is waiting: %t, want an error", waits)
				}
				w.promote(2)
				w.tape.applyHeld(lost) // the entry is committed after all
				if hosts := w.holders(); len(hosts) != 1 || hosts[0] != "b" {
					t.Fatalf("holders = %v, want b", hosts)
				}
				if a := w.startAcquire(newCall("b", "2")).wantAnswer(t); a.Outcome != semaphore.Refreshed || a.Waited != 0 {
					t.Fatalf("retry = %+v, want refreshed, with Waited = 0", a)
				}
			})
		})
	}
}
