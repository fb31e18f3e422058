package epoch

import (
	"container/heap"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// alarms is a minimal room. Each alarm that is due becomes a command, which is retried until it is appended.
type alarms struct {
	*Room
	due Heap[alarm]

	mu sync.Mutex // guards the fields below
	// proposed contains the terms of the proposed commands.
	proposed []uint64
	// err is the outcome of each proposal. If block is not nil, proposals block until it is closed.
	err   error
	block chan struct{}
}

type alarm struct{ at time.Time }

func (a alarm) Before(other alarm) bool { return a.at.Before(other.at) }
func (a alarm) Moved(int)               {}

func newAlarms() *alarms {
	a := &alarms{}
	a.Room = NewRoom(a.propose, func() { a.due = nil })
	return a
}

func (a *alarms) propose(cmd fsm.Command, done func(batcher.Outcome)) {
	a.mu.Lock()
	a.proposed = append(a.proposed, cmd.(fsm.EndCooling).Term)
	err, block := a.err, a.block
	a.mu.Unlock()
	if block != nil {
		<-block
	}
	go done(batcher.Outcome{Err: err})
}

func (a *alarms) setErr(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = err
}

func (a *alarms) promote(term uint64) {
	a.Begin(term, func(e *Epoch) {
		e.Run(func() (func(), time.Duration) {
			n := 0
			for ; len(a.due) > 0 && !a.due[0].at.After(time.Now()); n++ {
				heap.Pop(&a.due)
			}
			if n > 0 {
				return func() { e.Propose(a.settled, slices.Repeat([]fsm.Command{fsm.EndCooling{Term: term}}, n)...) }, 0
			}
			if len(a.due) == 0 {
				return nil, time.Hour
			}
			return nil, time.Until(a.due[0].at)
		})
	})
}

func (a *alarms) settled(_ int, err error) {
	if errors.Is(err, consensus.ErrNotAppended) {
		heap.Push(&a.due, alarm{time.Now().Add(RetryAfter)})
		a.Wake()
	}
}

// schedule adds n alarms that are due after the given delay.
func (a *alarms) schedule(n int, delay time.Duration) {
	a.Lock()
	defer a.Unlock()
	for range n {
		heap.Push(&a.due, alarm{time.Now().Add(delay)})
	}
	a.Wake()
}

// sleep advances the clock by d and returns the terms of the commands proposed since the last call.
func (a *alarms) sleep(d time.Duration) []uint64 {
	time.Sleep(d)
	synctest.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	proposed := a.proposed
	a.proposed = nil
	return proposed
}

func inEpoch(t *testing.T, test func(t *testing.T, a *alarms)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a := newAlarms()
		defer a.Close()
		a.promote(1)
		test(t, a)
	})
}

func wantProposed(t *testing.T, proposed []uint64, terms ...uint64) {
	t.Helper()
	if !slices.Equal(proposed, terms) {
		t.Fatalf("got proposals in terms %v, want %v", proposed, terms)
	}
}

func TestRun_DueOrWoken_CallsAct(t *testing.T) {
	inEpoch(t, func(t *testing.T, a *alarms) {
		a.schedule(1, 3*time.Hour)
		a.schedule(2, time.Minute)
		wantProposed(t, a.sleep(time.Minute-1))
		wantProposed(t, a.sleep(1), 1, 1)
		wantProposed(t, a.sleep(3*time.Hour), 1)
		wantProposed(t, a.sleep(24*time.Hour))
	})
}

func TestDemote_AfterReturning_NothingIsProposedInThatTerm(t *testing.T) {
	inEpoch(t, func(t *testing.T, a *alarms) {
		a.schedule(3, time.Hour)
		a.Demote(1)
		a.schedule(3, time.Minute) // by mistake, after the server was demoted
		wantProposed(t, a.sleep(24*time.Hour))
	})
}

