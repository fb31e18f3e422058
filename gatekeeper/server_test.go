package gatekeeper

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"log/slog"
	"net"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/internal/ports"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil { // these tests mostly wait for elections and timers, not CPU
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// testTimeout bounds every wait in these tests. It is generous to avoid flakes on busy machines.
const testTimeout = 60 * time.Second

// bounded returns a context that expires after testTimeout.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	t.Cleanup(cancel)
	return ctx
}

// logBuffer collects log output.
type logBuffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// testConfig returns the configuration of a server on free ports. The server's log is printed if the test fails.
func testConfig(t *testing.T, id string) (Config, *logBuffer) {
	t.Helper()
	log := &logBuffer{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of %s:\n%s", id, log)
		}
	})
	return Config{
		ID: id, DataDir: filepath.Join(t.TempDir(), "data"), // ProfileDefault: busy machines stall too long for ProfileFast
		APIAddress: "127.0.0.1:0", PeerAddress: "127.0.0.1:0",
		Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}, log
}

// open opens a server and closes it at the end of the test, unless the test has already closed it.
func open(t *testing.T, cfg Config) *Server {
	t.Helper()
	s, err := Open(bounded(t), cfg)
	if err != nil {
		t.Fatalf("Open(%s): %v", cfg.ID, err)
	}
	t.Cleanup(func() { closeServer(t, s) })
	return s
}

func waitReady(t *testing.T, servers ...*Server) {
	t.Helper()
	for _, s := range servers {
		if err := s.Ready(bounded(t)); err != nil {
			t.Fatalf("Ready() of %s = %v", s.cfg.ID, err)
		}
	}
}

// openReady opens a server, waits until it is ready, and returns it with a caller.
func openReady(t *testing.T, cfg Config) (*Server, caller) {
	t.Helper()
	s := open(t, cfg)
	waitReady(t, s)
	return s, newCaller(t, s)
}

func closeServer(t *testing.T, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Errorf("Close(%s): %v", s.cfg.ID, err)
	}
}

// listen returns a listener on an address that can be reopened.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := ports.Listen()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// cluster starts a cluster on preallocated ports.
func cluster(t *testing.T, ids ...string) []*Server {
	t.Helper()
	return clusterWith(t, func(*Config) {}, ids...)
}

func clusterWith(t *testing.T, change func(*Config), ids ...string) []*Server {
	t.Helper()
	var members []Member
	listeners := make([]net.Listener, len(ids))
	for i, id := range ids {
		l := listen(t)
		listeners[i] = l
		members = append(members, Member{ID: id, PeerAddress: l.Addr().String()})
	}
	configs := make([]Config, len(ids))
	for i, id := range ids {
		configs[i], _ = testConfig(t, id)
		configs[i].Members, configs[i].Listeners.Peer, configs[i].PeerAddress = members, listeners[i], ""
		change(&configs[i])
	}
	servers := openAll(t, configs...)
	waitReady(t, servers...)
	return servers
}

