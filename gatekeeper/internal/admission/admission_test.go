package admission

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// smallLimits returns limits low enough to reach in a test: 8 ordinary calls, at most 2 per connection or identity, and
// 4 Waiting calls in progress.
func smallLimits() Limits {
	l := NewLimits(8)
	for k := range l.Open {
		l.Open[k] = 30
	}
	return l
}

// work opens a call and marks it as in progress.
func work(t *testing.T, c *Control, k Kind, connection any, acquirer string) (*Call, error) {
	t.Helper()
	call, err := c.Open(k, connection)
	if err != nil {
		return nil, err
	}
	var identity Identity
	if acquirer != "" {
		identity = Identity{"g", acquirer}
	}
	if err := call.Work(t.Context(), identity); err != nil {
		call.End()
		return nil, err
	}
	return call, nil
}

func mustWork(t *testing.T, c *Control, k Kind, connection any, acquirer string) *Call {
	t.Helper()
	call, err := work(t, c, k, connection, acquirer)
	if err != nil {
		t.Fatalf("%v call on connection %v by acquirer %q: %v", k, connection, acquirer, err)
	}
	return call
}

// wantRefused checks that err is an OverloadedError for the given limit.
func wantRefused(t *testing.T, err error, scope Scope, open bool, limit int) {
	t.Helper()
	e, ok := errors.AsType[*OverloadedError](err)
	if !ok || e.Scope != scope || e.Open != open || e.Limit != limit {
		t.Fatalf("got error %v, want an OverloadedError with limit %d and scope %v", err, limit, scope)
	}
}

// wantEmpty checks that all counts are zero and no tallies are left.
func wantEmpty(t *testing.T, c *Control) {
	t.Helper()
	if c.all != (tally{}) || len(c.connections) != 0 || len(c.identities) != 0 || len(c.waitingSlots) != 0 {
		t.Errorf("got %+v, %d connections, %d identities and %d occupied slots, want all zero", c.all, len(c.connections), len(c.identities), len(c.waitingSlots))
	}
}

func TestWork_AboveLimit_IsRefusedUntilCallEnds(t *testing.T) {
	c := New(smallLimits())
	var calls []*Call
	for i := range 8 {
		calls = append(calls, mustWork(t, c, Ordinary, i, fmt.Sprint(i)))
	}
	_, err := work(t, c, Ordinary, "another", "another")
	wantRefused(t, err, Server, false, 8)
	if n := c.Refused(Ordinary, Server); n != 1 {
		t.Errorf("Refused() = %d, want 1", n)
	}
	calls[3].End()
	calls[3] = mustWork(t, c, Ordinary, "another", "another")
	if n := c.CallsInProgress(Ordinary); n != 8 {
		t.Errorf("CallsInProgress() = %d, want 8", n)
	}
	for _, call := range calls {
		call.End()
	}
	wantEmpty(t, c)
}

func TestWork_OneConnection_IsLimitedToItsShare(t *testing.T) {
	c := New(smallLimits())
	defer mustWork(t, c, Ordinary, "runaway", "a").End()
	defer mustWork(t, c, Ordinary, "runaway", "b").End()
	_, err := work(t, c, Ordinary, "runaway", "c")
	wantRefused(t, err, Connection, false, 2)
	for i := range 6 {
		defer mustWork(t, c, Ordinary, i, fmt.Sprint(i)).End()
	}
}

func TestWork_OneIdentity_IsLimitedToItsShareAcrossConnections(t *testing.T) {
	c := New(smallLimits())
	defer mustWork(t, c, Ordinary, 1, "runaway").End()
	defer mustWork(t, c, Ordinary, nil, "runaway").End() // forwarded by another member
	_, err := work(t, c, Ordinary, 3, "runaway")
	wantRefused(t, err, OneIdentity, false, 2)
	defer mustWork(t, c, Ordinary, 3, "other").End()
}

func TestWork_MemberConnection_HasNoShareLimit(t *testing.T) {
	c := New(smallLimits())
	for i := range 8 {
		defer mustWork(t, c, Ordinary, nil, fmt.Sprint(i)).End()
	}
	_, err := work(t, c, Ordinary, nil, "one more")
	wantRefused(t, err, Server, false, 8)
}

