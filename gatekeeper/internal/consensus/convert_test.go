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

func TestConvertDataDir_NotADataDirOrInUse_IsRefused(t *testing.T) {
	dir := t.TempDir()
	if _, err := ConvertDataDir(dir, newMachine); !errors.Is(err, ErrForeignDataDir) {
		t.Errorf("ConvertDataDir of an empty directory = %v, want ErrForeignDataDir", err)
	}
	if _, err := ConvertDataDir(filepath.Join(dir, "none"), newMachine); !errors.Is(err, ErrForeignDataDir) {
		t.Errorf("ConvertDataDir of a missing directory = %v, want ErrForeignDataDir", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("directory after ConvertDataDir contains %v, %v, want it empty", files, err)
	}
	dir = createDataDir(t)
	lock, err := lockDataDir(filepath.Join(dir, lockFileName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ConvertDataDir(dir, newMachine); !errors.Is(err, ErrDataDirInUse) {
		t.Errorf("ConvertDataDir with a running server = %v, want ErrDataDirInUse", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if kept, err := ConvertDataDir(dir, newMachine); err != nil || len(kept) > 0 {
		t.Errorf("ConvertDataDir of a directory in the current format = %q, %v, want no files and no error", kept, err)
	}
}

func TestConvertDataDir_CurrentFormatMissingFiles_IsDamaged(t *testing.T) {
	for kind, files := range map[LogStore][]string{
		store.KindBolt: {"acknowledged", "snapshots/*/state.bin"},
		store.KindWAL:  {"wal", "wal/acknowledged", "snapshots/*/state.bin", "snapshots/*/meta.json"},
	} {
		for _, pattern := range files {
			dir := createDataDirWithStore(t, kind)
			paths, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil || len(paths) != 1 {
				t.Fatalf("%s: files matching %s: %q, %v, want one", kind, pattern, paths, err)
			}
			if err := os.RemoveAll(paths[0]); err != nil {
				t.Fatal(err)
			}
			if kept, err := ConvertDataDir(dir, newMachine); !errors.Is(err, ErrDataDirDamaged) {
				t.Errorf("%s without %s: ConvertDataDir() = %q, %v, want ErrDataDirDamaged", kind, pattern, kept, err)
			}
		}
	}
}

// A member that has not received anything from its cluster yet has an empty log and can start.
func TestConvertDataDir_EmptyLog_IsIntact(t *testing.T) {
	for _, kind := range []LogStore{store.KindBolt, store.KindWAL} {
		dir := createDataDirWithStore(t, kind)
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
		if kept, err := ConvertDataDir(dir, newMachine); err != nil || len(kept) > 0 {
			t.Errorf("%s: ConvertDataDir() = %q, %v, want no files and no error", kind, kept, err)
		}
		// The directory of a member that has lost all its data differs only in the begun file.
		f := &DataDir{dir: dir, file: clusterFile{MemberID: "gk4"}}
		if err := f.begin(); err != nil {
			t.Fatal(err)
		}
		if kept, err := ConvertDataDir(dir, newMachine); !errors.Is(err, ErrDataDirDamaged) {
			t.Errorf("%s with lost data: ConvertDataDir() = %q, %v, want ErrDataDirDamaged", kind, kept, err)
		}
		if _, err := ReadDataDir(dir, newMachine); !errors.Is(err, ErrDataDirDamaged) || !errors.Is(err, errLost) {
			t.Errorf("%s with lost data: ReadDataDir() = %v, want errLost", kind, err)
		}
	}
}

// Raft does not start with an unreadable snapshot, even if the log contains all entries.
func TestConvertDataDir_UnreadableSnapshotWithCompleteLog_IsDamaged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := openOn(t, dir); err != nil {
		t.Fatal(err)
	}
	servers := []raft.Server{{ID: "gk4", Address: "gk4.test:7421"}}
	seed := store.Seed{
		Term: 5, LastIndex: 1, LastTerm: 1, Configuration: raft.Configuration{Servers: servers}, Write: fsm.New("0000000000000007.1").State().Snapshot,
	}
	if err := store.CreateFrom(dir, seed); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "snapshots/*/state.bin"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	if err := os.Truncate(paths[0], 30); err != nil {
		t.Fatal(err)
	}
	if err := openOn(t, dir); !errors.Is(err, ErrDataDirDamaged) {
		t.Errorf("Open() = %v, want ErrDataDirDamaged", err)
	}
	if _, err := ConvertDataDir(dir, newMachine); !errors.Is(err, ErrDataDirDamaged) {
		t.Errorf("ConvertDataDir() = %v, want ErrDataDirDamaged", err)
	}
}
