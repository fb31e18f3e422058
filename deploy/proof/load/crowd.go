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
				b.stand(ctx, world[i%len(world)])
			}
		})
	}
	return nil
}

// stand makes one acquisition through the queue, with as many calls as necessary and the same request id.
func (b *bare) stand(ctx context.Context, s Semaphore) {
	r := b.request(s, history.Identity{Group: "crowd", Acquirer: b.Client()})
	if b.chance(0.5) {
		r.Identity.HolderID = fmt.Sprint(b.turns)
	}
	for ctx.Err() == nil {
		call, cancel := context.WithTimeout(ctx, time.Minute)
		answer, what := b.acquire(call, b.any(), r, true)
		cancel()
		switch {
		case what == history.Known && answer.Result == history.Granted:
			b.brief(ctx, s, answer)
			return
		case what == history.Known:
			return
		}
		pause(ctx, time.Duration(250+b.random.IntN(500))*time.Millisecond)
	}
}

// brief holds a permit briefly.
func (b *bare) brief(ctx context.Context, s Semaphore, answer history.Response) {
	line := history.Belief{Semaphore: s.Name, Token: answer.Token, Weight: 1, From: b.Now(), Until: answer.SafeUntil}
	if line.Until <= line.From {
		return // the response came too late
	}
	b.Belief(line)
	pause(ctx, time.Duration(b.random.IntN(10))*time.Millisecond)
	line.Until = min(line.Until, b.Now())
	b.Belief(line)
	giving, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	b.release(giving, b.any(), s.Name, answer.Token, jobDone)
}
