// Package belief finds out until when a process believed that it held a permit, as the process itself can tell.
package belief

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
)

// look is how often a holder asks itself whether it still holds.
const look = 10 * time.Millisecond

// Watch follows a permit. While it is held, it looks again and again; the end of belief is the release, or the deadline
// that was known at the last look. A process that was stopped in between believed no longer than that, however late it
// notices.
type Watch struct {
	permit  *client.Permit
	ended   func(until time.Duration, lost bool)
	stop    chan struct{} // closed by Stop
	stopped chan struct{} // closed when ended has returned
}

// Of follows p until belief ends or Stop is called, and then calls ended, once: with the end of belief by the shared
// clock, and whether the permit was lost.
func Of(p *client.Permit, ended func(until time.Duration, lost bool)) *Watch {
	w := &Watch{permit: p, ended: ended, stop: make(chan struct{}), stopped: make(chan struct{})}
	go w.believe()
	return w
}

// Stop says that the holder gives the permit up now, and returns when ended has returned. Call it once, before the
// release.
func (w *Watch) Stop() {
	close(w.stop)
	<-w.stopped
}

func (w *Watch) believe() {
	defer close(w.stopped)
	tick := time.NewTicker(look)
	defer tick.Stop()
	var safe time.Duration
	for {
		safe = w.safeUntil(safe)
		given := false
		select {
		case <-w.stop:
			given = true
		case <-w.permit.Done():
		case <-tick.C:
		}
		now := boottime.Now()
		if !w.permit.Held() {
			w.ended(min(now, safe), true)
			return
		}
		if given {
			w.ended(now, false)
			return
		}
	}
}

// safeUntil is the permit's local deadline by the shared clock, or the one before when it has none any more.
func (w *Watch) safeUntil(before time.Duration) time.Duration {
	until := w.permit.SafeUntil()
	if until.IsZero() {
		return before
	}
	return boottime.Now() + time.Until(until)
}
