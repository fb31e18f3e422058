package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// CrowdWorld returns the few semaphores for which a crowd queues.
func CrowdWorld(seed uint64) []Semaphore {
	random := rand.New(rand.NewPCG(seed, 2))
	var all []Semaphore
	for i, permits := range []uint32{1, 2, 4, 8} {
		all = append(all, Semaphore{Name: fmt.Sprintf("crowd/%d", i), Definition: history.Definition{
			GroupPattern: ".*", AcquirerPattern: ".*", Permits: permits, Duration: time.Duration(2000+random.IntN(2000)) * time.Millisecond,
		}})
	}
	return all
}

// Crowd adds clients that wait in the queues of a world until the context is done. A client that is granted a permit
// holds it briefly and then queues again. The clients have separate connections. Crowd may be called only once.
func (c *Clients) Crowd(ctx context.Context, count int, addresses []string, world []Semaphore) error {
	servers := &endpoints{credentials: c.opts.Credentials}
	if err := servers.set(addresses); err != nil {
		return err
	}
	c.crowds = append(c.crowds, servers)
	for i := range count {
		b := &bare{caller: c.recorder(fmt.Sprintf("crowd-%d", i)), servers: servers, world: world}
		b.random = c.random(b.Client())
		c.all.Go(func() {
			pause(ctx, time.Duration(b.random.IntN(2000))*time.Millisecond) // spread the arrivals
			for ctx.Err() == nil {
				b.joinQueue(ctx, world[i%len(world)])
			}
		})
	}
	return nil
}

// joinQueue makes one acquisition through the queue, using the same request id for as many calls as necessary.
func (b *bare) joinQueue(ctx context.Context, s Semaphore) {
	r := b.request(s, history.Identity{Group: "crowd", Acquirer: b.Client()})
	if b.chance(0.5) {
		r.Identity.HolderID = fmt.Sprint(b.lastID)
	}
	for ctx.Err() == nil {
		callCtx, cancel := context.WithTimeout(ctx, time.Minute)
		resp, what := b.acquire(callCtx, b.randomServer(), r, true)
		cancel()
		switch {
		case what == history.Known && resp.Result == history.Granted:
			b.holdBriefly(ctx, s, resp)
			return
		case what == history.Known:
			return
		}
		pause(ctx, time.Duration(250+b.random.IntN(500))*time.Millisecond)
	}
}

// holdBriefly holds a permit for a few milliseconds and releases it.
func (b *bare) holdBriefly(ctx context.Context, s Semaphore, resp history.Response) {
	record := history.Belief{Semaphore: s.Name, Token: resp.Token, Weight: 1, From: b.Now(), Until: resp.SafeUntil}
	if record.Until <= record.From {
		return // the response arrived too late
	}
	b.Belief(record)
	pause(ctx, time.Duration(b.random.IntN(10))*time.Millisecond)
	record.Until = min(record.Until, b.Now())
	b.Belief(record)
	releaseCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	b.release(releaseCtx, b.randomServer(), s.Name, resp.Token, jobDone)
}
