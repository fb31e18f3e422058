package store

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// eachKind runs a test with each kind of log store.
func eachKind(t *testing.T, f func(t *testing.T, kind Kind)) {
	t.Helper()
	for _, kind := range []Kind{KindBolt, KindWAL} {
		t.Run(string(kind), func(t *testing.T) { f(t, kind) })
	}
}

// openFiles opens the stores in dir as a server does.
func openFiles(t *testing.T, kind Kind, dir string) *Files {
	t.Helper()
	g, _ := newGuard(t)
	f, err := Open(dir, kind, g, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func closeFiles(t *testing.T, f *Files) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// appendEntries appends entries that all have the same term.
func appendEntries(t *testing.T, log raft.LogStore, first, last, term uint64) {
	t.Helper()
	for index := first; index <= last; index++ {
		if err := log.StoreLog(&raft.Log{Index: index, Term: term, Data: []byte("x")}); err != nil {
			t.Fatal(err)
		}
	}
}

// install writes a snapshot as Raft does for both a leader's snapshot and a local one.
func install(t *testing.T, snapshots raft.SnapshotStore, index, term uint64) {
	t.Helper()
	_, transport := raft.NewInmemTransport("")
	sink, err := snapshots.Create(raft.SnapshotVersionMax, index, term, raft.Configuration{}, 1, transport)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sink.Write([]byte("state")); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
}

// Syncing a long snapshot only at the end would delay log syncs.
func TestSnapshots_LongSnapshot_IsSyncedWhileWritten(t *testing.T) {
	var synced int
	g := NewGuard(GuardConfig{Timeout: time.Minute, Observe: func(op string, _ time.Duration) {
		if op == "sync snapshot" {
			synced++
		}
	}})
	t.Cleanup(g.Release)
	dir := t.TempDir()
	f, err := Open(dir, KindBolt, g, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	defer closeFiles(t, f)
	_, transport := raft.NewInmemTransport("")
	for _, finish := range []func(raft.SnapshotSink) error{raft.SnapshotSink.Cancel, raft.SnapshotSink.Close} {
		sink, err := f.Snapshots.Create(raft.SnapshotVersionMax, 3, 1, raft.Configuration{}, 1, transport)
		if err != nil {
			t.Fatal(err)
		}
		synced = 0
		for range 2*syncEvery>>12 + 1 {
			if _, err := sink.Write(make([]byte, 1<<12)); err != nil {
				t.Fatal(err)
			}
		}
		if synced != 2 {
			t.Errorf("got %d syncs for 2 MiB, want 2", synced)
		}
		if err := errors.Join(finish(sink), finish(sink)); err != nil || sink.(*snapshotSink).file != nil { //nolint:forcetypeassert // Create returns only this type
			t.Errorf("after finishing: error %v, file still open: %v", err, sink.(*snapshotSink).file != nil) //nolint:forcetypeassert // as above
		}
		if left, err := filepath.Glob(filepath.Join(dir, snapshotsDir, "*.tmp")); err != nil || len(left) > 0 {
			t.Errorf("leftover files %q, %v", left, err)
		}
	}
	all, err := f.Snapshots.List()
	if err != nil || len(all) != 1 || all[0].Size != 2*syncEvery+1<<12 {
		t.Errorf("List() = %+v, %v, want one snapshot", all, err)
	}
}

// wantEntries checks which entries the log contains, both by its bounds and by reading each entry.
func wantEntries(t *testing.T, log raft.LogStore, first, last uint64) {
	t.Helper()
	from, errFirst := log.FirstIndex()
	to, errLast := log.LastIndex()
	if err := errors.Join(errFirst, errLast); err != nil || from != first || to != last {
		t.Errorf("the log contains entries %d to %d, %v, want %d to %d", from, to, err, first, last)
	}
	for index := range uint64(40) {
		err := log.GetLog(index, &raft.Log{})
		if want := index > 0 && first <= index && index <= last; want != (err == nil) || !want && !errors.Is(err, raft.ErrLogNotFound) {
			t.Errorf("GetLog(%d) = %v", index, err)
		}
	}
}

// A leader's snapshot replaces a log that does not contain the snapshot's last entry. Raft would keep the old entries,
// even though they may never have been committed. If this member became leader, it would send them to followers that
// lack them, and those followers would apply them.
func TestSnapshot_FromLeader_ReplacesMismatchedLog(t *testing.T) {
	eachKind(t, testSnapshot_FromLeader_ReplacesMismatchedLog)
}

func testSnapshot_FromLeader_ReplacesMismatchedLog(t *testing.T, kind Kind) {
	for _, tc := range []struct {
		name               string
		entries, snapTerm  uint64 // number of log entries, all from term 3; term of the snapshot
		first, last, index uint64
	}{
		{name: "log that ends before the snapshot", entries: 9, index: 20, snapTerm: 4},
		{name: "log that ends at the snapshot", entries: 20, index: 20, snapTerm: 3, first: 1, last: 20},
		{name: "log that extends past the snapshot", entries: 30, index: 20, snapTerm: 3, first: 1, last: 30},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			f := openFiles(t, kind, dir)
			appendEntries(t, f.Log, 1, tc.entries, 3)
			install(t, f.Snapshots, tc.index, tc.snapTerm)
			wantEntries(t, f.Log, tc.first, tc.last)
			first, next := tc.first, max(tc.last, tc.index)+1
			if first == 0 {
				first = next
			}
			appendEntries(t, f.Log, next, next, 5)
			wantEntries(t, f.Log, first, next)
			closeFiles(t, f)

			f = openFiles(t, kind, dir)
			wantEntries(t, f.Log, first, next)
			closeFiles(t, f)
		})
	}
}

// The log extends to the snapshot or past it, but its entries differ. Raft caches the log's last index, and would not
// accept new entries until it was restarted.
func TestSnapshot_FromLeader_ForkedLog_StopsMember(t *testing.T) {
	eachKind(t, testSnapshot_FromLeader_ForkedLog_StopsMember)
}

func testSnapshot_FromLeader_ForkedLog_StopsMember(t *testing.T, kind Kind) {
	for _, entries := range []uint64{20, 30} {
		dir := t.TempDir()
		g, _ := newGuard(t)
		f, err := Open(dir, kind, g, hclog.NewNullLogger())
		if err != nil {
			t.Fatal(err)
		}
		appendEntries(t, f.Log, 1, entries, 3)
		done := make(chan struct{})
		go func() {
			defer close(done)
			install(t, f.Snapshots, 20, 4)
			t.Error("install returned, want it to block after the fault")
		}()
		<-g.Failed()
		if !errors.Is(g.Err(), errForked) {
			t.Error(g.Err())
		}
		g.Release()
		<-done
		closeFiles(t, f)

		f = openFiles(t, kind, dir)
		wantEntries(t, f.Log, 0, 0)
		appendEntries(t, f.Log, 21, 21, 5)
		wantEntries(t, f.Log, 21, 21)
		closeFiles(t, f)
	}
}

// The crash occurs after the snapshot is written and before the log is deleted.
func TestOpen_CrashBeforeSnapshotReplacesLog_DeletesLog(t *testing.T) {
	eachKind(t, testOpen_CrashBeforeSnapshotReplacesLog_DeletesLog)
}

func testOpen_CrashBeforeSnapshotReplacesLog_DeletesLog(t *testing.T, kind Kind) {
	dir := t.TempDir()
	f := openFiles(t, kind, dir)
	appendEntries(t, f.Log, 1, 9, 3)
	closeFiles(t, f)
	plain, err := raft.NewFileSnapshotStoreWithLogger(dir, keptSnapshots, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	install(t, plain, 20, 4)

	f = openFiles(t, kind, dir)
	wantEntries(t, f.Log, 0, 0)
	closeFiles(t, f)
}

// An older snapshot, whether it arrives late or is the member's own, deletes nothing from a log that begins after it.
func TestSnapshot_OlderThanLog_DeletesNothing(t *testing.T) {
	eachKind(t, testSnapshot_OlderThanLog_DeletesNothing)
}

func testSnapshot_OlderThanLog_DeletesNothing(t *testing.T, kind Kind) {
	f := openFiles(t, kind, t.TempDir())
	install(t, f.Snapshots, 20, 4)
	appendEntries(t, f.Log, 21, 30, 4)
	install(t, f.Snapshots, 20, 4)
	install(t, f.Snapshots, 15, 3)
	wantEntries(t, f.Log, 21, 30)
	closeFiles(t, f)
}

// A gap would be treated as damage at the next start, and a log never needs entries beyond a gap.
func TestLog_Gap_IsRefused(t *testing.T) { eachKind(t, testLog_Gap_IsRefused) }

func testLog_Gap_IsRefused(t *testing.T, kind Kind) {
	b, err := openLog(t.TempDir(), kind, testConfig())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.log.StoreLogs([]*raft.Log{{Index: 1, Term: 1}, {Index: 2, Term: 1}}); err != nil {
		t.Fatal(err)
	}
	for _, logs := range [][]*raft.Log{
		{{Index: 9, Term: 2}},
		{{Index: 3, Term: 2}, {Index: 5, Term: 2}},
	} {
		if err := b.log.StoreLogs(logs); err == nil {
			t.Errorf("entry %d was stored after entry 2", logs[len(logs)-1].Index)
		}
	}
	if last, err := b.log.LastIndex(); err != nil || last != 2 {
		t.Errorf("LastIndex() = %d, %v, want 2", last, err)
	}
}
