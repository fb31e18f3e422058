package consensus

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store"
)

var threeMembers = []Member{{ID: "gk1"}, {ID: "gk2"}, {ID: "gk3"}}

func prepare(t *testing.T, dir string, cfg DataDirConfig) *DataDir {
	t.Helper()
	cfg.Dir = dir
	f, err := PrepareDataDir(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// wantPrepareError checks that PrepareDataDir returns an error containing every string in want.
func wantPrepareError(t *testing.T, dir string, cfg DataDirConfig, want ...string) {
	t.Helper()
	cfg.Dir = dir
	f, err := PrepareDataDir(cfg)
	if err == nil {
		f.Close()
		t.Fatalf("PrepareDataDir succeeded, want an error containing %q", want)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("got error %q, want it to contain %q", err, w)
		}
	}
}

func TestDataDir_InUse_ErrorNamesTheProcess(t *testing.T) {
	dir := t.TempDir()
	cfg := DataDirConfig{MemberID: "gk1", ClusterName: "main"}
	f := prepare(t, dir, cfg)
	wantPrepareError(t, dir, cfg, "in use by process", fmt.Sprint(os.Getpid()), dir)
	f.Close()
	prepare(t, dir, cfg)
}

func TestDataDir_SingleServer_GeneratesAndKeepsID(t *testing.T) {
	dir := t.TempDir()
	cfg := DataDirConfig{MemberID: "gk1", ClusterName: "main"}
	f := prepare(t, dir, cfg)
	id := f.ClusterID()
	if id.Incarnation != 1 || id.Seed == 0 || f.HasState() {
		t.Errorf("new directory: ClusterID() = %v, HasState() = %v", id, f.HasState())
	}
	f.Close()
	if again := prepare(t, dir, cfg); again.ClusterID() != id {
		t.Errorf("ClusterID() = %v after reopening, want %v", again.ClusterID(), id)
	}
	if other := prepare(t, t.TempDir(), cfg); other.ClusterID() == id {
		t.Error("two clusters generated the same id")
	}
}

func TestDataDir_AnotherMembersDir_ErrorNamesBoth(t *testing.T) {
	dir := t.TempDir()
	f := prepare(t, dir, DataDirConfig{MemberID: "gk1", ClusterName: "main", Members: threeMembers, ClusterID: testClusterID})
	id := f.ClusterID()
	f.Close()
	wantPrepareError(t, dir, DataDirConfig{MemberID: "gk2", ClusterName: "main", Members: threeMembers}, `"gk1"`, `"gk2"`)
	wantPrepareError(t, dir, DataDirConfig{MemberID: "gk1", ClusterName: "test", Members: threeMembers}, `"main"`, `"test"`)
	wantPrepareError(t, dir, DataDirConfig{MemberID: "gk1", ClusterName: "main", Join: true, ClusterID: ClusterID{Seed: 1, Incarnation: 2}},
		id.String(), "0000000000000001.2")
}

// Once a member has state, the configured list is ignored, because members may have been added since.
func TestDataDir_WithState_IgnoresMemberList(t *testing.T) {
	cfg := DataDirConfig{MemberID: "gk1", ClusterName: "main", Members: threeMembers}
	dir := t.TempDir()
	f := prepare(t, dir, cfg)
	if err := f.hold(testClusterID, digest(cfg.ClusterName, cfg.Members)); err != nil {
		t.Fatal(err)
	}
	if err := f.found(testClusterID); err != nil {
		t.Fatal(err)
	}
	f.Close()
	cfg.Members = threeMembers[:2]
	wantPrepareError(t, dir, cfg, "start it with the same settings as before")
	if err := os.WriteFile(filepath.Join(dir, store.RaftFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f := prepare(t, dir, cfg); f.ClusterID() != testClusterID {
		t.Errorf("ClusterID() = %v, want %v", f.ClusterID(), testClusterID)
	}
}

func TestDataDir_Joiner_NeedsIDOnceAndNeverFoundsACluster(t *testing.T) {
	dir := t.TempDir()
	join := DataDirConfig{MemberID: "gk4", ClusterName: "main", Join: true}
	join.Dir = dir
	if _, err := PrepareDataDir(join); !errors.Is(err, ErrClusterIDNeeded) {
		t.Fatalf("PrepareDataDir for a joiner without the cluster's id = %v, want ErrClusterIDNeeded", err)
	}
	join.ClusterID = ClusterID{Seed: 7, Incarnation: 3}
	prepare(t, dir, join).Close()
	join.ClusterID = ClusterID{}
	if f := prepare(t, dir, join); f.ClusterID() != (ClusterID{Seed: 7, Incarnation: 3}) {
		t.Errorf("ClusterID() = %v, want the id given to the first call", f.ClusterID())
	} else {
		f.Close()
	}
	if f := prepare(t, dir, DataDirConfig{MemberID: "gk4", ClusterName: "main"}); !f.file.Joiner {
		t.Error("a joiner restarted without Join is no longer a joiner, and could found another cluster with the same id")
	}
}

func TestDataDir_Damaged_IsRefused(t *testing.T) {
	dir := t.TempDir()
	cfg := DataDirConfig{MemberID: "gk1", ClusterName: "main"}
	for content, want := range map[string]string{
		"{":             "damaged",
		`{"format":1}`:  "format is 1",
		`{"format":2}`:  "not a cluster id",
		`{"format":"x"`: "damaged",
	} {
		if err := os.WriteFile(filepath.Join(dir, clusterFileName), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		wantPrepareError(t, dir, cfg, want)
	}
	lost := t.TempDir()
	if err := os.WriteFile(filepath.Join(lost, store.RaftFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantPrepareError(t, lost, cfg, clusterFileName)
}

func TestDataDir_PeerWithNewDataDir_IsRefused(t *testing.T) {
	dir := t.TempDir()
	cfg := DataDirConfig{MemberID: "gk1", ClusterName: "main"}
	f := prepare(t, dir, cfg)
	members := []raft.Server{{ID: "gk1"}, {ID: "gk2"}, {ID: "gk3"}}
	if err := errors.Join(f.recordPeer("gk2", "one", members), f.recordPeer("gk3", "two", members), f.recordPeer("gk2", "one", members)); err != nil {
		t.Fatal(err)
	}
	f.Close()
	f = prepare(t, dir, cfg)
	if err := f.recordPeer("gk2", "three", members); err == nil || !strings.Contains(err.Error(), "new id") {
		t.Errorf("recordPeer for a peer with a new directory = %v, want an error", err)
	}
	if err := f.recordPeer("gk2", "one", members); err != nil {
		t.Error(err)
	}
	// A removed member is forgotten.
	if err := f.recordPeer("gk4", "four", []raft.Server{{ID: "gk1"}, {ID: "gk2"}, {ID: "gk4"}}); err != nil || f.knowsPeer("gk3") || !f.knowsPeer("gk2") {
		t.Errorf("after recording gk4: peers %v, error %v", f.peerDirs, err)
	}
}

func TestParseClusterID_RoundTrips(t *testing.T) {
	for _, id := range []ClusterID{{}, {Seed: 1, Incarnation: 1}, {Seed: 1<<64 - 1, Incarnation: 1<<64 - 1}} {
		if got, err := ParseClusterID(id.String()); err != nil || got != id {
			t.Errorf("ParseClusterID(%q) = %v, %v", id, got, err)
		}
	}
	for _, s := range []string{"", ".", "1.1", "0000000000000001", "0000000000000001.", "0000000000000001.01",
		"000000000000000G.1", "000000000000000A.1", "0000000000000001.1.1", "+000000000000001.1"} {
		if id, err := ParseClusterID(s); err == nil {
			t.Errorf("ParseClusterID(%q) = %v, want an error", s, id)
		}
	}
}

func TestConfigAdvertise_RejectsUnusableAddresses(t *testing.T) {
	listen := addr("[::]:7421")
	for _, tc := range []struct {
		cfg  Config
		addr addr
		want string // or a substring of the error
		fail bool
	}{
		{Config{}, "127.0.0.1:7421", "127.0.0.1:7421", false},
		{Config{}, listen, "has no host", true},
		{Config{}, "0.0.0.0:7421", "has no host", true},
		{Config{AdvertisePeer: "gk1.example:7421"}, listen, "gk1.example:7421", false},
		{Config{AdvertisePeer: ":7421"}, listen, "has no host", true},
		{Config{AdvertisePeer: "gk1.example:0"}, listen, "has no port", true},
		{Config{AdvertisePeer: "gk1.example"}, listen, "missing port", true},
		{Config{Members: []Member{{ID: "gk1", PeerAddress: "a:1"}}}, listen, "a:1", false},
		{Config{AdvertisePeer: "b:1", Members: []Member{{ID: "gk1", PeerAddress: "a:1"}}}, listen, "advertises b:1", true},
	} {
		got, err := tc.cfg.advertise("gk1", tc.addr)
		if tc.fail && (err == nil || !strings.Contains(err.Error(), tc.want)) || !tc.fail && (err != nil || got != tc.want) {
			t.Errorf("advertise with %+v on %s = %q, %v, want %q", tc.cfg, tc.addr, got, err, tc.want)
		}
	}
}

type addr string

func (addr) Network() string  { return "tcp" }
func (a addr) String() string { return string(a) }

// A flipped bit must be detected or harmless. Otherwise, a server with the wrong directory number or cluster id would
// wait forever.
func TestDataDir_BitFlips_AreDetected(t *testing.T) {
	cfg := DataDirConfig{MemberID: "gk1", ClusterName: "main"}
	dir := t.TempDir()
	f := prepare(t, dir, cfg)
	if err := f.recordPeer("gk2", "0123456789abcdef", []raft.Server{{ID: "gk2"}}); err != nil {
		t.Fatal(err)
	}
	f.Close()
	file, peerDirs := f.file, f.peerDirs
	cfg.Dir = dir
	for _, name := range []string{clusterFileName, metFileName} {
		flipBits(t, filepath.Join(dir, name), func(what string) {
			f, err := PrepareDataDir(cfg)
			if err != nil {
				return
			}
			defer f.Close()
			if f.file != file || f.peerDirs["gk2"] != peerDirs["gk2"] {
				t.Errorf("%s: got %+v and peers %v without an error", what, f.file, f.peerDirs)
			}
		})
	}
	prepare(t, dir, cfg)
}

// A member with a corrupted id would found a cluster that no other member agreed on.
func TestDataDir_BitFlipsInTheSeed_AreDetected(t *testing.T) {
	cfg := DataDirConfig{Dir: t.TempDir(), MemberID: "gk1", ClusterName: "main", Members: threeMembers}
	f := prepare(t, cfg.Dir, cfg)
	if err := f.hold(testClusterID, digest(cfg.ClusterName, cfg.Members)); err != nil {
		t.Fatal(err)
	}
	f.Close()
	seed := f.seed
	flipBits(t, filepath.Join(cfg.Dir, seedFileName), func(what string) {
		f, err := PrepareDataDir(cfg)
		if err != nil {
			return
		}
		defer f.Close()
		if f.seed != seed {
			t.Errorf("%s: got seed %+v without an error", what, f.seed)
		}
	})
	prepare(t, cfg.Dir, cfg)
}

// flipBits calls check with each bit of the file flipped in turn, and then restores the file.
func flipBits(t *testing.T, path string, check func(what string)) {
	t.Helper()
	original, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 * len(original) {
		corrupt := bytes.Clone(original)
		corrupt[i/8] ^= 1 << (i % 8)
		if err := os.WriteFile(path, corrupt, 0o600); err != nil {
			t.Fatal(err)
		}
		check(fmt.Sprintf("bit %d of %s", i, filepath.Base(path)))
	}
	if err := os.WriteFile(path, original, 0o600); err != nil {
		t.Fatal(err)
	}
}
