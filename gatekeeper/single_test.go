package gatekeeper

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestServer_Single_ServesPermitCalls(t *testing.T) {
	t.Parallel()
	cfg, _ := testConfig(t, "")
	_, c := openReady(t, cfg)
	c.create(t, "job")
	p := c.grant(t, "job", "app1")
	if p.GetToken() == 0 || p.GetDuration().AsDuration() != time.Minute {
		t.Errorf("got permit %v, want a token and a one-minute duration", p)
	}
	denial := c.try(t, "job", "app2").GetDenial()
	if denial.GetReason() != gatekeeperv1.Reason_REASON_NO_FREE_PERMIT || denial.GetHolders()[0].GetToken() != p.GetToken() {
		t.Errorf("denial of app2 = %v, want NO_FREE_PERMIT held by token %d", denial, p.GetToken())
	}
	if r := c.refresh(t, p); r.GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED {
		t.Errorf("refresh = %v, want REFRESHED", r)
	}
	c.release(t, p)
	if next := c.grant(t, "job", "app2"); next.GetToken() <= p.GetToken() {
		t.Errorf("got token %d after %d, want a larger one", next.GetToken(), p.GetToken())
	}
}

func TestServer_Restarted_KeepsDefinitionsPermitsAndIdentity(t *testing.T) {
	t.Parallel()
	cfg, _ := testConfig(t, "")
	s, c := openReady(t, cfg)
	c.create(t, "job")
	p, clusterID := c.grant(t, "job", "app1"), s.ClusterID()
	closeServer(t, s)

	checkRestarted(t, cfg, clusterID, p)
}

// checkRestarted reopens a server and checks that it has kept its cluster id and the permit on "job".
func checkRestarted(t *testing.T, cfg Config, clusterID string, p *gatekeeperv1.Permit) {
	t.Helper()
	s, c := openReady(t, cfg)
	if s.ClusterID() != clusterID {
		t.Errorf("ClusterID() after a restart = %s, want %s", s.ClusterID(), clusterID)
	}
	if r := c.refresh(t, p); r.GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED {
		t.Errorf("refresh after a restart = %v, want REFRESHED", r)
	}
	if c.try(t, "job", "app2").GetDenial() == nil {
		t.Error("a second permit was granted after a restart")
	}
}

func TestServer_Definitions_AreDeclaredButNotOverwrittenOrRestored(t *testing.T) {
	t.Parallel()
	cfg, _ := testConfig(t, "")
	cfg.Definitions = []*gatekeeperv1.Definition{{Name: "a", Permits: proto.Uint32(1)}, {Name: "b"}}
	s := open(t, cfg)
	c := newCaller(t, s)
	waitReady(t, s)
	if _, err := c.GetDefinition(bounded(t), &gatekeeperv1.GetDefinitionRequest{Name: "b"}); err != nil {
		t.Errorf("GetDefinition() of a declared definition once ready: %v", err)
	}
	created := waitForDefinition(t, s, c, "a", 1)
	if created.GetUpdatedBy() != "gatekeeperd" || created.GetReason() != "definitions file" {
		t.Errorf("got author %q, reason %q, want gatekeeperd, definitions file", created.GetUpdatedBy(), created.GetReason())
	}
	b := waitForDefinition(t, s, c, "b", 1)
	_, err := c.BatchEdit(bounded(t), &gatekeeperv1.BatchEditRequest{Author: "ann", Edits: []*gatekeeperv1.Edit{
		{Change: &gatekeeperv1.Edit_Replace{Replace: &gatekeeperv1.Definition{Name: "a", Permits: proto.Uint32(7)}}, ExpectedVersion: created.GetVersion()},
		{Change: &gatekeeperv1.Edit_Delete{Delete: "b"}, ExpectedVersion: b.GetVersion()},
	}})
	if err != nil {
		t.Fatal(err)
	}
	closeServer(t, s)

	cfg.Definitions = append(cfg.Definitions, &gatekeeperv1.Definition{Name: "new", Permits: proto.Uint32(2)})
	s = open(t, cfg)
	c = newCaller(t, s)
	waitForDefinition(t, s, c, "new", 2) // declared in the same batch as the others
	waitForDefinition(t, s, c, "a", 7)
	if _, err := c.GetDefinition(bounded(t), &gatekeeperv1.GetDefinitionRequest{Name: "b"}); status.Code(err) != codes.NotFound {
		t.Errorf("GetDefinition() of the deleted b = %v, want NotFound", err)
	}
}

