package load

import (
	"context"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// self holds the identities that a bare client reuses.
type self struct {
	// own has a holder id, withoutHolderID has none, and shared is also used by another client.
	own, nameless, shared history.Identity
	// home is the index of the semaphore that the client mostly uses. Clients that share an identity have the same
	// home, so that they compete.
	home int
}

// selfOf returns the identities of the client with the given number.
func selfOf(name string, number int) self {
	pair := number / 2
	return self{
		own:      history.Identity{Group: "east", Acquirer: name, HolderID: "own"},
		nameless: history.Identity{Group: "west", Acquirer: name},
		shared:   history.Identity{Group: "east", Acquirer: pairName(pair), HolderID: []string{"", "both"}[pair%2]},
		home:     pair,
	}
}

// life is the last token of a process, and the time until which the process believes it holds the permit.
type life struct {
	token uint64
	until time.Duration
}

// lives makes a sequence of acquisitions under one identity, like a process that is restarted. Calls from an earlier
// incarnation may still be in flight, and an earlier holder may still rely on its permit.
func (b *bare) lives(ctx context.Context) {
	s := b.world[b.self.home%len(b.world)]
	if b.chance(0.3) {
		s = b.world[b.random.IntN(len(b.world))]
	}
	id := []history.Identity{b.self.own, b.self.nameless, b.self.shared}[b.random.IntN(3)]
	weight := uint32(1)
	if s.Weights {
		weight += uint32(b.self.home % 2)
		if b.chance(0.1) {
			weight++ // the acquire is refused while the identity has a permit with a different weight
		}
	}
	var last life
	var firing string
	for range 1 + b.random.IntN(4) {
		r := b.request(s, id)
		r.Weight = weight
		if firing != "" && b.chance(0.7) {
			r.Firing = firing // the process restarts partway through a firing
		}
		firing = r.Firing
		if b.chance(0.15) {
			b.overtaken(ctx, s, r)
			r = b.again(r)
		}
		if firing == "" && b.chance(0.2) {
			r.RequestID = ""
		}
		if last.token != 0 && b.Now() >= last.until && b.chance(0.5) {
			r.Replaces = last.token
		}
		if answer, got := b.insist(ctx, s, r); got {
			last = b.live(ctx, s, r, answer)
		}
		if ctx.Err() != nil {
			return
		}
		pause(ctx, b.within(10*time.Millisecond))
	}
}

// again returns a new acquisition with the same parameters.
func (b *bare) again(r history.Request) history.Request {
	id := b.request(Semaphore{}, r.Identity).RequestID
	r.RequestID = id
	return r
}

// insist makes attempts without backoff. If the outcome of an attempt is unknown, it retries or abandons the attempt.
func (b *bare) insist(ctx context.Context, s Semaphore, r history.Request) (history.Response, bool) {
	wait := b.chance(b.waits) && r.RequestID != ""
	for range 4 {
		call, cancel := context.WithTimeout(ctx, 20*time.Millisecond+b.within(500*time.Millisecond))
		var way time.Duration
		if b.chance(0.2) {
			way = b.within(100 * time.Millisecond)
		}
		answer, what := b.acquireLate(call, b.any(), r, wait, way)
		cancel()
		switch {
		case what == history.Known && answer.Result == history.Granted:
			return answer, true
		case what == history.Known || ctx.Err() != nil:
			b.lostClaim(ctx, r, answer)
			return answer, false
		case b.chance(0.5):
			b.straggle(ctx, s, r)
			return answer, false
		}
		pause(ctx, b.within(30*time.Millisecond))
	}
	return history.Response{}, false
}

// straggle sends a late cancel or a late retry of a request that its process has abandoned.
func (b *bare) straggle(ctx context.Context, s Semaphore, r history.Request) {
	delay := b.within(2 * s.Definition.Duration)
	if r.RequestID == "" || b.chance(0.4) {
		b.behind(ctx, s, r, delay)
		return
	}
	on := b.any()
	b.late.Go(func() {
		pause(ctx, delay)
		call, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		b.cancel(call, on, r)
	})
}

// overtaken starts an acquisition that may reach the server after a later acquisition by the same identity has been
// answered.
func (b *bare) overtaken(ctx context.Context, s Semaphore, r history.Request) { b.behind(ctx, s, r, 0) }

// behind makes an acquisition in the background, like another process with the same identity.
func (b *bare) behind(ctx context.Context, s Semaphore, r history.Request, delay time.Duration) {
	on, way, d := b.any(), b.within(300*time.Millisecond), b.deafness(s)
	b.late.Go(func() {
		pause(ctx, delay)
		call, cancel := context.WithTimeout(ctx, way+time.Second)
		answer, _ := b.acquireLate(call, on, r, false, way)
		cancel()
		if answer.Result == history.Granted {
			b.ignore(ctx, s, r, answer, d)
		}
	})
}

// live holds a permit for one incarnation of the process, and returns the token and the time until which the
// incarnation believes it holds the permit.
func (b *bare) live(ctx context.Context, s Semaphore, r history.Request, answer history.Response) life {
	over := life{answer.Token, b.Now()}
	switch n := b.random.IntN(10); {
	case n < 3:
		d := b.deafness(s)
		b.late.Go(func() { b.ignore(ctx, s, r, answer, d) })
		return life{answer.Token, answer.SafeUntil}
	case n < 5: // release it immediately
		b.giveBack(ctx, s, r, answer.Token, b.any(), r.RequestID != "" && b.chance(0.2))
		return over
	case n < 7: // the release is in flight when the next incarnation acquires
		on, way, cancels := b.any(), b.within(300*time.Millisecond), r.RequestID != "" && b.chance(0.5)
		b.late.Go(func() {
			pause(ctx, way)
			b.giveBack(ctx, s, r, answer.Token, on, cancels)
		})
		return over
	}
	return life{answer.Token, b.hold(ctx, s, r, answer)}
}

// deafness describes how a holder that ignores notices gives up its permit.
type deafness struct {
	on           stubs
	after        time.Duration
	ends, cancel bool
}

func (b *bare) deafness(s Semaphore) deafness {
	return deafness{b.any(), b.within(2 * s.Definition.Duration), b.chance(0.6), b.chance(0.3)}
}

// ignore relies on a permit until its deadline, and does not notice if the permit is superseded. Some holders release
// the permit, early or late.
func (b *bare) ignore(ctx context.Context, s Semaphore, r history.Request, answer history.Response, d deafness) {
	line := history.Belief{Semaphore: s.Name, Token: answer.Token, Weight: r.Weight, From: b.Now(), Until: answer.SafeUntil}
	if line.Until <= line.From {
		return // the response came too late
	}
	b.Belief(line)
	if !d.ends {
		return
	}
	pause(ctx, d.after)
	line.Until = min(line.Until, b.Now())
	b.Belief(line)
	b.giveBack(ctx, s, r, answer.Token, d.on, d.cancel && r.RequestID != "")
}

// giveBack releases a permit that its holder no longer relies on, or cancels the request for it. The release reports
// that the job did not run.
func (b *bare) giveBack(ctx context.Context, s Semaphore, r history.Request, token uint64, on stubs, cancels bool) {
	call, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if cancels {
		b.cancel(call, on, r)
		return
	}
	b.release(call, on, s.Name, token, jobNotRun)
}
