package consensus

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

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
		for _, name := range []string{"raft.db", "acknowledged", "wal", "snapshots"} {
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
	}
}
