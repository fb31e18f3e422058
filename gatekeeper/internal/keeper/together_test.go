package keeper

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// togetherResult holds the results of one call to TryAcquireTogether.
type togetherResult struct {
	undecided []int
	denied    map[int]Answer
	errs      map[int]error
}

func (w *world) tryTogether(calls ...*AcquireCall) togetherResult {
	r := togetherResult{denied: make(map[int]Answer), errs: make(map[int]error)}
	w.TryAcquireTogether(context.Background(), calls, func(i int, a Answer, err error) {
		if err != nil {
			r.errs[i] = err
		} else {
			r.denied[i] = a
		}
	})
	for i := range calls {
		if _, denied := r.denied[i]; !denied && r.errs[i] == nil {
			r.undecided = append(r.undecided, i)
		}
	}
	return r
}

func newCallFor(sem, host, requestID string) *AcquireCall {
	c := newCall(host, requestID)
	c.Semaphore = sem
	return c
}

func TestTogether_Denials_ShareOneConfirmationAndMatchSingleCalls(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		w.define("cpu", func(d *semaphore.Definition) { d.Permits = 2 })
		w.mustAcquire(newCall("holder", "1"))
		w.mustAcquire(newCallFor("cpu", "holder", "1"))
		heavy := newCallFor("cpu", "d", "1")
		heavy.Weight = 3
		calls := []*AcquireCall{newCall("a", "1"), newCallFor("cpu", "b", "1"), newCallFor("none", "c", "1"), heavy, newCall("e", "")}
		var confirmed []time.Time
		w.lead.set(func(_ context.Context, _ uint64, at time.Time) error {
			confirmed = append(confirmed, at)
			return nil
		})
		calls[2].Received = calls[2].Received.Add(-time.Millisecond)
		r := w.tryTogether(calls...)
		if len(confirmed) != 1 || !confirmed[0].Equal(calls[0].Received) {
			t.Errorf("confirmed for %v, want once, for the latest call at %v", confirmed, calls[0].Received)
		}
		if diff := cmp.Diff([]int{1}, r.undecided); diff != "" || len(r.errs) != 0 || len(r.denied) != 4 {
			t.Fatalf("TryAcquireTogether() left calls %v undecided, denied %d, failed with %v; want call 1 undecided and 4 denied", r.undecided, len(r.denied), r.errs)
		}
		w.lead.set(nil)
		for i, a := range r.denied {
			if diff := cmp.Diff(w.tryAcquire(calls[i]), a, cmp.Comparer(func(a, b *semaphore.Permit) bool { return a == b })); diff != "" {
				t.Errorf("call %d: results differ (-alone +together):\n%s", i, diff)
			}
		}
	})
}

// Calls that may change something are left to TryAcquire.
func TestTogether_GrantsAndReplays_AreLeftToTryAcquire(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		w.define("slow", nil)
		p := w.mustAcquire(newCall("gone", "ended"))
		w.release(p.Token)
		w.mustAcquire(newCall("holder", "1"))
		w.tape.hold()
		go func() { _, _ = w.TryAcquire(context.Background(), newCallFor("slow", "first", "1")) }()
		synctest.Wait()
		withRevision, revision := newCall("a", "2"), uint64(1)
		withRevision.ExpectedRevision = &revision
		r := w.tryTogether(newCall("holder", "1"), newCall("gone", "ended"), newCallFor("slow", "first", "1"), withRevision, newCall("a", "3"))
		if diff := cmp.Diff([]int{0, 2}, r.undecided); diff != "" || len(r.denied) != 1 || len(r.errs) != 2 {
			t.Errorf("TryAcquireTogether() left calls %v undecided, denied %v, failed with %v; want calls 0 and 2 undecided, 1 denied and 2 failed", r.undecided, r.denied, r.errs)
		}
		wantErr(t, r.errs[1], ErrRequestEnded)
		wantErr(t, r.errs[3], ErrRevisionChanged)
		w.tape.releaseHeld()
		synctest.Wait()
	})
}

func TestTogether_LeadershipNotConfirmed_DeniesNobody(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.mustAcquire(newCall("holder", "1"))
		w.lead.fail()
		r := w.tryTogether(newCall("a", "1"), newCall("b", "1"))
		if len(r.denied) != 0 || len(r.errs) != 2 {
			t.Fatalf("TryAcquireTogether() denied %v, failed with %v; want two errors", r.denied, r.errs)
		}
		for _, err := range r.errs {
			wantErr(t, err, consensus.ErrNotConfirmed)
		}
		w.lead.set(func(context.Context, uint64, time.Time) error {
			w.demote()
			return nil
		})
		for range 2 { // deposed during the call, then before it
			r = w.tryTogether(newCall("a", "1"))
			var notLeader *consensus.NotLeaderError
			if len(r.undecided) != 0 || !asError(r.errs[0], &notLeader) {
				t.Errorf("TryAcquireTogether() left calls %v undecided, denied %v, failed with %v; want NotLeaderError", r.undecided, r.denied, r.errs)
			}
		}
		w.promote(2)
	})
}
