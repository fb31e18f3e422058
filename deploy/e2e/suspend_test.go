package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	"github.com/gatekeeperd/gatekeeper/internal/overlap"
)

// The leader is suspended while grants are in flight, a new leader is elected, and the old leader resumes. No client
// relies on a late grant after its deadline, so none overlaps with the new leader's grants.
func TestLeaderSuspended_GrantsInFlight_DoNotOverlap(t *testing.T) {
	var names []string
	semaphores, permits := map[string]time.Duration{}, map[string]uint32{}
	for i := range 24 {
		names = append(names, fmt.Sprintf("s/%d", i))
		semaphores[names[i]], permits[names[i]] = time.Second, 1
	}
	cluster := start(t, 3, semaphores)
	old := leader(t, cluster)

	a := &acquirers{}
	a.ctx, a.stop = context.WithCancel(t.Context())
	defer a.end()
	for _, s := range cluster.Servers {
		if err := a.start(s, 16, names); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "grants before the fault", func() bool { return a.grantedAfter(0) > 200 })

	if err := old.Suspend(); err != nil {
		t.Fatal(err)
	}
	suspended := boottime.Now()
	inFlight, highest := a.pendingAt(old.ID)
	if inFlight == 0 {
		t.Fatal("no calls were in flight when the leader was suspended")
	}
	// After 200 grants, the next leader has granted every semaphore again. It can do so only a full duration after its
	// election.
	await(t, "the next leader's grants", func() bool { return a.grantedAfter(suspended+noElection) > 200 })
	if n, _ := a.pendingAt(old.ID); n == 0 {
		t.Fatal("the suspended leader responded")
	}

	if err := old.Resume(); err != nil {
		t.Fatal(err)
	}
	resumed := boottime.Now()
	await(t, "responses to the calls that were in flight", func() bool {
		var pending bool
		a.pending.Range(func(number, at any) bool {
			pending = pending || at == old.ID && number.(int64) <= highest
			return true
		})
		return !pending
	})
	await(t, "grants after the fault", func() bool { return a.grantedAfter(resumed) > 200 })

	beliefs, late := a.end()
	for _, o := range overlap.Find(beliefs, permits) {
		t.Errorf("got overlap %v, want none", o)
	}
	for _, b := range overlap.DecreasingTokens(beliefs, permits) {
		t.Errorf("%s: token %d was granted after a higher token", b.Semaphore, b.Token)
	}
	t.Logf("%d permits held, %d calls in flight at the suspended leader, suspended for %v, %d grants arrived too late",
		len(beliefs), inFlight, resumed-suspended, len(late))
}

// noElection is shorter than any election.
const noElection = 50 * time.Millisecond

// await waits until a condition is true.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("timed out after 30 s waiting for %s", what)
		}
	}
}
