package watch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// events returns one event for each given revision.
func events(revisions ...uint64) []fsm.Event {
	var es []fsm.Event
	for _, r := range revisions {
		es = append(es, fsm.Event{Revision: r})
	}
	return es
}

// put adds one entry with events at the given revisions.
func put(h *Hub, revisions ...uint64) {
	h.add(revisions[len(revisions)-1], events(revisions...), false)
}

func revisions(es []fsm.Event) []uint64 {
	var rs []uint64
	for _, e := range es {
		rs = append(rs, e.Revision)
	}
	return rs
}

func wantBatch(t *testing.T, s *Subscription, revision uint64, want ...uint64) {
	t.Helper()
	b, err := s.Next(t.Context())
	if err != nil || b.Missed || b.Revision != revision || !slices.Equal(revisions(b.Events), want) {
		t.Errorf("Next() = events %v up to %d (missed %v, %v), want %v up to %d", revisions(b.Events), b.Revision, b.Missed, err, want, revision)
	}
}

func wantMissed(t *testing.T, s *Subscription, revision uint64) {
	t.Helper()
	if b, err := s.Next(t.Context()); err != nil || !b.Missed || b.Revision != revision || b.Events != nil {
		t.Errorf("Next() = %+v, %v; want Missed up to %d", b, err, revision)
	}
}

// wantNothing checks that Next waits. It must be called in a synctest bubble.
func wantNothing(t *testing.T, s *Subscription) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		synctest.Wait()
		cancel()
	}()
	if b, err := s.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Next() = %+v, %v; want it to wait", b, err)
	}
}

func TestNext_EventsWithSameRevision_ShareBatch(t *testing.T) {
	h := New(0)
	s := h.Subscribe(0)
	defer s.Close()
	put(h, 1, 2, 2, 2, 3)
	put(h, 4, 4)
	wantBatch(t, s, 3, 1, 2, 2, 2, 3)
	wantBatch(t, s, 4, 4, 4)
}

func TestSubscribe_AtHubRevision_StartsNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(0)
		put(h, 1, 2)
		s := h.Subscribe(h.Revision())
		defer s.Close()
		wantNothing(t, s)
		put(h, 3)
		wantBatch(t, s, 3, 3)
	})
}

func TestSubscribe_FromRevision_ResumesAtThatRevision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(0)
		put(h, 11, 12)
		put(h, 13, 13, 14, 14, 15)
		s := h.Subscribe(13) // partway through an entry
		defer s.Close()
		wantBatch(t, s, 15, 14, 14, 15)
		wantNothing(t, s)
	})
}

func TestSubscribe_RevisionAheadOfServer_Waits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(0)
		put(h, 1)
		s := h.Subscribe(3) // from another server, which is ahead
		defer s.Close()
		wantNothing(t, s)
		put(h, 2)
		wantNothing(t, s)
		put(h, 3, 4)
		wantBatch(t, s, 4, 4)
	})
}

func TestSubscribe_RevisionNoLongerInRing_MissedThenContinues(t *testing.T) {
	h := New(4)
	for r := uint64(1); r <= 10; r++ {
		put(h, r)
	}
	old, edge := h.Subscribe(5), h.Subscribe(6)
	defer old.Close()
	defer edge.Close()
	wantMissed(t, old, 10)
	wantBatch(t, edge, 7, 7) // the hub still has 7 to 10
	put(h, 11)
	wantBatch(t, old, 11, 11)
}

func TestSubscribe_BeforeFirstKnownEntry_Missed(t *testing.T) {
	h := New(0)
	s := h.Subscribe(3)
	defer s.Close()
	put(h, 10) // the state machine applied earlier entries before the Hub subscribed
	wantMissed(t, s, 10)
}

func TestNext_SlowReader_MissesEventsWithoutBlockingOthers(t *testing.T) {
	h := New(8)
	slow, quick := h.Subscribe(0), h.Subscribe(0)
	defer slow.Close()
	defer quick.Close()
	for r := uint64(1); r <= 100; r++ {
		put(h, r, r)
		wantBatch(t, quick, r, r, r)
	}
	wantMissed(t, slow, 100)
	put(h, 101)
	wantBatch(t, slow, 101, 101)
}

func TestNext_EntryLargerThanRing_Missed(t *testing.T) {
	h := New(3)
	s := h.Subscribe(0)
	defer s.Close()
	put(h, 1)
	put(h, 2, 2, 2, 2)
	wantMissed(t, s, 2)
	put(h, 3, 3, 3)
	wantBatch(t, s, 3, 3, 3, 3)
}

