package lessor

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/epoch"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// The cost of an edit that does not change max_hold must not depend on the number of holders.
func BenchmarkApplied_EditSemaphoreWithManyHolders(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x := newBench(b)
			x.Machine.Sync(func(s *fsm.State) { x.Promote(1, time.Now(), s) })
			defer x.Close()
			x.fill(n)
			state := x.State()
			sd := state.Definition("pool")
			applied := fsm.Applied{State: state, Events: []fsm.Event{{Kind: fsm.Replaced, Semaphore: "pool", Definition: sd, Before: sd}}}
			for b.Loop() {
				x.Applied(applied)
			}
		})
	}
}

// max_hold is edited while the semaphore has several chunks of holders. Every holder is notified when it has passed.
func TestApplied_MaxHoldEdited_EveryHolderIsNotifiedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var notified atomic.Int64
		b := newBench(t)
		b.cfg.Overheld = func(*semaphore.Permit) { notified.Add(1) }
		b.promote(1)
		defer b.Close()
		b.fill(2*epoch.Chunk + 7)
		b.Do(b.edit(func(d *semaphore.Definition) { d.MaxHold = 10 * time.Second }))
		time.Sleep(9 * time.Second)
		synctest.Wait()
		if n := notified.Load(); n != 0 {
			t.Fatalf("%d holders were notified before max_hold had passed, want none", n)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := notified.Load(); n != 2*epoch.Chunk+7 {
			t.Fatalf("%d holders were notified, want all", n)
		}
	})
}
