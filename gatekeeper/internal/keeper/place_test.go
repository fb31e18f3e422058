package keeper

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/queue"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestAcquire_RetryGrantedImmediately_LeavesNoPlaceBehind(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 2 })
		heavy := newCall("a", "1")
		heavy.Weight = 2
		p := w.mustAcquire(heavy)
		b := w.startAcquire(newCall("b", "2"))
		b.leave(t)
		w.release(p.Token)
		again := w.startAcquire(newCall("b", "2"))
		again.wantGranted(t)
		w.wantWaiters(0)
		w.mustAcquire(newCall("c", "3")) // the second permit is free, and nobody is waiting
	})
}

// The first call for an acquisition is granted just as its retry takes over its place.
func TestAcquire_EarlierCallGranted_RetryInQueueIsWoken(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		first := w.startAcquire(newCall("b", "2"))
		w.tape.hold()
		w.startRelease(p.Token) // the same entry grants the first call

		// The retry was decided before the grant was proposed, but joins the queue only now.
		call := newCall("b", "2")
		place := queue.Key{Semaphore: call.Semaphore, Identity: call.Identity, RequestID: call.RequestID}
		second := &queuedCall{wake: make(chan struct{}, 1)}
		w.queue.Join(place, call.Request, nil, second, time.Now(), 0)
		w.tape.releaseHeld()
		first.wantGranted(t)
		select {
		case <-second.wake:
		default:
			t.Fatal("the retry was not woken, and is waiting without a place in the queue")
		}
		if !second.recheck.Load() {
			t.Fatal("the retry was woken without recheck set")
		}
	})
}

// staleMachine returns an old state until a call has joined the queue, as if the state had changed between the decision
// and the join.
type staleMachine struct {
	Machine
	old     *fsm.State
	waiters func() int
	joined  atomic.Bool
}

func (m *staleMachine) State() *fsm.State {
	if !m.joined.Load() && m.waiters() == 0 {
		return m.old
	}
	m.joined.Store(true)
	return m.Machine.State()
}

func TestAcquire_GrantedBeforeRetryJoins_RetryIsAnswered(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		b := w.startAcquire(newCall("b", "2"))
		old := w.machine.State()
		w.release(p.Token)
		granted := b.wantGranted(t)
		w.cfg.Machine = &staleMachine{Machine: w.cfg.Machine, old: old, waiters: w.WaiterCount}
		repeat := w.startAcquire(newCall("b", "2"))
		if a := repeat.wantAnswer(t); a.Outcome != semaphore.Refreshed || a.Permit.Token != granted.Token {
			t.Fatalf("retry = %+v, want a refresh of its permit", a)
		}
		w.wantWaiters(0)
	})
}

func TestAcquire_GrantNotAppended_PlaceIsKeptForRetry(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		b, c, d := w.startAcquire(newCall("b", "2")), w.startAcquire(newCall("c", "3")), w.startAcquire(newCall("d", "4"))
		w.batcher.Complete(func(cmds []fsm.Command) []batcher.Call { // like a batcher that is closing
			return slices.DeleteFunc(w.complete(cmds), func(c batcher.Call) bool {
				go c.Done(batcher.Outcome{Err: consensus.ErrNotAppended})
				return true
			})
		})
		w.release(p.Token)
		wantErr(t, <-b.err, consensus.ErrNotAppended)
		a := <-c.answer // an absent waiter delays nobody
		w.batcher.Complete(w.complete)
		again := w.startAcquire(newCall("b", "2"))
		if place := again.places[0]; place.Place != 1 {
			t.Fatalf("the retry has place %+v, want 1", place)
		}
		w.release(a.Permit.Token)
		again.wantGranted(t)
		d.leave(t)
	})
}

func TestAcquire_WithoutRequestID_DoesNotKeepPlace(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 2 })
		heavy := newCall("a", "1")
		heavy.Weight = 2
		p := w.mustAcquire(heavy)
		b := w.startAcquire(newCall("b", ""))
		b.leave(t)
		w.release(p.Token)
		w.wantWaiters(0)
		w.mustAcquire(newCall("c", "3"))
	})
}

func TestClose_EndsWaitingCalls(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.mustAcquire(newCall("a", "1"))
		b := w.startAcquire(newCall("b", "2"))
		defer b.cancel()
		w.Close()
		synctest.Wait()
		if b.isWaiting() {
			t.Fatal("a call is still waiting after Close")
		}
	})
}

// A server may win an election while it is shutting down.
func TestPromote_AfterClose_DoesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.Close()
		w.promote(2)
		if w.Leads() {
			t.Error("Leads() = true after Close")
		}
		l := w.Listen()
		defer l.Close()
		select {
		case <-l.Notices(): // closed
		default:
			t.Error("Listen() opened a stream after Close")
		}
		_, err := w.TryAcquire(context.Background(), newCall("a", ""))
		if _, ok := errors.AsType[*consensus.NotLeaderError](err); !ok {
			t.Errorf("TryAcquire() after Close: got %v, want NotLeaderError", err)
		}
	})
}

// A call from an earlier term that ends late must not remove the place of its retry in the current term.
func TestAcquire_CallFromEarlierTermEndsLate_RetryKeepsItsPlace(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		blocked, failed := make(chan struct{}), make(chan error, 1)
		call := newCall("b", "2")
		go func() {
			_, err := w.Acquire(context.Background(), call, func(Place) error {
				<-blocked // its connection is stalled
				return nil
			})
			failed <- err
		}()
		synctest.Wait()
		w.demote()
		w.promote(2)
		again := w.startAcquire(newCall("b", "2"))
		close(blocked)
		var notLeader *consensus.NotLeaderError
		if err := <-failed; !errors.As(err, &notLeader) {
			t.Fatal(err)
		}
		synctest.Wait()
		w.release(p.Token)
		if again.isWaiting() {
			t.Fatal("the retry lost its place to a call from the previous term")
		}
		again.cancel()
	})
}
