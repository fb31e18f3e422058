package consensus

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store"
)

func TestConvertFolder_NotADataFolderOrInUse_IsRefused(t *testing.T) {
	dir := t.TempDir()
	if _, err := ConvertFolder(dir, newMachine); !errors.Is(err, ErrForeignFolder) {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := ConvertFolder(filepath.Join(dir, "none"), newMachine); !errors.Is(err, ErrForeignFolder) {
		t.Errorf("no folder: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	dir = found(t)
	lock, err := lockFolder(filepath.Join(dir, lockFileName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ConvertFolder(dir, newMachine); !errors.Is(err, ErrFolderInUse) {
		t.Errorf("a folder with a server: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if kept, err := ConvertFolder(dir, newMachine); err != nil || len(kept) > 0 {
		t.Errorf("a folder in the format of this build: %q, %v", kept, err)
	}
}

func TestConvertFolder_FormatOfThisBuild_ButAServerRefusesIt_IsDamaged(t *testing.T) {
	for kind, files := range map[LogStore][]string{
		store.KindBolt: {"acknowledged", "snapshots/*/state.bin"},
		store.KindWAL:  {"wal", "wal/acknowledged", "snapshots/*/state.bin", "snapshots/*/meta.json"},
	} {
		for _, gone := range files {
			dir := foundIn(t, kind)
			paths, err := filepath.Glob(filepath.Join(dir, gone))
			if err != nil || len(paths) != 1 {
				t.Fatalf("%s %s: %q, %v", kind, gone, paths, err)
			}
			if err := os.RemoveAll(paths[0]); err != nil {
				t.Fatal(err)
			}
			if kept, err := ConvertFolder(dir, newMachine); !errors.Is(err, ErrFolderDamaged) {
				t.Errorf("%s without %s: %q, %v", kind, gone, kept, err)
			}
		}
	}
}

// A member that has not heard from its cluster yet has an empty log, and starts.
func TestConvertFolder_EmptyLog_IsWhole(t *testing.T) {
	for _, kind := range []LogStore{store.KindBolt, store.KindWAL} {
		dir := foundIn(t, kind)
		for _, name := range []string{"raft.db", "acknowledged", "wal", "snapshots", begunFileName} {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		files, err := store.Open(dir, kind, store.NewGuard(store.GuardConfig{Timeout: time.Minute, Slow: time.Minute}), hclog.NewNullLogger())
		if err != nil {
			t.Fatal(err)
		}
		if err := files.Close(); err != nil {
			t.Fatal(err)
		}
		if kept, err := ConvertFolder(dir, newMachine); err != nil || len(kept) > 0 {
			t.Errorf("%s: %q, %v", kind, kept, err)
		}
		// It looks the same when it has lost everything.
		f := &Folder{dir: dir, file: clusterFile{MemberID: "gk4"}}
		if err := f.begin(); err != nil {
			t.Fatal(err)
		}
		if kept, err := ConvertFolder(dir, newMachine); !errors.Is(err, ErrFolderDamaged) {
			t.Errorf("%s that lost everything: %q, %v", kind, kept, err)
		}
		if _, err := ReadFolder(dir, newMachine); !errors.Is(err, ErrFolderDamaged) || !errors.Is(err, errLost) {
			t.Errorf("%s that lost everything: %v", kind, err)
		}
	}
}

// Raft does not start on a snapshot that it cannot read, even when the log has everything.
func TestConvertFolder_OnlySnapshotUnreadableBesideAWholeLog_IsDamagedAsForAServer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := openOn(t, dir); err != nil {
		t.Fatal(err)
	}
	servers := []raft.Server{{ID: "gk4", Address: "gk4.test:7421"}}
	seed := store.Seed{
		Term: 5, LastIndex: 1, LastTerm: 1, Configuration: raft.Configuration{Servers: servers}, Write: fsm.New("0000000000000007.1").State().Snapshot,
	}
	if err := store.Plant(dir, seed); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "snapshots/*/state.bin"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	if err := os.Truncate(paths[0], 30); err != nil {
		t.Fatal(err)
	}
	if err := openOn(t, dir); !errors.Is(err, ErrFolderDamaged) {
		t.Errorf("a server: %v", err)
	}
	if _, err := ConvertFolder(dir, newMachine); !errors.Is(err, ErrFolderDamaged) {
		t.Errorf("convert: %v", err)
	}
}
