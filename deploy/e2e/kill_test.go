package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	"github.com/gatekeeperd/gatekeeper/internal/overlap"
)

// The leader is killed while permits are held and others are requested. Holders keep their permits: the next leader
// refreshes them and does not grant them to others. After a release, the next holder gets a higher token.
func TestLeaderKilled_PermitsSurviveAndAreRefreshed(t *testing.T) {
	const duration = 12 * time.Second // longer than a failover with a disk that takes two seconds to write a vote or an entry
	var held, contended []string
	semaphores, permits := map[string]time.Duration{}, map[string]uint32{}
	for i := range 8 {
		held, contended = append(held, fmt.Sprintf("held/%d", i)), append(contended, fmt.Sprintf("contended/%d", i))
		semaphores[held[i]], semaphores[contended[i]] = duration, time.Second
		permits[contended[i]] = 1
	}
	cluster := start(t, 3, semaphores)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	holder, other := dial(ctx, t, cluster.Endpoints(), "holder"), dial(ctx, t, cluster.Endpoints(), "other")

	var holding []*client.Permit
	for _, name := range held {
		p, err := holder.Semaphore(name).TryAcquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		holding = append(holding, p)
	}
	a := &acquirers{}
	a.ctx, a.stop = context.WithCancel(ctx)
	defer a.end()
	for _, s := range cluster.Servers {
		if err := a.start(s, 4, contended); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "grants before the fault", func() bool { return a.grantedAfter(0) > 20 })

	old := leader(t, cluster)
	old.Kill()
	killed, killedAt := boottime.Now(), time.Now()

	// A deadline beyond killedAt + duration was set by a server that responded after the kill.
	await(t, "the next leader to refresh every permit", func() bool {
		for _, p := range holding {
			if !p.Held() {
				t.Fatalf("%s was lost: %v", p.Semaphore(), context.Cause(p.Context()))
			}
			if !p.SafeUntil().After(killedAt.Add(duration)) {
				return false
			}
		}
		return true
	})
	await(t, "the next leader's grants", func() bool { return a.grantedAfter(killed+noElection) > 20 })
	if next := leader(t, cluster); next.ID == old.ID {
		t.Fatalf("%s is still the leader after it was killed", next.ID)
	}

	for _, p := range holding {
		denied, ok := errors.AsType[*client.DeniedError](errorOf(other.Semaphore(p.Semaphore()).TryAcquire(ctx)))
		if !ok || denied.Reason != client.ReasonNoFreePermit || len(denied.Holders) != 1 || denied.Holders[0].Token != p.Token() {
			t.Fatalf("TryAcquire() of %s, held with token %d: got %+v, want a denial that names the holder", p.Semaphore(), p.Token(), denied)
		}
		if err := p.Context().Err(); err != nil {
			t.Errorf("the context of %s was canceled: %v", p.Semaphore(), context.Cause(p.Context()))
		}
		if err := p.Release(ctx); err != nil {
			t.Fatal(err)
		}
		next, err := other.Semaphore(p.Semaphore()).TryAcquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if next.Token() <= p.Token() {
			t.Errorf("%s: got token %d after token %d, want a higher one", p.Semaphore(), next.Token(), p.Token())
		}
		if err := next.Release(ctx); err != nil {
			t.Error(err)
		}
	}
	beliefs, _ := a.end()
	for _, o := range overlap.Find(beliefs, permits) {
		t.Errorf("got overlap %v, want none", o)
	}
	for _, b := range overlap.DecreasingTokens(beliefs, permits) {
		t.Errorf("%s: token %d was granted after a higher token", b.Semaphore, b.Token)
	}
}

// A cluster's only server is killed and restarted. Its data directory must contain everything that it acknowledged.
func TestSingleServerKilled_PermitsSurviveRestart(t *testing.T) {
	const duration = 6 * time.Second
	cluster := start(t, 1, map[string]time.Duration{"job": duration})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	holder, other := dial(ctx, t, cluster.Endpoints(), "holder"), dial(ctx, t, cluster.Endpoints(), "other")
	p, err := holder.Semaphore("job").TryAcquire(ctx)
	if err != nil {
		t.Fatal(err)
	}

	cluster.Servers[0].Kill()
	killed := time.Now()
	if err := cluster.Servers[0].Start(); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Servers[0].Ready(ctx); err != nil {
		t.Fatal(err)
	}

	denied, ok := errors.AsType[*client.DeniedError](errorOf(other.Semaphore("job").TryAcquire(ctx)))
	if !ok || denied.Reason != client.ReasonNoFreePermit || denied.Holders[0].Token != p.Token() {
		t.Fatalf("TryAcquire() while token %d is live: got %+v, want a denial that names the holder", p.Token(), denied)
	}
	await(t, "the refresh after the restart", func() bool { return p.SafeUntil().After(killed.Add(duration)) })
	if err := p.Release(ctx); err != nil {
		t.Fatal(err)
	}
	next, err := other.Semaphore("job").TryAcquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if next.Token() <= p.Token() {
		t.Errorf("got token %d after token %d, want a higher one", next.Token(), p.Token())
	}
}

func dial(ctx context.Context, t *testing.T, endpoints []string, acquirer string) *client.Client {
	t.Helper()
	c, err := client.Dial(ctx, endpoints, client.WithGroup("e2e"), client.WithAcquirer(acquirer))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// errorOf returns the error of a call with two results.
func errorOf[T any](_ T, err error) error { return err }
