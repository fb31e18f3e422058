package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newGuard(t *testing.T) (*Guard, chan error) {
	faults := make(chan error, 10)
	g := NewGuard(GuardConfig{Timeout: 10 * time.Second, Slow: time.Second, Fault: func(err error) { faults <- err }})
	t.Cleanup(g.Release)
	return g, faults
}

// onRaftGoroutine runs f on a goroutine, as Raft would. It returns a channel that is closed when the goroutine has
// exited, and whether f has returned.
func onRaftGoroutine(f func()) (done chan struct{}, returned *bool) {
	done, returned = make(chan struct{}), new(bool)
	go func() {
		defer close(done)
		f()
		*returned = true
	}()
	return done, returned
}

// brokenLog is a log store that fails or hangs.
type brokenLog struct {
	*raft.InmemStore
	store func() error
}

func (b *brokenLog) StoreLogs([]*raft.Log) error { return b.store() }

func TestGuard_FailedCall_IsReportedAndNeverReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, faults := newGuard(t)
		log := NewLog(&brokenLog{store: func() error { return errors.New("no space left") }}, g)
		done, returned := onRaftGoroutine(func() { _ = log.StoreLogs(nil) })
		if err := <-faults; !strings.Contains(err.Error(), "no space left") {
			t.Errorf("got fault %v, want the disk's error", err)
		}
		<-g.Failed()
		other, otherReturned := onRaftGoroutine(func() { _, _ = log.LastIndex() })
		synctest.Wait()
		select {
		case <-done:
			t.Error("the goroutine exited before Release")
		case <-other:
			t.Error("another call's goroutine exited before Release")
		default:
		}
		g.Release()
		<-done
		<-other
		if *returned || *otherReturned {
			t.Error("a call returned after the fault")
		}
		if len(faults) != 0 {
			t.Error("a second fault was reported")
		}
	})
}

func TestGuard_HungCall_IsAFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, faults := newGuard(t)
		disk := make(chan struct{})
		log := NewLog(&brokenLog{store: func() error { <-disk; return nil }}, g)
		start := time.Now()
		done, returned := onRaftGoroutine(func() { _ = log.StoreLogs(nil) })
		if err := <-faults; !strings.Contains(err.Error(), "hung") || time.Since(start) != 10*time.Second {
			t.Errorf("got fault %v after %v, want the hung call to be reported after 10s", err, time.Since(start))
		}
		close(disk) // the call returns, but too late
		g.Release()
		<-done
		if *returned {
			t.Error("the hung call returned to Raft")
		}
	})
}

func TestLog_MissingEntry_IsNotAFault(t *testing.T) {
	g, _ := newGuard(t)
	log := NewLog(raft.NewInmemStore(), g)
	if err := log.GetLog(7, &raft.Log{}); err != raft.ErrLogNotFound { //nolint:errorlint // Raft compares in the same way
		t.Errorf("GetLog() = %v, want raft.ErrLogNotFound", err)
	}
	if g.Err() != nil {
		t.Error(g.Err())
	}
}

type monotonic struct{ *raft.InmemStore }

func (monotonic) IsMonotonic() bool { return true }

func TestLog_IsMonotonic_IsForwarded(t *testing.T) {
	g, _ := newGuard(t)
	if NewLog(raft.NewInmemStore(), g).IsMonotonic() || !NewLog(monotonic{}, g).IsMonotonic() {
		t.Error("IsMonotonic() differs from the inner store's")
	}
}

// rangeRecorder records the deleted ranges.
type rangeRecorder struct {
	*raft.InmemStore
	first, last uint64
	deleted     []string
}

func (r *rangeRecorder) FirstIndex() (uint64, error) { return r.first, nil }
func (r *rangeRecorder) LastIndex() (uint64, error)  { return r.last, nil }
func (r *rangeRecorder) DeleteRange(min, max uint64) error {
	r.deleted = append(r.deleted, fmt.Sprint(min, "-", max))
	return nil
}

func TestLog_DeleteRange_LeavesNoHole(t *testing.T) {
	for _, tc := range []struct {
		first, last uint64
		min, max    uint64
		want        string
	}{
		{10, 3000, 10, 10, "[10-10]"},
		{10, 3000, 10, 1033, "[10-1033]"},
		{10, 3000, 10, 2500, "[10-1033 1034-2057 2058-2500]"}, // from the front
		{10, 3000, 0, 2500, "[10-1033 1034-2057 2058-2500]"},  // missing entries are skipped
		{10, 2500, 500, 2500, "[1477-2500 500-1476]"},         // from the back
		{10, 2500, 500, 9999, "[1477-2500 500-1476]"},         //
		{10, 2500, 10, 2500, "[1477-2500 453-1476 10-452]"},   // all of it, from the back
		{0, 0, 0, 1_000_000, "[]"},                            //
		{10, 2500, 3000, 4000, "[]"}, {10, 2500, 1, 9, "[]"},  //
	} {
		g, _ := newGuard(t)
		inner := &rangeRecorder{first: tc.first, last: tc.last}
		l := NewLog(inner, g)
		l.chunk = 1024
		if err := l.DeleteRange(tc.min, tc.max); err != nil || fmt.Sprint(inner.deleted) != tc.want {
			t.Errorf("DeleteRange(%d, %d): error %v, deleted %v, want %s", tc.min, tc.max, err, inner.deleted, tc.want)
		}
	}
}

