package batcher

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
)

// collect enqueues extends of the tokens [from, to) and returns where their outcomes arrive.
func collect(b *Batcher, from, to int) <-chan Outcome {
	out := make(chan Outcome, to-from)
	for token := from; token < to; token++ {
		b.Go(extend(token), func(o Outcome) { out <- o })
	}
	return out
}

func span(from, to int) []uint64 {
	var tokens []uint64
	for t := from; t < to; t++ {
		tokens = append(tokens, uint64(t))
	}
	return tokens
}

func TestGo_WhileOneEntryIsInFlight_TheRestSharesTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog()
		b := New(log, fixed)
		defer b.Close()

		first := collect(b, 0, 1)
		one := <-log
		if got := one.tokens(); !slices.Equal(got, span(0, 1)) {
			t.Fatalf("the first entry holds %v; a lone command goes at once", got)
		}
		rest := collect(b, 1, 100)
		synctest.Wait()
		if len(log) != 0 {
			t.Fatal("a second entry was handed over while one is in flight")
		}
		one.apply(7)
		two := <-log
		if got := two.tokens(); !slices.Equal(got, span(1, 100)) {
			t.Fatalf("the second entry holds %v, want all that waited, in order", got)
		}
		two.apply(8)
		if o := <-first; o.Err != nil || o.Index != 7 || o.Result.(fsm.PermitResult).Revision != 0 {
			t.Errorf("first outcome %+v", o)
		}
		for token := 1; token < 100; token++ {
			if o := <-rest; o.Err != nil || o.Index != 8 || o.Result.(fsm.PermitResult).Revision != uint64(token) {
				t.Errorf("outcome of %d: %+v", token, o)
			}
		}
	})
}

func TestGo_MoreThanOneEntryHolds_AreSplitInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog()
		b := New(log, fixed)
		defer b.Close()
		collect(b, 0, 1)
		in := <-log
		collect(b, 1, 2*MaxCommands+11)
		synctest.Wait()
		var got []uint64
		var sizes []int
		for index := uint64(1); ; index++ {
			got = append(got, in.tokens()...)
			sizes = append(sizes, len(in.tokens()))
			in.apply(index)
			synctest.Wait()
			if len(log) == 0 {
				break
			}
			in = <-log
		}
		if !slices.Equal(sizes, []int{1, MaxCommands, MaxCommands, 10}) {
			t.Errorf("commands per entry: %v", sizes)
		}
		if !slices.Equal(got, span(0, 2*MaxCommands+11)) {
			t.Errorf("the order was not kept: %v", got)
		}
	})
}

func TestGoTogether_ShareOneEntry_AlsoWhenNothingIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog()
		b := New(log, fixed)
		defer b.Close()
		out := make(chan Outcome, 3)
		var calls []Call
		for token := range 3 {
			calls = append(calls, Call{extend(token), func(o Outcome) { out <- o }})
		}
		for index := range uint64(100) { // whoever enqueues them one by one is overtaken by the batcher now and then
			b.GoTogether(calls...)
			in := <-log
			if got := in.tokens(); !slices.Equal(got, span(0, 3)) {
				t.Fatalf("the entry holds %v, want all three in order", got)
			}
			in.apply(index)
			for token := range uint64(3) {
				if o := <-out; o.Err != nil || o.Index != index || o.Result.(fsm.PermitResult).Revision != token {
					t.Fatalf("outcome of %d: %+v", token, o)
				}
			}
		}
	})
}

