package load

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// pending holds the await requests for firings whose outcomes no client has received yet.
type pending struct {
	mu  sync.Mutex // guards all
	all []history.Request
}

func (p *pending) add(r history.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, r)
}

// take returns the pending requests and clears the list.
func (p *pending) take() []history.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.all
	p.all = nil
	return all
}

// awaitLostClaim sometimes makes a client await the outcome of a firing that another holder has claimed.
func (b *bare) awaitLostClaim(ctx context.Context, r history.Request, denied history.Response) {
	if denied.Result != history.Denied || denied.Token == 0 || !b.chance(0.1) {
		return
	}
	r = history.Request{Kind: history.Await, Semaphore: r.Semaphore, Firing: r.Firing, Token: denied.Token}
	random := rand.New(rand.NewPCG(b.random.Uint64(), 0))
	b.delayed.Go(func() { b.await(ctx, r, random) })
}

// await follows the claim with the given token until it ends, trying one server after another.
func (b *bare) await(ctx context.Context, r history.Request, random *rand.Rand) {
	done := b.Call(r)
	for ctx.Err() == nil {
		callCtx, cancel := context.WithTimeout(ctx, 3*time.Second) // a server that is cut off does not respond
		claim, ended := follow(callCtx, b.servers.randomServer(random), r)
		cancel()
		if ended {
			done(history.Known, claimResponse(claim), nil)
			return
		}
		pause(ctx, 50*time.Millisecond)
	}
	b.pending.add(r)
}

// awaitFiring uses the client library to await a firing's outcome.
func (l *libraryClient) awaitFiring(ctx context.Context, r history.Request) {
	f, due := firing(r.Firing)
	done := l.Call(r)
	l.awaiting.Go(func() {
		for claim, err := range l.client.Semaphore(r.Semaphore).WatchFiring(ctx, f.GetName(), due, r.Token) {
			switch {
			case err != nil:
				done(outcome(err), history.Response{}, err)
				return
			case hasEnded(claim):
				done(history.Known, claimResponse(claim), nil)
			}
		}
	})
}

func hasEnded(c *gatekeeperv1.FiringClaim) bool {
	s := c.GetState()
	return s != gatekeeperv1.FiringState_FIRING_STATE_CLAIMED && s != gatekeeperv1.FiringState_FIRING_STATE_OPEN
}

// follow reads one stream until it breaks or reports that the claim has ended. It returns the last reported claim.
func follow(ctx context.Context, on stubs, r history.Request) (claim *gatekeeperv1.FiringClaim, ended bool) {
	f, _ := firing(r.Firing)
	stream, err := on.permits.AwaitFiring(ctx, &gatekeeperv1.AwaitFiringRequest{Semaphore: r.Semaphore, Firing: f, Token: r.Token})
	for err == nil {
		var resp *gatekeeperv1.AwaitFiringResponse
		if resp, err = stream.Recv(); err == nil {
			if claim = resp.GetClaim(); hasEnded(claim) {
				return claim, true
			}
		}
	}
	return claim, false
}

func claimResponse(claim *gatekeeperv1.FiringClaim) history.Response {
	return history.Response{
		Result: history.FiringEnded, Firing: strings.TrimPrefix(claim.GetState().String(), "FIRING_STATE_"), Token: claim.GetToken(),
		Failure: claim.GetFailure(), Attempts: claim.GetAttempts(),
	}
}

// endTimeout is how long a caller waits for a firing's outcome after the faults have ended. The firing may already have
// ended.
const endTimeout = 5 * time.Second

// AwaitAll awaits every firing outcome that no caller has received yet. It is called after the faults have ended. The
// servers must report the outcome of every firing that has ended.
func (c *Clients) AwaitAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	record := c.recorder("awaiting")
	var all sync.WaitGroup
	for _, r := range c.pending.take() {
		on := c.servers.randomServer(c.operator.random)
		all.Go(func() {
			done := record.Call(r)
			if claim, _ := follow(ctx, on, r); claim != nil {
				done(history.Known, claimResponse(claim), nil)
			}
		})
	}
	all.Wait()
}
