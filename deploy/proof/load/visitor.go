package load

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// visitPause is the longest pause between two visits. Visitors wait in the same queues as workers, and must leave most
// of the permits to them.
const visitPause = 500 * time.Millisecond

// visit acquires permits from semaphores with tasks, as any caller may, until the context is done. It uses the client's
// own identity, another visitor's, or a worker's.
func (b *bare) visit(ctx context.Context) {
	for ctx.Err() == nil {
		s := b.world[b.random.IntN(len(b.world))]
		r := b.request(s, b.visitIdentity(ctx, s))
		if b.chance(0.2) {
			r.RequestID = ""
		}
		if resp, got := b.attempt(ctx, r); got {
			b.hold(ctx, s, r, resp)
		}
		pause(ctx, b.upTo(visitPause))
	}
}

// visitIdentity returns a random identity for a visit. A worker has two identities: one for waiting for tasks, and one
// for holding a task. No other caller may be granted a permit under the latter before the task has ended.
func (b *bare) visitIdentity(ctx context.Context, s Semaphore) history.Identity {
	own := history.Identity{Group: home, Acquirer: b.Client(), HolderID: "visit"}
	if b.chance(0.2) {
		own.Group = away
	}
	switch b.random.IntN(4) {
	case 0:
		return own
	case 1:
		return history.Identity{Group: home, Acquirer: "visitors"}
	}
	p := randomPermit(ctx, b.randomServer(), s, b.random)
	if p == nil {
		return own
	}
	id := history.Identity{Group: p.GetIdentity().GetGroup(), Acquirer: p.GetIdentity().GetAcquirer(), HolderID: p.GetIdentity().GetHolderId()}
	if b.chance(0.5) {
		id.HolderID = workerID
	}
	return id
}

// visit is like bare.visit, but uses the client library and the identity of the workers in the same process.
func (l *libraryClient) visit(ctx context.Context, world []Semaphore, random *rand.Rand) {
	v := &libraryClient{caller: l.caller, client: l.client, world: world, host: l.host, shared: "visitors"}
	j := &job{libraryClient: v, holderID: workerID, longFraction: 0.1, maxPause: visitPause, random: random, last: map[string]uint64{}}
	j.run(ctx)
	v.awaiting.Wait()
}