func TestGoTogether_BehindOthers_AreParted_OnlyWhenTooMuchByThemselves(t *testing.T) {
	const large = 100 << 10
	for name, c := range map[string]struct {
		before, together, size int // size is that of each command
		want                   []int
	}{
		"behind almost an entry":         {MaxCommands - 1, 2, 0, []int{MaxCommands - 1, 2}},
		"fill the entry":                 {MaxCommands - 2, 2, 0, []int{MaxCommands}},
		"an entry full behind one":       {1, MaxCommands, 0, []int{1, MaxCommands}},
		"too many":                       {1, MaxCommands + 1, 0, []int{1, MaxCommands, 1}},
		"behind almost all of its bytes": {2, 4, large, []int{2, 4}},
		"too many bytes":                 {1, 8, large, []int{1, 4, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := newFakeLog()
				b := New(log, fixed)
				defer b.Close()
				cmd := fsm.Revoke{Token: 1, Reason: strings.Repeat("x", c.size)}
				collect(b, 0, 1)
				in := <-log
				for range c.before {
					b.Go(cmd, func(Outcome) {})
				}
				var calls []Call
				for range c.together {
					calls = append(calls, Call{cmd, func(Outcome) {}})
				}
				b.GoTogether(calls...)
				var sizes []int
				for {
					in.end(consensus.Appended{}) // no results: nobody asks here
					synctest.Wait()
					if len(log) == 0 {
						break
					}
					in = <-log
					cmds, err := fsm.Decode(in.bytes)
					if err != nil {
						t.Fatal(err)
					}
					sizes = append(sizes, len(cmds))
				}
				if !slices.Equal(sizes, c.want) {
					t.Errorf("entries of %v commands, want %v", sizes, c.want)
				}
			})
		})
	}
}

func TestGoTogether_TooManyWait_AllAreRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog()
		b := New(log, fixed, WithMaxWaiting(2))
		defer b.Close()
		collect(b, 0, 1)
		in := <-log
		collect(b, 1, 2)
		out := make(chan Outcome, 2)
		done := func(o Outcome) { out <- o }
		b.GoTogether(Call{extend(2), done}, Call{extend(3), done})
		for range 2 {
			if o := <-out; !errors.Is(o.Err, ErrOverloaded) || !errors.Is(o.Err, consensus.ErrNotAppended) {
				t.Fatalf("outcome %+v, want both refused for too many", o)
			}
		}
		in.apply(1)
		in = <-log
		if got := in.tokens(); !slices.Equal(got, span(1, 2)) {
			t.Fatalf("the next entry holds %v, and a half of those that were refused", got)
		}
		in.apply(2)
	})
}

func TestGo_LargeCommands_AreSplitByBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog()
		b := New(log, fixed)
		defer b.Close()
		const each = 100 << 10
		large := func(n int) fsm.Command { return fsm.Revoke{Token: 1, Reason: strings.Repeat("x", n)} }
		b.Go(extend(0), func(Outcome) {})
		in := <-log
		for range 12 {
			b.Go(large(each), func(Outcome) {})
		}
		b.Go(large(MaxBytes+1), func(Outcome) {})
		b.Go(extend(1), func(Outcome) {})
		var sizes []int
		for {
			in.end(consensus.Appended{}) // no results at all: the commands do not know, and the batcher goes on
			synctest.Wait()
			if len(log) == 0 {
				break
			}
			in = <-log
			cmds, err := fsm.Decode(in.bytes)
			if err != nil {
				t.Fatal(err)
			}
			if len(in.bytes) > MaxBytes && len(cmds) > 1 {
				t.Errorf("%d commands in an entry of %d bytes", len(cmds), len(in.bytes))
			}
			sizes = append(sizes, len(cmds))
		}
		total := 0
		for _, n := range sizes {
			total += n
		}
		if total != 14 {
			t.Errorf("entries of %v commands: %d in all, want 14", sizes, total)
		}
	})
}