func TestNext_RevisionAdvancesWithoutEvents_IsDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(0)
		put(h, 1)
		s := h.Subscribe(h.Revision())
		defer s.Close()
		h.add(1, nil, false)
		wantNothing(t, s)
		h.add(2, nil, false)
		wantBatch(t, s, 2)
		h.add(3, nil, false)
		put(h, 4)
		wantBatch(t, s, 4, 4)
	})
}

func TestNext_StateReplacedBySnapshot_MissedUnlessUpToDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(0)
		put(h, 1)
		behind, upToDate := h.Subscribe(1), h.Subscribe(5)
		defer behind.Close()
		defer upToDate.Close()
		h.add(5, nil, true)
		wantMissed(t, behind, 5)
		wantNothing(t, upToDate)
		put(h, 6)
		wantBatch(t, behind, 6, 6)
		wantBatch(t, upToDate, 6, 6)
	})
}

func TestClose_UnblocksNextAndUpdatesCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(0)
		s := h.Subscribe(0)
		if h.Watchers() != 1 {
			t.Errorf("Watchers() = %d, want 1", h.Watchers())
		}
		ended := make(chan error)
		go func() {
			_, err := s.Next(t.Context())
			ended <- err
		}()
		synctest.Wait()
		s.Close()
		s.Close()
		if err := <-ended; !errors.Is(err, ErrClosed) {
			t.Errorf("Next() after Close: got %v, want ErrClosed", err)
		}
		put(h, 1)
		if _, err := s.Next(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("second Next() after Close: got %v, want ErrClosed", err)
		}
		if h.Watchers() != 0 {
			t.Errorf("Watchers() = %d, want 0", h.Watchers())
		}
	})
}

// For any sequence of puts and reads, a watcher receives every event once and in order, or a batch marked Missed.
func TestNext_RandomOperations_DeliversEventsOnceInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := New(rapid.IntRange(1, 12).Draw(t, "capacity"))
		s := h.Subscribe(0)
		defer s.Close()
		var all []uint64 // the revisions of all events
		revision, last := uint64(0), uint64(0)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				var rs []uint64
				for range rapid.IntRange(0, 3).Draw(t, "commands") {
					revision++
					for range rapid.IntRange(0, 3).Draw(t, "events") {
						rs = append(rs, revision)
					}
				}
				all = append(all, rs...)
				h.add(revision, events(rs...), false)
			},
			"restore": func(*rapid.T) {
				revision++
				h.add(revision, nil, true)
			},
			"resume": func(t *rapid.T) {
				if last > 0 {
					s.Close()
					s = h.Subscribe(last)
				}
			},
			"read": func(t *rapid.T) {
				if last == revision {
					return
				}
				b, err := s.Next(context.Background())
				if err != nil || b.Revision <= last {
					t.Fatalf("Next() = %+v, %v, want a revision above %d", b, err, last)
				}
				var want []uint64
				for _, r := range all {
					if r > last && r <= b.Revision {
						want = append(want, r)
					}
				}
				if !b.Missed && !slices.Equal(revisions(b.Events), want) {
					t.Fatalf("Next() returned events %v from %d to %d, want %v", revisions(b.Events), last, b.Revision, want)
				}
				last = b.Revision
			},
		})
	})
}

func TestHub_ManyWatchers_ReceiveAllEventsInOrder(t *testing.T) {
	const last = 2000
	h := New(last * 2)
	var watchers sync.WaitGroup
	for range 16 {
		s := h.Subscribe(0)
		watchers.Go(func() {
			defer s.Close()
			for next := uint64(1); next <= last; {
				b, err := s.Next(t.Context())
				if err != nil || b.Missed {
					t.Errorf("Next() = %+v, %v; want no missed events and no error", b, err)
					return
				}
				for _, e := range b.Events {
					if e.Revision != next {
						t.Errorf("event has revision %d, want %d", e.Revision, next)
						return
					}
					next++
				}
			}
		})
	}
	for r := uint64(1); r <= last; r++ {
		put(h, r)
	}
	watchers.Wait()
}

func TestSubscribe_FromZero_StartsAtFirstEvent(t *testing.T) {
	h := New(0)
	put(h, 1, 2)
	s := h.Subscribe(0)
	defer s.Close()
	wantBatch(t, s, 2, 1, 2)
}

// The first entry of a new cluster may raise the feature level. It has a revision but no events, so a watcher that
// starts at 0 has missed nothing.
func TestSubscribe_FirstEntryHasNoEvents_NothingIsMissed(t *testing.T) {
	h := New(0)
	h.add(1, nil, false)
	h.add(2, []fsm.Event{{Revision: 2, Kind: fsm.Created}}, false)
	s := h.Subscribe(0)
	defer s.Close()
	batch, err := s.Next(t.Context())
	if err != nil || batch.Missed || batch.Revision != 2 || len(batch.Events) != 1 {
		t.Errorf("got %+v, %v; want the event of revision 2", batch, err)
	}
}
