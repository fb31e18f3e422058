package keeper

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func (w *world) wantSeen(group, acquirer string, want bool) {
	w.t.Helper()
	if _, ok := w.machine.State().Sighting(group, acquirer); ok != want {
		w.t.Fatalf("sighting of %s in %s exists: %v, want %v", acquirer, group, ok, want)
	}
}

func TestSightings_NewCallersGrantedOrDenied_AreRecordedWithinASecond(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.GroupPattern = "prod" })
		w.mustAcquire(newCall("a", ""))
		w.wantDenied(newCall("b", ""), semaphore.NoFreePermit)
		w.wantDenied(callAs(semaphore.Identity{Group: "dr", Acquirer: "c"}, ""), semaphore.GroupMismatch)
		w.startAcquire(newCall("d", "1")).cancel()
		w.sleep(sightingInterval)
		for _, acquirer := range []string{"a", "b", "d"} {
			w.wantSeen("prod", acquirer, true)
		}
		w.wantSeen("dr", "c", true)
		if n := w.machine.State().SightingCount(); n != 4 {
			t.Fatalf("SightingCount() = %d, want 4", n)
		}
	})
}

func TestSightings_KnownCaller_IsNotRewrittenUntilTTL(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 0 })
		w.tryAcquire(newCall("a", ""))
		w.sleep(sightingInterval)
		before := w.tape.entries()
		for range 50 {
			w.sleep(10 * time.Second)
			w.tryAcquire(newCall("a", ""))
		}
		if n := w.tape.entries() - before; n != 0 {
			t.Fatalf("denying a known caller wrote %d entries, want none", n)
		}
		w.sleep(sightingTTL)
		w.tryAcquire(newCall("a", ""))
		w.sleep(sightingInterval)
		if n := w.tape.entries() - before; n != 1 {
			t.Fatalf("renewing the sighting wrote %d entries, want 1", n)
		}
		if s, _ := w.machine.State().Sighting("prod", "a"); time.Since(s.At) > 2*time.Minute {
			t.Fatalf("the caller was last seen %v ago, want at most 2m", time.Since(s.At))
		}
	})
}

func TestSightings_AfterFailover_KnownSightingsAreNotRewritten(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 0 })
		w.tryAcquire(newCall("a", ""))
		w.sleep(sightingInterval)
		// Another leader renews the sighting, which is older than sightingTTL by then.
		w.demote()
		w.sleep(2 * sightingTTL)
		w.term++
		w.tape.setTerm(w.term)
		entry, err := fsm.Encode(fsm.SupportedLevel, []fsm.Command{
			fsm.Sight{Term: w.term, Sightings: []fsm.Sighting{{Group: "prod", Acquirer: "a", At: time.Now()}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		w.tape.Append(entry)
		w.promote(w.term + 1)
		before := w.tape.entries()
		w.tryAcquire(newCall("a", ""))
		w.sleep(2 * sightingInterval)
		if n := w.tape.entries() - before; n != 0 {
			t.Fatalf("a caller already in the state caused %d entries, want none", n)
		}
	})
}

func TestSightings_NotAppended_AreRecordedAgain(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 0 })
		w.tape.refuseAppends(consensus.ErrNotAppended)
		w.tryAcquire(newCall("a", ""))
		w.sleep(sightingInterval)
		w.tape.refuseAppends(nil)
		w.sleep(sightingInterval)
		w.wantSeen("prod", "a", false)
		w.tryAcquire(newCall("a", ""))
		w.sleep(sightingInterval)
		w.wantSeen("prod", "a", true)
	})
}

// The outcome of proposed sightings is unknown when their epoch ends. The next epoch must not assume that they were
// recorded.
func TestSightings_EpochEndsBeforeOutcome_AreRecordedAgain(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 0 })
		w.tryAcquire(newCall("a", ""))
		w.tape.hold()
		w.sleep(sightingInterval)
		w.demote()
		w.tape.failHeld()
		w.promote(w.term + 1)
		w.wantSeen("prod", "a", false)
		w.tryAcquire(newCall("a", ""))
		w.sleep(sightingInterval)
		w.wantSeen("prod", "a", true)
	})
}

func TestSightings_FeatureLevelTooLow_NothingIsProposed(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 0 })
		w.tryAcquire(newCall("a", ""))
		w.sleep(10 * sightingInterval)
		w.wantSeen("prod", "a", false)
		w.raiseFeatureLevel()
		w.tryAcquire(newCall("a", ""))
		w.sleep(sightingInterval)
		w.wantSeen("prod", "a", true)
	})
}

func TestSightings_ManyCallers_AreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sightings
		state := fsm.New("test").State()
		for i := range maxSeen + maxSightings {
			s.record(state, semaphore.Identity{Group: "prod", Acquirer: fmt.Sprint(i)}, time.Now())
			if i%maxSightings == 0 {
				s.take()
			}
		}
		if len(s.renewed) > maxSeen || len(s.waiting) > maxSightings {
			t.Fatalf("got %d cached callers and %d waiting sightings, want at most %d and %d", len(s.renewed), len(s.waiting), maxSeen, maxSightings)
		}
		if n := len(s.take()); n == 0 {
			t.Fatal("no sightings are waiting to be proposed")
		}
	})
}

func TestSightings_KnownCaller_AllocatesNothing(t *testing.T) {
	var s sightings
	state, now := fsm.New("test").State(), time.Now()
	id := semaphore.Identity{Group: "prod", Acquirer: "a"}
	s.record(state, id, now)
	if n := testing.AllocsPerRun(1000, func() { s.record(state, id, now) }); n != 0 {
		t.Fatalf("recording a known caller made %v allocations, want 0", n)
	}
}

func BenchmarkSightings_KnownCaller(b *testing.B) {
	var s sightings
	state, now := fsm.New("test").State(), time.Now()
	ids := make([]semaphore.Identity, 10_000)
	for i := range ids {
		ids[i] = semaphore.Identity{Group: "prod", Acquirer: fmt.Sprint("host-", i)}
		s.record(state, ids[i], now)
		s.take()
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			s.record(state, ids[i%len(ids)], now)
		}
	})
}