func TestGo_CommandThatCannotBeEncoded_IsRefusedAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog()
		b := New(log, fixed)
		defer b.Close()
		broken := errors.New("broken")
		b.encode = func(level uint32, cmds []fsm.Command) ([]byte, error) {
			for _, c := range cmds {
				if c.(fsm.Extend).Token == 5 {
					return nil, broken
				}
			}
			return fsm.Encode(level, cmds)
		}
		outcomes := collect(b, 0, 1)
		in := <-log
		rest := collect(b, 1, 20)
		in.apply(1)
		<-outcomes
		for token := 1; token < 20; {
			select {
			case in := <-log:
				in.apply(1)
			case o := <-rest:
				if token == 5 {
					if !errors.Is(o.Err, consensus.ErrNotAppended) || !errors.Is(o.Err, broken) || !o.Handed.IsZero() {
						t.Errorf("outcome of the broken command: %+v", o)
					}
				} else if o.Err != nil || o.Result.(fsm.PermitResult).Revision != uint64(token) {
					t.Errorf("outcome of %d: %+v", token, o)
				}
				token++
			}
		}
	})
}

func TestGo_AppendFails_EveryCommandIsTold(t *testing.T) {
	strange := errors.New("strange")
	for _, c := range []struct {
		name      string
		err, want error
	}{
		{"certain", consensus.ErrNotAppended, consensus.ErrNotAppended},
		{"unknown", consensus.ErrUnknownOutcome, consensus.ErrUnknownOutcome},
		{"neither is unknown", strange, consensus.ErrUnknownOutcome},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := newFakeLog()
				var seen Entry
				b := New(log, fixed, WithObserver(func(e Entry) { seen = e }))
				defer b.Close()
				collect(b, 0, 1)
				in := <-log
				out := collect(b, 1, 4)
				in.apply(1)
				in = <-log
				time.Sleep(time.Second) // the bubble's clock
				in.fail(c.err)
				for range 3 {
					o := <-out
					if !errors.Is(o.Err, c.want) || !errors.Is(o.Err, c.err) || o.Handed.IsZero() || o.Result != nil {
						t.Errorf("outcome %+v", o)
					}
				}
				synctest.Wait()
				if seen.Commands != 3 || seen.Bytes != len(in.bytes) || seen.Took != time.Second || !errors.Is(seen.Err, c.err) {
					t.Errorf("observed %+v", seen)
				}
			})
		})
	}
}

func TestGo_WrongNumberOfResults_IsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog()
		b := New(log, fixed)
		defer b.Close()
		out := collect(b, 0, 1)
		in := <-log
		in.end(consensus.Appended{Index: 1, Results: make([]fsm.Result, 2)})
		if o := <-out; !errors.Is(o.Err, consensus.ErrUnknownOutcome) || o.Result != nil {
			t.Errorf("outcome %+v", o)
		}
	})
}

func TestOutcome_Handed_IsReadWhenTheEntryIsHandedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog()
		b := New(log, fixed)
		defer b.Close()
		collect(b, 0, 1)
		in := <-log
		out := collect(b, 1, 2)
		time.Sleep(time.Minute) // it waits for the entry in flight
		want := time.Now()
		in.apply(1)
		in = <-log
		time.Sleep(time.Minute) // Raft takes its time
		in.apply(2)
		if o := <-out; !o.Handed.Equal(want) {
			t.Errorf("handed at %v, want %v", o.Handed, want)
		}
	})
}

func TestGo_TooManyWait_RefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog()
		b := New(log, fixed, WithMaxWaiting(10))
		defer b.Close()
		collect(b, 0, 1)
		in := <-log
		taken := collect(b, 1, 11)
		if b.Waiting() != 10 {
			t.Errorf("%d wait", b.Waiting())
		}
		for _, o := range []Outcome{<-collect(b, 11, 12), b.Do(t.Context(), extend(12))} {
			if !errors.Is(o.Err, ErrOverloaded) || !errors.Is(o.Err, consensus.ErrNotAppended) || !o.Handed.IsZero() {
				t.Errorf("outcome %+v", o)
			}
		}
		in.apply(1)
		in = <-log
		in.apply(2)
		for range 10 {
			if o := <-taken; o.Err != nil {
				t.Error(o.Err)
			}
		}
	})
}

