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

// extendAll enqueues an Extend command for each token in [from, to), and returns a channel that receives their
// outcomes.
func extendAll(b *Batcher, from, to int) <-chan Outcome {
	out := make(chan Outcome, to-from)
	for token := from; token < to; token++ {
		b.Go(extend(token), func(o Outcome) { out <- o })
	}
	return out
}

func tokenRange(from, to int) []uint64 {
	var tokens []uint64
	for t := from; t < to; t++ {
		tokens = append(tokens, uint64(t))
	}
	return tokens
}

func TestGo_EntryInFlight_WaitingCommandsShareNextEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog()
		b := New(log, fixedLevel)
		defer b.Close()

		first := extendAll(b, 0, 1)
		firstEntry := <-log
		if got := firstEntry.tokens(); !slices.Equal(got, tokenRange(0, 1)) {
			t.Fatalf("first entry contains %v, want only the first command", got)
		}
		rest := extendAll(b, 1, 100)
		synctest.Wait()
		if len(log) != 0 {
			t.Fatal("a second entry was appended while the first was in flight")
		}
		firstEntry.apply(7)
		secondEntry := <-log
		if got := secondEntry.tokens(); !slices.Equal(got, tokenRange(1, 100)) {
			t.Fatalf("second entry contains %v, want all waiting commands in order", got)
		}
		secondEntry.apply(8)
		if o := <-first; o.Err != nil || o.Index != 7 || o.Result.(fsm.PermitResult).Revision != 0 {
			t.Errorf("outcome of the first command: %+v", o)
		}
		for token := 1; token < 100; token++ {
			if o := <-rest; o.Err != nil || o.Index != 8 || o.Result.(fsm.PermitResult).Revision != uint64(token) {
				t.Errorf("outcome of command %d: %+v", token, o)
			}
		}
	})
}

func TestGo_TooManyCommandsForEntry_SplitsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog()
		b := New(log, fixedLevel)
		defer b.Close()
		extendAll(b, 0, 1)
		pending := <-log
		extendAll(b, 1, 2*MaxCommands+11)
		synctest.Wait()
		var got []uint64
		var sizes []int
		for index := uint64(1); ; index++ {
			got = append(got, pending.tokens()...)
			sizes = append(sizes, len(pending.tokens()))
			pending.apply(index)
			synctest.Wait()
			if len(log) == 0 {
				break
			}
			pending = <-log
		}
		if !slices.Equal(sizes, []int{1, MaxCommands, MaxCommands, 10}) {
			t.Errorf("commands per entry = %v, want [1 %d %d 10]", sizes, MaxCommands, MaxCommands)
		}
		if !slices.Equal(got, tokenRange(0, 2*MaxCommands+11)) {
			t.Errorf("commands are out of order: %v", got)
		}
	})
}

func TestComplete_AddedCalls_FollowEntryCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog()
		b := New(log, fixedLevel)
		defer b.Close()
		out := make(chan Outcome, 3)
		b.Complete(func(cmds []fsm.Command) (calls []Call) {
			for _, c := range cmds {
				calls = append(calls, Call{extend(100 + int(c.(fsm.Extend).Token)), func(o Outcome) { out <- o }})
			}
			return calls
		})
		extendAll(b, 0, 1)
		pending := <-log
		extendAll(b, 1, 3)
		for index, want := range [][]uint64{{0, 100}, {1, 2, 101, 102}} {
			if got := pending.tokens(); !slices.Equal(got, want) {
				t.Fatalf("entry contains %v, want %v", got, want)
			}
			pending.apply(uint64(index))
			for _, token := range want[len(want)/2:] {
				if o := <-out; o.Err != nil || o.Index != uint64(index) || o.Result.(fsm.PermitResult).Revision != token {
					t.Fatalf("outcome of command %d: %+v", token, o)
				}
			}
			synctest.Wait()
			if index == 0 {
				pending = <-log
			}
		}
		if len(log) > 0 {
			t.Fatal("got a third entry, want none")
		}
	})
}

