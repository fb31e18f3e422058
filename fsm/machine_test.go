package fsm_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

func TestApply_OutOfOrder_IsAnError(t *testing.T) {
	l := newLog(t)
	l.define("s")
	l.define("t")
	entry, err := fsm.Encode(1, []fsm.Command{fsm.RetireMember{ID: "gk2"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range [][2]uint64{{l.index, l.term}, {l.index - 1, l.term}, {l.index + 1, l.term - 1}} {
		before := l.state()
		if _, err := l.m.Apply(at[0], at[1], entry); !errors.Is(err, fsm.ErrOutOfOrder) || l.state() != before {
			t.Errorf("Apply(entry %d of term %d) after entry %d of term %d = %v, want ErrOutOfOrder", at[0], at[1], l.index, l.term, err)
		}
	}
	// Indexes may have gaps, because not all log entries are applied to the machine.
	if _, err := l.m.Apply(l.index+5, l.term+2, entry); err != nil {
		t.Fatal(err)
	}
}

func TestSubscribe_DeliversEntriesAfterPublishingState(t *testing.T) {
	l := newLog(t)
	var first, second []uint64
	var cancelSecond func()
	cancel := l.m.Subscribe(func(a fsm.Applied) {
		if l.m.State() != a.State || a.State.Index() != a.Index || a.State.Term() != a.Term {
			t.Errorf("entry %d was delivered before its state was published", a.Index)
		}
		first = append(first, a.Index)
		if a.Index == 2 {
			cancelSecond() // the other subscriber must not be called again, not even for this entry
		}
	})
	cancelSecond = l.m.Subscribe(func(a fsm.Applied) { second = append(second, a.Index) })
	l.define("a")
	l.define("b")
	l.define("c")
	cancel()
	cancel()
	l.define("d")
	equal(t, "first", first, []uint64{1, 2, 3})
	equal(t, "second", second, []uint64{1})
}

// A caller that subscribes within Sync sees every change exactly once: in the state passed to Sync, or as an event.
func TestSync_WithSubscribe_SeesEveryChangeOnce(t *testing.T) {
	l := newLog(t)
	l.define("s", permits(semaphore.MaxPermits))
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 300 {
			l.grant("s", fmt.Sprint(i))
		}
	})
	for range 50 {
		wg.Go(func() {
			var mu sync.Mutex
			seen, atSync := map[uint64]bool{}, uint64(0)
			add := func(token uint64) {
				mu.Lock()
				defer mu.Unlock()
				if seen[token] {
					t.Errorf("saw token %d twice", token)
				}
				seen[token] = true
			}
			var cancel func()
			l.m.Sync(func(s *fsm.State) {
				atSync = s.LastToken()
				for p := range s.Permits(0) {
					add(p.Token)
				}
				cancel = l.m.Subscribe(func(a fsm.Applied) {
					for _, e := range a.Events {
						add(e.Permit.Token)
					}
				})
			})
			var last uint64
			l.m.Sync(func(s *fsm.State) { last = s.LastToken(); cancel() })
			if uint64(len(seen)) != last {
				t.Errorf("saw %d tokens, want %d (%d at Sync)", len(seen), last, atSync)
			}
		})
	}
	wg.Wait()
}

// Readers run concurrently with Apply and Snapshot without a lock. Every state they read must be consistent.
func TestState_ReadDuringApply_IsConsistentAndImmutable(t *testing.T) {
	l := newLog(t)
	l.define("s", permits(semaphore.MaxPermits))
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			old := l.state()
			before := hash(t, old)
			for {
				select {
				case <-done:
					if hash(t, old) != before {
						t.Error("a published state was modified")
					}
					return
				default:
				}
				s := l.state()
				var weight uint64
				count := 0
				for p := range s.Holders("s") {
					weight += uint64(p.Weight)
					count++
					if p.State != semaphore.Cooling && s.Own("s", p.Identity) != p {
						t.Errorf("Own() does not return permit %d for its identity", p.Token)
					}
				}
				if weight != s.Used("s") || count != s.HolderCount("s") || count != s.PermitCount() {
					t.Errorf("got %d permits with a total weight of %d, want %d with a total weight of %d", count, weight, s.HolderCount("s"), s.Used("s"))
				}
				hash(t, s)
			}
		})
	}
	for i := range 150 {
		p := l.grant("s", fmt.Sprint(i), requestID("r"))
		if i%3 == 0 {
			l.apply(fsm.Release{Token: p.Token}, l.request("s", "x"+fmt.Sprint(i)), fsm.SetCordon{ID: fmt.Sprint(i)}, fsm.Uncordon{ID: fmt.Sprint(i - 3)})
		}
		if i == 75 {
			m := restored(t, l.state())
			l.m.Sync(func(*fsm.State) {})
			equal(t, "restored", hash(t, m.State()), hash(t, l.state()))
		}
	}
	close(done)
	wg.Wait()
}

