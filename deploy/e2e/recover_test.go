package e2e

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"google.golang.org/protobuf/proto"
)

// Two of three servers are lost, and a new cluster is recovered from the third server's data directory. The new cluster
// keeps the definitions, grants nothing during the waiting time, and then issues higher tokens. The old cluster's
// holder is notified that its permit is lost. When the two lost servers restart, they detect the new cluster and exit.
func TestRecover_TwoOfThreeLost_ThirdBecomesNewCluster(t *testing.T) {
	cluster := start(t, 3, map[string]time.Duration{"job": 30 * time.Second, "other": time.Minute})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	holder, other := dial(ctx, t, cluster.Endpoints(), "holder"), dial(ctx, t, cluster.Endpoints(), "other")
	held, err := holder.Semaphore("job").TryAcquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	before := definitions(ctx, t, cluster.Servers[2])
	cluster.Servers[0].Kill()
	cluster.Servers[1].Kill()
	cluster.Servers[2].Kill()

	const wait = 3 * time.Second
	next, output, err := servers.Recover("gk4", cluster.Servers[2:], "--unsafe-grant-after", wait.String(), "--yes", "--reason", "the site is gone")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"Read: 1 of 3 voters", "No majority", "UNSAFE", "(gk1, gk2, gk3)"} {
		if !strings.Contains(output, text) {
			t.Errorf("output of recover does not contain %q:\n%s", text, output)
		}
	}
	started := time.Now()
	run(ctx, t, cluster, next)
	if after := definitions(ctx, t, next); !slices.Equal(before, after) {
		t.Errorf("definitions changed during the recovery; before:\n%v\nafter:\n%v", before, after)
	}
	select {
	case <-held.Context().Done():
	case <-ctx.Done():
		t.Fatal("timed out waiting for the old holder to be notified")
	}
	if cause := context.Cause(held.Context()); !errors.Is(cause, client.ErrLost) {
		t.Errorf("old permit ended with %v, want ErrLost", cause)
	}

	var p *client.Permit
	await(t, "a grant after the waiting time", func() bool {
		p, err = other.Semaphore("job").TryAcquire(ctx)
		return err == nil
	})
	if waited := time.Since(started); waited < wait {
		t.Errorf("got a grant %v after the start, want at least %v", waited, wait)
	}
	if p.Token() <= held.Token() {
		t.Errorf("got token %d after token %d, want a higher one", p.Token(), held.Token())
	}
	if err := p.Release(ctx); err != nil {
		t.Error(err)
	}
	for _, old := range cluster.Servers[:2] {
		if err := old.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, old := range cluster.Servers[:2] {
		const refused = 78
		if code, err := old.WaitExit(ctx); err != nil || code != refused {
			t.Errorf("WaitExit() of old server %s = %d, %v, want %d\n%s", old.ID, code, err, refused, old.LogTail())
		}
	}
}

// All three servers fail, but the disks of two of them survive. No data is lost, and holders keep their permits.
func TestRecover_MajorityOfDirectories_KeepsPermits(t *testing.T) {
	cluster := start(t, 3, map[string]time.Duration{"job": time.Minute})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	holder, other := dial(ctx, t, cluster.Endpoints(), "holder"), dial(ctx, t, cluster.Endpoints(), "other")
	held, err := holder.Semaphore("job").TryAcquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range cluster.Servers {
		s.Kill()
	}
	killed := time.Now()
	next, output, err := servers.Recover("gk4", cluster.Servers[1:])
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(output, "1 permit carried over") {
		t.Errorf("unexpected output of recover:\n%s", output)
	}
	run(ctx, t, cluster, next)
	await(t, "a refresh by the new cluster", func() bool {
		if !held.Held() {
			t.Fatalf("the permit was lost: %v", context.Cause(held.Context()))
		}
		return held.SafeUntil().After(killed.Add(time.Minute))
	})
	denied, ok := errors.AsType[*client.DeniedError](errorOf(other.Semaphore("job").TryAcquire(ctx)))
	if !ok || denied.Reason != client.ReasonNoFreePermit || denied.Holders[0].Token != held.Token() {
		t.Errorf("TryAcquire() while token %d is live: got %+v, want a denial that names the holder", held.Token(), denied)
	}
	if err := held.Release(ctx); err != nil {
		t.Fatal(err)
	}
	p, err := other.Semaphore("job").TryAcquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if p.Token() <= held.Token() {
		t.Errorf("got token %d after token %d, want a higher one", p.Token(), held.Token())
	}
}

// run starts a server and adds it to the cluster, so that it is stopped with the others.
func run(ctx context.Context, t *testing.T, cluster *servers.Cluster, s *servers.Server) {
	t.Helper()
	cluster.Servers = append(cluster.Servers, s)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	if err := s.Ready(ctx); err != nil {
		t.Fatal(err)
	}
}

// definitions returns all of a server's definitions, serialized and in order.
func definitions(ctx context.Context, t *testing.T, s *servers.Server) []string {
	t.Helper()
	conn, err := s.Conn()
	if err != nil {
		t.Fatal(err)
	}
	resp, err := gatekeeperv1.NewDefinitionServiceClient(conn).ListDefinitions(ctx, &gatekeeperv1.ListDefinitionsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, d := range resp.GetRecords() {
		text, err := proto.MarshalOptions{Deterministic: true}.Marshal(d.GetDefinition())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	return all
}
