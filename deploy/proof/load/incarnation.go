package load

import (
	"context"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// identities holds the identities that a bare client reuses.
type identities struct {
	// own has a holder id, withoutHolderID has none, and shared is also used by another client.
	own, withoutHolderID, shared history.Identity
	// home is the index of the semaphore that the client mostly uses. Clients that share an identity have the same
	// home, so that they compete.
	home int
}

// newIdentities returns the identities of the client with the given number.
func newIdentities(name string, number int) identities {
	pair := number / 2
	return identities{
		own:             history.Identity{Group: "east", Acquirer: name, HolderID: "own"},
		withoutHolderID: history.Identity{Group: "west", Acquirer: name},
		shared:          history.Identity{Group: "east", Acquirer: pairName(pair), HolderID: []string{"", "both"}[pair%2]},
		home:            pair,
	}
}

// incarnation is a process's last token and the time until which the process believes it holds the permit.
type incarnation struct {
	token uint64
	until time.Duration
}

// runIncarnations makes a sequence of acquisitions under one identity, like a process that is restarted. Calls from an
// earlier incarnation may still be in flight, and an earlier holder may still rely on its permit.
func (b *bare) runIncarnations(ctx context.Context) {
	s := b.world[b.identities.home%len(b.world)]
	if b.chance(0.3) {
		s = b.world[b.random.IntN(len(b.world))]
	}
	id := []history.Identity{b.identities.own, b.identities.withoutHolderID, b.identities.shared}[b.random.IntN(3)]
	weight := uint32(1)
	if s.Weights {
		weight += uint32(b.identities.home % 2)
		if b.chance(0.1) {
			weight++ // the acquire is refused while the identity has a permit with a different weight
		}
	}
	var last incarnation
	var firing string
	for range 1 + b.random.IntN(4) {
		r := b.request(s, id)
		r.Weight = weight
		if firing != "" && b.chance(0.7) {
			r.Firing = firing // the process restarts partway through a firing
		}
		firing = r.Firing
		if b.chance(0.15) {
			b.sendOvertaken(ctx, s, r)
			r = b.withNewID(r)
		}
		if firing == "" && b.chance(0.2) {
			r.RequestID = ""
		}
		if last.token != 0 && b.Now() >= last.until && b.chance(0.5) {
			r.Replaces = last.token
		}
		if resp, got := b.attemptQuickly(ctx, s, r); got {
			last = b.runIncarnation(ctx, s, r, resp)
		}
		if ctx.Err() != nil {
			return
		}
		pause(ctx, b.upTo(10*time.Millisecond))
	}
}

// withNewID returns the same request with a new request id.
func (b *bare) withNewID(r history.Request) history.Request {
	id := b.request(Semaphore{}, r.Identity).RequestID
	r.RequestID = id
	return r
}

// attemptQuickly repeats a request without backoff. If an attempt has an unknown outcome, it is retried or abandoned.
func (b *bare) attemptQuickly(ctx context.Context, s Semaphore, r history.Request) (history.Response, bool) {
	wait := b.chance(b.waitFraction) && r.RequestID != ""
	for range 4 {
		callCtx, cancel := context.WithTimeout(ctx, 20*time.Millisecond+b.upTo(500*time.Millisecond))
		var transit time.Duration
		if b.chance(0.2) {
			transit = b.upTo(100 * time.Millisecond)
		}
		resp, what := b.acquireLate(callCtx, b.randomServer(), r, wait, transit)
		cancel()
		switch {
		case what == history.Known && resp.Result == history.Granted:
			return resp, true
		case what == history.Known || ctx.Err() != nil:
			b.awaitLostClaim(ctx, r, resp)
			return resp, false
		case b.chance(0.5):
			b.sendStraggler(ctx, s, r)
			return resp, false
		}
		pause(ctx, b.upTo(30*time.Millisecond))
	}
	return history.Response{}, false
}

// sendStraggler sends a late cancel or a late retry of a request that its process has abandoned.
func (b *bare) sendStraggler(ctx context.Context, s Semaphore, r history.Request) {
	delay := b.upTo(2 * s.Definition.Duration)
	if r.RequestID == "" || b.chance(0.4) {
		b.acquireInBackground(ctx, s, r, delay)
		return
	}
	on := b.randomServer()
	b.delayed.Go(func() {
		pause(ctx, delay)
		callCtx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		b.cancel(callCtx, on, r)
	})
}

// sendOvertaken starts an acquisition that may reach the server after the server has responded to a later acquisition
// by the same identity.
func (b *bare) sendOvertaken(ctx context.Context, s Semaphore, r history.Request) {
	b.acquireInBackground(ctx, s, r, 0)
}

// acquireInBackground makes an acquisition in the background, like another process with the same identity.
func (b *bare) acquireInBackground(ctx context.Context, s Semaphore, r history.Request, delay time.Duration) {
	on, transit, d := b.randomServer(), b.upTo(300*time.Millisecond), b.releasePlan(s)
	b.delayed.Go(func() {
		pause(ctx, delay)
		callCtx, cancel := context.WithTimeout(ctx, transit+time.Second)
		resp, _ := b.acquireLate(callCtx, on, r, false, transit)
		cancel()
		if resp.Result == history.Granted {
			b.holdIgnoringNotices(ctx, s, r, resp, d)
		}
	})
}

// runIncarnation holds a permit for one incarnation of the process, and returns the token and the time until which the
// incarnation believes it holds the permit.
func (b *bare) runIncarnation(ctx context.Context, s Semaphore, r history.Request, resp history.Response) incarnation {
	ended := incarnation{resp.Token, b.Now()}
	switch n := b.random.IntN(10); {
	case n < 3:
		d := b.releasePlan(s)
		b.delayed.Go(func() { b.holdIgnoringNotices(ctx, s, r, resp, d) })
		return incarnation{resp.Token, resp.SafeUntil}
	case n < 5: // release it immediately
		b.releaseOrCancel(ctx, s, r, resp.Token, b.randomServer(), r.RequestID != "" && b.chance(0.2))
		return ended
	case n < 7: // the release is in flight when the next incarnation acquires
		on, transit, cancels := b.randomServer(), b.upTo(300*time.Millisecond), r.RequestID != "" && b.chance(0.5)
		b.delayed.Go(func() {
			pause(ctx, transit)
			b.releaseOrCancel(ctx, s, r, resp.Token, on, cancels)
		})
		return ended
	}
	return incarnation{resp.Token, b.hold(ctx, s, r, resp)}
}

// releasePlan describes how a holder that ignores notices gives up its permit.
type releasePlan struct {
	on               stubs
	after            time.Duration
	releases, cancel bool
}

func (b *bare) releasePlan(s Semaphore) releasePlan {
	return releasePlan{b.randomServer(), b.upTo(2 * s.Definition.Duration), b.chance(0.6), b.chance(0.3)}
}

// holdIgnoringNotices relies on a permit until its deadline, even if the permit is superseded. Some holders release it,
// early or late.
func (b *bare) holdIgnoringNotices(ctx context.Context, s Semaphore, r history.Request, resp history.Response, d releasePlan) {
	record := history.Belief{Semaphore: s.Name, Token: resp.Token, Weight: r.Weight, From: b.Now(), Until: resp.SafeUntil}
	if record.Until <= record.From {
		return // the response arrived too late
	}
	b.Belief(record)
	if !d.releases {
		return
	}
	pause(ctx, d.after)
	record.Until = min(record.Until, b.Now())
	b.Belief(record)
	b.releaseOrCancel(ctx, s, r, resp.Token, d.on, d.cancel && r.RequestID != "")
}

// releaseOrCancel releases a permit that its holder no longer relies on, or cancels the request for it. The release
// reports that the job did not run.
func (b *bare) releaseOrCancel(ctx context.Context, s Semaphore, r history.Request, token uint64, on stubs, cancels bool) {
	callCtx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if cancels {
		b.cancel(callCtx, on, r)
		return
	}
	b.release(callCtx, on, s.Name, token, jobNotRun)
}