// Calls that do not fit into an entry are not lost. They move to the end of the backlog, and are refused if the batcher
// is closed.
func TestComplete_TooManyCallsForEntry_WaitForNextEntry(t *testing.T) {
	const size = 100 << 10
	large := func(token uint64) fsm.Command { return fsm.Revoke{Token: token, Reason: strings.Repeat("x", size)} }
	for name, closeEarly := range map[string]bool{"open": false, "closed": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := newFakeLog()
				b := New(log, fixedLevel)
				defer b.Close()
				var outcomes []error
				done := func(o Outcome) { outcomes = append(outcomes, o.Err) }
				completed := false
				b.Complete(func(cmds []fsm.Command) []Call {
					if completed || len(cmds) == 1 {
						return nil
					}
					completed = true
					return []Call{{large(4), done}, {large(5), done}}
				})
				b.Go(extend(0), func(Outcome) {})
				pending := <-log
				for token := range uint64(4) {
					b.Go(large(token), func(Outcome) {})
				}
				pending.apply(1)
				var got [][]uint64
				for range 2 {
					pending = <-log
					cmds, err := fsm.Decode(pending.bytes)
					if err != nil {
						t.Fatal(err)
					}
					var tokens []uint64
					for _, c := range cmds {
						tokens = append(tokens, c.(fsm.Revoke).Token)
					}
					got = append(got, tokens)
					if closeEarly {
						b.Close()
						break
					}
					pending.end(consensus.Appended{Results: make([]fsm.Result, len(cmds))})
				}
				synctest.Wait()
				if closeEarly {
					if len(outcomes) != 2 || !errors.Is(outcomes[0], consensus.ErrNotAppended) || !errors.Is(outcomes[1], consensus.ErrNotAppended) {
						t.Fatalf("outcomes = %v, want ErrNotAppended twice", outcomes)
					}
					return
				}
				if !slices.Equal(got[0], tokenRange(0, 3)) || !slices.Equal(got[1], tokenRange(3, 6)) || len(outcomes) != 2 || errors.Join(outcomes...) != nil {
					t.Fatalf("entries = %v, outcomes = %v, want both calls appended without an error", got, outcomes)
				}
			})
		})
	}
}

func TestGo_LargeCommands_AreSplitByBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog()
		b := New(log, fixedLevel)
		defer b.Close()
		const size = 100 << 10
		large := func(n int) fsm.Command { return fsm.Revoke{Token: 1, Reason: strings.Repeat("x", n)} }
		b.Go(extend(0), func(Outcome) {})
		pending := <-log
		for range 12 {
			b.Go(large(size), func(Outcome) {})
		}
		b.Go(large(MaxBytes+1), func(Outcome) {})
		b.Go(extend(1), func(Outcome) {})
		var sizes []int
		for {
			pending.end(consensus.Appended{}) // without results, the outcomes are unknown and the batcher continues
			synctest.Wait()
			if len(log) == 0 {
				break
			}
			pending = <-log
			cmds, err := fsm.Decode(pending.bytes)
			if err != nil {
				t.Fatal(err)
			}
			if len(pending.bytes) > MaxBytes && len(cmds) > 1 {
				t.Errorf("got %d commands in an entry of %d bytes, want 1", len(cmds), len(pending.bytes))
			}
			sizes = append(sizes, len(cmds))
		}
		total := 0
		for _, n := range sizes {
			total += n
		}
		if total != 14 {
			t.Errorf("commands per entry = %v, %d in total, want 14", sizes, total)
		}
	})
}

func TestGo_UnencodableCommand_OthersSucceed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog()
		b := New(log, fixedLevel)
		defer b.Close()
		errBroken := errors.New("broken")
		b.encode = func(level uint32, cmds []fsm.Command) ([]byte, error) {
			for _, c := range cmds {
				if c.(fsm.Extend).Token == 5 {
					return nil, errBroken
				}
			}
			return fsm.Encode(level, cmds)
		}
		outcomes := extendAll(b, 0, 1)
		pending := <-log
		rest := extendAll(b, 1, 20)
		pending.apply(1)
		<-outcomes
		for token := 1; token < 20; {
			select {
			case pending := <-log:
				pending.apply(1)
			case o := <-rest:
				if token == 5 {
					if !errors.Is(o.Err, consensus.ErrNotAppended) || !errors.Is(o.Err, errBroken) || !o.ProposedAt.IsZero() {
						t.Errorf("outcome of the broken command: %+v, want ErrNotAppended", o)
					}
				} else if o.Err != nil || o.Result.(fsm.PermitResult).Revision != uint64(token) {
					t.Errorf("outcome of command %d: %+v", token, o)
				}
				token++
			}
		}
	})
}

