package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/deploy/proof/history"
)

// library is a client that uses the client library, with several jobs at a time.
type library struct {
	caller
	client *client.Client
	world  []Semaphore
}

// run lets jobs run until the context ends.
func (l *library) run(ctx context.Context, jobs int, seed uint64) {
	var all sync.WaitGroup
	for i := range jobs {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				l.job(ctx, random, fmt.Sprintf("%d-%d", i, n))
				pause(ctx, time.Duration(random.IntN(20))*time.Millisecond)
			}
		})
	}
	all.Wait()
}

// job acquires, runs, and releases.
func (l *library) job(ctx context.Context, random *rand.Rand, id string) {
	s := l.world[random.IntN(len(l.world))]
	r := history.Request{
		Kind: history.Acquire, Semaphore: s.Name, Weight: 1,
		Identity: history.Identity{Group: "east", Acquirer: l.Client(), HolderID: l.Client() + id}, RequestID: l.Client() + id,
	}
	opts := []client.AcquireOption{
		client.WithGroup(r.Identity.Group), client.WithAcquirer(r.Identity.Acquirer),
		client.WithHolderID(r.Identity.HolderID), client.WithRequestID(r.RequestID),
	}
	if s.Firings {
		r.Firing = "tick@" + time.Now().Truncate(400*time.Millisecond).UTC().Format(time.RFC3339Nano)
		f, due := firing(r.Firing)
		opts = append(opts, client.WithFiring(f.Name, due))
	}
	patience := time.Duration(50+random.IntN(3000)) * time.Millisecond
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	gate := l.client.Semaphore(s.Name)
	acquire := gate.TryAcquire
	if random.Float64() < 0.4 {
		acquire, r.Wait = gate.Acquire, true
	}
	done := l.Call(r)
	p, err := acquire(asking, opts...)
	if err != nil {
		if denied, ok := errors.AsType[*client.Denied](err); ok {
			done(history.Known, history.Response{Result: history.Denied, Reason: string(denied.Reason), Waiting: uint32(denied.QueueLength)}, nil)
			return
		}
		done(outcome(err), history.Response{}, err)
		return
	}
	b := l.believe(p)
	done(history.Known, history.Response{Result: history.Granted, Token: p.Token(), SafeUntil: b.safe}, nil)
	go b.follow()
	length := time.Duration(random.IntN(50)) * time.Millisecond
	if random.Float64() < 0.2 {
		length = time.Duration(random.Int64N(int64(3 * s.Definition.Duration)))
	}
	if random.Float64() < 0.1 {
		// A job that ignores its context: it runs on until nobody may count on the permit any more.
		select {
		case <-time.After(length):
		case <-p.Done():
		}
	} else {
		pause(p.Context(), min(length, 10*time.Second))
	}
	b.stop()
	giving, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	notRun := r.Firing != "" && random.Float64() < 0.3
	released := l.Call(history.Request{Kind: history.Release, Semaphore: s.Name, Token: p.Token(), NotRun: notRun})
	if notRun {
		err = p.ReleaseNotRun(giving)
	} else {
		err = p.Release(giving)
	}
	if _, ok := errors.AsType[*client.EndedError](err); ok {
		released(history.Known, history.Response{Result: history.Ended}, nil)
		return
	}
	released(outcome(err), history.Response{Result: history.Released}, err)
}

// belief writes down until when a permit is believed to be held, again and again, so that it is known also of a client that is killed.
type belief struct {
	*library
	permit  *client.Permit
	line    history.Belief
	safe    time.Duration
	ending  chan struct{} // closed by stop
	stopped chan struct{} // closed when the last word is written
}

// look is how often a holder asks itself until when it holds.
const look = 5 * time.Millisecond

func (l *library) believe(p *client.Permit) *belief {
	b := &belief{library: l, permit: p, ending: make(chan struct{}), stopped: make(chan struct{})}
	b.line = history.Belief{Semaphore: p.Semaphore(), Token: p.Token(), Weight: 1, From: l.Now()}
	b.look()
	return b
}

// look reads the local deadline; what has none any more keeps the one before.
func (b *belief) look() {
	var before, left time.Duration
	for torn := true; torn; torn = b.Now()-before > time.Millisecond { // it was stopped in between: the two do not fit together
		before = b.Now()
		until := b.permit.SafeUntil()
		if until.IsZero() {
			return
		}
		left = time.Until(until)
	}
	if safe := before + left; safe > b.safe+time.Millisecond || safe < b.safe-time.Millisecond {
		b.safe = safe
		b.line.Until, b.line.Counted = safe, safe
		b.Belief(b.line)
	}
}

// follow looks until the permit is lost, or given up.
func (b *belief) follow() {
	defer close(b.stopped)
	tick := time.NewTicker(look)
	defer tick.Stop()
	for over := false; !over; {
		select {
		case <-b.ending:
			over = true
		case <-b.permit.Done():
			over = true
		case <-tick.C:
		}
		b.look()
	}
	b.line.Until = min(b.Now(), b.safe)
	b.Belief(b.line)
}

// stop writes the last word: belief ends before the release is sent.
func (b *belief) stop() {
	close(b.ending)
	<-b.stopped
}
