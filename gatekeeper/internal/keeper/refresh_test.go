package keeper

import (
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// The log may be slow. A refresh needs it only to lengthen the duration, and must not come too late for that.
func TestRefresh_LongerDurationIsSlowToCommit_IsAnsweredWithTheOldOneInTime(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Duration = 10 * time.Second })
		p := w.granted(ask("a", "1"))
		w.define("job", func(d *semaphore.Definition) { d.Duration = time.Minute })
		w.tape.hold()
		defer w.tape.letGo()
		answered := make(chan TokenResult, 1)
		go func() { answered <- w.refresh1(p.Token) }()
		w.sleep(3 * time.Second)
		select {
		case r := <-answered:
			if r.Status != StatusRefreshed || r.Duration != 10*time.Second {
				t.Fatalf("the answer is %+v", r)
			}
		default:
			t.Fatal("a third of the duration has passed, and the refresh is not answered")
		}
	})
}
