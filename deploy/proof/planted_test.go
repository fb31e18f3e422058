//go:build planted

package main

import (
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/proof/run"
	"github.com/gatekeeperd/gatekeeper/internal/planted"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// TestPlanted plants one bug after the other in real servers. The checks that every run passes must see each that needs nothing but
// identities that acquire again. The other bugs need moments that a simulation meets more often, see gatekeeper/internal/sim. The moment of
// planted.LeaseOverwritten is too short for both: a test of the keeper makes it.
func TestPlanted(t *testing.T) {
	dir := t.TempDir()
	binary, err := servers.BuildPlanted(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, bug := range []planted.Bug{planted.ReacquiredInPlace, planted.CancelAny, planted.SupersededUncooled} {
		t.Run(string(bug), func(t *testing.T) {
			t.Setenv(planted.Variable, string(bug))
			const most = 5
			for seed := uint64(1); seed <= most; seed++ {
				r, err := run.Once(t.Context(), run.Options{
					Binary: binary, Dir: t.TempDir(), Kind: "stop-follower", Seed: seed, Network: run.Auto, Length: 6 * time.Second,
				})
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Violations) > 0 {
					t.Logf("seen with seed %d: %v", seed, r.Violations[0])
					return
				}
			}
			t.Errorf("%q was planted, and no check saw it in %d runs", bug, most)
		})
	}
}
