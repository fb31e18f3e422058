package keeper

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/queue"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func (w *world) pause(stop bool, reason string) {
	w.t.Helper()
	if _, err := w.Pause(context.Background(), fsm.Pause{Names: []string{"job"}, Stop: stop, Reason: reason}, Ending{}); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

func (w *world) resume() {
	w.t.Helper()
	if _, err := w.Resume(context.Background(), fsm.Resume{Names: []string{"job"}}); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

func TestAcquire_Pause_WaitersKeepTheirPlacesAndAreGrantedInOrder(t *testing.T) {
	for _, stop := range []bool{false, true} {
		inWorld(t, func(w *world) {
			w.define("job", nil)
			p := w.mustAcquire(newCall("a", "1"))
			b := w.startAcquire(newCall("b", "2"))
			w.pause(stop, "the disks")
			c := w.startAcquire(newCall("c", "3")) // joins during the pause
			if !b.isWaiting() || !c.isWaiting() {
				t.Fatal("the pause ended a waiting call")
			}
			for _, tw := range []*testWaiter{b, c} {
				if last := tw.places[len(tw.places)-1]; last.Pause == nil || last.Pause.Reason != "the disks" {
					t.Fatalf("place = %+v, want it to include the pause", last)
				}
			}
			w.wantDenied(newCall("d", "4"), semaphore.Paused) // a caller that does not wait is denied
			w.release(p.Token)
			before := w.tape.entries()
			w.sleep(30 * time.Second)
			if !b.isWaiting() || !c.isWaiting() || w.tape.entries() != before {
				t.Fatal("a permit was offered during the pause")
			}
			w.resume()
			if b.isWaiting() || !c.isWaiting() {
				t.Fatal("the first waiter was not granted a permit when the pause ended")
			}
			if last := c.places[len(c.places)-1]; last.Pause != nil {
				t.Fatalf("place = %+v, want no pause", last)
			}
			w.release((<-b.answer).Permit.Token)
			c.wantGranted(t)
		})
	}
}

func TestAcquire_PauseOutlastsCall_PlaceIsKept(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.pause(false, "r")
		b, c := w.startAcquire(newCall("b", "2")), w.startAcquire(newCall("c", "3"))
		for range 3 {
			w.sleep(DefaultMaxWait)
			for _, tw := range []*testWaiter{b, c} {
				if a := <-tw.answer; a.Repeat == nil || a.Repeat.Pause == nil {
					t.Fatalf("Acquire() = %+v, want a request to retry that reports the pause", a)
				}
			}
			w.sleep(queue.Linger - time.Second)
			c, b = w.startAcquire(newCall("c", "3")), w.startAcquire(newCall("b", "2"))
		}
		w.resume()
		if b.isWaiting() || !c.isWaiting() {
			t.Fatal("the queue order was not kept")
		}
		c.leave(t)
	})
}

func TestAcquire_LeaveOnPause_IsDenied(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.mustAcquire(newCall("a", "1"))
		leavingCall := func(name, id string) *AcquireCall {
			call := newCall(name, id)
			call.LeaveOnPause = true
			return call
		}
		b := w.startAcquire(leavingCall("b", "2"))
		if !b.isWaiting() {
			t.Fatal("b is not waiting for a permit")
		}
		w.pause(false, "r")
		c := w.startAcquire(leavingCall("c", "3"))
		for _, tw := range []*testWaiter{b, c} {
			if a := <-tw.answer; a.Denial == nil || a.Denial.Decision.Reason != semaphore.Paused || a.Denial.Pause == nil {
				t.Fatalf("Acquire() = %+v, want denied as paused", a)
			}
		}
		w.wantWaiters(0)
	})
}

// If a crontab line starts a run every minute, only one run waits in the queue, however long the pause lasts.
func TestAcquire_OnePerAcquirer_FurtherCallsAreDenied(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.pause(false, "the disks")
		callFromHost := func(id, firing string) *AcquireCall {
			call := newCall("h"+id, id)
			call.Identity.Acquirer, call.Identity.HolderID, call.OnePerAcquirer = "host", id, true
			if firing != "" {
				call.Firing = &semaphore.Firing{Name: firing}
			}
			return call
		}
		first := w.startAcquire(callFromHost("1", ""))
		for _, id := range []string{"2", "3"} {
			next := w.startAcquire(callFromHost(id, ""))
			if a := <-next.answer; a.Denial == nil || a.Denial.Decision.Reason != semaphore.Paused || !strings.Contains(a.Denial.Message, `"host"`) {
				t.Fatalf("Acquire() = %+v, want denied as paused", a)
			}
		}
		withFiring := w.startAcquire(callFromHost("4", "f"))
		if !first.isWaiting() || !withFiring.isWaiting() || w.WaiterCount() != 2 {
			t.Fatalf("WaiterCount() = %d, want 2: the first call and the one with a firing", w.WaiterCount())
		}
		w.resume()
		w.release((<-first.answer).Permit.Token)
		w.release((<-withFiring.answer).Permit.Token)
		again := w.mustAcquire(callFromHost("5", ""))
		if next := w.startAcquire(callFromHost("6", "")); !next.isWaiting() {
			t.Errorf("a call was denied even though no other call was waiting: %+v", (<-next.answer).Denial)
		} else {
			w.release(again.Token)
			<-next.answer
		}
	})
}

func TestAcquire_PausedAndDeniedForAnotherReason_EndsWait(t *testing.T) {
	for _, test := range []struct {
		want semaphore.Reason
		do   func(*world) error
	}{
		{semaphore.WeightExceedsPermits, func(w *world) error { return w.replace("job", func(d *semaphore.Definition) { d.Permits = 0 }) }},
		{semaphore.AcquirerMismatch, func(w *world) error {
			return w.replace("job", func(d *semaphore.Definition) { d.AcquirerPattern = "a" })
		}},
		{semaphore.Cordoned, func(w *world) error {
			_, err := w.Cordon(context.Background(), fsm.SetCordon{ID: "c", AcquirerPattern: "b"}, Ending{})
			return err
		}},
		{semaphore.NoSuchSemaphore, func(w *world) error {
			version := w.machine.State().Definition("job").Version
			_, err := w.Edit(context.Background(), fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Delete, Name: "job", ExpectedVersion: version}}}, Ending{})
			return err
		}},
	} {
		inWorld(t, func(w *world) {
			w.define("job", nil)
			w.pause(true, "r")
			b := w.startAcquire(newCall("b", "2"))
			if !b.isWaiting() {
				t.Fatal("the pause ended the waiting call")
			}
			if err := test.do(w); err != nil {
				t.Fatal(err)
			}
			if a := <-b.answer; a.Denial == nil || a.Denial.Decision.Reason != test.want {
				t.Fatalf("Acquire() = %+v, want denied for %v", a, test.want)
			}
		})
	}
}

func TestAcquire_PauseAppliedBeforeGrant_KeepsWaiting(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.tape.hold()
		b := w.startAcquire(newCall("b", "2")) // its grant is in flight
		entry, err := fsm.Encode(fsm.SupportedLevel, []fsm.Command{fsm.Pause{Names: []string{"job"}}})
		if err != nil {
			t.Fatal(err)
		}
		_, end := consensus.NewPending()
		w.tape.applyHeld([]*heldEntry{{entry: entry, end: end}}) // the pause is applied first
		w.tape.releaseHeld()
		if !b.isWaiting() {
			t.Fatal("the pause ended the waiting call")
		}
		w.resume()
		b.wantGranted(t)
	})
}
