package lessor

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// An edit that leaves max_hold alone costs nothing, however many hold the semaphore.
func BenchmarkApplied_EditOfASemaphoreWithManyHolders(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x := newBench(b)
			x.machine.Sync(func(s *fsm.State) { x.Promote(1, time.Now(), s) })
			defer x.Close()
			x.fill(n)
			state := x.machine.State()
			sd := state.Definition("pool")
			applied := fsm.Applied{State: state, Events: []fsm.Event{{Kind: fsm.Replaced, Semaphore: "pool", Definition: sd, Before: sd}}}
			for b.Loop() {
				x.Applied(applied)
			}
		})
	}
}

// max_hold is edited under more holders than are handled at once: they are told, old and new ones, when it has passed.
func TestApplied_MaxHoldEdited_EveryHolderIsToldInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Int64
		b := newBench(t)
		b.cfg.Overheld = func(*semaphore.Permit) { told.Add(1) }
		b.promote(1)
		defer b.Close()
		b.fill(2*chunk + 7)
		sd := b.machine.State().Definition("pool")
		edited := sd.Definition.Clone()
		edited.MaxHold = 10 * time.Second
		b.apply(fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Replace, Name: "pool", Definition: edited, ExpectedVersion: sd.Version}}})
		time.Sleep(9 * time.Second)
		synctest.Wait()
		if n := told.Load(); n != 0 {
			t.Fatalf("%d holders are told before max_hold has passed", n)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := told.Load(); n != 2*chunk+7 {
			t.Fatalf("%d holders are told", n)
		}
	})
}
