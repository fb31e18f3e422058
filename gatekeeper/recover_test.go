package gatekeeper

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// stoppedCluster returns a stopped cluster of three servers with a definition and a permit.
func stoppedCluster(t *testing.T) (dirs []string, servers []*Server, held *gatekeeperv1.Permit) {
	t.Helper()
	servers = cluster(t, "gk1", "gk2", "gk3")
	c := newCaller(t, servers[0])
	c.create(t, "job")
	held = c.grant(t, "job", "app1")
	for _, s := range servers { // so that each data directory contains the permit
		eventually(t, func() bool { return s.machine.State().Permit(held.GetToken()) != nil })
	}
	for _, s := range servers {
		closeServer(t, s)
		dirs = append(dirs, s.cfg.DataDir)
	}
	return dirs, servers, held
}

// openRecovered recovers gk4 from the data directories and starts it.
func openRecovered(t *testing.T, cfg RecoverConfig) (*Recovery, *Server, caller) {
	t.Helper()
	server, _ := testConfig(t, "gk4")
	cfg.DataDir, cfg.ID, cfg.Author = server.DataDir, "gk4", "ann"
	r, err := Recover(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, server)
	waitReady(t, s)
	if s.ClusterID() != r.ClusterID {
		t.Errorf("ClusterID() = %s, want %s", s.ClusterID(), r.ClusterID)
	}
	return r, s, newCaller(t, s)
}

func durationPtr(d time.Duration) *time.Duration { return &d }

func TestRecover_OneDirectoryOfThree_GrantsNothingAndLosesPermits(t *testing.T) {
	t.Parallel()
	dirs, _, held := stoppedCluster(t)
	before := hashFiles(t, dirs[2])
	r, s, c := openRecovered(t, RecoverConfig{From: dirs[2:], Reason: "the site is gone"})

	if r.PermitsKept || r.VotersRead != 1 || r.Voters != 3 || r.PermitsLost != 1 || r.Quarantine != r.FullQuarantine || r.Quarantine <= time.Hour {
		t.Errorf("Recover() = %+v, want one of three voters read and one permit lost", r)
	}
	if got := strings.Join(r.Retired, " "); got != "gk1 gk2 gk3" {
		t.Errorf("Retired = %s, want gk1 gk2 gk3", got)
	}
	_, err := c.TryAcquire(bounded(t), &gatekeeperv1.TryAcquireRequest{Semaphore: "job", Identity: &gatekeeperv1.Identity{Acquirer: "app2"}, RequestId: "x"})
	if status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "the cluster was recovered and will not grant permits for another 1h0m") {
		t.Errorf("TryAcquire during the quarantine = %v, want Unavailable", err)
	}
	if result := c.refresh(t, held); result.GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_LOST {
		t.Errorf("refresh of an earlier permit = %v, want LOST", result)
	}
	if a, err := c.GetStatus(bounded(t), &gatekeeperv1.GetStatusRequest{}); err != nil || a.GetRecoveryWait().AsDuration() <= time.Hour {
		t.Errorf("GetStatus() = %v, %v, want a RecoveryWait of more than an hour", a, err)
	}
	c.create(t, "another") // definitions can be edited during the quarantine
	if _, err := c.GetDefinition(bounded(t), &gatekeeperv1.GetDefinitionRequest{Name: "job"}); err != nil {
		t.Error(err)
	}
	state := s.machine.State()
	if state.LastToken() <= held.GetToken() || state.LastToken() < uint64(time.Now().Add(-time.Hour).Unix())<<20 {
		t.Errorf("LastToken() = %d, want more than the earlier token %d", state.LastToken(), held.GetToken())
	}
	if after := hashFiles(t, dirs[2]); !maps.Equal(before, after) {
		t.Errorf("the old data directory was changed: before\n%v\nafter\n%v", before, after)
	}
}

// hashFiles returns the hash and modification time of every file in a directory tree.
func hashFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		info, errInfo := d.Info()
		if err := errors.Join(err, errInfo); err != nil {
			return err
		}
		files[path] = fmt.Sprintf("%x %v", sha256.Sum256(data), info.ModTime())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestRecover_UnsafeGrantAfter_GrantsWithHigherToken(t *testing.T) {
	t.Parallel()
	dirs, _, held := stoppedCluster(t)
	r, _, c := openRecovered(t, RecoverConfig{From: dirs[:1], UnsafeGrantAfter: durationPtr(100 * time.Millisecond)})
	if r.Quarantine != 100*time.Millisecond {
		t.Errorf("Recover() = %+v, want a quarantine of 100ms", r)
	}
	var token uint64
	eventually(t, func() bool {
		a, err := c.TryAcquire(bounded(t), &gatekeeperv1.TryAcquireRequest{Semaphore: "job", Identity: &gatekeeperv1.Identity{Acquirer: "app2"}, RequestId: "x"})
		if err != nil && status.Code(err) != codes.Unavailable {
			t.Fatal(err)
		}
		token = a.GetGrant().GetPermit().GetToken()
		return token != 0
	})
	if token <= held.GetToken() {
		t.Errorf("got token %d after %d, want a larger one", token, held.GetToken())
	}
}

