package keeper

import (
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// A refresh waits for the log only to lengthen the duration, and must not wait long for a slow log.
func TestRefresh_LongerDurationCommitsSlowly_ReturnsOldDuration(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Duration = 10 * time.Second })
		p := w.mustAcquire(newCall("a", "1"))
		w.define("job", func(d *semaphore.Definition) { d.Duration = time.Minute })
		w.tape.hold()
		defer w.tape.releaseHeld()
		answered := make(chan TokenResult, 1)
		go func() { answered <- w.refreshOne(p.Token) }()
		w.sleep(3 * time.Second)
		select {
		case r := <-answered:
			if r.Status != StatusRefreshed || r.Duration != 10*time.Second {
				t.Fatalf("refresh = %+v, want the old duration", r)
			}
		default:
			t.Fatal("the refresh did not return within a third of the duration")
		}
	})
}