func TestGo_RefusedAtOnce_IsNotToldOnTheCallersGoroutine(t *testing.T) {
	b := New(newFakeLog(), fixed, WithMaxWaiting(0))
	defer b.Close()
	var mu sync.Mutex
	told := make(chan struct{})
	mu.Lock()
	b.Go(extend(1), func(Outcome) { mu.Lock(); defer mu.Unlock(); close(told) })
	mu.Unlock()
	<-told
}

func TestDo_ContextEnds_UnknownAndStillApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog()
		b := New(log, fixed)
		defer b.Close()

		ctx, cancel := context.WithCancel(t.Context())
		out := make(chan Outcome)
		go func() { out <- b.Do(ctx, extend(1)) }()
		in := <-log
		go func() { out <- b.Do(ctx, extend(2)) }() // still waiting when its context ends
		synctest.Wait()
		cancel()
		for range 2 {
			if o := <-out; !errors.Is(o.Err, consensus.ErrUnknownOutcome) || !errors.Is(o.Err, context.Canceled) {
				t.Errorf("outcome %+v", o)
			}
		}
		in.apply(1)
		in = <-log
		if got := in.tokens(); !slices.Equal(got, span(2, 3)) {
			t.Errorf("the second entry holds %v", got)
		}
		in.apply(2)

		if o := b.Do(ctx, extend(3)); !errors.Is(o.Err, consensus.ErrNotAppended) || !errors.Is(o.Err, context.Canceled) {
			t.Errorf("with a context that had ended: %+v", o)
		}
		// Waiters of calls that gave up are not used again: a later call gets its own outcome.
		go func() { out <- b.Do(t.Context(), extend(4)) }()
		(<-log).apply(3)
		if o := <-out; o.Err != nil || o.Index != 3 || o.Result.(fsm.PermitResult).Revision != 4 {
			t.Errorf("outcome %+v", o)
		}
	})
}

func TestClose_HandedIsUnknown_WaitingAndLaterAreNotAppended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog()
		b := New(log, fixed)
		handed := collect(b, 0, 1)
		<-log
		waiting := collect(b, 1, 300)
		synctest.Wait()
		b.Close()
		b.Close()
		if o := <-handed; !errors.Is(o.Err, consensus.ErrUnknownOutcome) || o.Handed.IsZero() {
			t.Errorf("in flight: %+v", o)
		}
		for range 299 {
			if o := <-waiting; !errors.Is(o.Err, consensus.ErrNotAppended) || !o.Handed.IsZero() {
				t.Errorf("waiting: %+v", o)
			}
		}
		for _, o := range []Outcome{<-collect(b, 300, 301), b.Do(t.Context(), extend(301))} {
			if !errors.Is(o.Err, consensus.ErrNotAppended) || !errors.Is(o.Err, consensus.ErrClosed) {
				t.Errorf("later: %+v", o)
			}
		}
		if len(log) != 0 {
			t.Error("an entry was handed over after Close")
		}
	})
}

func TestClose_Idle_Ends(t *testing.T) {
	New(newFakeLog(), fixed).Close()
}

// TestDo_ManyCallers_EachGetsItsOwnOutcome is there for the race detector and for the counting of waiters.
func TestDo_ManyCallers_EachGetsItsOwnOutcome(t *testing.T) {
	log := newFakeLog()
	b := New(log, fixed)
	stop := make(chan struct{})
	var answering sync.WaitGroup
	answering.Go(func() {
		for index := uint64(1); ; index++ {
			select {
			case in := <-log:
				in.apply(index)
			case <-stop:
				return
			}
		}
	})
	var callers sync.WaitGroup
	for caller := range 32 {
		callers.Go(func() {
			last := uint64(0)
			for i := range 200 {
				token := caller*1000 + i
				o := b.Do(t.Context(), extend(token))
				if o.Err != nil || o.Result.(fsm.PermitResult).Revision != uint64(token) || o.Index <= last {
					t.Errorf("outcome of %d: %+v after index %d", token, o, last)
					return
				}
				last = o.Index
			}
		})
	}
	callers.Wait()
	b.Close()
	close(stop)
	answering.Wait()
}
