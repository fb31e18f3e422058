package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/proof/load"
)

// Kinds of faults that add a crowd of clients or step clients' clocks.
const (
	Crowd      = "crowd"
	ClockSteps = "clock-steps"
)

// crowdSize is the number of waiters in a crowd.
const crowdSize = 10_000

// crowd adds ten thousand waiters for a small number of semaphores, and watchers that do not read. Once most of the
// waiters are in the queues, the leader is killed, transfers its leadership, or continues undisturbed. The crowd stays
// until fault injection ends.
func crowd(ctx context.Context, a *Arena, random *rand.Rand) error {
	a.Note(Crowd, "")
	a.Clients.Watch(ctx, 50)
	if err := a.Clients.Crowd(ctx, crowdSize, a.Endpoints(), load.CrowdWorld(a.Seed)); err != nil {
		return err
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	var maxWaiting float64
	for maxWaiting < crowdSize*9/10 && ctx.Err() == nil {
		callCtx, cancel := context.WithTimeout(ctx, time.Second)
		if numbers, err := a.leader(ctx, random).Metrics(callCtx); err == nil {
			maxWaiting = max(maxWaiting, numbers["gatekeeper_waiters"])
		}
		cancel()
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	a.Note(fmt.Sprintf("%.0f waiting", maxWaiting), "")
	sleep(ctx, between(random, 0, 2*time.Second))
	if ctx.Err() != nil {
		return nil
	}
	switch random.IntN(3) {
	case 0:
		if err := killLeader(ctx, a, random); err != nil {
			return err
		}
	case 1:
		if err := transfer(ctx, a, random); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// clockSteps steps the clock that a client uses for its permits.
func clockSteps(_ context.Context, a *Arena, random *rand.Rand) error {
	name, step := a.Clients.Step(random)
	a.Note(fmt.Sprintf("%s: %v", ClockSteps, step), name)
	return nil
}