// waitForDefinition waits for a definition and checks that it has the given number of permits.
func waitForDefinition(t *testing.T, s *Server, c caller, name string, permits uint32) *gatekeeperv1.DefinitionRecord {
	t.Helper()
	waitReady(t, s)
	ctx := bounded(t)
	watch, err := c.Watch(ctx, &gatekeeperv1.WatchRequest{Names: []string{name}})
	if err != nil {
		t.Fatal(err)
	}
	for {
		a, err := c.GetDefinition(ctx, &gatekeeperv1.GetDefinitionRequest{Name: name})
		if err == nil {
			if got := a.GetRecord().GetDefinition().GetPermits(); got != permits {
				t.Fatalf("%s has %d permits, want %d", name, got, permits)
			}
			return a.GetRecord()
		}
		if status.Code(err) != codes.NotFound {
			t.Fatal(err)
		}
		if _, err := watch.Recv(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestServer_DumpInterval_LogsState(t *testing.T) {
	t.Parallel()
	cfg, log := testConfig(t, "")
	cfg.DumpInterval = time.Second
	_, c := openReady(t, cfg)
	c.create(t, "job")
	c.grant(t, "job", "app1")
	line := regexp.MustCompile(`level=INFO msg="state of permit" id=gk1 semaphore=job group=default acquirer=app1 .* state=live .* expires_in=`)
	eventually(t, func() bool { return line.MatchString(log.String()) })
	if !strings.Contains(log.String(), "role=leader leader=gk1") {
		t.Errorf("log does not contain the role and the leader")
	}
}

// eventually polls a condition until it holds.
func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	ctx := bounded(t)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatal("timed out waiting for the condition")
		case <-tick.C:
		}
	}
}

func TestServer_AdminPort_ServesMetricsAndHealth(t *testing.T) {
	t.Parallel()
	cfg, _ := testConfig(t, "")
	cfg.AdminAddress = "127.0.0.1:0"
	s := open(t, cfg)
	waitReady(t, s)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for path, want := range map[string]string{"/metrics": "gatekeeper_", "/healthz": "", "/readyz": "", "/debug/pprof/goroutine?debug=1": "goroutine"} {
		r, err := client.Get("http://" + s.AdminAddress() + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil || r.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("GET %s = %s, %v, want 200 with %q", path, r.Status, err, want)
		}
	}
}

func TestOpen_PortInUse_FailsBeforeWriting(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	for what, set := range map[string]func(*Config, string){
		"API": func(c *Config, a string) { c.APIAddress = a }, "peer": func(c *Config, a string) { c.PeerAddress = a },
		"HTTP":  func(c *Config, a string) { c.HTTPAddress = a },
		"admin": func(c *Config, a string) { c.AdminAddress = a },
	} {
		cfg, _ := testConfig(t, "")
		set(&cfg, taken.Addr().String())
		_, err := Open(bounded(t), cfg)
		if !errors.Is(err, ErrListen) || !strings.Contains(err.Error(), what+" address "+taken.Addr().String()) {
			t.Errorf("%s: Open = %v, want ErrListen with the address", what, err)
		}
		if _, err := os.Stat(cfg.DataDir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the data directory was created", what)
		}
	}
}

