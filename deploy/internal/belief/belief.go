// Package belief determines how long a process believed that it held a permit.
package belief

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
)

// checkInterval is the interval at which a Watch checks whether the process still holds the permit.
const checkInterval = 10 * time.Millisecond

// Watch follows a permit and checks it regularly. The belief ends at the release, or at the deadline known at the last
// check. If the process is suspended past that deadline, the belief still ends at the deadline, even though the process
// notices later.
type Watch struct {
	permit  *client.Permit
	ended   func(until time.Duration, lost bool)
	stop    chan struct{} // closed by Stop
	stopped chan struct{} // closed after ended has returned
}

// Start follows the permit p until the belief ends or Stop is called. It then calls ended once, with the time on the
// shared clock at which the belief ended and whether the permit was lost.
func Start(p *client.Permit, ended func(until time.Duration, lost bool)) *Watch {
	w := &Watch{permit: p, ended: ended, stop: make(chan struct{}), stopped: make(chan struct{})}
	go w.follow()
	return w
}

// Stop ends the belief because the holder is about to release the permit. It returns after ended has returned. Call it
// once, before the release.
func (w *Watch) Stop() {
	close(w.stop)
	<-w.stopped
}

func (w *Watch) follow() {
	defer close(w.stopped)
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()
	var safe time.Duration
	for {
		safe = w.safeUntil(safe)
		released := false
		select {
		case <-w.stop:
			released = true
		case <-w.permit.Done():
		case <-tick.C:
		}
		now := boottime.Now()
		if !w.permit.Held() {
			w.ended(min(now, safe), true)
			return
		}
		if released {
			w.ended(now, false)
			return
		}
	}
}

// safeUntil returns the permit's local deadline on the shared clock. If the permit no longer has a deadline, safeUntil
// returns the previous one.
func (w *Watch) safeUntil(previous time.Duration) time.Duration {
	until := w.permit.SafeUntil()
	if until.IsZero() {
		return previous
	}
	return boottime.Now() + time.Until(until)
}