func TestRecover_MajorityOfDirectories_CarriesPermitsOver(t *testing.T) {
	t.Parallel()
	dirs, _, held := stoppedCluster(t)
	r, _, c := openRecovered(t, RecoverConfig{From: dirs[1:], UnsafeGrantAfter: durationPtr(0)})
	if !r.PermitsKept || r.VotersRead != 2 || r.Permits != 1 || r.Quarantine != 0 {
		t.Errorf("Recover() = %+v, want the permit kept", r)
	}
	denial := c.try(t, "job", "app2").GetDenial()
	if denial.GetReason() != gatekeeperv1.Reason_REASON_NO_FREE_PERMIT || denial.GetHolders()[0].GetToken() != held.GetToken() {
		t.Errorf("denial of app2 = %v, want NO_FREE_PERMIT held by app1", denial)
	}
	if result := c.refresh(t, held); result.GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED {
		t.Errorf("refresh of the kept permit = %v, want REFRESHED", result)
	}
	c.release(t, held)
	if next := c.grant(t, "job", "app2"); next.GetToken() <= held.GetToken() {
		t.Errorf("got token %d after %d, want a larger one", next.GetToken(), held.GetToken())
	}
}

func TestRecover_Backups_CarryOverNoPermits(t *testing.T) {
	t.Parallel()
	dirs, _, _ := stoppedCluster(t)
	if r, _, _ := openRecovered(t, RecoverConfig{From: dirs, Backup: true, MaxDuration: 3 * time.Hour}); r.PermitsKept || r.Quarantine != r.FullQuarantine ||
		r.Quarantine <= 3*time.Hour {
		t.Errorf("Recover() = %+v, want a quarantine of more than three hours", r)
	}
}

func TestRecover_ChoosesDirectoryWithNewestEntry(t *testing.T) {
	t.Parallel()
	servers := cluster(t, "gk1", "gk2", "gk3")
	_, followers := findLeader(t, servers)
	lagging := followers[0]
	closeServer(t, lagging) // so that it misses the following entries
	c := newCaller(t, followers[1])
	c.create(t, "job")
	var dirs []string
	for _, s := range servers {
		closeServer(t, s)
		dirs = append(dirs, s.cfg.DataDir)
	}
	r, s, _ := openRecovered(t, RecoverConfig{From: dirs})
	for _, f := range r.DataDirs {
		if f.MemberID == lagging.cfg.ID && f.Chosen {
			t.Errorf("the outdated directory %+v was chosen", f)
		}
	}
	if s.machine.State().Definition("job") == nil {
		t.Error("a committed definition was lost")
	}
}

// Two of three old servers are restarted on their data directories. They form a majority, so unless they stop, both
// clusters could grant the same permits.
func TestRecover_OldServersReachNewCluster_Stop(t *testing.T) {
	t.Parallel()
	dirs, old, _ := stoppedCluster(t)
	server, _ := testConfig(t, "gk4")
	r, err := Recover(RecoverConfig{From: dirs[2:], DataDir: server.DataDir, ID: "gk4"})
	if err != nil {
		t.Fatal(err)
	}
	server.PeerAddress = r.PeerAddress // gk3's address, which the other members dial
	waitReady(t, open(t, server))
	for _, s := range old[:2] {
		cfg := s.cfg
		cfg.Listeners, cfg.PeerAddress = Listeners{}, ""
		again := open(t, cfg)
		select {
		case <-again.Done():
			if err := again.Err(); !errors.Is(err, ErrSuperseded) || !strings.Contains(err.Error(), r.ClusterID) {
				t.Errorf("Err of %s = %v, want ErrSuperseded mentioning cluster %s", cfg.ID, err, r.ClusterID)
			}
		case <-time.After(testTimeout):
			t.Errorf("%s did not stop", cfg.ID)
		}
		// The server must persist that it was superseded, because it may be unable to reach the new cluster after a
		// restart.
		closeServer(t, again)
		if _, err := Open(bounded(t), cfg); !errors.Is(err, ErrSuperseded) || !strings.Contains(err.Error(), r.ClusterID) {
			t.Errorf("Open of %s = %v, want ErrSuperseded mentioning cluster %s", cfg.ID, err, r.ClusterID)
		}
	}
	second := RecoverConfig{From: dirs[:1], DataDir: filepath.Join(t.TempDir(), "data"), ID: "gk5"}
	if _, err := Recover(second); !errors.Is(err, ErrSuperseded) || !strings.Contains(err.Error(), "--again") {
		t.Errorf("second Recover() = %v, want ErrSuperseded", err)
	}
	second.Again = true
	if _, err := Recover(second); err != nil {
		t.Errorf("second Recover() with Again: %v", err)
	}
}

