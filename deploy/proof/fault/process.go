package fault

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func killLeader(ctx context.Context, a *Arena, random *rand.Rand) error {
	return a.kill(ctx, random, a.leader(ctx, random))
}

func killFollower(ctx context.Context, a *Arena, random *rand.Rand) error {
	return a.kill(ctx, random, a.follower(ctx, random))
}

func (a *Arena) kill(ctx context.Context, random *rand.Rand, s *servers.Server) error {
	a.Note("kill", s.ID)
	a.mu.Lock()
	s.Kill()
	a.mu.Unlock()
	sleep(ctx, between(random, 0, 3*time.Second))
	return a.start(s)
}

// start starts a server unless it is already running or has been removed from the cluster.
func (a *Arena) start(s *servers.Server) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s.Running() || a.removed[s.ID] {
		return nil
	}
	a.Note("start", s.ID)
	return s.Start()
}

func killAll(ctx context.Context, a *Arena, random *rand.Rand) error {
	a.mu.Lock()
	all := a.Members()
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, s := range all {
		a.Note("kill", s.ID)
		s.Kill()
	}
	a.mu.Unlock()
	sleep(ctx, between(random, 0, time.Second))
	for _, s := range all {
		if err := a.start(s); err != nil {
			return err
		}
		sleep(ctx, between(random, 0, 300*time.Millisecond))
	}
	return nil
}

func stopLeader(ctx context.Context, a *Arena, random *rand.Rand) error {
	return a.suspend(ctx, random, a.leader(ctx, random))
}

func stopFollower(ctx context.Context, a *Arena, random *rand.Rand) error {
	return a.suspend(ctx, random, a.follower(ctx, random))
}

// suspend suspends a server, either for less than the duration of a permit or for longer than any permit lasts.
func (a *Arena) suspend(ctx context.Context, random *rand.Rand, s *servers.Server) error {
	length := between(random, 50*time.Millisecond, 500*time.Millisecond)
	if random.IntN(2) == 0 {
		length = between(random, time.Second, 4*time.Second)
	}
	a.Note("suspend", s.ID)
	if s.Suspend() != nil {
		return nil // another fault has killed it
	}
	sleep(ctx, length)
	a.Note("resume", s.ID)
	_ = s.Resume() // another fault may have killed it
	return nil
}

func transfer(ctx context.Context, a *Arena, random *rand.Rand) error {
	s := a.leader(ctx, random)
	conn, err := s.Conn()
	if err != nil {
		return err
	}
	a.Note("transfer", s.ID)
	callCtx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	_, _ = gatekeeperv1.NewClusterServiceClient(conn).TransferLeadership(callCtx, &gatekeeperv1.TransferLeadershipRequest{}) // a refusal is fine
	return nil
}

// rollingRestart restarts one member after another, as in an upgrade.
func rollingRestart(ctx context.Context, a *Arena, random *rand.Rand) error {
	a.mu.Lock()
	all := a.Members()
	a.mu.Unlock()
	for _, s := range all {
		if ctx.Err() != nil {
			return nil
		}
		a.Note("restart", s.ID)
		a.mu.Lock()
		if s.Running() {
			_ = s.Resume() // a suspended process does not handle SIGTERM
			if err := s.Stop(20 * time.Second); err != nil {
				a.Note("restart: "+err.Error(), s.ID)
			}
		}
		a.mu.Unlock()
		if err := a.start(s); err != nil {
			return err
		}
		readyCtx, cancel := context.WithTimeout(ctx, 5*time.Second)
		_ = s.Ready(readyCtx) // another fault may delay this
		cancel()
	}
	return nil
}
