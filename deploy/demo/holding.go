package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/belief"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
)

// holding is a permit in the hands of a host, with what the host believes of it written down: that it holds from the grant on, and
// until when.
type holding struct {
	permit  *client.Permit
	account *account
	end     record        // what will be written at the end
	watch   *belief.Watch // nil for a host that believes longer
	ran     atomic.Bool   // the job was begun
}

// hold writes down a grant, which g describes, and what becomes of it.
func hold(a *account, p *client.Permit, g record, f fault) *holding {
	g.Event, g.Token = eventGranted, p.Token()
	a.write(g)
	h := &holding{
		permit: p, account: a,
		end: record{Event: eventEnded, Semaphore: g.Semaphore, Token: g.Token, Weight: g.Weight},
	}
	if f != believeLonger {
		h.watch = belief.Of(p, h.write)
	}
	return h
}

func (h *holding) write(until time.Duration, lost bool) {
	h.end.Until, h.end.Reason, h.end.Ran = until, endReleased, h.ran.Load()
	if lost {
		h.end.Reason = endLost
	}
	h.account.write(h.end)
}

// release ends belief and then gives the permit back in the given way. The job has stopped. What cannot be told to the servers
// expires there.
func (h *holding) release(ctx context.Context, how func(*client.Permit, context.Context) error) {
	if h.watch == nil {
		h.write(boottime.Now(), false)
	} else {
		h.watch.Stop()
	}
	_ = how(h.permit, ctx)
}