func TestRecover_Joiners_NeedNewIDs(t *testing.T) {
	t.Parallel()
	dirs, _, _ := stoppedCluster(t)
	_, s, c := openRecovered(t, RecoverConfig{From: dirs[2:]})
	retired, _ := testConfig(t, "gk1")
	retired.Join = []string{s.APIAddress()}
	if _, err := Open(bounded(t), retired); !errors.Is(err, ErrJoinRefused) {
		t.Errorf("Open of a joiner with an old id = %v, want ErrJoinRefused", err)
	}
	cfg, _ := testConfig(t, "gk5")
	cfg.Join = []string{s.APIAddress()}
	waitReady(t, open(t, cfg))
	eventually(t, func() bool {
		a, err := c.GetStatus(bounded(t), &gatekeeperv1.GetStatusRequest{})
		return err == nil && len(a.GetMembers()) == 2 && a.GetMembers()[1].GetVoter()
	})
	// A second recovery retires the ids of both clusters.
	closeServer(t, s)
	_, err := Recover(RecoverConfig{From: []string{s.cfg.DataDir}, DataDir: filepath.Join(t.TempDir(), "data"), ID: "gk2"})
	if e, ok := errors.AsType[*ConfigError](err); !ok || e.Field != "ID" || !strings.Contains(err.Error(), "gk6") {
		t.Errorf("Recover() with an id of the first cluster = %v, want a ConfigError suggesting gk6", err)
	}
}

func TestRecover_DamagedDirectory_CountsAsLost(t *testing.T) {
	t.Parallel()
	dirs, _, _ := stoppedCluster(t)
	for name, damage := range map[string]func(path string) error{
		"truncated": func(path string) error { return os.Truncate(path, 9000) },
		"empty":     func(path string) error { return os.Truncate(path, 0) },
		"missing":   os.Remove,
		"not a log": func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("x", 32768)), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(dir, os.DirFS(dirs[0])); err != nil {
				t.Fatal(err)
			}
			if err := damage(filepath.Join(dir, "raft.db")); err != nil {
				t.Fatal(err)
			}
			target := filepath.Join(t.TempDir(), "data")
			r, err := Recover(RecoverConfig{From: []string{dir, dirs[1]}, DataDir: target, ID: "gk4"})
			if err != nil {
				t.Fatal(err)
			}
			if r.DataDirs[0].Err == nil || r.DataDirs[0].Chosen || !r.DataDirs[1].Chosen || r.VotersRead != 1 || r.PermitsKept {
				t.Errorf("Recover() = %+v, want the damaged directory treated as lost", r)
			}
			notCreated := filepath.Join(t.TempDir(), "data")
			_, err = Recover(RecoverConfig{From: []string{dir}, DataDir: notCreated, ID: "gk4"})
			if !errors.Is(err, ErrDataDir) || !strings.Contains(err.Error(), dir) {
				t.Errorf("Recover() from only a damaged directory = %v, want ErrDataDir mentioning it", err)
			}
			if _, err := os.Stat(notCreated); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the data directory was created: %v", err)
			}
		})
	}
}

// The new directory uses the requested log store, or by default the same one as the chosen directory.
func TestRecover_LogStore_MatchesDirectoryOrRequest(t *testing.T) {
	t.Parallel()
	old, _ := testConfig(t, "gk1")
	old.LogStore = LogStoreWAL
	s := open(t, old)
	waitReady(t, s)
	newCaller(t, s).create(t, "job")
	closeServer(t, s)
	for want, requested := range map[LogStore]LogStore{LogStoreWAL: "", LogStoreBolt: LogStoreBolt} {
		server, _ := testConfig(t, "gk4")
		_, err := Recover(RecoverConfig{From: []string{old.DataDir}, DataDir: server.DataDir, ID: "gk4", LogStore: requested})
		if err != nil {
			t.Fatal(err)
		}
		server.LogStore = LogStoreBolt
		if want == LogStoreBolt {
			server.LogStore = LogStoreWAL
		}
		if _, err := Open(t.Context(), server); !errors.Is(err, ErrLogStore) || errors.Is(err, ErrDataDir) {
			t.Errorf("after Recover() with %q: Open() with %q = %v, want ErrLogStore", requested, server.LogStore, err)
		}
		for _, same := range []LogStore{"", want} {
			server.LogStore = same
			s := open(t, server)
			waitReady(t, s)
			if s.machine.State().DefinitionCount() != 1 {
				t.Errorf("recovered with %q: got %d definitions, want 1", requested, s.machine.State().DefinitionCount())
			}
			closeServer(t, s)
		}
	}
}

