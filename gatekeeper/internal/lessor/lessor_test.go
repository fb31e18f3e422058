package lessor

import (
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a lessor whose commands are applied at once.
type bench struct {
	*Lessor
	t       testing.TB
	machine *fsm.Machine
	index   uint64
	ended   []uint64
}

func newBench(t testing.TB) *bench {
	b := &bench{t: t, machine: fsm.New("test")}
	b.Lessor = New(Config{
		State: b.machine.State,
		Propose: func(cmd fsm.Command, done func(batcher.Outcome)) {
			b.ended = append(b.ended, tokenOf(cmd))
			done(batcher.Outcome{Result: b.apply(cmd)[0]})
		},
		Overheld: func(*semaphore.Permit) {},
	})
	b.machine.Subscribe(b.Applied)
	return b
}

func (b *bench) apply(cmds ...fsm.Command) []fsm.Result {
	b.t.Helper()
	entry, err := fsm.Encode(fsm.SupportedLevel, cmds)
	if err != nil {
		b.t.Fatal(err)
	}
	b.index++
	results, err := b.machine.Apply(b.index, 1, entry)
	if err != nil {
		b.t.Fatal(err)
	}
	return results
}

// fill grants n permits of one pool, each with a duration of its own when the pool's is edited between.
func (b *bench) fill(n int) {
	b.t.Helper()
	d := &semaphore.Definition{
		Name: "pool", GroupPattern: ".*", AcquirerPattern: ".*", Permits: semaphore.MaxPermits, Duration: time.Minute,
		OnExpiry: semaphore.OnExpiryFree, FiringOnLoss: semaphore.FiringSpent,
		FiringRetention: time.Hour, FiringLimit: 1,
	}
	b.apply(fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Create, Name: d.Name, Definition: d}}})
	version := b.machine.State().Definition("pool").Version
	for i := range n {
		b.apply(fsm.Grant{
			Semaphore: "pool", Weight: 1, DefinitionVersion: version,
			Identity: semaphore.Identity{Group: "g", Acquirer: fmt.Sprint("a", i)},
		})
	}
}

// renewed is what a refresh of one permit by a unary call finds.
func renewed(l *Lessor, term, token uint64, admit Admit) Verdict {
	verdicts, _ := l.Renew(term, Frame{Received: time.Now()}, []Refresh{{Token: token}}, admit, nil)
	return verdicts[0]
}

func (b *bench) promote(term uint64) {
	b.machine.Sync(func(s *fsm.State) { b.Promote(term, time.Now(), s) })
	synctest.Wait()
}

func (b *bench) hasLease(token uint64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.leases[token] != nil
}

func TestPromote_ManyPermits_AllGetALeaseAndAllEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fill(3*chunk + 7)
		time.Sleep(30 * time.Second)
		b.promote(1)
		defer b.Close()
		time.Sleep(brief / 2)
		if n := b.Len(); n != 3*chunk+7 {
			t.Fatalf("%d leases, want one a permit", n)
		}
		time.Sleep(60*time.Second - brief/2)
		synctest.Wait()
		if n := b.machine.State().PermitCount(); n != 3*chunk+7 {
			t.Fatalf("%d permits are left before the grace is over", n)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := b.machine.State().PermitCount(); n != 0 || b.Len() != 0 {
			t.Fatalf("%d permits and %d leases are left", n, b.Len())
		}
	})
}

// Leases of a million permits take their time, and none of it is that of a permit which lives for a second.
func TestPromote_PermitsThatLiveBriefly_GetTheirLeasesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fill(3 * chunk)
		sd := b.machine.State().Definition("pool")
		d := *sd.Definition
		d.Duration = time.Second
		b.apply(fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Replace, Name: d.Name, Definition: &d, ExpectedVersion: sd.Version}}})
		b.apply(fsm.Grant{
			Semaphore: d.Name, Weight: 1, DefinitionVersion: b.machine.State().Definition("pool").Version,
			Identity: semaphore.Identity{Group: "g", Acquirer: "brief"},
		})
		b.promote(1)
		defer b.Close()
		if n, has := b.Len(), b.hasLease(3*chunk+1); !has || n == 3*chunk+1 {
			t.Fatalf("%d leases at once; %t: one is that of the permit that lives briefly", n, has)
		}
		time.Sleep(time.Second + semaphore.Grace(time.Second))
		synctest.Wait()
		if n := b.machine.State().PermitCount(); n != 3*chunk || b.Len() != n {
			t.Fatalf("%d permits are left, and %d leases", n, b.Len())
		}
	})
}

