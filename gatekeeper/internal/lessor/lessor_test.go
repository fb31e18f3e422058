package lessor

import (
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/epoch"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/epoch/epochtest"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a lessor on a real state machine, with virtual time.
type bench struct {
	*epochtest.World
	*Lessor
}

func newBench(t testing.TB) *bench {
	b := &bench{World: epochtest.New(t)}
	b.Lessor = New(Config{State: b.State, Propose: b.World.Propose, Overheld: func(*semaphore.Permit) {}})
	b.Machine.Subscribe(b.Applied)
	return b
}

// edit returns a command that edits the pool's definition.
func (b *bench) edit(change func(*semaphore.Definition)) fsm.EditBatch {
	return fsm.EditBatch{Changes: []fsm.Change{b.Replace("pool", change)}}
}

// fill creates a pool and grants n of its permits.
func (b *bench) fill(n int) {
	b.T.Helper()
	b.Do(fsm.EditBatch{Changes: []fsm.Change{epochtest.Create("pool", func(d *semaphore.Definition) { d.Permits = semaphore.MaxPermits })}})
	for i := range n {
		b.Grant("pool", fmt.Sprint("a", i))
	}
}

// renewOne returns the verdict on refreshing one permit with a unary call.
func renewOne(l *Lessor, term, token uint64, admit Admit) Verdict {
	verdicts, _ := l.Renew(term, Frame{Received: time.Now()}, []Refresh{{Token: token}}, admit, nil)
	return verdicts[0]
}

func (b *bench) promote(term uint64) { b.Lead(term, b.Promote) }

func (b *bench) hasLease(token uint64) bool {
	b.Lock()
	defer b.Unlock()
	return b.leases[token] != nil
}

func TestPromote_ManyPermits_AllGetLeasesAndExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fill(3*epoch.Chunk + 7)
		time.Sleep(30 * time.Second)
		b.promote(1)
		defer b.Close()
		time.Sleep(shortLifetime / 2)
		if n := b.Len(); n != 3*epoch.Chunk+7 {
			t.Fatalf("Len() = %d, want one lease per permit", n)
		}
		time.Sleep(60*time.Second - shortLifetime/2)
		synctest.Wait()
		if n := b.State().PermitCount(); n != 3*epoch.Chunk+7 {
			t.Fatalf("%d permits remain before the grace period has ended, want all", n)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := b.State().PermitCount(); n != 0 || b.Len() != 0 {
			t.Fatalf("%d permits and %d leases remain, want none", n, b.Len())
		}
	})
}

// Creating a million leases takes time, and a permit with a duration of one second must not wait for it.
func TestPromote_ShortPermits_GetLeasesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fill(3 * epoch.Chunk)
		b.Do(b.edit(func(d *semaphore.Definition) { d.Duration = time.Second }))
		b.Grant("pool", "brief")
		b.promote(1)
		defer b.Close()
		if n, hasShort := b.Len(), b.hasLease(3*epoch.Chunk+1); !hasShort || n == 3*epoch.Chunk+1 {
			t.Fatalf("got %d leases immediately after the promotion, including the short-lived permit's: %t; want only some of the leases, true", n, hasShort)
		}
		time.Sleep(time.Second + semaphore.Grace(time.Second))
		synctest.Wait()
		if n := b.State().PermitCount(); n != 3*epoch.Chunk || b.Len() != n {
			t.Fatalf("%d permits and %d leases remain, want only the long-lived ones", n, b.Len())
		}
	})
}

// A longer duration is sent to the holder once it is committed, and the holder may rely on it from then on.
func TestApplied_LongerDurationBeforeLease_CountsFromEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fill(3 * epoch.Chunk)
		b.promote(1)
		defer b.Close()
		const last = 3 * epoch.Chunk
		if b.hasLease(last) {
			t.Fatal("the permit already has a lease")
		}
		time.Sleep(maxRest / 2)
		b.Do(fsm.Extend{Token: last, Duration: 2 * time.Minute})
		want := 2*time.Minute + semaphore.Grace(2*time.Minute)
		if d, ok := b.Remaining(b.State().Permit(last)); !ok || d != want {
			t.Fatalf("Remaining() = %v, %v, want %v", d, ok, want)
		}
	})
}