func TestRecover_InvalidInput_ChangesNothing(t *testing.T) {
	t.Parallel()
	dirs, _, _ := stoppedCluster(t)
	otherServerConfig, _ := testConfig(t, "gk1")
	otherServer := open(t, otherServerConfig)
	waitReady(t, otherServer)
	running := otherServerConfig.DataDir
	other, _ := testConfig(t, "gk1")
	s := open(t, other)
	waitReady(t, s)
	closeServer(t, s)
	full, missing := t.TempDir(), filepath.Join(t.TempDir(), "none")
	if err := os.WriteFile(filepath.Join(full, "notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		change  func(*RecoverConfig)
		wantErr error  // nil means a *ConfigError
		text    string // in the error text
	}{
		"no source directory":         {func(c *RecoverConfig) { c.From = nil }, nil, "From must be given"},
		"no data directory":           {func(c *RecoverConfig) { c.DataDir = "" }, nil, "DataDir must be given"},
		"no id":                       {func(c *RecoverConfig) { c.ID = "" }, nil, "ID must be"},
		"bad id":                      {func(c *RecoverConfig) { c.ID = "a b" }, nil, "1 to 64"},
		"id of an old member":         {func(c *RecoverConfig) { c.ID = "gk2" }, nil, "for example gk4"},
		"the same directory twice":    {func(c *RecoverConfig) { c.From = append(c.From, c.From[0]+"/.") }, nil, "listed twice"},
		"max_duration too short":      {func(c *RecoverConfig) { c.MaxDuration = time.Millisecond }, nil, "MaxDuration \"1ms\" must be"},
		"negative wait":               {func(c *RecoverConfig) { c.UnsafeGrantAfter = durationPtr(-1) }, nil, "negative"},
		"wait above the safe value":   {func(c *RecoverConfig) { c.UnsafeGrantAfter = durationPtr(100 * time.Hour) }, nil, "omit it"},
		"no such directory":           {func(c *RecoverConfig) { c.From = []string{missing} }, ErrDataDir, missing},
		"not a data directory":        {func(c *RecoverConfig) { c.From = append(c.From, full) }, ErrForeignDataDir, "cluster.json"},
		"another cluster's directory": {func(c *RecoverConfig) { c.From = append(c.From, other.DataDir) }, ErrForeignDataDir, "a single cluster"},
		"source server is running":    {func(c *RecoverConfig) { c.From = append(c.From, running) }, ErrDataDirLocked, "stop its server"},
		"the target exists":           {func(c *RecoverConfig) { c.DataDir = full }, ErrDataDir, "notes"},
		"the target is a source":      {func(c *RecoverConfig) { c.DataDir = c.From[0] }, ErrDataDir, "not empty"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := RecoverConfig{From: dirs[:1], DataDir: filepath.Join(t.TempDir(), "data"), ID: "gk4"}
			cfg.From = append([]string(nil), cfg.From...)
			tc.change(&cfg)
			_, err := Recover(cfg)
			if _, config := errors.AsType[*ConfigError](err); tc.wantErr == nil && !config || tc.wantErr != nil && !errors.Is(err, tc.wantErr) || !strings.Contains(fmt.Sprint(err), tc.text) {
				t.Errorf("Recover() = %v, want an error containing %q", err, tc.text)
			}
			if cfg.DataDir != "" && cfg.DataDir != full && cfg.DataDir != dirs[0] {
				if _, err := os.Stat(cfg.DataDir); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("the data directory was created: %v", err)
				}
			}
		})
	}
	if _, err := Recover(RecoverConfig{From: dirs, DataDir: filepath.Join(t.TempDir(), "data"), ID: "gk4"}); err != nil {
		t.Errorf("Recover() after the failed attempts: %v", err)
	}
}

// An interrupted recovery leaves a directory that no server accepts as a data directory.
func TestRecover_Interrupted_ServerDoesNotStart(t *testing.T) {
	t.Parallel()
	dirs, _, _ := stoppedCluster(t)
	cfg, _ := testConfig(t, "gk4")
	if _, err := Recover(RecoverConfig{From: dirs[:1], DataDir: cfg.DataDir, ID: "gk4"}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(cfg.DataDir, "cluster.json")); err != nil { // written last
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), cfg); !errors.Is(err, ErrDataDir) {
		t.Errorf("Open = %v, want ErrDataDir", err)
	}
}
