package gatekeeper

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/internal/backup"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// saveBackup saves a backup to a file.
func saveBackup(t *testing.T, c caller) (string, error) {
	t.Helper()
	stream, err := gatekeeperv1.NewClusterServiceClient(c.conn).SaveSnapshot(bounded(t), &gatekeeperv1.SaveSnapshotRequest{})
	var file bytes.Buffer
	for err == nil {
		var r *gatekeeperv1.SaveSnapshotResponse
		if r, err = stream.Recv(); err == nil {
			file.Write(r.GetData())
		}
	}
	if !errors.Is(err, io.EOF) {
		return "", err
	}
	path := filepath.Join(t.TempDir(), "backup")
	return path, os.WriteFile(path, file.Bytes(), 0o600)
}

// openRestored restores a server from a backup and starts it.
func openRestored(t *testing.T, cfg RestoreConfig, change func(*Config)) (*Recovery, *Server) {
	t.Helper()
	server, _ := testConfig(t, "gk1")
	if change != nil {
		change(&server)
	}
	cfg.DataDir, cfg.ID, cfg.Author = server.DataDir, "gk1", "ann"
	r, err := Restore(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, server)
	waitReady(t, s)
	if s.ClusterID() != r.ClusterID {
		t.Errorf("ClusterID() = %s, want %s", s.ClusterID(), r.ClusterID)
	}
	return r, s
}

// Under load, a backup saved through any server contains all changes acknowledged before it was requested. A cluster
// restored from it never reissues a token.
func TestRestore_BackupUnderLoad_KeepsChangesAndNeverReusesTokens(t *testing.T) {
	t.Parallel()
	servers := cluster(t, "gk1", "gk2", "gk3")
	c := newCaller(t, servers[0])
	c.create(t, "job")
	c.create(t, "busy")
	c.create(t, "work")
	held := c.grant(t, "job", "app1")
	work := gatekeeperv1.NewWorkServiceClient(c.conn)
	if _, err := submit(t, work, &gatekeeperv1.JobSpec{Semaphore: "work", Id: "j"}, []string{"a", "b"}); err != nil {
		t.Fatal(err)
	}

	// The concurrent load runs until loading is cancelled.
	loading, stopLoad := context.WithCancel(bounded(t))
	ended := make(chan uint64)
	go func() {
		last := uint64(0)
		for n := 0; loading.Err() == nil; n++ {
			id := &gatekeeperv1.Identity{Acquirer: "load"}
			a, err := c.TryAcquire(loading, &gatekeeperv1.TryAcquireRequest{Semaphore: "busy", Identity: id, RequestId: decimal(uint64(n))})
			if token := a.GetGrant().GetPermit().GetToken(); err == nil && token != 0 {
				last = token
				_, _ = c.Release(loading, &gatekeeperv1.ReleaseRequest{Token: token, Identity: id}) // a failed release does not matter
			}
		}
		ended <- last
	}()
	var files []string
	for i, s := range servers {
		name := "before-" + s.cfg.ID
		c.create(t, name)
		file, err := saveWithRetry(t, newCaller(t, s))
		if err != nil {
			t.Fatal(err)
		}
		b, err := backup.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		if b.State.Definition(name) == nil || b.State.Permit(held.GetToken()) == nil {
			t.Errorf("the backup saved through %s lacks acknowledged changes", s.cfg.ID)
		}
		if got := b.Summary(); got.Jobs != 1 || got.Tasks != 2 || got.ClusterID != s.ClusterID() || !slices.Equal(got.Members, []string{"gk1", "gk2", "gk3"}) || got.Permits == 0 {
			t.Errorf("Summary() of backup %d = %+v, want the state of this cluster", i, got)
		}
		files = append(files, file)
	}
	later := c.grant(t, "before-gk1", "after the backup")
	stopLoad()
	last := max(<-ended, later.GetToken())
	for _, s := range servers {
		closeServer(t, s)
	}

	r, s := openRestored(t, RestoreConfig{File: files[0], Reason: "a drill"}, nil)
	if r.PermitsKept || r.PermitsLost == 0 || r.Quarantine != r.FullQuarantine || r.Quarantine <= time.Hour || r.OldClusterID != servers[0].ClusterID() {
		t.Errorf("Restore() = %+v, want the permits lost and the full quarantine", r)
	}
	old, err := consensus.ParseClusterID(r.OldClusterID)
	if now, errNow := consensus.ParseClusterID(r.ClusterID); err != nil || errNow != nil || now.Seed == old.Seed || now.Succeeds(old) {
		t.Errorf("cluster %s was restored from %s, want a different seed: %v, %v", r.ClusterID, r.OldClusterID, err, errNow)
	}
	n := newCaller(t, s)
	if s.machine.State().Definition("before-gk1") == nil || s.machine.State().Job("j") == nil || s.machine.State().LastToken() <= last {
		t.Errorf("LastToken() = %d, want more than %d, with definition before-gk1 and job j", s.machine.State().LastToken(), last)
	}
	_, err = n.TryAcquire(bounded(t), &gatekeeperv1.TryAcquireRequest{Semaphore: "job", Identity: &gatekeeperv1.Identity{Acquirer: "app2"}, RequestId: "x"})
	if status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "the cluster was recovered and will not grant permits for another 1h0m") {
		t.Errorf("TryAcquire during the quarantine = %v, want Unavailable", err)
	}
	if result := n.refresh(t, held); result.GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_LOST {
		t.Errorf("refresh of an earlier permit = %v, want LOST", result)
	}
	history, err := n.ListHistory(bounded(t), &gatekeeperv1.ListHistoryRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(history.GetEntries(), func(e *gatekeeperv1.HistoryEntry) bool {
		return e.GetAuthor() == "ann" && strings.Contains(e.GetReason(), "restored from a backup of cluster \""+r.OldClusterID+"\", taken at ") &&
			strings.Contains(e.GetReason(), "a drill")
	}) {
		t.Errorf("the journal does not mention the restore: %v", history.GetEntries())
	}

	// Tokens are larger even if the restored cluster grants permits immediately, as in a drill.
	_, s = openRestored(t, RestoreConfig{File: files[2], UnsafeGrantAfter: durationPtr(0)}, nil)
	if again := newCaller(t, s).grant(t, "job", "app2"); again.GetToken() <= last {
		t.Errorf("got token %d after %d, want a larger one", again.GetToken(), last)
	}
}

