package consensus

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store"
)

func newMachine(clusterID string) Machine { return fsm.New(clusterID) }

// createDataDir creates a data directory with a snapshot up to entry 10, and adds snapshots at the given indexes.
func createDataDir(t *testing.T, snapshots ...uint64) (dir string) {
	t.Helper()
	return createDataDirWithStore(t, "", snapshots...)
}

// createDataDirWithStore is like createDataDir, with the given log store.
func createDataDirWithStore(t *testing.T, kind LogStore, snapshots ...uint64) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	createDataDirAt(t, dir, kind, snapshots...)
	return dir
}

// createDataDirAt is like createDataDirWithStore, but creates the directory at dir.
func createDataDirAt(t *testing.T, dir string, kind LogStore, snapshots ...uint64) {
	t.Helper()
	id := ClusterID{Seed: 7, Incarnation: 2}
	state := fsm.New(id.String()).State()
	err := Bootstrap(BootstrapConfig{
		Dir: dir, ClusterID: id, ClusterName: "main", MemberID: "gk4", PeerAddress: "gk4.test:7421", Term: 5, LastIndex: 10, LastTerm: 3, State: state,
		LogStore: kind,
	})
	if err != nil {
		t.Fatal(err)
	}
	servers := []raft.Server{{ID: "gk4", Address: "gk4.test:7421"}, {ID: "gk5", Address: "gk5.test:7421"}}
	for _, index := range snapshots {
		seed := store.Seed{Term: 5, LastIndex: index, LastTerm: 4, Configuration: raft.Configuration{Servers: servers}, Write: state.Snapshot}
		if err := store.CreateFrom(dir, seed); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadDataDir_SeveralSnapshots_UsesNewest(t *testing.T) {
	r, err := ReadDataDir(createDataDir(t, 20), newMachine)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.LastIndex != 20 || r.LastTerm != 4 || r.Term != 5 || len(r.Members) != 2 || r.MemberID != "gk4" || r.State.ClusterID() != "0000000000000007.2" {
		t.Errorf("ReadDataDir() = %+v, want the term, members and state of the newest snapshot", r)
	}
}

// Falling back to an older snapshot would silently lose the entries in between.
func TestReadDataDir_NewestSnapshotDamaged_ReturnsErrDataDirDamaged(t *testing.T) {
	for _, file := range []string{"state.bin", "meta.json"} {
		dir := createDataDir(t, 20)
		newest, err := filepath.Glob(filepath.Join(dir, "snapshots", "4-20-*", file))
		if err != nil || len(newest) != 1 {
			t.Fatalf("snapshot files = %v, error = %v, want one file", newest, err)
		}
		if err := os.Truncate(newest[0], 30); err != nil {
			t.Fatal(err)
		}
		r, err := ReadDataDir(dir, newMachine)
		if err == nil {
			r.Close()
		}
		if !errors.Is(err, ErrDataDirDamaged) || !strings.Contains(err.Error(), "entry 20") || !strings.Contains(err.Error(), "entry 10") {
			t.Errorf("%s truncated: got error %v, want ErrDataDirDamaged with both indexes", file, err)
		}
	}
}

func TestReadDataDir_Twice_SharesLockAndExcludesServers(t *testing.T) {
	dir := createDataDir(t)
	a, err := ReadDataDir(dir, newMachine)
	if err != nil {
		t.Fatal(err)
	}
	b, err := ReadDataDir(dir, newMachine)
	if err != nil {
		t.Fatal(err)
	}
	cfg := DataDirConfig{MemberID: "gk4", ClusterName: "main"}
	wantPrepareError(t, dir, cfg, "in use")
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Error(err)
	}
	f := prepare(t, dir, cfg)
	if f.ClusterID() != (ClusterID{Seed: 7, Incarnation: 2}) || !f.HasState() || f.file.Joiner {
		t.Errorf("got data directory %+v, want the bootstrapped cluster with its state", f.file)
	}
}

func TestQuorum_CountsVotersOfNewestConfigurationOnce(t *testing.T) {
	three := []Member{{ID: "gk1", Voter: true}, {ID: "gk2", Voter: true}, {ID: "gk3", Voter: true}}
	five := append(three[:3:3], Member{ID: "gk4", Voter: true}, Member{ID: "gk5", Voter: true}, Member{ID: "gk6"})
	at := func(id string, term, index uint64, members []Member) *OfflineDir {
		return &OfflineDir{MemberID: id, LastTerm: term, LastIndex: index, Members: members}
	}
	for name, tc := range map[string]struct {
		all          []*OfflineDir
		latest       int
		read, voters int
	}{
		"one directory":           {[]*OfflineDir{at("gk1", 2, 9, three)}, 0, 1, 3},
		"later term":              {[]*OfflineDir{at("gk1", 2, 99, three), at("gk2", 3, 5, three)}, 1, 2, 3},
		"same term, higher index": {[]*OfflineDir{at("gk1", 3, 7, three), at("gk2", 3, 5, three)}, 0, 2, 3},
		"copies of one member":    {[]*OfflineDir{at("gk1", 3, 7, three), at("gk1", 3, 5, three)}, 0, 1, 3},
		"older configuration":     {[]*OfflineDir{at("gk1", 3, 7, three), at("gk2", 3, 8, five)}, 1, 2, 5},
		"non-voter":               {[]*OfflineDir{at("gk6", 3, 9, five), at("gk2", 3, 8, five)}, 0, 1, 5},
		"unknown member":          {[]*OfflineDir{at("gk9", 3, 9, three)}, 0, 0, 3},
	} {
		if got := Latest(tc.all); got != tc.all[tc.latest] {
			t.Errorf("%s: Latest() = %+v, want %+v", name, got, tc.all[tc.latest])
		}
		if read, voters := Quorum(tc.all); read != tc.read || voters != tc.voters {
			t.Errorf("%s: Quorum() = %d, %d, want %d, %d", name, read, voters, tc.read, tc.voters)
		}
	}
}

func TestClusterIDNext_SucceedsEarlierIncarnations(t *testing.T) {
	first := ClusterID{Seed: 7, Incarnation: 1}
	at := time.Unix(2_000_000_000, 0)
	second := first.Next(at)
	third := second.Next(at.Add(-time.Hour)) // a clock that was set back
	for _, tc := range []struct {
		later, earlier ClusterID
		want           bool
	}{
		{second, first, true}, {third, second, true}, {third, first, true}, {first.Next(at.Add(time.Second)), second, true},
		{first, second, false}, {first, first, false}, {ClusterID{Seed: 8, Incarnation: 9}, first, false},
	} {
		if got := tc.later.Succeeds(tc.earlier); got != tc.want {
			t.Errorf("%v.Succeeds(%v) = %v, want %v", tc.later, tc.earlier, got, tc.want)
		}
	}
	ids := map[ClusterID]bool{}
	for range 4 {
		ids[first.Next(at)] = true
	}
	if len(ids) < 2 {
		t.Error("Next() returned the same id four times, want different ids for recoveries from copies")
	}
	if succeeds("nonsense", first.String()) || succeeds(second.String(), "") || !succeeds(second.String(), first.String()) {
		t.Error("succeeds() returned the wrong result")
	}
}
