package keeper

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/queue"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// A request id identifies one acquisition. A call that reuses the id with a different weight must not receive its
// permit.
func TestTryAcquire_OtherWeightWithGrantInFlight_IsDenied(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 3 })
		w.tape.hold()
		light, heavy := newCall("a", "1"), newCall("a", "1")
		heavy.Weight = 2
		answers := make(chan Answer, 2)
		for _, call := range []*AcquireCall{light, heavy} {
			go func() { answers <- w.tryAcquire(call) }()
			synctest.Wait()
		}
		// The entry in flight contains only the light grant.
		w.tape.releaseHeld()
		first, second := <-answers, <-answers
		if first.Outcome == semaphore.Denied {
			first, second = second, first
		}
		if first.Outcome != semaphore.Granted || first.Permit.Weight != 1 {
			t.Fatalf("first call = %+v, want granted with weight 1", first)
		}
		if second.Outcome != semaphore.Denied || second.Denial.Decision.Reason != semaphore.AlreadyHeld {
			t.Fatalf("call for weight 2 = %+v, want denied because the identity already holds a permit", second)
		}
	})
}

func TestTryAcquire_OtherRevisionWithGrantInFlight_IsDecidedSeparately(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 2 })
		expected := w.machine.State().PermitRevision("job")
		w.tape.hold()
		other, expectsRevision, withoutRevision := newCall("b", "2"), newCall("a", "1"), newCall("a", "1")
		expectsRevision.ExpectedRevision = &expected
		errs := make(chan error, 3)
		for _, call := range []*AcquireCall{other, expectsRevision, withoutRevision} {
			call.Received = time.Now()
			go func() {
				_, err := w.TryAcquire(context.Background(), call)
				errs <- err
			}()
			synctest.Wait()
		}
		w.tape.releaseHeld()
		var refused int
		for range 3 {
			if err := <-errs; errors.Is(err, ErrRevisionChanged) {
				refused++
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if refused != 1 {
			t.Fatalf("%d calls failed with ErrRevisionChanged, want 1", refused)
		}
	})
}

// cancelingProposer cancels a context before it proposes a grant, and returns only once the outcome is known.
type cancelingProposer struct {
	Proposer
	end func()
}

func (p *cancelingProposer) Go(cmd fsm.Command, done func(batcher.Outcome)) {
	if _, ok := cmd.(fsm.Grant); !ok {
		p.Proposer.Go(cmd, done)
		return
	}
	p.end()
	var known atomic.Bool
	p.Proposer.Go(cmd, func(o batcher.Outcome) {
		known.Store(true)
		done(o)
	})
	for !known.Load() {
		runtime.Gosched()
	}
}

func TestAbandon_CallCancelledAsOutcomeArrives_FreesPermit(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 100 })
		proposer := &cancelingProposer{Proposer: w.cfg.Proposer}
		w.cfg.Proposer = proposer
		for range 50 {
			ctx, cancel := context.WithCancel(context.Background())
			proposer.end = cancel
			call := newCall("a", "")
			call.RequestID = time.Now().String()
			call.Identity.HolderID = call.RequestID
			if _, err := w.TryAcquire(ctx, call); !errors.Is(err, context.Canceled) {
				t.Fatalf("TryAcquire() with a cancelled context: got %v, want context.Canceled", err)
			}
			w.sleep(time.Millisecond)
		}
		if n := w.machine.State().PermitCount(); n != 0 {
			t.Fatalf("PermitCount() = %d, want 0, because no caller received a permit", n)
		}
	})
}

// A process that shares its identity with a waiting call may be given the call's permit first. The permit must then
// survive when the waiting call ends.
func TestGiveUp_AnotherCallReceivedGrant_KeepsPermit(t *testing.T) {
	for name, answered := range map[string]bool{"answered": true, "not answered": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.define("job", nil)
				p := w.mustAcquire(newCall("a", "1"))
				me := &queuedCall{call: newCall("b", "2"), wake: make(chan struct{}, 1)}
				w.queue.Join(queue.Key{Semaphore: "job", Identity: me.call.Identity, RequestID: "2"}, me.call.Request, nil, me, time.Now(), 0)
				w.release(p.Token) // this grants b, which has not received the outcome yet
				granted := w.machine.State().Own("job", me.call.Identity)
				if granted == nil {
					t.Fatal("b was not granted")
				}
				if answered {
					if a := w.tryAcquire(newCall("b", "")); a.Outcome != semaphore.Refreshed || a.Permit.Token != granted.Token {
						t.Fatalf("other call = %+v, want a refresh of the permit", a)
					}
				}
				if !w.giveUp(me) {
					t.Fatal("b had no grant to give up")
				}
				synctest.Wait()
				if w.isLive(granted.Token) != answered {
					t.Errorf("the permit is live: %t, want %t", !answered, answered)
				}
			})
		})
	}
}