func TestKinds_FloodOfOneKind_DoesNotAffectOthers(t *testing.T) {
	for _, flooded := range Kinds() {
		c := New(smallLimits())
		for i := range c.limits.Working[flooded] {
			defer mustWork(t, c, flooded, i, fmt.Sprint(i)).End()
		}
		for _, k := range append(Kinds(), Vital) {
			if k != flooded {
				mustWork(t, c, k, "another", "another").End()
			}
		}
	}
}

func TestVital_IsAlwaysAdmittedAndNotCounted(t *testing.T) {
	c := New(smallLimits())
	for i := range c.limits.Open[Ordinary] {
		call, err := c.Open(Ordinary, i)
		if err != nil {
			t.Fatal(err)
		}
		defer call.End()
	}
	_, err := c.Open(Ordinary, "another")
	wantRefused(t, err, Server, true, 30)
	for range 100 {
		defer mustWork(t, c, Vital, "one", "one").End()
	}
	if n := c.OpenCalls(); n != 30 {
		t.Errorf("OpenCalls() = %d, want 30", n)
	}
}

// Waiters must not block other kinds of calls, because an operator may be needed to resolve the overload.
func TestOpen_WaitersReachLimit_OtherKindsAreAdmitted(t *testing.T) {
	c := New(NewLimits(DefaultWorking))
	for i := range c.limits.Open[Waiting] {
		call, err := c.Open(Waiting, i%3)
		if err != nil {
			t.Fatal(err)
		}
		defer call.End()
	}
	_, err := c.Open(Waiting, "another")
	wantRefused(t, err, Server, true, c.limits.Open[Waiting])
	for _, k := range []Kind{Operator, Ordinary, Heavy} {
		mustWork(t, c, k, "operator", "operator").End()
	}
}

func TestOpen_OneConnectionOrIdentity_IsLimitedToItsShare(t *testing.T) {
	c := New(smallLimits())
	for range 20 { // these calls never send a message
		call, err := c.Open(Ordinary, "silent")
		if err != nil {
			t.Fatal(err)
		}
		defer call.End()
	}
	_, err := c.Open(Ordinary, "silent")
	wantRefused(t, err, Connection, true, 20)
	mustWork(t, c, Ordinary, "another", "a").End()

	c = New(smallLimits())
	for i := range 20 {
		w := mustWork(t, c, Waiting, i, "one")
		defer w.End()
		w.Wait()
	}
	_, err = work(t, c, Waiting, "another", "one")
	wantRefused(t, err, OneIdentity, true, 20)
	defer mustWork(t, c, Waiting, "another", "two").End()
}

func TestWaiting_QueuedCalls_AreNotInProgress(t *testing.T) {
	c := New(smallLimits())
	for range 20 { // far more than one client may have in progress
		w := mustWork(t, c, Waiting, "one", "one")
		defer w.End()
		w.Wait()
		w.Wait() // a second Wait has no effect
	}
	if n, open := c.CallsInProgress(Waiting), c.OpenCalls(); n != 0 || open != 20 {
		t.Errorf("%d calls in progress and %d open, want 0 and 20", n, open)
	}
}

func TestWaiting_AboveLimit_StartsInArrivalOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(smallLimits())
		var working []*Call
		for i := range 4 {
			working = append(working, mustWork(t, c, Waiting, i, ""))
		}
		started := make(chan int, 3)
		calls := make([]*Call, 3)
		for i := range calls {
			calls[i], _ = c.Open(Waiting, "late")
			go func() {
				if err := calls[i].Work(t.Context(), Identity{}); err == nil {
					started <- i
				}
			}()
			synctest.Wait()
		}
		for i := range calls {
			if len(started) != 0 {
				t.Fatal("a call started before a slot was free")
			}
			if i%2 == 0 {
				working[i].Wait()
			} else {
				working[i].End()
			}
			synctest.Wait()
			if next := <-started; next != i {
				t.Fatalf("call %d started, want call %d", next, i)
			}
		}
		if n := c.CallsInProgress(Waiting); n != 4 {
			t.Errorf("CallsInProgress() = %d, want 4", n)
		}
		for _, call := range calls {
			call.End()
		}
		working[0].End()
		working[2].End()
		working[3].End()
		wantEmpty(t, c)
	})
}

