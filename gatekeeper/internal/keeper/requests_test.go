package keeper

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// setRequestBounds sets the bounds of the request memory.
func (w *world) setRequestBounds(bounds fsm.RequestBounds) {
	w.t.Helper()
	settings := w.machine.State().Settings()
	settings.Requests = bounds
	if o := w.batcher.Do(context.Background(), fsm.Configure{Settings: settings}); o.Err != nil {
		w.t.Fatal(o.Err)
	}
}

func (w *world) remembered(id string) bool {
	return w.machine.State().Request("job", newCall("a", id).Identity, id) != nil
}

func TestHousekeep_Requests_AreForgottenAfterTheirLifetime(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		w.setRequestBounds(fsm.RequestBounds{Kept: 1})
		for i := range 3 {
			w.release(w.mustAcquire(newCall("a", fmt.Sprint(i))).Token)
		}
		w.sleep(10 * time.Minute)
		for i := range 3 {
			if !w.remembered(fmt.Sprint(i)) {
				t.Fatalf("request %d was forgotten before its lifetime had elapsed", i)
			}
		}
		w.release(w.mustAcquire(newCall("a", "later")).Token)
		w.sleep(2 * trimInterval)
		for i := range 3 {
			if w.remembered(fmt.Sprint(i)) {
				t.Errorf("request %d is still remembered", i)
			}
		}
		if !w.remembered("later") {
			t.Error("the newest request was forgotten")
		}
	})
}

// A new leader cannot tell the age of the revisions it inherits, so their lifetime restarts.
func TestHousekeep_NewLeader_CountsTheLifetimeFromItsPromotion(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		w.setRequestBounds(fsm.RequestBounds{Kept: 1})
		w.release(w.mustAcquire(newCall("a", "1")).Token)
		w.release(w.mustAcquire(newCall("a", "2")).Token)
		w.sleep(9 * time.Minute)
		w.demote()
		w.promote(w.term + 1)
		w.sleep(9 * time.Minute)
		if !w.remembered("1") {
			t.Error("the new leader forgot the request before its lifetime had elapsed")
		}
		w.sleep(3 * time.Minute)
		if w.remembered("1") {
			t.Error("the request is still remembered")
		}
	})
}

func TestHousekeep_ManyRequests_AreForgottenInSmallSteps(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.setRequestBounds(fsm.RequestBounds{Kept: 1})
		const many = 2*fsm.MaxTrimmed + 100
		for i := range many {
			if o := w.batcher.Do(context.Background(), fsm.Cancel{Semaphore: fmt.Sprint("gone", i%3), Identity: newCall("a", "").Identity, RequestID: fmt.Sprint(i)}); o.Err != nil {
				t.Fatal(o.Err)
			}
		}
		w.sleep(12 * time.Minute)
		if n, _, _, _ := w.machine.State().RequestMemory(); n != 0 {
			t.Errorf("%d requests for undefined semaphores are still remembered, want none", n)
		}
	})
}

func TestTryAcquire_ForgottenRequest_IsTooOld(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		w.setRequestBounds(fsm.RequestBounds{Kept: 1})
		startRevision := w.machine.State().Revision()
		call := func() *AcquireCall {
			c := newCall("a", "1")
			c.RequestRevision = startRevision
			return c
		}
		w.release(w.mustAcquire(call()).Token)
		w.release(w.mustAcquire(newCall("a", "2")).Token)
		w.sleep(12 * time.Minute)
		entries := w.tape.entries()
		_, err := w.TryAcquire(context.Background(), call())
		wantErr(t, err, ErrRequestTooOld)
		_, err = w.Acquire(context.Background(), call(), func(Place) error { return nil })
		wantErr(t, err, ErrRequestTooOld)
		r := w.tryTogether(call())
		wantErr(t, r.errs[0], ErrRequestTooOld)
		if n := w.tape.entries(); n != entries {
			t.Errorf("%d entries were written, want none", n-entries)
		}
	})
}

// While a member may not support request revisions, they are neither written to the log nor checked.
func TestTryAcquire_BelowFeatureLevel3_RequestRevisionIsOmitted(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		call := newCall("a", "1")
		call.RequestRevision = 1
		w.mustAcquire(call)
		if g, ok := w.tape.lastEntry()[0].(fsm.Grant); !ok || g.RequestRevision != 0 {
			t.Errorf("last entry = %+v, want a grant without RequestRevision", w.tape.lastEntry())
		}
	})
}

// A waiting call never becomes too old, because it is known not to have been granted yet. Its result contains the
// revision up to which that is known.
func TestAcquire_WaitOutlastsTheRequestMemory_IsGranted(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 2 })
		w.setRequestBounds(fsm.RequestBounds{Kept: 1})
		held := w.mustAcquire(newCall("holder", "h"))
		call := func(revision uint64) *AcquireCall {
			c := newCall("patient", "w")
			c.Weight, c.RequestRevision = 2, revision
			return c
		}
		startRevision := w.machine.State().Revision()
		revision := startRevision
		for range 30 {
			// Cancelled requests are remembered for a while.
			if _, err := w.Cancel(context.Background(), "job", newCall("other", "").Identity, fmt.Sprint("c", w.machine.State().Revision())); err != nil {
				t.Fatal(err)
			}
			w.renewOnly(held.Token)
			a, err := w.Acquire(context.Background(), call(revision), func(Place) error { return nil })
			if err != nil || a.Repeat == nil || a.RepeatRevision < revision {
				t.Fatalf("Acquire() = %+v, %v, want a request to retry from revision %d or later", a, err, revision)
			}
			revision = a.RepeatRevision
		}
		if w.machine.State().TooOld("job", startRevision) == nil {
			t.Fatal("no request was forgotten during the wait")
		}
		w.release(held.Token)
		if a, err := w.Acquire(context.Background(), call(revision), func(Place) error { return nil }); err != nil || a.Outcome != semaphore.Granted {
			t.Errorf("Acquire() = %+v, %v, want granted", a, err)
		}
	})
}