func TestGo_AppendFails_AllCommandsReturnError(t *testing.T) {
	errOther := errors.New("strange")
	for _, c := range []struct {
		name      string
		err, want error
	}{
		{"not appended", consensus.ErrNotAppended, consensus.ErrNotAppended},
		{"unknown outcome", consensus.ErrUnknownOutcome, consensus.ErrUnknownOutcome},
		{"other error", errOther, consensus.ErrUnknownOutcome},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := newFakeLog()
				var seen Entry
				b := New(log, fixedLevel, WithObserver(func(e Entry) { seen = e }))
				defer b.Close()
				extendAll(b, 0, 1)
				pending := <-log
				out := extendAll(b, 1, 4)
				pending.apply(1)
				pending = <-log
				time.Sleep(time.Second) // the bubble's clock
				pending.fail(c.err)
				for range 3 {
					o := <-out
					if !errors.Is(o.Err, c.want) || !errors.Is(o.Err, c.err) || o.ProposedAt.IsZero() || o.Result != nil {
						t.Errorf("outcome = %+v, want %v", o, c.want)
					}
				}
				synctest.Wait()
				if seen.Commands != 3 || seen.Bytes != len(pending.bytes) || seen.Took != time.Second || !errors.Is(seen.Err, c.err) {
					t.Errorf("observed entry = %+v, want 3 commands, their size, 1 s and the append error", seen)
				}
			})
		})
	}
}

func TestGo_WrongNumberOfResults_OutcomeIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog()
		b := New(log, fixedLevel)
		defer b.Close()
		out := extendAll(b, 0, 1)
		pending := <-log
		pending.end(consensus.Appended{Index: 1, Results: make([]fsm.Result, 2)})
		if o := <-out; !errors.Is(o.Err, consensus.ErrUnknownOutcome) || o.Result != nil {
			t.Errorf("outcome = %+v, want ErrUnknownOutcome", o)
		}
	})
}

func TestOutcome_ProposedAt_IsTimeOfAppend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog()
		b := New(log, fixedLevel)
		defer b.Close()
		extendAll(b, 0, 1)
		pending := <-log
		out := extendAll(b, 1, 2)
		time.Sleep(time.Minute) // the command waits for the entry in flight
		want := time.Now()
		pending.apply(1)
		pending = <-log
		time.Sleep(time.Minute) // time spent in Raft
		pending.apply(2)
		if o := <-out; !o.ProposedAt.Equal(want) {
			t.Errorf("ProposedAt = %v, want %v", o.ProposedAt, want)
		}
	})
}

func TestGo_TooManyWaiting_RefusesImmediately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog()
		b := New(log, fixedLevel, WithMaxWaiting(10))
		defer b.Close()
		extendAll(b, 0, 1)
		pending := <-log
		accepted := extendAll(b, 1, 11)
		if b.Waiting() != 10 {
			t.Errorf("Waiting() = %d, want 10", b.Waiting())
		}
		for _, o := range []Outcome{<-extendAll(b, 11, 12), b.Do(t.Context(), extend(12))} {
			if !errors.Is(o.Err, ErrOverloaded) || !errors.Is(o.Err, consensus.ErrNotAppended) || !o.ProposedAt.IsZero() {
				t.Errorf("outcome = %+v, want ErrOverloaded", o)
			}
		}
		pending.apply(1)
		pending = <-log
		pending.apply(2)
		for range 10 {
			if o := <-accepted; o.Err != nil {
				t.Error(o.Err)
			}
		}
	})
}