// Every machine that applies the same log must reach the same state.
func TestApply_SameLog_ProducesSameSnapshot(t *testing.T) {
	scenario := everyCommandScenario(t)
	m := fsm.New(clusterID)
	for i, entry := range scenario.entries {
		if _, err := m.Apply(uint64(i+1), scenario.term, entry); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "snapshot", snapshot(t, m.State()), snapshot(t, scenario.state()))
}

func TestReads_EmptyState_ReturnNothing(t *testing.T) {
	s := fsm.New(clusterID).State()
	if s.Definition("x") != nil || s.Permit(1) != nil || s.Own("x", identity("a")) != nil || s.Claim("x", *newFiring("f", 1)) != nil ||
		s.Request("x", identity("a"), "r") != nil || s.EditRequest("") != nil || s.EndedPermit(0) != nil || s.WasDeleted("x") || s.Retired("x") {
		t.Fatal("empty state returned data")
	}
	equal(t, "settings", s.Settings(), fsm.DefaultSettings())
	equal(t, "cluster id", s.ClusterID(), clusterID)
	equal(t, "feature level", s.FeatureLevel(), uint32(1))
	for range s.Definitions("") {
		t.Fatal("empty state has a definition")
	}
	for range s.ClaimedSemaphores() {
		t.Fatal("empty state has a claimed semaphore")
	}
}

func TestReads_ReturnPagesInOrder(t *testing.T) {
	l := newLog(t)
	for _, name := range []string{"c", "a", "b"} {
		l.define(name, permits(9))
		l.grant(name, "x")
		l.grant(name, "y")
	}
	s := l.state()
	var names []string
	for d := range s.Definitions("b") {
		names = append(names, d.Definition.Name)
	}
	equal(t, "definitions from b", names, []string{"b", "c"})
	equal(t, "permits from 3", tokens(collect(s.Permits(3))), []uint64{3, 4, 5, 6})
	equal(t, "holders from (a, 4)", tokens(collect(s.HoldersFrom("a", 4))), []uint64{4, 5, 6, 1, 2})
	equal(t, "holders from (b, 6)", tokens(collect(s.HoldersFrom("b", 6))), []uint64{6, 1, 2})
	for p := range s.Holders("b") { // readers may stop early
		equal(t, "first", p.Token, uint64(5))
		break
	}
	req := semaphore.Request{Semaphore: "a", Identity: identity("x"), Weight: 1, Firing: newFiring("f", 3)}
	f := s.Facts(&req, "")
	equal(t, "facts", f, semaphore.Facts{Definition: s.Definition("a").Definition, Own: s.Permit(3), Repeat: true, Used: 2})
}

// Apply must not wait for a snapshot, however large the snapshot and however slow the writer.
func TestSnapshot_DuringWrite_EntriesAreApplied(t *testing.T) {
	l := newWorkLog(t)
	l.submitChunked("j", 100, 4<<10)
	before := l.state()
	want := snapshot(t, before)
	r, w := io.Pipe()
	go func() { w.CloseWithError(before.Snapshot(w)) }()
	got := make([]byte, 1)
	if _, err := io.ReadFull(r, got); err != nil {
		t.Fatal(err)
	}
	token, _ := l.takeTask("w") // the snapshot is partway through its first write
	l.apply(fsm.Release{Token: token, Result: []byte("r")})
	l.apply(fsm.CancelJob{Job: l.job("j").Number, Cause: work.CancelRequested})
	l.apply(fsm.DeleteJob{Job: l.job("j").Number})
	rest, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(append(got, rest...), want) {
		t.Error("the snapshot does not match the state at its start")
	}
}