func TestRemaining_BeforeLeaseIsCreated_CountsFromPromotion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fill(1)
		p := b.State().Permit(1)
		if _, ok := b.Remaining(p); ok {
			t.Fatal("Remaining() succeeded before the promotion")
		}
		b.promote(1)
		defer b.Close()
		want := time.Minute + semaphore.Grace(time.Minute)
		if d, ok := b.Remaining(p); !ok || d != want {
			t.Fatalf("Remaining() = %v, %v, want %v", d, ok, want)
		}
		if d := b.Held(p); d != 0 {
			t.Fatalf("Held() = %v at the promotion, want 0", d)
		}
	})
}

func TestDemote_WhileExpiriesAreDue_ProposesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fill(10)
		b.promote(1)
		b.Demote(1)
		b.Sleep(time.Hour)
		b.WantProposed(0)
		b.Close()
	})
}

func admitAll(*fsm.State, *semaphore.Permit, bool) semaphore.Decision {
	return semaphore.Decision{Outcome: semaphore.Refreshed}
}

// A caller waiting for the outcome of a marked permit is notified when the epoch ends, even if the next epoch has
// already begun.
func TestDemote_MarkedPermits_AreResolved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fill(10)
		l := New(Config{
			State:    b.State,
			Propose:  func(fsm.Command, func(batcher.Outcome)) {}, // the outcome remains unknown
			Overheld: func(*semaphore.Permit) {},
		})
		defer l.Close()
		token, state := b.State().LastToken(), b.State()
		l.Promote(1, time.Now(), state)
		synctest.Wait()
		l.Abandon(1, token)
		v := renewOne(l, 1, token, admitAll)
		if v.Status != Marked {
			t.Fatalf("Renew() = %+v, want Marked", v)
		}
		l.Demote(1)
		l.Promote(2, time.Now(), state)
		<-v.Resolved
		if v := renewOne(l, 2, token, admitAll); v.Status != Renewed {
			t.Errorf("the mark is still set in the next epoch: %+v", v)
		}
	})
}

func TestIntake_Fence_WaitsOnlyForEarlierFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := intake{current: newGeneration()}
		before := in.enter()
		passed := make(chan struct{})
		go func() {
			in.fence()
			close(passed)
		}()
		synctest.Wait()
		after := in.enter()
		select {
		case <-passed:
			t.Fatal("the fence did not wait")
		default:
		}
		before()
		<-passed
		after()
		in.fence() // no frame is open
	})
}

func BenchmarkRenew(b *testing.B) {
	bench := newBench(b)
	bench.fill(10_000)
	bench.Machine.Sync(func(s *fsm.State) { bench.Promote(1, time.Now(), s) })
	defer bench.Close()
	admit := func(*fsm.State, *semaphore.Permit, bool) semaphore.Decision {
		return semaphore.Decision{Outcome: semaphore.Refreshed}
	}
	frame := Frame{Received: time.Now(), Stream: 1}
	refreshes := make([]Refresh, 100)
	verdicts := make([]Verdict, 0, len(refreshes))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		for j := range refreshes {
			refreshes[j].Token = uint64((i*100+j)%10_000) + 1
		}
		verdicts, _ = bench.Renew(1, frame, refreshes, admit, verdicts[:0])
	}
	if verdicts[0].Status != Renewed {
		b.Fatal(verdicts[0].Status)
	}
}

// The leader keeps one lease for every permit.
func TestLease_Size_IsSmall(t *testing.T) {
	if size := reflect.TypeFor[lease]().Size(); size > 112 {
		t.Errorf("a lease takes %d bytes, want at most 112", size)
	}
}
