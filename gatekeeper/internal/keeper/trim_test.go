package keeper

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Short-lived definitions must not leave their firings behind forever.
func TestHousekeep_FiringsOfDeletedDefinition_AreEventuallyForgotten(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		for i := range 3 {
			call := newCall("a", fmt.Sprint(i))
			call.Firing = &semaphore.Firing{Name: "nightly", Due: time.Now().Add(time.Duration(i) * time.Second).UTC()}
			w.release(w.mustAcquire(call).Token)
		}
		w.delete("job")
		w.sleep(time.Hour)
		if n := w.machine.State().ClaimCount("job"); n != 3 {
			t.Fatalf("ClaimCount() after an hour = %d, want 3", n)
		}
		w.sleep(semaphore.DefaultFiringRetention + trimInterval)
		if n := w.machine.State().ClaimCount("job"); n != 0 {
			t.Fatalf("ClaimCount() after the retention period = %d, want 0", n)
		}
	})
}

// A firing without a due time is remembered until a limit on count or age is reached. Until it is forgotten, it does
// not run again.
func TestHousekeep_FiringWithoutDueTime_IsKeptForRetentionPeriod(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		call := newCall("a", "1")
		call.Firing = &semaphore.Firing{Name: "import-42"}
		w.release(w.mustAcquire(call).Token)
		w.sleep(10 * time.Minute)
		retry := newCall("b", "2")
		retry.Firing = call.Firing
		w.wantDenied(retry, semaphore.FiringDone)
	})
}
