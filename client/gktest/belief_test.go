package gktest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// contenders is a group of clients that compete for one permit. held contains the latest permit granted to each client.
type contenders struct {
	srv     *Server
	clients []*client.Client

	mu     sync.Mutex // guards everything below
	held   map[*client.Client]*client.Permit
	grants int
	tokens []uint64
}

// run starts a goroutine for each client that repeatedly acquires the permit, holds it for a random time and releases
// it, until ctx is done.
func (b *contenders) run(ctx context.Context, t *testing.T, rng *rand.Rand) *sync.WaitGroup {
	var wg sync.WaitGroup
	for _, c := range b.clients {
		clientRNG := rand.New(rand.NewPCG(rng.Uint64(), 0))
		wg.Go(func() {
			for ctx.Err() == nil {
				acquireCtx, cancel := context.WithTimeout(ctx, time.Minute)
				p, err := c.Semaphore("job").Acquire(acquireCtx)
				cancel()
				if err != nil {
					continue
				}
				b.mu.Lock()
				b.held[c] = p
				b.grants++
				b.tokens = append(b.tokens, p.Token())
				b.mu.Unlock()
				hold := time.NewTimer(time.Duration(clientRNG.IntN(10_000)) * time.Millisecond)
				select {
				case <-hold.C:
				case <-p.Done():
				}
				hold.Stop()
				releaseCtx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
				_ = p.Release(releaseCtx) // the client may be partitioned
				cancel()
			}
		})
	}
	return &wg
}

// heldCount returns the number of clients whose permit reports Held.
func (b *contenders) heldCount() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.held {
		if p.Held() {
			n++
		}
	}
	return n
}

// overlaps injects faults for the given duration and counts the steps at which more than one client's permit was held.
func (b *contenders) overlaps(t *testing.T, rng *rand.Rand, duration time.Duration) (overlaps int) {
	const step = 10 * time.Millisecond // the grace period is four steps
	ctx, stop := context.WithCancel(context.Background())
	wg := b.run(ctx, t, rng)
	defer wg.Wait()
	defer stop()
	defer b.srv.SlowDown(t, 0)
	defer b.srv.Heal(t)
	for at := time.Duration(0); at < duration; at += step {
		if at%(500*time.Millisecond) == 0 {
			b.injectFault(t, rng)
		}
		b.srv.Advance(t, step)
		if b.heldCount() > 1 {
			overlaps++
		}
	}
	return overlaps
}

func (b *contenders) injectFault(t *testing.T, rng *rand.Rand) {
	c := b.clients[rng.IntN(len(b.clients))]
	switch rng.IntN(8) {
	case 0, 1:
		b.srv.Partition(t, c)
	case 2, 3:
		b.srv.Heal(t, c)
	case 4:
		b.srv.SlowDown(t, time.Duration(rng.IntN(1500))*time.Millisecond, c)
	case 5:
		b.srv.SlowDown(t, 0, c)
	case 6:
		b.srv.Disconnect(t, c)
	case 7:
		if rng.IntN(10) == 0 {
			b.srv.Restart(t)
		}
	}
}

func newContenders(t *testing.T, rates ...float64) *contenders {
	b := &contenders{srv: Start(t), held: make(map[*client.Client]*client.Permit)}
	b.srv.Define(t, &gatekeeperv1.Definition{Name: "job", Duration: durationpb.New(4 * time.Second)})
	for i, rate := range rates {
		b.clients = append(b.clients, b.srv.Dial(t, fmt.Sprintf("app%d", i+1), ClockRate(rate)))
	}
	return b
}

func TestHeld_ClocksWithinOnePercent_NeverOverlaps(t *testing.T) {
	grants := 0
	for seed := range uint64(4) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			b := newContenders(t, 0.99, 1, 1.01, 0.995)
			if n := b.overlaps(t, rng, time.Minute); n > 0 {
				t.Errorf("seed %d: more than one client held the permit at %d steps, want 0", seed, n)
			}
			grants += b.grants
		})
	}
	if grants < 12 { // the number for a single seed depends on the order in which the clients run
		t.Errorf("got %d grants, want at least 12 for a meaningful test", grants)
	}
}

// This test checks that overlaps are detected. A client whose clock is far slower than allowed considers its permit
// held for too long.
func TestHeld_ClockTooSlow_OverlapIsDetected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newContenders(t, 0.5, 1)
		slow := acquire(t, b.clients[0], "job")
		b.held[b.clients[0]] = slow
		b.srv.Partition(t, b.clients[0])
		next, err := b.clients[1].Semaphore("job").Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b.held[b.clients[1]] = next
		if b.heldCount() != 2 {
			t.Error("the overlap was not detected")
		}
	})
}