func TestGo_RefusedImmediately_CallsDoneOnAnotherGoroutine(t *testing.T) {
	b := New(newFakeLog(), fixedLevel, WithMaxWaiting(0))
	defer b.Close()
	var mu sync.Mutex
	called := make(chan struct{})
	mu.Lock()
	b.Go(extend(1), func(Outcome) { mu.Lock(); defer mu.Unlock(); close(called) })
	mu.Unlock()
	<-called
}

func TestDo_ContextEnds_OutcomeUnknownButStillApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog()
		b := New(log, fixedLevel)
		defer b.Close()

		ctx, cancel := context.WithCancel(t.Context())
		out := make(chan Outcome)
		go func() { out <- b.Do(ctx, extend(1)) }()
		pending := <-log
		go func() { out <- b.Do(ctx, extend(2)) }() // still waiting when its context ends
		synctest.Wait()
		cancel()
		for range 2 {
			if o := <-out; !errors.Is(o.Err, consensus.ErrUnknownOutcome) || !errors.Is(o.Err, context.Canceled) {
				t.Errorf("outcome = %+v, want ErrUnknownOutcome", o)
			}
		}
		pending.apply(1)
		pending = <-log
		if got := pending.tokens(); !slices.Equal(got, tokenRange(2, 3)) {
			t.Errorf("second entry contains %v, want the command with the cancelled context", got)
		}
		pending.apply(2)

		if o := b.Do(ctx, extend(3)); !errors.Is(o.Err, consensus.ErrNotAppended) || !errors.Is(o.Err, context.Canceled) {
			t.Errorf("Do() with a cancelled context = %+v, want ErrNotAppended", o)
		}
		// Waiters of abandoned calls are not reused, so a later call receives its own outcome.
		go func() { out <- b.Do(t.Context(), extend(4)) }()
		(<-log).apply(3)
		if o := <-out; o.Err != nil || o.Index != 3 || o.Result.(fsm.PermitResult).Revision != 4 {
			t.Errorf("outcome of command 4: %+v", o)
		}
	})
}

func TestClose_PendingCommands_ReturnUnknownOrNotAppended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newFakeLog()
		b := New(log, fixedLevel)
		inFlight := extendAll(b, 0, 1)
		<-log
		waiting := extendAll(b, 1, 300)
		synctest.Wait()
		b.Close()
		b.Close()
		if o := <-inFlight; !errors.Is(o.Err, consensus.ErrUnknownOutcome) || o.ProposedAt.IsZero() {
			t.Errorf("outcome of the command in flight = %+v, want ErrUnknownOutcome", o)
		}
		for range 299 {
			if o := <-waiting; !errors.Is(o.Err, consensus.ErrNotAppended) || !o.ProposedAt.IsZero() {
				t.Errorf("outcome of a waiting command = %+v, want ErrNotAppended", o)
			}
		}
		for _, o := range []Outcome{<-extendAll(b, 300, 301), b.Do(t.Context(), extend(301))} {
			if !errors.Is(o.Err, consensus.ErrNotAppended) || !errors.Is(o.Err, consensus.ErrClosed) {
				t.Errorf("outcome after Close = %+v, want ErrNotAppended and ErrClosed", o)
			}
		}
		if len(log) != 0 {
			t.Error("an entry was appended after Close")
		}
	})
}

func TestClose_Idle_Returns(t *testing.T) {
	New(newFakeLog(), fixedLevel).Close()
}

// TestDo_ConcurrentCallers_ReceiveOwnOutcomes exercises the race detector and the reuse of waiters.
func TestDo_ConcurrentCallers_ReceiveOwnOutcomes(t *testing.T) {
	log := newFakeLog()
	b := New(log, fixedLevel)
	stop := make(chan struct{})
	var responder sync.WaitGroup
	responder.Go(func() {
		for index := uint64(1); ; index++ {
			select {
			case pending := <-log:
				pending.apply(index)
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
					t.Errorf("outcome of command %d: %+v after index %d", token, o, last)
					return
				}
				last = o.Index
			}
		})
	}
	callers.Wait()
	b.Close()
	close(stop)
	responder.Wait()
}
