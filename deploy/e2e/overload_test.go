package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// The servers are flooded by ten times as many callers as they can serve concurrently. Holders keep their permits,
// refused callers get a retry hint, operator calls succeed, and the number of calls in progress stays within the limit.
// After the flood, the servers recover.
func TestOverload_TenTimesCapacity_KeepsPermitsAndRecovers(t *testing.T) {
	const (
		duration = 6 * time.Second // longer than the stalls on a busy machine
		maxCalls = 64
	)
	semaphores := map[string]time.Duration{"flooded": time.Second, "late": time.Minute, "held/0": duration, "held/1": duration, "held/2": duration, "held/3": duration}
	cluster := start(t, 3, semaphores, "--max-calls", strconv.Itoa(maxCalls))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	// Every server has clients that hold permits. Followers forward refreshes to the leader over the same connections
	// as the flood.
	var holding []*client.Permit
	for i := range 4 {
		holder := dial(ctx, t, cluster.Endpoints()[i%3:][:1], fmt.Sprint("holder-", i))
		p, err := holder.Semaphore(fmt.Sprint("held/", i)).TryAcquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		holding = append(holding, p)
	}
	holds := func() {
		t.Helper()
		for _, p := range holding {
			if !p.Held() || p.Context().Err() != nil {
				t.Fatalf("%s was lost: %v", p.Semaphore(), context.Cause(p.Context()))
			}
		}
	}

	began := time.Now()
	end := flood{Endpoints: cluster.Endpoints(), Connections: 12, Callers: 10 * maxCalls, Semaphore: "flooded"}.start(ctx, t)
	refused := func() (n float64) {
		for _, s := range cluster.Servers {
			n += metric(ctx, t, s, `gatekeeper_rpc_refused_total{kind="ordinary"`)
		}
		return n
	}
	await(t, "the first refusals", func() bool { return refused() > 1000 })
	// These callers arrive during the overload, and rely on the client library to retry.
	late := dial(ctx, t, cluster.Endpoints(), "late")
	var lateCallers sync.WaitGroup
	for i := range 20 {
		lateCallers.Go(func() {
			acquire := late.Semaphore("late").TryAcquire
			if i%2 == 0 {
				acquire = late.Semaphore("late").Acquire
			}
			p, err := acquire(ctx)
			if errors.As(err, new(*client.DeniedError)) {
				return // a denial is a valid response
			}
			if err == nil {
				err = p.Release(ctx)
			}
			if err != nil {
				t.Errorf("acquire and release during the overload: %v", err)
			}
		})
	}
	var highest, resident float64
	await(t, "two rounds of refreshes", func() bool {
		holds()
		for _, s := range cluster.Servers {
			highest = max(highest, metric(ctx, t, s, `gatekeeper_rpc_working{kind="ordinary"}`))
			resident = max(resident, metric(ctx, t, s, "process_resident_memory_bytes"))
		}
		for _, p := range holding {
			if !p.SafeUntil().After(began.Add(2 * duration)) {
				return false
			}
		}
		return true
	})
	conn, err := cluster.Servers[0].Conn()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gatekeeperv1.NewOperatorServiceClient(conn).Pause(ctx, &gatekeeperv1.PauseRequest{
		Selector: &gatekeeperv1.Selector{Names: []string{"flooded"}}, Author: "e2e", Reason: "too many requests",
	}); err != nil {
		t.Errorf("Pause() during the overload: %v", err)
	}
	r := end()
	holds()
	t.Logf("%d calls succeeded, %d were refused, others: %v; at most %v in progress and %.0f MB in memory", r.Succeeded, r.Refused, r.Other, highest, resident/1e6)
	if highest > maxCalls {
		t.Errorf("got %v calls in progress, want at most %d", highest, maxCalls)
	}
	if r.Succeeded == 0 || r.Refused == 0 || r.Unclear > 0 {
		t.Errorf("got %d calls that succeeded, %d that were refused, and %d that were refused without a reason or a retry hint; want more than 0, more than 0, and 0", r.Succeeded, r.Refused, r.Unclear)
	}
	if resident > 400e6 {
		t.Errorf("got %.0f MB of resident memory, want at most 400", resident/1e6)
	}

	lateCallers.Wait()
	for _, s := range cluster.Servers {
		await(t, s.ID+" to have no calls in progress", func() bool {
			return metric(ctx, t, s, `gatekeeper_rpc_working{kind="ordinary"}`) == 0
		})
		before := refused()
		conn, err := s.Conn()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := gatekeeperv1.NewPermitServiceClient(conn).TryAcquire(ctx, &gatekeeperv1.TryAcquireRequest{
			Semaphore: "late", Identity: &gatekeeperv1.Identity{Group: "e2e", Acquirer: "after-" + s.ID},
		}); err != nil {
			t.Errorf("TryAcquire() on %s after the overload: %v", s.ID, err)
		}
		if after := refused(); after != before {
			t.Errorf("got %v refused calls after the overload, want 0", after-before)
		}
	}
}

