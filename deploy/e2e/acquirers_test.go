package e2e

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	"github.com/gatekeeperd/gatekeeper/internal/overlap"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// acquirers acquire permits continuously, each from one server, without the client library. Their calls have no
// timeout, so that they also receive late responses from a suspended server. They rely on a permit until they release
// it or until its deadline, which they compute like any client.
type acquirers struct {
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	pending sync.Map     // call number -> server id of pending calls
	calls   atomic.Int64 // number of calls so far

	mu      sync.Mutex // guards beliefs and late
	beliefs []overlap.Belief
	late    []overlap.Belief // grants whose responses arrived after their deadlines
}

// maxClockDrift is the largest relative difference between the rates of two clocks.
const maxClockDrift = 0.01

// start starts count acquirers at a server. They rotate through the semaphores, each starting with a different one.
func (a *acquirers) start(server *servers.Server, count int, semaphores []string) error {
	conn, err := server.Conn()
	if err != nil {
		return err
	}
	permits := gatekeeperv1.NewPermitServiceClient(conn)
	for i := range count {
		name := fmt.Sprintf("%s-acquirer-%d", server.ID, i)
		a.wg.Go(func() {
			for n := i; a.ctx.Err() == nil; n++ {
				a.acquireOnce(permits, server.ID, name, semaphores[n%len(semaphores)])
			}
		})
	}
	return nil
}

func (a *acquirers) acquireOnce(permits gatekeeperv1.PermitServiceClient, server, name, semaphore string) {
	number := a.calls.Add(1)
	sent := boottime.Now()
	a.pending.Store(number, server)
	resp, err := permits.TryAcquire(a.ctx, &gatekeeperv1.TryAcquireRequest{
		Semaphore: semaphore,
		Identity:  &gatekeeperv1.Identity{Group: "e2e", Acquirer: name, HolderId: strconv.FormatInt(number, 10)},
		RequestId: strconv.FormatInt(number, 10),
	})
	a.pending.Delete(number)
	if err != nil {
		a.pause(10 * time.Millisecond) // probably an election: back off
		return
	}
	grant := resp.GetGrant()
	if grant == nil {
		return
	}
	waited, duration := grant.Waited.AsDuration(), grant.Permit.Duration.AsDuration()
	b := overlap.Belief{
		Semaphore: semaphore, Token: grant.Permit.Token, Weight: 1, Holder: name,
		From:  boottime.Now(),
		Until: sent + waited + duration - time.Duration(2*maxClockDrift*float64(waited+duration)),
	}
	if b.Until <= b.From {
		a.mu.Lock()
		a.late = append(a.late, b)
		a.mu.Unlock()
		return
	}
	// Release every other permit early and let the rest expire, to test both ways of freeing a slot.
	if number%2 == 0 {
		a.pause(duration / 20)
		b.Until = min(b.Until, boottime.Now())
		_, _ = permits.Release(a.ctx, &gatekeeperv1.ReleaseRequest{Token: b.Token})
	}
	a.mu.Lock()
	a.beliefs = append(a.beliefs, b)
	a.mu.Unlock()
}

func (a *acquirers) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-a.ctx.Done():
	}
}

// pendingAt returns the number of pending calls to a server, and the highest call number among them.
func (a *acquirers) pendingAt(server string) (count int, highest int64) {
	a.pending.Range(func(number, at any) bool {
		if at == server {
			count++
			highest = max(highest, number.(int64))
		}
		return true
	})
	return count, highest
}

// grantedAfter returns the number of beliefs that began after the given time.
func (a *acquirers) grantedAfter(at time.Duration) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	var n int
	for _, b := range a.beliefs {
		if b.From > at {
			n++
		}
	}
	return n
}

// end stops the acquirers and returns their beliefs, and the grants that arrived too late.
func (a *acquirers) end() (beliefs, late []overlap.Belief) {
	a.stop()
	a.wg.Wait()
	return a.beliefs, a.late
}
