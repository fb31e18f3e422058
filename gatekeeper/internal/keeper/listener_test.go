package keeper

import (
	"fmt"
	"testing"
	"time"
)

// A stream may stay open for months and follow many short-lived permits. It must not retain anything about permits that
// have ended.
func TestListener_EndedPermits_AreNoLongerFollowed(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		l := w.Listen()
		defer l.Close()
		for i := range 20 {
			p := w.mustAcquire(newCall("a", fmt.Sprint(i)))
			if _, err := refreshOn(l.Receive(), []TokenRefresh{{Token: p.Token, Duration: time.Minute}}); err != nil {
				t.Fatal(err)
			}
			w.release(p.Token)
			if n := <-l.Notices(); len(n) != 1 || n[0].Token != p.Token || n[0].Status != StatusLost {
				t.Fatalf("notices = %+v, want a single lost notice", n)
			}
		}
		if len(w.notices.followers) != 0 || len(l.tokens) != 0 {
			t.Fatalf("%d tokens have followers, and the stream follows %d tokens; want none", len(w.notices.followers), len(l.tokens))
		}
	})
}
