package lessor

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/epoch"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/epoch/epochtest"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// The state is published before its events are delivered. A deadline that passes in the meantime belongs to the live
// permit, and must not end the cooling that has just begun.
func TestMarkDue_CoolingEventOutstanding_CoolingIsNotCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSlowBench(t)
		b.promote(1)
		defer b.Close()
		b.fill(1)
		token := b.State().LastToken()

		b.delayed.Store(true)
		time.Sleep(time.Minute) // only the grace period is left
		synctest.Wait()
		b.Do(fsm.Release{Token: token, Cooling: time.Minute})
		time.Sleep(5 * time.Second) // by now the deadline has passed
		synctest.Wait()
		b.deliverDelayed()
		time.Sleep(50 * time.Second)
		synctest.Wait()
		if p := b.State().Permit(token); p == nil || p.State != semaphore.Cooling {
			t.Fatalf("55 s after its release the slot is %+v, want cooling for a minute", p)
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if p := b.State().Permit(token); p != nil {
			t.Fatalf("the slot is still cooling: %+v", p)
		}
	})
}

// A permit is released before its lease is created, and the walk sees it cooling before the lessor receives the event.
func TestAdopt_CoolingBeganAfterPromotion_LastsFullTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSlowBench(t)
		b.fill(3 * epoch.Chunk)
		const last = 3 * epoch.Chunk
		time.Sleep(30 * time.Second)
		b.Machine.Sync(func(s *fsm.State) { b.Promote(1, time.Now().Add(-10*time.Second), s) })
		defer b.Close()
		synctest.Wait()
		if b.hasLease(last) {
			t.Fatal("the permit already has a lease")
		}
		b.delayed.Store(true)
		b.Do(fsm.Release{Token: last, Cooling: time.Second})
		time.Sleep(4 * maxRest) // the walk has finished
		synctest.Wait()
		b.deliverDelayed()
		if p := b.State().Permit(last); p == nil || p.State != semaphore.Cooling {
			t.Fatalf("20 ms after its release the slot is %+v, want cooling for a second", p)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if p := b.State().Permit(last); p != nil {
			t.Fatalf("the slot is still cooling: %+v", p)
		}
	})
}

func TestAbandon_NotAppended_IsProposedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSlowBench(t)
		b.promote(1)
		defer b.Close()
		b.fill(2)
		first, second := b.State().LastToken()-1, b.State().LastToken()
		b.Fail(consensus.ErrNotAppended)
		b.Abandon(1, first)
		b.Abandon(1, second)
		synctest.Wait()
		// Meanwhile, a caller refreshes the second permit, so it must not be abandoned.
		admit := func(*fsm.State, *semaphore.Permit, bool) semaphore.Decision {
			return semaphore.Decision{Outcome: semaphore.Refreshed}
		}
		if v := renewOne(b.Lessor, 1, second, admit); v.Status != Renewed {
			t.Fatalf("Renew() = %+v, want Renewed", v)
		}
		b.SetOutcome(nil)
		time.Sleep(time.Second)
		synctest.Wait()
		if p := b.State().Permit(first); p != nil {
			t.Errorf("a grant that no caller received still exists: %+v", p)
		}
		if ended := b.State().EndedPermit(first); ended == nil || ended.Outcome != semaphore.EndAbandoned {
			t.Errorf("EndedPermit() = %+v, want abandoned", ended)
		}
		if b.State().Permit(second) == nil {
			t.Error("a permit that had been refreshed was abandoned")
		}
	})
}

// slowBench is a bench whose lessor can be made to receive events late.
type slowBench struct {
	*bench
	delayed       atomic.Bool
	delayedEvents []fsm.Applied
}

func newSlowBench(t testing.TB) *slowBench {
	b := &slowBench{bench: &bench{World: epochtest.New(t)}}
	b.Lessor = New(Config{State: b.State, Propose: b.World.Propose, Overheld: func(*semaphore.Permit) {}})
	b.Machine.Subscribe(func(a fsm.Applied) {
		if b.delayed.Load() {
			b.delayedEvents = append(b.delayedEvents, a)
			return
		}
		b.Applied(a)
	})
	return b
}

// deliverDelayed delivers the outstanding events to the lessor.
func (b *slowBench) deliverDelayed() {
	for _, a := range b.delayedEvents {
		b.Applied(a)
	}
	b.delayedEvents = nil
	b.delayed.Store(false)
	synctest.Wait()
}