// Hundreds of connections per port send nothing, an incomplete message, or garbage, and stay open. Valid requests are
// still served on every port.
func TestSilentConnections_EveryPort_KeepsServing(t *testing.T) {
	const (
		duration = 6 * time.Second // longer than the stalls on a busy machine
		perPort  = 300             // more than the maximum number of concurrent handshakes on a peer port
	)
	cluster := start(t, 3, map[string]time.Duration{"held": duration, "free": time.Minute})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	p, err := dial(ctx, t, cluster.Endpoints(), "holder").Semaphore("held").TryAcquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	payloads := []string{
		"", "PRI * HT", "GET /metrics HTTP/1.1\r\nHost: x\r\n", "GET / HTTP/1.1\r\nX: " + strings.Repeat("x", 100_000),
		"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf", "gkpeer\x00\x01\x00", "\x16\x03\x01\x02\x00\x01\x00",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", "\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff",
	}
	openSilent := func(address string) {
		for i := range perPort {
			c, err := net.DialTimeout("tcp", address, 10*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			_, _ = io.WriteString(c, payloads[i%len(payloads)]) // the server may have closed the connection already
		}
	}
	for _, s := range cluster.Servers {
		for _, address := range []string{s.API, s.Peer, s.Admin} {
			openSilent(address)
		}
	}

	// A restarted member can reconnect while the silent connections are open.
	old := leader(t, cluster)
	var follower *servers.Server
	for _, s := range cluster.Servers {
		if s != old {
			follower = s
		}
	}
	follower.Kill()
	if err := follower.Start(); err != nil {
		t.Fatal(err)
	}
	openSilent(old.Peer)
	if err := follower.Ready(ctx); err != nil {
		t.Errorf("Ready() of the restarted member: %v", err)
	}
	for _, s := range cluster.Servers {
		if metric(ctx, t, s, "gatekeeper_rpc_open") < 0 {
			t.Errorf("%s does not serve metrics", s.ID)
		}
		p, err := dial(ctx, t, []string{s.API}, "client-"+s.ID).Semaphore("free").TryAcquire(ctx)
		if err == nil {
			err = p.Release(ctx)
		}
		if err != nil {
			t.Errorf("acquire and release on %s with silent connections open: %v", s.ID, err)
		}
	}
	await(t, "two rounds of refreshes", func() bool {
		if !p.Held() || p.Context().Err() != nil {
			t.Fatalf("the permit was lost: %v", context.Cause(p.Context()))
		}
		return p.SafeUntil().After(began.Add(2 * duration))
	})
}

// metric returns the sum of the server's metrics whose names and labels have the given prefix, or -1 if there are none.
func metric(ctx context.Context, t *testing.T, s *servers.Server, name string) float64 {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Admin+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	sum := -1.0
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		text, ok := strings.CutPrefix(lines.Text(), name)
		if !ok {
			continue
		}
		value, err := strconv.ParseFloat(text[strings.LastIndexByte(text, ' ')+1:], 64)
		if err != nil {
			t.Fatal(err)
		}
		sum = max(sum, 0) + value
	}
	return sum
}
