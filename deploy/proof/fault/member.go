package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// members adds a member and then removes a random one, which may be the leader.
func members(ctx context.Context, a *Arena, random *rand.Rand) error {
	if err := a.join(ctx); err != nil {
		return err
	}
	leader := a.leader(ctx, random)
	victim := leader
	if random.IntN(3) > 0 {
		victim = a.follower(ctx, random)
	}
	return a.remove(ctx, random, victim)
}

// join starts another server and waits until it is a voter.
func (a *Arena) join(ctx context.Context) error {
	a.mu.Lock()
	a.joined++
	id := fmt.Sprintf("gk%d", 10+a.joined)
	a.Note("join", id)
	s, err := a.Cluster.Join(id)
	a.mu.Unlock()
	if err != nil {
		return err
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		status, err := s.Status(ctx)
		if err == nil && isVoter(status, id) {
			return a.Clients.SetEndpoints(a.Endpoints())
		}
		if !s.Running() { // other faults prevented it from joining, so try again
			if err := a.start(s); err != nil {
				return err
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func isVoter(status *gatekeeperv1.GetStatusResponse, id string) bool {
	for _, m := range status.Members {
		if m.Id == id {
			return m.Voter
		}
	}
	return false
}

// remove removes a member from the cluster and kills it.
func (a *Arena) remove(ctx context.Context, random *rand.Rand, victim *servers.Server) error {
	a.Note("remove", victim.ID)
	for ctx.Err() == nil {
		conn, err := a.leader(ctx, random).Conn()
		if err != nil {
			return err
		}
		callCtx, cancel := context.WithTimeout(ctx, 3*time.Second)
		resp, err := gatekeeperv1.NewClusterServiceClient(conn).RemoveMember(callCtx, &gatekeeperv1.RemoveMemberRequest{Id: victim.ID})
		cancel()
		if err == nil && len(resp.Members) > 0 {
			a.mu.Lock()
			if a.removed == nil {
				a.removed = map[string]bool{}
			}
			a.removed[victim.ID] = true
			victim.Kill()
			a.mu.Unlock()
			return a.Clients.SetEndpoints(a.Endpoints())
		}
		sleep(ctx, 100*time.Millisecond)
	}
	return nil
}
