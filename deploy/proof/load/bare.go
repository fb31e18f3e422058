package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// bare is a client that calls the API directly. It makes one call at a time, each to a random server.
type bare struct {
	caller
	random       *rand.Rand
	servers      *endpoints
	world        []Semaphore
	held         *heldTokens
	pending      *pending
	lastID       int
	identities   identities
	waitFraction float64        // fraction of its acquires that wait in the queue
	delayed      sync.WaitGroup // delayed calls
}

// run acquires and holds permits until the context is done.
func (b *bare) run(ctx context.Context) {
	defer b.delayed.Wait()
	for ctx.Err() == nil {
		b.runRound(ctx)
		pause(ctx, time.Duration(b.random.IntN(15))*time.Millisecond)
	}
}

func (b *bare) randomServer() stubs { return b.servers.randomServer(b.random) }

func (b *bare) chance(p float64) bool { return b.random.Float64() < p }

// upTo returns a random duration below d.
func (b *bare) upTo(d time.Duration) time.Duration { return time.Duration(b.random.Int64N(int64(d))) }

// runRound makes either one acquisition under a fresh identity, from its first to its last call, or a sequence of
// acquisitions under a reused identity.
func (b *bare) runRound(ctx context.Context) {
	if b.chance(0.6) {
		b.runIncarnations(ctx)
		return
	}
	s := b.world[b.random.IntN(len(b.world))]
	r := b.request(s, history.Identity{Group: []string{"east", "west"}[b.random.IntN(2)], Acquirer: b.Client()})
	r.Identity.HolderID = fmt.Sprint(b.lastID)
	if s.Weights {
		r.Weight = uint32(1 + b.random.IntN(3))
	}
	resp, got := b.attempt(ctx, r)
	if !got {
		return
	}
	b.hold(ctx, s, r, resp)
}

// request returns a new acquire request.
func (b *bare) request(s Semaphore, id history.Identity) history.Request {
	b.lastID++
	r := history.Request{Semaphore: s.Name, Identity: id, RequestID: fmt.Sprintf("%s-%d", b.Client(), b.lastID), Weight: 1}
	r.Firing = s.firingAt(time.Now())
	return r
}

// attempt repeats an acquire request until its outcome is known. Sometimes it gives up earlier.
func (b *bare) attempt(ctx context.Context, r history.Request) (history.Response, bool) {
	wait := b.chance(b.waitFraction) && r.RequestID != ""
	for range 6 {
		timeout := time.Duration(20+b.random.IntN(800)) * time.Millisecond
		callCtx, cancel := context.WithTimeout(ctx, timeout)
		resp, what := b.acquire(callCtx, b.randomServer(), r, wait)
		cancel()
		switch {
		case what == history.Known && resp.Result == history.Granted:
			return resp, true
		case what == history.Known || ctx.Err() != nil:
			b.awaitLostClaim(ctx, r, resp)
			return resp, false
		}
		pause(ctx, time.Duration(10+b.random.IntN(60))*time.Millisecond)
		if b.chance(0.1) {
			break
		}
	}
	if b.chance(0.5) && r.RequestID != "" {
		callCtx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		b.cancel(callCtx, b.randomServer(), r)
	}
	return history.Response{}, false
}

// hold uses a permit like a real holder, and returns the time until which the holder believes it holds the permit.
func (b *bare) hold(ctx context.Context, s Semaphore, r history.Request, resp history.Response) (until time.Duration) {
	token, safe, from := resp.Token, resp.SafeUntil, b.Now()
	believe := func(to time.Duration) {
		until = to
		b.Belief(history.Belief{Semaphore: s.Name, Token: token, Weight: r.Weight, From: from, Until: to})
	}
	if safe <= from {
		return from // the response arrived too late
	}
	believe(safe)
	b.held.add(s.Name, token)
	defer b.held.remove(s.Name, token)
	duration := s.Definition.Duration
	end := from + time.Duration(b.random.Int64N(int64(20*time.Millisecond)))
	if b.chance(0.08) {
		end = from + time.Duration(b.random.Int64N(int64(3*duration)))
	}
	ignores := b.chance(0.5) // whether it ignores the request to stop and works until its deadline
	for b.Now() < min(end, safe) && ctx.Err() == nil {
		pause(ctx, min(duration/3, end-b.Now()))
		if b.Now() >= end {
			break
		}
		callCtx, cancel := context.WithTimeout(ctx, duration/2)
		resp, what := b.keepAlive(callCtx, s, r, token)
		cancel()
		if what != history.Known {
			continue
		}
		switch resp.Result {
		case history.Refreshed:
			safe = max(safe, resp.SafeUntil)
			believe(safe)
		case history.Stopping:
			if !ignores {
				end = b.Now()
			}
		case history.Lost:
			believe(min(safe, b.Now()))
			return until
		}
	}
	if b.chance(0.1) {
		callCtx, cancel := context.WithTimeout(ctx, time.Second)
		b.verify(callCtx, b.randomServer(), s.Name, token)
		cancel()
	}
	if b.chance(0.03) {
		return until // simulate a crash: the permit is not released, and the belief lasts until the deadline
	}
	believe(min(safe, b.Now()))
	how := randomOutcome(b.random)
	for range 3 {
		callCtx, cancel := context.WithTimeout(ctx, time.Second)
		what := b.release(callCtx, b.randomServer(), s.Name, token, how)
		cancel()
		if what == history.Known || ctx.Err() != nil {
			break
		}
		pause(ctx, time.Duration(10+b.random.IntN(100))*time.Millisecond)
	}
	return until
}

// keepAlive refreshes a permit, or retries the request for it, which also refreshes it.
func (b *bare) keepAlive(ctx context.Context, s Semaphore, r history.Request, token uint64) (history.Response, history.Outcome) {
	if r.RequestID == "" || b.chance(0.8) {
		return b.refresh(ctx, b.randomServer(), s.Name, token, s.Definition.Duration)
	}
	resp, what := b.acquire(ctx, b.randomServer(), r, false)
	switch {
	case resp.Result == history.Granted && resp.Token == token:
		resp.Result = history.Refreshed
	case resp.Result == history.Granted:
		resp.Result = history.Lost // the checkers recognize that it is a different permit
	case resp.Result == history.Denied:
		resp.Result = history.Stopping
	}
	return resp, what
}

func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
