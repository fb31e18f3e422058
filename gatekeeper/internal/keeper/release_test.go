package keeper

import (
	"context"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// A job that was cut short has not done its work. The definition determines whether its firing runs again.
func TestRelease_JobWasCutShort_FiringFollowsItsDefinition(t *testing.T) {
	for name, tc := range map[string]struct {
		raised bool
		onLoss semaphore.FiringOnLoss
		claim  semaphore.ClaimState
	}{
		"spent":             {true, semaphore.FiringSpent, semaphore.ClaimCutShort},
		"free":              {true, semaphore.FiringFree, semaphore.ClaimOpen},
		"old feature level": {false, semaphore.FiringFree, semaphore.ClaimDone},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				if tc.raised {
					w.raiseFeatureLevel()
				}
				w.define("job", func(d *semaphore.Definition) { d.FiringOnLoss = tc.onLoss })
				firing := &semaphore.Firing{Name: "nightly", Due: time.Now().UTC()}
				call := newCall("a", "1")
				call.Firing = firing
				p := w.mustAcquire(call)
				if r, err := w.Release(context.Background(), fsm.Release{Token: p.Token, Job: semaphore.JobCutShort}, semaphore.Owner{}); err != nil || !r.Released {
					t.Fatalf("Release() = %+v, %v", r, err)
				}
				var got semaphore.ClaimState
				if c := w.machine.State().Claim("job", *firing); c != nil {
					got = c.State
				}
				if got != tc.claim {
					t.Fatalf("claim = %v, want %v", got, tc.claim)
				}
			})
		})
	}
}