// A longer duration is answered once it is committed. Whoever was told of it counts from then on.
func TestApplied_LongerDurationBeforeTheLeaseIsMade_CountsFromThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fill(3 * chunk)
		b.promote(1)
		defer b.Close()
		const last = 3 * chunk
		if b.hasLease(last) {
			t.Fatal("it has a lease already")
		}
		time.Sleep(longestRest / 2)
		b.apply(fsm.Extend{Token: last, Duration: 2 * time.Minute})
		want := 2*time.Minute + semaphore.Grace(2*time.Minute)
		if d, ok := b.Remaining(b.machine.State().Permit(last)); !ok || d != want {
			t.Fatalf("remaining is %v, %v; want %v", d, ok, want)
		}
	})
}

func TestRemaining_BeforeTheLeaseIsMade_CountsFromThePromotion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fill(1)
		p := b.machine.State().Permit(1)
		if _, ok := b.Remaining(p); ok {
			t.Fatal("a lessor that does not lead knows a deadline")
		}
		b.promote(1)
		defer b.Close()
		want := time.Minute + semaphore.Grace(time.Minute)
		if d, ok := b.Remaining(p); !ok || d != want {
			t.Fatalf("remaining is %v, %v; want %v", d, ok, want)
		}
		if d := b.Held(p); d != 0 {
			t.Fatalf("held for %v at the promotion", d)
		}
	})
}

func TestDemote_WhileExpiriesAreDue_ProposesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fill(10)
		b.promote(1)
		b.Demote(1)
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(b.ended) != 0 {
			t.Fatalf("%d ends were proposed", len(b.ended))
		}
		b.Close()
	})
}

func admitAll(*fsm.State, *semaphore.Permit, bool) semaphore.Decision {
	return semaphore.Decision{Outcome: semaphore.Refreshed}
}

// Whoever waits for what becomes of a marked permit learns that the epoch is over, and the next one can begin meanwhile.
func TestDemote_MarkedPermits_AreResolved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fill(10)
		l := New(Config{
			State:    b.machine.State,
			Propose:  func(fsm.Command, func(batcher.Outcome)) {}, // its outcome is not known
			Overheld: func(*semaphore.Permit) {},
		})
		defer l.Close()
		token, state := b.machine.State().LastToken(), b.machine.State()
		l.Promote(1, time.Now(), state)
		synctest.Wait()
		l.Abandon(1, token)
		v := renewed(l, 1, token, admitAll)
		if v.Status != Marked {
			t.Fatalf("the verdict is %+v", v)
		}
		l.Demote(1)
		l.Promote(2, time.Now(), state)
		<-v.Resolved
		if v := renewed(l, 2, token, admitAll); v.Status != Renewed {
			t.Errorf("the mark is in the next epoch too: %+v", v)
		}
	})
}

func TestIntake_Fence_WaitsForThoseBeforeAndNotForThoseAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := intake{now: newGeneration()}
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
		in.fence() // nothing is open
	})
}

func TestSchedule_AnyOrder_EarliestFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s schedule
		all := make([]*lease, rapid.IntRange(1, 50).Draw(t, "leases"))
		for i := range all {
			all[i] = &lease{token: uint64(i), index: unscheduled}
		}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			le := all[rapid.IntRange(0, len(all)-1).Draw(t, "lease")]
			if rapid.Bool().Draw(t, "remove") {
				s.remove(le)
				continue
			}
			at := moment(rapid.IntRange(0, 1000).Draw(t, "at"))
			if first := s.set(le, at); first != (s[0] == le) {
				t.Fatal("set does not know the first")
			}
		}
		last := moment(0)
		for len(s) > 0 {
			le := s.pop()
			if le.at < last || le.index != unscheduled {
				t.Fatalf("lease %d came out of order", le.token)
			}
			last = le.at
		}
	})
}

func BenchmarkRenew(b *testing.B) {
	bench := newBench(b)
	bench.fill(10_000)
	bench.machine.Sync(func(s *fsm.State) { bench.Promote(1, time.Now(), s) })
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

// As a permit: there are as many.
func TestLease_IsSmall(t *testing.T) {
	if size := reflect.TypeFor[lease]().Size(); size > 112 {
		t.Errorf("a lease takes %d bytes, more than 112", size)
	}
}
