package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// corrupt changes a file in the newest snapshot.
func corrupt(t *testing.T, dir, file string, change func([]byte) []byte) {
	t.Helper()
	all, err := finishedSnapshots(dir)
	if err != nil || len(all) == 0 {
		t.Fatalf("found %d snapshots, error %v, want at least one", len(all), err)
	}
	path := filepath.Join(dir, snapshotsDir, all[0].ID, file)
	if err := os.WriteFile(path, change(mustRead(t, path)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func flip(data []byte) []byte { data[len(data)/2] ^= 1; return data }
func empty([]byte) []byte     { return nil }
func changeIndex(data []byte) []byte {
	return bytes.Replace(data, []byte(`"Index":20`), []byte(`"Index":21`), 1)
}

// restore opens the stores and restores the newest readable snapshot, as Raft does at startup.
func restore(t *testing.T, dir string) (index uint64, err error) {
	t.Helper()
	g, _ := newGuard(t)
	f, err := Open(dir, "", g, hclog.NewNullLogger())
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	done, _ := onRaftGoroutine(func() {
		all, err := f.Snapshots.List()
		if err != nil {
			t.Error(err)
		}
		for _, meta := range all {
			if _, content, err := f.Snapshots.Open(meta.ID); err == nil {
				index = meta.Index
				_ = content.Close()
				return
			}
		}
	})
	select {
	case <-done:
	case <-g.Failed():
		g.Release()
		<-done
	}
	return index, g.Err()
}

// A member must not lose acknowledged entries. If its newest snapshot is unreadable, it may start only if an older
// snapshot and the log together cover everything in it.
func TestOpen_NewestSnapshotDamaged_IsRefusedUnlessLogCoversIt(t *testing.T) {
	t.Parallel()
	eachKind(t, testOpen_NewestSnapshotDamaged_IsRefusedUnlessLogCoversIt)
}

func testOpen_NewestSnapshotDamaged_IsRefusedUnlessLogCoversIt(t *testing.T, kind Kind) {
	for _, tc := range []struct {
		name   string
		file   string
		change func([]byte) []byte
	}{
		{"state with a flipped bit", snapshotState, flip},
		{"empty state", snapshotState, empty},
		{"empty meta.json", snapshotMeta, empty},
		{"meta.json with a different index", snapshotMeta, changeIndex},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, older := range []bool{true, false} {
				dir := t.TempDir()
				f := openFiles(t, kind, dir)
				if older {
					install(t, f.Snapshots, 10, 1)
				}
				install(t, f.Snapshots, 20, 2)
				appendEntries(t, f.Log, 21, 25, 2)
				closeFiles(t, f)
				if index, err := restore(t, dir); index != 20 || err != nil {
					t.Fatalf("restore() = %d, %v, want 20", index, err)
				}
				if older {
					f = openFiles(t, kind, dir)
					if err := f.Log.DeleteRange(21, 25); err != nil {
						t.Fatal(err)
					}
					closeFiles(t, f)
				}
				corrupt(t, dir, tc.file, tc.change)
				index, err := restore(t, dir)
				switch {
				case older && (!errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), snapshotsDir)):
					t.Errorf("restore() = %d, %v, want ErrDamaged because acknowledged entries are missing", index, err)
				case !older && index != 0: // Raft reports that it found no readable snapshot
					t.Errorf("restore() = %d, %v, want 0", index, err)
				}
			}

			dir := t.TempDir()
			f := openFiles(t, kind, dir)
			appendEntries(t, f.Log, 1, 25, 2)
			install(t, f.Snapshots, 10, 2)
			install(t, f.Snapshots, 20, 2)
			if err := f.Log.DeleteRange(1, 10); err != nil {
				t.Fatal(err)
			}
			closeFiles(t, f)
			corrupt(t, dir, tc.file, tc.change)
			if index, err := restore(t, dir); index != 10 || err != nil {
				t.Errorf("restore() = %d, %v, want 10, because the log contains the rest", index, err)
			}
		})
	}
}

// If the only snapshot is unreadable, Raft would start with an empty log and could vote.
func TestOpen_OnlySnapshotUnreadable_IsDamaged(t *testing.T) {
	eachKind(t, testOpen_OnlySnapshotUnreadable_IsDamaged)
}

func testOpen_OnlySnapshotUnreadable_IsDamaged(t *testing.T, kind Kind) {
	for _, change := range []func([]byte) []byte{empty, changeIndex} {
		dir := t.TempDir()
		f := openFiles(t, kind, dir)
		install(t, f.Snapshots, 20, 2)
		closeFiles(t, f)
		corrupt(t, dir, snapshotMeta, change)
		if _, err := restore(t, dir); !errors.Is(err, ErrDamaged) {
			t.Errorf("restore() = %v, want ErrDamaged", err)
		}
	}
}
