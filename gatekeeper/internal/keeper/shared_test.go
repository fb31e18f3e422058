package keeper

import (
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Without a holder id, two processes on the same host share a permit, and the duration stated by one does not apply to
// the other. The next leader has only the replicated duration, so the longer one remains replicated until the other
// process no longer relies on it.
func TestRefresh_ShorterDuration_IsNotReplicatedWhileAnotherProcessReliesOnLonger(t *testing.T) {
	for name, otherProcess := range map[string]func(w *world, token uint64){
		"through a replay": func(w *world, token uint64) {
			if a := w.tryAcquire(newCall("a", "2")); a.Outcome != semaphore.Refreshed || a.Permit.Duration != time.Minute {
				t.Fatalf("TryAcquire() by the other process = %+v, want refreshed for 1m", a)
			}
		},
		"on a stream": func(w *world, token uint64) {
			l := w.Listen()
			defer l.Close()
			r, err := refreshOn(l.Receive(), []TokenRefresh{{Token: token, Duration: time.Minute}})
			if err != nil || r[0].Status != StatusRefreshed || r[0].Duration != time.Minute {
				t.Fatalf("refresh by the other process = %+v, %v, want refreshed for 1m", r, err)
			}
		},
		"under the previous leader": func(w *world, token uint64) {
			w.wantStatus(token, StatusRefreshed)
			w.demote()
			w.promote(w.term + 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.define("job", nil)
				p := w.mustAcquire(newCall("a", "1"))
				reliedUntil := time.Now().Add(time.Minute)
				otherProcess(w, p.Token)

				w.define("job", func(d *semaphore.Definition) { d.Duration = time.Second })
				l := w.Listen()
				defer l.Close()
				for _, stated := range []time.Duration{time.Minute, time.Second} {
					if _, err := refreshOn(l.Receive(), []TokenRefresh{{Token: p.Token, Duration: stated}}); err != nil {
						t.Fatal(err)
					}
					w.sleep(time.Millisecond)
				}
				w.demote()
				w.promote(w.term + 1)
				w.sleep(time.Until(reliedUntil))
				if !w.isLive(p.Token) {
					t.Fatal("the permit ended while the other process could still rely on it")
				}
			})
		})
	}
}

func TestRefresh_ShorterDuration_IsReplicatedOnceNoOtherProcessReliesOnLonger(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		w.tryAcquire(newCall("a", "2"))
		w.define("job", func(d *semaphore.Definition) { d.Duration = 20 * time.Second })
		l := w.Listen()
		defer l.Close()
		for range 7 {
			w.sleep(10 * time.Second)
			if _, err := refreshOn(l.Receive(), []TokenRefresh{{Token: p.Token, Duration: 20 * time.Second}}); err != nil {
				t.Fatal(err)
			}
		}
		w.sleep(time.Millisecond)
		if d := w.machine.State().Permit(p.Token).Duration; d != 20*time.Second {
			t.Fatalf("replicated duration = %v, want 20s", d)
		}
	})
}