// The epoch ends while a command is being handed over. Demote waits for the handover, and the remaining commands are
// dropped.
func TestDemote_DuringHandover_WaitsAndDropsRest(t *testing.T) {
	inEpoch(t, func(t *testing.T, a *alarms) {
		a.block = make(chan struct{})
		a.schedule(3, 0)
		wantProposed(t, a.sleep(0), 1)
		var demoted atomic.Bool
		go func() { a.Demote(1); demoted.Store(true) }()
		synctest.Wait()
		if demoted.Load() {
			t.Fatal("Demote returned while a command was being handed over")
		}
		close(a.block)
		wantProposed(t, a.sleep(0))
		if !demoted.Load() {
			t.Fatal("Demote did not return")
		}
	})
}

func TestDemote_DifferentTerm_HasNoEffect(t *testing.T) {
	inEpoch(t, func(t *testing.T, a *alarms) {
		a.schedule(1, time.Minute)
		a.Demote(2)
		a.Demote(0)
		wantProposed(t, a.sleep(time.Minute), 1)
	})
}

func TestPropose_NotAppended_IsRetriedUntilAppended(t *testing.T) {
	inEpoch(t, func(t *testing.T, a *alarms) {
		a.setErr(consensus.ErrNotAppended)
		a.schedule(1, 0)
		wantProposed(t, a.sleep(3*RetryAfter-1), 1, 1, 1)
		a.setErr(nil)
		wantProposed(t, a.sleep(time.Hour), 1)
	})
}

func TestPropose_NotAppendedAndEpochEnds_IsNotRetried(t *testing.T) {
	inEpoch(t, func(t *testing.T, a *alarms) {
		a.setErr(consensus.ErrNotAppended)
		a.schedule(1, 0)
		wantProposed(t, a.sleep(0), 1)
		a.Demote(1)
		a.promote(2)
		wantProposed(t, a.sleep(time.Hour))
	})
}

// The outcome arrives in the next epoch, which did not propose the command.
func TestPropose_OutcomeAfterEpoch_IsDropped(t *testing.T) {
	inEpoch(t, func(t *testing.T, a *alarms) {
		var settle func(batcher.Outcome)
		r := NewRoom(func(_ fsm.Command, done func(batcher.Outcome)) { settle = done }, nil)
		defer r.Close()
		outcomes := 0
		begin := func(e *Epoch) {
			e.Every(time.Second, func() { e.Propose(func(int, error) { outcomes++ }, fsm.EndCooling{}) })
		}
		r.Begin(1, begin)
		a.sleep(time.Second)
		first := settle
		r.Demote(1)
		r.Begin(2, begin)
		first(batcher.Outcome{})
		if outcomes != 0 {
			t.Fatal("settled was called in the next epoch")
		}
		a.sleep(time.Second)
		settle(batcher.Outcome{})
		if outcomes != 1 {
			t.Fatal("settled was not called in the epoch that proposed the command")
		}
	})
}

// The first epoch's goroutine is still busy when the second epoch begins and Wake is called. The wake-up must reach the
// second epoch's goroutine.
func TestWake_PreviousEpochGoroutineIsBusy_DoesNotConsumeWakeUp(t *testing.T) {
	inEpoch(t, func(t *testing.T, a *alarms) {
		a.block = make(chan struct{})
		a.schedule(1, 0)
		wantProposed(t, a.sleep(0), 1)
		go a.Demote(1)
		synctest.Wait()
		block := a.block
		a.mu.Lock()
		a.block = nil
		a.mu.Unlock()
		a.promote(2)
		synctest.Wait()
		a.schedule(1, 0)
		close(block)
		wantProposed(t, a.sleep(0), 2)
	})
}

// The first epoch ends, and the second begins, just before the first epoch's goroutine starts to wait. That goroutine
// must exit. If it shared its wake-ups with the second epoch, it would wait for its timer instead.
func TestRun_EpochEndsBeforeItWaits_Exits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRoom(nil, nil)
		collected, wait := make(chan struct{}), make(chan struct{})
		r.Begin(1, func(e *Epoch) {
			e.Run(func() (func(), time.Duration) {
				r.Unlock()
				close(collected)
				<-wait
				r.Lock()
				return nil, time.Hour
			})
		})
		<-collected
		r.Demote(1)
		r.Begin(2, func(e *Epoch) { e.Run(func() (func(), time.Duration) { return nil, time.Hour }) })
		synctest.Wait()
		close(wait)
		start := time.Now()
		r.Close()
		if time.Since(start) != 0 {
			t.Fatal("an earlier epoch's goroutine waited for its timer")
		}
	})
}