// openAll opens servers that form a new cluster. They are closed at the end of the test, unless the test has already
// closed them.
func openAll(t *testing.T, configs ...Config) []*Server {
	t.Helper()
	ctx := bounded(t)
	servers, errs := make([]*Server, len(configs)), make([]error, len(configs))
	var opening sync.WaitGroup
	for i, cfg := range configs {
		opening.Go(func() { servers[i], errs[i] = Open(ctx, cfg) })
	}
	opening.Wait()
	for _, s := range servers {
		if s != nil {
			t.Cleanup(func() { closeServer(t, s) })
		}
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return servers
}

// findLeader returns the leader and the other servers.
func findLeader(t *testing.T, servers []*Server) (leader *Server, others []*Server) {
	t.Helper()
	found, err := withRetry(t, newCaller(t, servers[0]).GetStatus, &gatekeeperv1.GetStatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range servers {
		if s.cfg.ID == found.GetLeaderId() {
			leader = s
		} else {
			others = append(others, s)
		}
	}
	if leader == nil {
		t.Fatalf("no server is the leader: %v", found)
	}
	return leader, others
}

// caller is a client connected to one server.
type caller struct {
	gatekeeperv1.PermitServiceClient
	gatekeeperv1.DefinitionServiceClient
	gatekeeperv1.ClusterServiceClient
	gatekeeperv1.OperatorServiceClient
	gatekeeperv1.WatchServiceClient
	conn *grpc.ClientConn
}

func newCaller(t *testing.T, s *Server, options ...grpc.DialOption) caller {
	t.Helper()
	if options == nil {
		options = []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	}
	conn, err := grpc.NewClient(s.APIAddress(), options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return caller{
		gatekeeperv1.NewPermitServiceClient(conn), gatekeeperv1.NewDefinitionServiceClient(conn), gatekeeperv1.NewClusterServiceClient(conn),
		gatekeeperv1.NewOperatorServiceClient(conn), gatekeeperv1.NewWatchServiceClient(conn), conn,
	}
}

// withRetry retries a call while it fails with Unavailable, as clients do, because leadership may change at any time on
// a busy machine.
func withRetry[Q, A any](t *testing.T, call func(context.Context, Q, ...grpc.CallOption) (A, error), q Q) (a A, err error) {
	t.Helper()
	eventually(t, func() bool {
		a, err = call(bounded(t), q)
		return status.Code(err) != codes.Unavailable
	})
	return a, err
}

// create creates a semaphore with one permit.
func (c caller) create(t *testing.T, name string) {
	t.Helper()
	_, err := withRetry(t, c.CreateDefinition, &gatekeeperv1.CreateDefinitionRequest{
		Definition: &gatekeeperv1.Definition{Name: name}, Author: "test", RequestId: "create " + name,
	})
	if err != nil {
		t.Fatalf("CreateDefinition(%s) = %v", name, err)
	}
}

// try calls TryAcquire.
func (c caller) try(t *testing.T, name, acquirer string) *gatekeeperv1.TryAcquireResponse {
	t.Helper()
	a, err := withRetry(t, c.TryAcquire, &gatekeeperv1.TryAcquireRequest{
		Semaphore: name, Identity: &gatekeeperv1.Identity{Acquirer: acquirer}, RequestId: acquirer + strconv.FormatInt(time.Now().UnixNano(), 36),
	})
	if err != nil {
		t.Fatalf("TryAcquire by %s on %s: %v", acquirer, name, err)
	}
	return a
}

// grant calls TryAcquire and requires a grant.
func (c caller) grant(t *testing.T, name, acquirer string) *gatekeeperv1.Permit {
	t.Helper()
	a := c.try(t, name, acquirer)
	if a.GetGrant() == nil {
		t.Fatalf("TryAcquire by %s on %s = %v, want a grant", acquirer, name, a.GetDenial())
	}
	return a.GetGrant().GetPermit()
}

func (c caller) refresh(t *testing.T, p *gatekeeperv1.Permit) *gatekeeperv1.TokenResult {
	t.Helper()
	a, err := withRetry(t, c.Refresh, &gatekeeperv1.RefreshRequest{Tokens: []*gatekeeperv1.TokenRefresh{{Token: p.GetToken(), Duration: p.GetDuration()}}})
	if err != nil || len(a.GetResults()) != 1 {
		t.Fatalf("Refresh() = %v, %v, want one result", a, err)
	}
	return a.GetResults()[0]
}

func (c caller) release(t *testing.T, p *gatekeeperv1.Permit) {
	t.Helper()
	a, err := withRetry(t, c.Release, &gatekeeperv1.ReleaseRequest{Token: p.GetToken()})
	if err != nil || !a.GetReleased() {
		t.Fatalf("Release() = %v, %v, want released", a, err)
	}
}
