package keeper

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func (w *world) wantMissed(kind fsm.Missed) {
	w.t.Helper()
	if r, _ := w.Missed("job"); r.Kind != kind {
		w.t.Fatalf("Missed() = %+v, want kind %d", r, kind)
	}
}

// Calls, denials and progress determine whether work is missed, and of which kind.
func TestMissed_CallsDenialsAndProgress_DetermineKind(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.ExpectEvery = time.Hour })
		w.sleep(61 * time.Minute)
		w.wantMissed(fsm.NoRequests)
		if n := w.Missing(fsm.NoRequests); n != 1 {
			t.Fatalf("Missing() = %d, want 1", n)
		}
		if _, err := w.Pause(context.Background(), fsm.Pause{Names: []string{"job"}}, Ending{}); err != nil {
			t.Fatal(err)
		}
		w.wantDenied(newCall("a", "1"), semaphore.Paused)
		w.sleep(2 * time.Second)
		w.wantMissed(fsm.AllDenied)
		if r, _ := w.Missed("job"); r.Reason != semaphore.Paused {
			t.Fatalf("Missed() = %+v, want the reason paused", r)
		}
		if _, err := w.Resume(context.Background(), fsm.Resume{Names: []string{"job"}}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		p := w.mustAcquire(newCall("a", "2"))
		w.sleep(2 * time.Second)
		w.wantMissed(fsm.NothingMissed)
		for range 62 * 3 { // the job reports that it has made no progress since its grant
			w.sleep(20 * time.Second)
			r, err := w.Refresh(context.Background(), time.Now(), semaphore.Owner{}, []TokenRefresh{{Token: p.Token, Reports: true, SinceProgress: time.Since(p.GrantedAt())}})
			if err != nil || r[0].Status != StatusRefreshed {
				t.Fatal(r, err)
			}
		}
		w.wantMissed(fsm.NoProgress)
		w.release(p.Token)
		w.sleep(2 * time.Second)
		w.wantMissed(fsm.NothingMissed)
	})
}
