package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
)

// look is how often a holder asks itself whether it still holds.
const look = 10 * time.Millisecond

// holding is a permit in the hands of a host, with what the host believes of it written down: that it holds from the grant on, and
// until when. While it holds, the host looks again and again; the end of its belief is the release, or the deadline that it knew when it
// last looked. A process that was stopped in between believed no longer than that, however late it notices.
type holding struct {
	permit  *client.Permit
	account *account
	end     record // what will be written at the end
	fault   fault
	ran     atomic.Bool // the job was begun

	stop    chan struct{} // closed by release
	stopped chan struct{} // closed when the end has been written
}

// hold writes down a grant, which g describes, and what becomes of it.
func hold(a *account, p *client.Permit, g record, f fault) *holding {
	g.Event, g.Token = eventGranted, p.Token()
	a.write(g)
	h := &holding{
		permit: p, account: a, fault: f,
		end:  record{Event: eventEnded, Semaphore: g.Semaphore, Token: g.Token, Weight: g.Weight},
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	go h.believe()
	return h
}

// believe looks until belief ends, and writes down when it did.
func (h *holding) believe() {
	defer close(h.stopped)
	if h.fault == believeLonger {
		<-h.stop
		h.write(boottime.Now(), endReleased)
		return
	}
	tick := time.NewTicker(look)
	defer tick.Stop()
	var safe time.Duration
	for {
		safe = h.safeUntil(safe)
		released := false
		select {
		case <-h.stop:
			released = true
		case <-h.permit.Done():
		case <-tick.C:
		}
		now := boottime.Now()
		if !h.permit.Held() {
			h.write(min(now, safe), endLost)
			return
		}
		if released {
			h.write(now, endReleased)
			return
		}
	}
}

// safeUntil is the permit's local deadline by the shared clock, or the one before when it has none any more.
func (h *holding) safeUntil(before time.Duration) time.Duration {
	until := h.permit.SafeUntil()
	if until.IsZero() {
		return before
	}
	return boottime.Now() + time.Until(until)
}

func (h *holding) write(until time.Duration, reason string) {
	h.end.Until, h.end.Reason, h.end.Ran = until, reason, h.ran.Load()
	h.account.write(h.end)
}

// release ends belief and then gives the permit back in the given way. The job has stopped. What cannot be told to the servers
// expires there.
func (h *holding) release(ctx context.Context, how func(*client.Permit, context.Context) error) {
	close(h.stop)
	<-h.stopped
	_ = how(h.permit, ctx)
}