// saveWithRetry saves a backup, and retries while the server has no leader.
func saveWithRetry(t *testing.T, c caller) (string, error) {
	return withRetry(t, func(context.Context, *gatekeeperv1.SaveSnapshotRequest, ...grpc.CallOption) (string, error) {
		return saveBackup(t, c)
	}, nil)
}

func TestRestore_UnusableBackupOrConfig_IsRejected(t *testing.T) {
	t.Parallel()
	cfg, _ := testConfig(t, "gk1")
	_, c := openReady(t, cfg)
	c.create(t, "job")
	file, err := saveWithRetry(t, c)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b, err := backup.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(data []byte) string {
		path := filepath.Join(t.TempDir(), "backup")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	flipped := bytes.Clone(data)
	flipped[len(data)/2] ^= 1
	var late bytes.Buffer
	b.TakenAt = time.Now().Add(time.Hour)
	if err := backup.Write(&late, b.Header, b.State); err != nil {
		t.Fatal(err)
	}
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		cfg  RestoreConfig
		want error
		text string
	}{
		"a flipped bit":          {RestoreConfig{File: write(flipped)}, ErrBackup, "damaged"},
		"truncated":              {RestoreConfig{File: write(data[:len(data)-1])}, ErrBackup, "damaged"},
		"taken in the future":    {RestoreConfig{File: write(late.Bytes())}, ErrBackup, "set the clock"},
		"no such file":           {RestoreConfig{File: file + "x"}, os.ErrNotExist, "no such file"},
		"a directory with files": {RestoreConfig{File: file, DataDir: full}, ErrDataDir, "not empty"},
		"wait too long":          {RestoreConfig{File: file, UnsafeGrantAfter: durationPtr(3 * time.Hour)}, nil, "which is already safe"},
	} {
		if c.cfg.DataDir == "" {
			c.cfg.DataDir = filepath.Join(t.TempDir(), "new")
		}
		c.cfg.ID = "gk1"
		if _, err := Restore(c.cfg); err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: Restore() = %v, want %v with %q", what, err, c.want, c.text)
		}
		if _, err := os.Stat(c.cfg.DataDir); c.cfg.DataDir != full && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the data directory was created: %v", what, err)
		}
	}
}

func TestAccess_Backup_NeedsAdminRole(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, nil)
	for _, role := range []gatekeeperv1.Role{
		gatekeeperv1.Role_ROLE_VIEWER, gatekeeperv1.Role_ROLE_ACQUIRER, gatekeeperv1.Role_ROLE_VERIFIER, gatekeeperv1.Role_ROLE_OPERATOR, gatekeeperv1.Role_ROLE_EDITOR,
	} {
		name := strings.ToLower(role.String())
		s.bind(name, roleGrant(role))
		for i := range s.servers {
			if _, err := saveBackup(t, s.named(i, name)); status.Code(err) != codes.PermissionDenied {
				t.Errorf("server %d: backup by %s = %v, want PermissionDenied", i, name, err)
			}
		}
	}
	for i := range s.servers {
		file, err := saveWithRetry(t, s.named(i, "client"))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := backup.Read(file); err != nil || b.Summary().Bindings != 6 {
			t.Errorf("server %d: reading the backup = %v, want 6 bindings", i, err)
		}
	}
}