func TestClose_WaitsForEveryGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running atomic.Int64
		r := NewRoom(nil, nil)
		busy := func() {
			running.Add(1)
			time.Sleep(time.Minute)
			running.Add(-1)
		}
		for term := range uint64(2) {
			r.Begin(term+1, func(e *Epoch) {
				r.Go(busy)
				e.Run(func() (func(), time.Duration) { return busy, 0 })
				e.Every(time.Second, busy)
			})
			time.Sleep(2 * time.Second)
			if term == 0 {
				r.Demote(1)
			}
		}
		synctest.Wait()
		if n := running.Load(); n != 6 {
			t.Fatalf("%d goroutines are running, want 6", n)
		}
		r.Close()
		if n := running.Load(); n != 0 {
			t.Fatalf("%d goroutines are running after Close, want none", n)
		}
		r.Close()
	})
}

func TestEvery_RunsOncePerPeriodUntilEpochEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		r := NewRoom(nil, nil)
		defer r.Close()
		r.Begin(1, func(e *Epoch) { e.Every(time.Second, func() { runs++ }) })
		time.Sleep(10*time.Second + 1)
		r.Demote(1)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if runs != 10 {
			t.Fatalf("got %d runs in 10 seconds, want 10", runs)
		}
	})
}

func TestWalk_VisitsAll_LockingPerChunk(t *testing.T) {
	for _, n := range []int{0, 1, Chunk, 3*Chunk + 7} {
		synctest.Test(t, func(t *testing.T) {
			r := NewRoom(nil, nil)
			defer r.Close()
			var visited []int
			all := false
			r.Begin(1, func(e *Epoch) {
				r.Go(func() { all = Walk(e, time.Second, upTo(n), func(i int) { visited = append(visited, i) }) })
			})
			for chunk := range n / Chunk {
				synctest.Wait()
				r.Lock()
				if len(visited) != (chunk+1)*Chunk {
					t.Fatalf("visited %d items up to chunk %d, want %d", len(visited), chunk, (chunk+1)*Chunk)
				}
				r.Unlock()
				time.Sleep(time.Second)
			}
			synctest.Wait()
			if !all || len(visited) != n || !slices.IsSorted(visited) {
				t.Fatalf("Walk() = %v, visited %d of %d items", all, len(visited), n)
			}
		})
	}
}

func TestWalk_EpochEnds_StopsVisiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRoom(nil, nil)
		defer r.Close()
		visited, all := 0, true
		r.Begin(1, func(e *Epoch) {
			r.Go(func() { all = Walk(e, time.Second, upTo(3*Chunk), func(int) { visited++ }) })
		})
		synctest.Wait()
		r.Demote(1)
		r.Begin(2, func(*Epoch) {})
		time.Sleep(time.Hour)
		synctest.Wait()
		if visited != Chunk || all {
			t.Fatalf("Walk() = %v, visited %d items, want false after %d", all, visited, Chunk)
		}
	})
}

func upTo(n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func TestRoom_DemotedTwiceAndClosed_EachWaitsForHandover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlarms()
		a.block = make(chan struct{})
		a.promote(1)
		a.schedule(1, 0)
		synctest.Wait()
		var returned atomic.Int32
		for _, call := range []func(){func() { a.Demote(1) }, func() { a.Demote(1) }, a.Close} {
			go func() { call(); returned.Add(1) }()
		}
		synctest.Wait()
		if n := returned.Load(); n > 0 {
			t.Errorf("%d calls returned while a command was being handed over", n)
		}
		close(a.block)
		synctest.Wait()
		if n := returned.Load(); n != 3 {
			t.Errorf("%d calls returned, want 3", n)
		}
	})
}

func TestRoom_Closed_StartsNoEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlarms()
		a.Close()
		a.promote(1)
		if a.Lock(); a.Term() != 0 {
			t.Error("an epoch began after Close")
		}
		a.Unlock()
	})
}
