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
			p := w.granted(ask("a", "1"))
			b := w.wait1(ask("b", "2"))
			w.pause(stop, "the disks")
			c := w.wait1(ask("c", "3")) // joins during the pause
			if !b.waits() || !c.waits() {
				t.Fatal("the pause ended a wait")
			}
			for _, tw := range []*testWaiter{b, c} {
				if last := tw.places[len(tw.places)-1]; last.Pause == nil || last.Pause.Reason != "the disks" {
					t.Fatalf("place = %+v, want it to include the pause", last)
				}
			}
			w.denied(ask("d", "4"), semaphore.Paused) // a caller that does not wait is denied
			w.release(p.Token)
			before := w.tape.entries()
			w.sleep(30 * time.Second)
			if !b.waits() || !c.waits() || w.tape.entries() != before {
				t.Fatal("a permit was offered during the pause")
			}
			w.resume()
			if b.waits() || !c.waits() {
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

func TestAcquire_PauseLongerThanACall_PlaceIsKept(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.pause(false, "r")
		b, c := w.wait1(ask("b", "2")), w.wait1(ask("c", "3"))
		for range 3 {
			w.sleep(DefaultMaxWait)
			for _, tw := range []*testWaiter{b, c} {
				if a := <-tw.answer; a.Repeat == nil || a.Repeat.Pause == nil {
					t.Fatalf("Acquire() = %+v, want a request to retry that reports the pause", a)
				}
			}
			w.sleep(queue.Linger - time.Second)
			c, b = w.wait1(ask("c", "3")), w.wait1(ask("b", "2"))
		}
		w.resume()
		if b.waits() || !c.waits() {
			t.Fatal("the order was not kept")
		}
		c.leave(t)
	})
}

func TestAcquire_LeaveOnPause_IsDenied(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.granted(ask("a", "1"))
		leaves := func(name, id string) *AcquireCall {
			call := ask(name, id)
			call.LeaveOnPause = true
			return call
		}
		b := w.wait1(leaves("b", "2"))
		if !b.waits() {
			t.Fatal("b is not waiting for a permit")
		}
		w.pause(false, "r")
		c := w.wait1(leaves("c", "3"))
		for _, tw := range []*testWaiter{b, c} {
			if a := <-tw.answer; a.Denial == nil || a.Denial.Decision.Reason != semaphore.Paused || a.Denial.Pause == nil {
				t.Fatalf("Acquire() = %+v, want denied as paused", a)
			}
		}
		w.wantWaiters(0)
	})
}

// If a crontab line starts a run every minute, only one run waits in the queue, however long the pause.
func TestAcquire_OnePerAcquirer_FurtherCallsAreDenied(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.pause(false, "the disks")
		ofHost := func(id, firing string) *AcquireCall {
			call := ask("h"+id, id)
			call.Identity.Acquirer, call.Identity.HolderID, call.OnePerAcquirer = "host", id, true
			if firing != "" {
				call.Firing = &semaphore.Firing{Name: firing}
			}
			return call
		}
		first := w.wait1(ofHost("1", ""))
		for _, id := range []string{"2", "3"} {
			next := w.wait1(ofHost(id, ""))
			if a := <-next.answer; a.Denial == nil || a.Denial.Decision.Reason != semaphore.Paused || !strings.Contains(a.Denial.Message, `"host"`) {
				t.Fatalf("Acquire() = %+v, want denied as paused", a)
			}
		}
		fires := w.wait1(ofHost("4", "f"))
		if !first.waits() || !fires.waits() || w.WaiterCount() != 2 {
			t.Fatalf("WaiterCount() = %d, want 2: the first call and the one with a firing", w.WaiterCount())
		}
		w.resume()
		w.release((<-first.answer).Permit.Token)
		w.release((<-fires.answer).Permit.Token)
		again := w.granted(ofHost("5", ""))
		if next := w.wait1(ofHost("6", "")); !next.waits() {
			t.Errorf("a call was denied although no other call is waiting: %+v", (<-next.answer).Denial)
		} else {
			w.release(again.Token)
			<-next.answer
		}
	})
}

func TestAcquire_PausedAndDeniedForAnotherReason_EndsTheWait(t *testing.T) {
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
			b := w.wait1(ask("b", "2"))
			if !b.waits() {
				t.Fatal("the pause ended the wait")
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

func TestAcquire_GrantOvertakenByAPause_KeepsWaiting(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.tape.hold()
		b := w.wait1(ask("b", "2")) // its grant is in flight
		entry, err := fsm.Encode(fsm.SupportedLevel, []fsm.Command{fsm.Pause{Names: []string{"job"}}})
		if err != nil {
			t.Fatal(err)
		}
		_, end := consensus.NewPending()
		w.tape.applyLater([]*heldEntry{{entry: entry, end: end}}) // the pause is applied first
		w.tape.letGo()
		if !b.waits() {
			t.Fatal("the pause ended the wait")
		}
		w.resume()
		b.wantGranted(t)
	})
}