func TestOpen_DataDirInUseForeignOrUnusable_Fails(t *testing.T) {
	t.Parallel()
	cfg, _ := testConfig(t, "")
	s := open(t, cfg)
	if _, err := Open(bounded(t), cfg); !errors.Is(err, ErrDataDirLocked) {
		t.Errorf("Open with a directory in use = %v, want ErrDataDirLocked", err)
	}
	closeServer(t, s)

	other := cfg
	other.ID = "gk2"
	if _, err := Open(bounded(t), other); !errors.Is(err, ErrForeignDataDir) {
		t.Errorf("Open with another member's directory = %v, want ErrForeignDataDir", err)
	}
	other = cfg
	other.ClusterName = "another"
	if _, err := Open(bounded(t), other); !errors.Is(err, ErrForeignDataDir) {
		t.Errorf("Open with another cluster's directory = %v, want ErrForeignDataDir", err)
	}
	other = cfg
	other.DataDir = filepath.Join(cfg.DataDir, "LOCK", "below a file")
	if _, err := Open(bounded(t), other); !errors.Is(err, ErrDataDir) {
		t.Errorf("Open with a path below a file = %v, want ErrDataDir", err)
	}
	waitReady(t, open(t, cfg)) // still works after the failed attempts
}

func TestOpen_BadTLSFiles_AreReported(t *testing.T) {
	t.Parallel()
	cfg, _ := testConfig(t, "")
	cfg.TLS = TLS{CertFile: "no-such-cert", KeyFile: "no-such-key", CAFile: "no-such-ca"}
	_, err := Open(bounded(t), cfg)
	if e, ok := errors.AsType[*ConfigError](err); !ok || e.Field != "TLS" || !strings.Contains(err.Error(), "no-such-cert") {
		t.Errorf("Open = %v, want a ConfigError mentioning the certificate", err)
	}
}

func TestClose_Twice_Succeeds(t *testing.T) {
	t.Parallel()
	cfg, _ := testConfig(t, "")
	s := open(t, cfg)
	closeServer(t, s)
	closeServer(t, s)
	select {
	case <-s.Done():
	default:
		t.Error("Done is not closed after Close")
	}
	if err := s.Err(); err != nil {
		t.Errorf("Err after a normal Close = %v, want nil", err)
	}
	if err := s.Ready(bounded(t)); !errors.Is(err, ErrClosed) {
		t.Errorf("Ready after Close = %v, want ErrClosed", err)
	}
}

func TestClose_OpenStream_EndsStream(t *testing.T) {
	t.Parallel()
	cfg, _ := testConfig(t, "")
	s, c := openReady(t, cfg)
	watch, err := c.Watch(bounded(t), &gatekeeperv1.WatchRequest{})
	if err != nil {
		t.Fatal(err)
	}
	health, err := grpc_health_v1.NewHealthClient(c.conn).Watch(bounded(t), &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := health.Recv(); err != nil {
		t.Fatal(a, err)
	}
	closed := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
		defer cancel()
		closed <- s.Close(ctx)
	}()
	for err = nil; err == nil; {
		_, err = watch.Recv()
	}
	if status.Code(err) != codes.Unavailable {
		t.Errorf("the watch ended with %v, want Unavailable", err)
	}
	if err := <-closed; err != nil {
		t.Errorf("Close() = %v", err)
	}
}

func TestClose_CancelledContext_StillCloses(t *testing.T) {
	t.Parallel()
	cfg, _ := testConfig(t, "")
	s, err := Open(bounded(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	waitReady(t, s)
	c := newCaller(t, s)
	c.create(t, "job")
	p := c.grant(t, "job", "app1")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_ = s.Close(ended) // may report that calls were interrupted

	s = open(t, cfg) // fails unless the data directory was unlocked
	waitReady(t, s)
	if r := newCaller(t, s).refresh(t, p); r.GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED {
		t.Errorf("refresh = %v, want REFRESHED", r)
	}
}

// A new cluster starts at feature level 1, but must not reject the first call for that reason.
func TestServer_New_FirstCallCanUseNewestFeatures(t *testing.T) {
	t.Parallel()
	for range 10 { // repeat, because the call rarely arrives before the level is raised
		cfg, _ := testConfig(t, "")
		s := open(t, cfg)
		_, err := withRetry(t, newCaller(t, s).CreateDefinition, &gatekeeperv1.CreateDefinitionRequest{
			Definition: &gatekeeperv1.Definition{Name: "job", MaxAttempts: 3}, Author: "test", RequestId: "create job", // needs level 4
		})
		if err != nil {
			t.Fatal(err)
		}
		closeServer(t, s)
	}
}
