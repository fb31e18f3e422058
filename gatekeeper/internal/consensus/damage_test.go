package consensus

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store"
)

// openOn opens a member on dir, and closes it if opening succeeded.
func openOn(t *testing.T, dir string) error {
	t.Helper()
	dataDir, err := PrepareDataDir(DataDirConfig{Dir: dir, MemberID: "gk4", ClusterName: "main"})
	if err != nil {
		t.Fatal(err)
	}
	n, err := Open(Config{DataDir: dataDir, Machine: fsm.New(dataDir.ClusterID().String()), PeerAddress: "127.0.0.1:0", AdvertisePeer: "gk4.test:7421"})
	if err != nil {
		return errors.Join(err, dataDir.Close())
	}
	closeNode(t, n)
	return nil
}

// Without its newest snapshot, a member would vote as if it had never acknowledged the entries in the snapshot.
func TestOpen_NewestSnapshotDamaged_IsDamaged(t *testing.T) {
	for _, tc := range []struct {
		name, file string
		extra      []uint64 // indexes of snapshots in addition to the one at entry 10
	}{
		{"state of the only snapshot", "state.bin", nil},
		{"metadata of the only snapshot", "meta.json", nil},
		{"state of the newer snapshot", "state.bin", []uint64{20}},
		{"metadata of the newer snapshot", "meta.json", []uint64{20}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := createDataDir(t, tc.extra...)
			if err := openOn(t, dir); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(dir, "snapshots", "*", tc.file))
			if err != nil || len(files) != 1+len(tc.extra) {
				t.Fatalf("snapshot files = %v, error = %v, want one file per snapshot", files, err)
			}
			if err := os.Truncate(files[len(files)-1], 30); err != nil { // the names sort by term
				t.Fatal(err)
			}
			err = openOn(t, dir)
			if !errors.Is(err, ErrDataDirDamaged) || !strings.Contains(err.Error(), "snapshot up to entry") || !strings.Contains(err.Error(), "remove this member") {
				t.Errorf("Open() = %v, want ErrDataDirDamaged with the lost data and the next steps", err)
			}
		})
	}
}

// A directory that has lost all data must not be mistaken for a new one, or the member would vote again in old terms
// and issue old tokens again.
func TestOpen_OnlyClusterFileLeft_IsDamaged(t *testing.T) {
	for name, newDir := range map[string]func(t *testing.T) (dir string){
		"founded by a recovery": func(t *testing.T) string { return createDataDir(t) },
		"single server": func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), "data")
			if err := openOn(t, dir); err != nil {
				t.Fatal(err)
			}
			return dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			for _, lost := range []string{"raft.db", "acknowledged", "snapshots"} {
				if err := os.RemoveAll(filepath.Join(dir, lost)); err != nil {
					t.Fatal(err)
				}
			}
			_, err := PrepareDataDir(DataDirConfig{Dir: dir, MemberID: "gk4", ClusterName: "main"})
			if !errors.Is(err, ErrDataDirDamaged) || !strings.Contains(err.Error(), "raft.db") || !strings.Contains(err.Error(), "remove this member") {
				t.Errorf("PrepareDataDir() = %v, want ErrDataDirDamaged with the lost data and the next steps", err)
			}
			// An empty raft.db replaces the lost one.
			guard := store.NewGuard(store.GuardConfig{Timeout: time.Minute, Slow: time.Minute})
			files, err := store.Open(dir, "", guard, hclog.NewNullLogger())
			if err := errors.Join(err, files.Close()); err != nil {
				t.Fatal(err)
			}
			if err := openOn(t, dir); !errors.Is(err, ErrDataDirDamaged) || !strings.Contains(err.Error(), "it contains no term, entries or snapshot") {
				t.Errorf("Open() = %v, want ErrDataDirDamaged", err)
			}
		})
	}
}

// The snapshot ends at entry 10, but the log begins at entry 15.
func TestOpen_EntriesMissing_IsDamaged(t *testing.T) {
	dir := createDataDir(t)
	guard := store.NewGuard(store.GuardConfig{Timeout: time.Minute, Slow: time.Minute})
	files, err := store.Open(dir, "", guard, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	err = files.Log.StoreLogs([]*raft.Log{{Index: 15, Term: 4, Type: raft.LogNoop}})
	if err := errors.Join(err, files.Close()); err != nil {
		t.Fatal(err)
	}
	if err := openOn(t, dir); !errors.Is(err, ErrDataDirDamaged) || !strings.Contains(err.Error(), "entries are missing") {
		t.Errorf("Open() = %v, want ErrDataDirDamaged", err)
	}
}

// rejectingMachine is a machine that rejects every snapshot.
type rejectingMachine struct {
	*fsm.Machine
	cause error
}

func (r rejectingMachine) Restore(io.Reader) error {
	return fmt.Errorf("%w: %w", fsm.ErrSnapshot, r.cause)
}

// After an accidental downgrade, the error names the cause and does not suggest removing the member.
func TestOpen_NewerOrForeignSnapshot_IsNotDamaged(t *testing.T) {
	for _, cause := range []error{fsm.ErrNewer, fsm.ErrForeign} {
		dir := createDataDir(t)
		dataDir, err := PrepareDataDir(DataDirConfig{Dir: dir, MemberID: "gk4", ClusterName: "main"})
		if err != nil {
			t.Fatal(err)
		}
		machine := rejectingMachine{fsm.New(dataDir.ClusterID().String()), cause}
		_, err = Open(Config{DataDir: dataDir, Machine: machine, PeerAddress: "127.0.0.1:0", AdvertisePeer: "gk4.test:7421"})
		if err := dataDir.Close(); err != nil {
			t.Error(err)
		}
		if !errors.Is(err, cause) || errors.Is(err, ErrDataDirDamaged) || strings.Contains(err.Error(), "remove this member") {
			t.Errorf("Open() = %v, want only the machine's error", err)
		}
	}
}

// If a directory never had data, the error suggests emptying it. If it has lost its data, the error must not.
func TestPrepareDataDir_FounderWithLostData_IsDamaged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := openOn(t, dir); err != nil {
		t.Fatal(err)
	}
	f := &DataDir{dir: dir}
	if err := f.write(seedFileName, seedFile{Format: 1, ClusterID: "0000000000000007.1", MemberID: "gk4", Set: "another"}); err != nil {
		t.Fatal(err)
	}
	if err := openOn(t, dir); err != nil {
		t.Fatalf("open with the data: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, store.RaftFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := PrepareDataDir(DataDirConfig{Dir: dir, MemberID: "gk4", ClusterName: "main"}); !errors.Is(err, ErrDataDirDamaged) {
		t.Errorf("PrepareDataDir without the data = %v, want ErrDataDirDamaged", err)
	}
}
