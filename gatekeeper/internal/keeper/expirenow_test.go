package keeper

import (
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestExpireNow_LivePermit_EndsAndNotifiesHolder(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("app1", "r1"))
		l := w.Listen()
		defer l.Close()
		if _, err := refreshOn(l.Receive(), []TokenRefresh{{Token: p.Token}}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.ExpireNow(w.t.Context(), p.Token); err != nil {
			t.Fatal(err)
		}
		w.sleep(0)
		select {
		case n := <-l.Notices():
			if len(n) != 1 || n[0].Token != p.Token || n[0].Status != StatusLost {
				t.Errorf("notice = %+v, want lost", n)
			}
		default:
			t.Error("the holder was not notified")
		}
		w.mustAcquire(newCall("app2", "r2"))
		_, err := w.ExpireNow(w.t.Context(), p.Token)
		wantErr(t, err, ErrNoSuchPermit)
	})
}

func TestExpireNow_LossDelay_CoolsUntilExpiredAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.LossDelay = time.Hour })
		p := w.mustAcquire(newCall("app1", "r1"))
		if _, err := w.ExpireNow(w.t.Context(), p.Token); err != nil {
			t.Fatal(err)
		}
		w.wantDenied(newCall("app2", "r2"), semaphore.NoFreePermit)
		if _, err := w.ExpireNow(w.t.Context(), p.Token); err != nil {
			t.Fatal(err)
		}
		w.mustAcquire(newCall("app2", "r3"))
	})
}