func TestWaiting_ContextCancelledBeforeStart_ReturnsError(t *testing.T) {
	c := New(smallLimits())
	for i := range 4 {
		defer mustWork(t, c, Waiting, i, "").End()
	}
	ctx, cancel := context.WithCancel(t.Context())
	call, err := c.Open(Waiting, "late")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := call.Work(ctx, Identity{"g", "a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Work() with a cancelled context = %v, want context.Canceled", err)
	}
	call.End()
	if n, turns := c.CallsInProgress(Waiting), len(c.waitingSlots); n != 4 || turns != 4 {
		t.Errorf("%d calls in progress and %d occupied slots, want 4 of each", n, turns)
	}
}

// Work may run after End, because a stream's message is read in a different goroutine from the one that ends the call.
func TestWork_AfterEnd_HasNoEffect(t *testing.T) {
	c := New(smallLimits())
	for _, k := range []Kind{Ordinary, Waiting} {
		call, err := c.Open(k, 1)
		if err != nil {
			t.Fatal(err)
		}
		call.End()
		if err := call.Work(t.Context(), Identity{"g", "a"}); err == nil {
			t.Errorf("Work() for a %v call succeeded after End", k)
		}
		call.Wait()
	}
	wantEmpty(t, c)
}

// TestControl_ManyCallers_NeverExceedLimits runs random calls concurrently and checks the counts after each step.
func TestControl_ManyCallers_NeverExceedLimits(t *testing.T) {
	c := New(smallLimits())
	check := func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		exceeded := false
		for _, k := range Kinds() {
			exceeded = exceeded || c.all.open[k] > c.limits.Open[k] || c.all.working[k] > c.limits.Working[k] || c.all.working[k] < 0
			for _, t := range c.connections {
				exceeded = exceeded || t.open[k] > c.limits.openShare(k) || k != Waiting && t.working[k] > c.limits.workingShare(k)
			}
			for _, t := range c.identities {
				exceeded = exceeded || t.open[k] > c.limits.openShare(k) || k != Waiting && t.working[k] > c.limits.workingShare(k)
			}
		}
		if exceeded {
			t.Errorf("calls exceed the limits: %+v", c.all)
		}
	}
	var wg sync.WaitGroup
	for seed := range uint64(40) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, seed))
			for range 500 {
				k := Kinds()[rng.IntN(len(Kinds()))]
				var connection any
				if rng.IntN(4) > 0 {
					connection = rng.IntN(5)
				}
				call, err := work(t, c, k, connection, fmt.Sprint(rng.IntN(5)))
				check()
				if err != nil {
					continue
				}
				if rng.IntN(2) == 0 {
					call.Wait()
				}
				check()
				call.End()
			}
		})
	}
	wg.Wait()
	wantEmpty(t, c)
}

func TestNewLimits_OneClient_MayHaveTenThousandWaiters(t *testing.T) {
	for _, working := range []int{1, 16, DefaultWorking} {
		l := NewLimits(working)
		if l.openShare(Waiting) < 10_000 {
			t.Errorf("NewLimits(%d): one client may have %d waiting calls, want at least 10000", working, l.openShare(Waiting))
		}
		for _, k := range Kinds() {
			if l.Working[k] < 1 || l.workingShare(k) < 1 {
				t.Errorf("NewLimits(%d): %d calls of kind %v, and %d per connection, want at least 1", working, l.Working[k], k, l.workingShare(k))
			}
		}
	}
}

func TestOverloadedError_ReportsLimit(t *testing.T) {
	for e, want := range map[OverloadedError]string{
		{Kind: Ordinary, Scope: Server, Limit: 8}:                 "this server has 8 ordinary calls in progress",
		{Kind: Heavy, Scope: Connection, Limit: 2}:                "this connection has 2 heavy calls in progress",
		{Kind: Waiting, Scope: OneIdentity, Open: true, Limit: 5}: "this group and acquirer have 5 open waiting calls",
	} {
		if text := e.Error(); !strings.Contains(text, want) || !strings.Contains(text, "nothing was done") {
			t.Errorf("Error() = %q, want %q and that nothing was done", text, want)
		}
	}
}

// BenchmarkCall measures the admission overhead of one client call.
func BenchmarkCall(b *testing.B) {
	c := New(NewLimits(DefaultWorking))
	connection := any(new(int))
	identity := Identity{"default", "host-0123"}
	ctx := b.Context()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			call, err := c.Open(Ordinary, connection)
			if err != nil {
				b.Error(err)
				return
			}
			if err := call.Work(ctx, identity); err != nil {
				b.Error(err)
			}
			call.End()
		}
	})
}