// This test deletes all or part of a log that spans several pages. bbolt cannot find the last key after a transaction
// that emptied pages.
func TestBolt_DeleteRange_ManyPages_KeepsEnd(t *testing.T) {
	for _, tc := range []struct {
		min, max    uint64
		first, last uint64
	}{
		{11, 1000, 0, 0},
		{1, 5000, 0, 0},
		{11, 999, 1000, 1000},
		{12, 1000, 11, 11},
		{500, 2000, 11, 499},
		{1001, 2000, 11, 1000},
		{1, 10, 11, 1000},
	} {
		dir := t.TempDir()
		b, err := openLog(dir, KindBolt, testConfig())
		if err != nil {
			t.Fatal(err)
		}
		var logs []*raft.Log
		for index := uint64(11); index <= 1000; index++ {
			logs = append(logs, &raft.Log{Index: index, Term: 1, Data: make([]byte, 200)})
		}
		if err := b.log.StoreLogs(logs); err != nil {
			t.Fatal(err)
		}
		if err := b.log.DeleteRange(tc.min, tc.max); err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		reopened, err := openLog(dir, KindBolt, testConfig()) // checks the end of the log against the mark
		if err != nil {
			t.Fatalf("open after deleting %d to %d: %v", tc.min, tc.max, err)
		}
		first, err1 := reopened.log.FirstIndex()
		last, err2 := reopened.log.LastIndex()
		if first != tc.first || last != tc.last || err1 != nil || err2 != nil {
			t.Errorf("after deleting %d to %d the log contains entries %d to %d, %v, %v, want %d to %d", tc.min, tc.max, first, last, err1, err2, tc.first, tc.last)
		}
		if err := reopened.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

var (
	voteTerm = []byte("LastVoteTerm")
	voteCand = []byte("LastVoteCand")
)

func castVote(t *testing.T, s raft.StableStore, term uint64, candidate string) {
	t.Helper()
	if err := errors.Join(s.SetUint64(voteTerm, term), s.Set(voteCand, []byte(candidate))); err != nil {
		t.Fatal(err)
	}
}

func readVote(t *testing.T, s raft.StableStore) (term uint64, candidate string) {
	t.Helper()
	term, errTerm := s.GetUint64(voteTerm)
	cand, errCand := s.Get(voteCand)
	if err := errors.Join(errTerm, errCand); err != nil {
		t.Fatal(err)
	}
	return term, string(cand)
}

func TestStable_CrashDuringVote_KeepsPreviousVote(t *testing.T) {
	dir := t.TempDir()
	open := func() opened {
		s, err := openAt(dir)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	g, _ := newGuard(t)
	bolt := open()
	s := NewStable(bolt.values, newQueue(t, bolt.log, g))
	castVote(t, s, 4, "a")
	if err := s.SetUint64(voteTerm, 5); err != nil {
		t.Fatal(err)
	}
	bolt.Close() // the crash: the candidate of term 5 was never set

	bolt = open()
	defer bolt.Close()
	s = NewStable(bolt.values, newQueue(t, bolt.log, g))
	if term, candidate := readVote(t, s); term != 4 || candidate != "a" {
		t.Errorf("after the crash the vote is for %q in term %d, want a in term 4", candidate, term)
	}
	castVote(t, s, 5, "b")
	if term, candidate := readVote(t, s); term != 5 || candidate != "b" {
		t.Errorf("the vote is for %q in term %d, want b in term 5", candidate, term)
	}
}

func TestStable_MissingKey_ReturnsErrorTextRaftExpects(t *testing.T) {
	g, _ := newGuard(t)
	bolt, err := openAt(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer bolt.Close()
	s := NewStable(bolt.values, newQueue(t, bolt.log, g))
	for _, key := range []string{"LastVoteTerm", "CurrentTerm"} {
		if _, err := s.GetUint64([]byte(key)); err == nil || err.Error() != "not found" {
			t.Errorf("GetUint64(%s) = %v, want not found", key, err)
		}
	}
	for _, key := range []string{"LastVoteCand", "other"} {
		if _, err := s.Get([]byte(key)); err == nil || err.Error() != "not found" {
			t.Errorf("Get(%s) = %v, want not found", key, err)
		}
	}
	if g.Err() != nil {
		t.Error(g.Err())
	}
}

func TestOpen_Reopened_KeepsEntries(t *testing.T) { eachKind(t, testOpen_Reopened_KeepsEntries) }

func testOpen_Reopened_KeepsEntries(t *testing.T, kind Kind) {
	dir := t.TempDir()
	for round := range uint64(2) {
		g, _ := newGuard(t)
		f, err := Open(dir, kind, g, hclog.NewNullLogger())
		if err != nil {
			t.Fatal(err)
		}
		if last, err := f.Log.LastIndex(); err != nil || last != round {
			t.Errorf("LastIndex() = %d, %v, want %d", last, err, round)
		}
		if err := f.Log.StoreLogs([]*raft.Log{{Index: round + 1, Term: 1, Data: []byte("x")}}); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
