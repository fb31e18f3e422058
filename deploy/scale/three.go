package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/snapshots"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// three is what three servers did that one server became by taking two more in.
type three struct {
	Empty gaps `json:"empty"`
	Full  gaps `json:"full"`
	// Joined is how long it took until both were voters with everything, in seconds.
	Joined float64 `json:"joined_seconds"`
	// Grant is what a grant with its release takes of the leader while two follow it.
	Grant op `json:"grant"`
	// Follower and Leader are what a server takes by its role.
	Follower memory `json:"follower"`
	Leader   memory `json:"leader"`
}

// gaps are for how long nobody was granted anything, in ms: medians, and the longest.
type gaps struct {
	HandOver    float64 `json:"hand_over_p50_ms"`
	HandOverMax float64 `json:"hand_over_max_ms"`
	Kill        float64 `json:"kill_p50_ms"`
	KillMax     float64 `json:"kill_max_ms"`
}

// measureEmpty makes three servers with almost nothing in them, for the difference.
func (s *scale) measureEmpty(ctx context.Context, r *report) error {
	cluster, err := s.start(ctx, "empty", 1, "")
	if err != nil {
		return err
	}
	defer cluster.Kill()
	f, err := newFleet(ctx, cluster.Servers[0].API, atOnce)
	if err != nil {
		return err
	}
	defer f.close()
	if _, err := s.join(ctx, cluster); err != nil {
		return err
	}
	r.Three.Empty, err = s.measureGaps(ctx, cluster)
	return err
}

// measureThree has two servers join the full one.
func (s *scale) measureThree(ctx context.Context, cluster *servers.Cluster, f *fleet, r *report) error {
	var err error
	if r.Three.Joined, err = s.join(ctx, cluster); err != nil {
		return err
	}
	s.say("  joined in %.1f s", r.Three.Joined)
	if r.Three.Leader, err = look(ctx, cluster.Servers[0]); err != nil {
		return err
	}
	if r.Three.Follower, err = look(ctx, cluster.Servers[1]); err != nil {
		return err
	}
	if r.Three.Grant, err = s.measureOp(ctx, cluster.Servers[0], f.pair); err != nil {
		return err
	}
	if r.Three.Full, err = s.measureGaps(ctx, cluster); err != nil {
		return err
	}
	leader, err := cluster.Leader(ctx)
	if err != nil {
		return err
	}
	status, err := leader.Status(ctx)
	if err != nil {
		return err
	}
	if got := int(status.GetPermits()); got < f.made.Permits {
		return fmt.Errorf("the last leader has %d permits, and %d were granted", got, f.made.Permits)
	}
	return nil
}

// join has two more servers join, one after the other, and returns how long it took until they were voters.
func (s *scale) join(ctx context.Context, cluster *servers.Cluster) (seconds float64, err error) {
	begin := time.Now()
	for voters := 2; voters <= 3; voters++ {
		server, err := cluster.Join("gk" + strconv.Itoa(voters))
		if err != nil {
			return 0, err
		}
		if err := server.Ready(ctx); err != nil {
			return 0, fmt.Errorf("%w\n%s", err, server.LogTail())
		}
		if err := s.abreast(ctx, cluster, voters); err != nil {
			return 0, err
		}
	}
	return time.Since(begin).Seconds(), nil
}

// abreast waits until there are so many voters and every server has applied what the leader had when it was asked.
func (s *scale) abreast(ctx context.Context, cluster *servers.Cluster, voters int) error {
	const most = 3 * time.Minute
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("not all of %d servers have everything after %v", voters, most))
	defer cancel()
	leader, err := cluster.Leader(ctx)
	if err != nil {
		return err
	}
	var to uint64
	for {
		now, err := leader.Status(ctx)
		if err == nil {
			count := 0
			for _, m := range now.GetMembers() {
				if m.GetVoter() {
					count++
				}
			}
			if to == 0 {
				to = now.GetAppliedIndex()
			}
			for _, server := range cluster.Servers {
				if status, err := server.Status(ctx); err != nil || status.GetAppliedIndex() < to {
					count = 0
				}
			}
			if count == voters {
				return nil
			}
		}
		if pause(ctx, 50*time.Millisecond) != nil {
			return context.Cause(ctx)
		}
	}
}

// measureGaps hands leadership over and kills leaders, and looks for how long nobody is granted anything.
func (s *scale) measureGaps(ctx context.Context, cluster *servers.Cluster) (g gaps, err error) {
	var handOvers, kills []time.Duration
	for range s.handOvers {
		gap, err := s.gap(ctx, cluster, func(leader, next *servers.Server) error {
			conn, err := leader.Conn()
			if err != nil {
				return err
			}
			_, err = gatekeeperv1.NewClusterServiceClient(conn).TransferLeadership(ctx, &gatekeeperv1.TransferLeadershipRequest{Id: next.ID})
			return err
		})
		if err != nil {
			return g, fmt.Errorf("hand-over: %w", err)
		}
		handOvers = append(handOvers, gap)
	}
	for range s.kills {
		var killed *servers.Server
		gap, err := s.gap(ctx, cluster, func(leader, _ *servers.Server) error {
			killed = leader
			leader.Kill()
			return nil
		})
		if err == nil {
			kills = append(kills, gap)
			if err = killed.Start(); err == nil {
				err = killed.Ready(ctx)
			}
		}
		if err == nil {
			err = s.abreast(ctx, cluster, len(cluster.Servers))
		}
		if err != nil {
			return g, fmt.Errorf("kill: %w", err)
		}
	}
	g.HandOver, g.HandOverMax = middle(handOvers)
	g.Kill, g.KillMax = middle(kills)
	s.say("  nobody was granted anything for %.0f ms by a hand-over, %.0f ms by a kill (medians)", g.HandOver, g.Kill)
	return g, nil
}

// middle returns the median and the longest, in ms.
func middle(took []time.Duration) (median, most float64) {
	slices.Sort(took)
	return load.Micros(took[len(took)/2]) / 1000, load.Micros(took[len(took)-1]) / 1000
}

// gap has a client ask another server than the leader for permits, one after the other, does something to the leader,
// and returns the longest time between two grants.
func (s *scale) gap(ctx context.Context, cluster *servers.Cluster, do func(leader, next *servers.Server) error) (time.Duration, error) {
	leader, err := cluster.Leader(ctx)
	if err != nil {
		return 0, err
	}
	next := cluster.Servers[0]
	if next == leader {
		next = cluster.Servers[1]
	}
	was, err := leader.Status(ctx)
	if err != nil {
		return 0, err
	}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	grants := make(chan time.Time, 1<<16) // nobody is to wait for what is done to the leader
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() {
		defer close(grants)
		failed = ask(asking, next.API, grants)
	})
	defer wg.Wait()
	defer stop() // before the wait

	const usual = 20 // grants before and after
	longest, last, done := time.Duration(0), time.Time{}, false
	var led time.Time // when a later leader was seen
	for before, after := 0, 0; after < usual; {
		select {
		case at, more := <-grants:
			if !more {
				return 0, failed
			}
			if before < usual {
				before, last = before+1, at
				break
			}
			if !done {
				if err := do(leader, next); err != nil {
					return 0, err
				}
				done = true
			}
			longest, last = max(longest, at.Sub(last)), at
			// Only what a later leader granted tells that it is over.
			if led.IsZero() {
				if now, err := next.Status(ctx); err == nil && now.GetTerm() > was.GetTerm() && now.GetLeaderId() != "" {
					led = time.Now()
				}
			} else if at.After(led) {
				after++
			}
		case <-time.After(time.Minute):
			return 0, errors.New("nobody is granted anything for a minute")
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return longest, nil
}

// ask acquires and releases until ctx ends, and tells when each grant was answered.
func ask(ctx context.Context, address string, grants chan<- time.Time) error {
	f, err := newAsker(address)
	if err != nil {
		return err
	}
	defer f.close()
	for {
		at, err := f.firstGrant(ctx, nil)
		if err != nil {
			return err
		}
		select {
		case grants <- at:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// newAsker is a caller with one connection, which it opens again without delay when the server has gone.
func newAsker(address string) (*fleet, error) {
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1, MaxDelay: 10 * time.Millisecond}, MinConnectTimeout: time.Second,
		}))
	if err != nil {
		return nil, err
	}
	return &fleet{conns: load.Conns{conn}}, nil
}

// firstGrant asks until it is granted a permit, gives it back, and returns when it was answered. Between two tries it
// looks whether it is of any use to go on.
func (f *fleet) firstGrant(ctx context.Context, useful func() error) (time.Time, error) {
	id := newHolder()
	for {
		one, cancel := context.WithTimeout(ctx, 2*time.Second)
		token, err := f.acquire(one, 0, wideName(0), "asker", id)
		at := time.Now()
		if err == nil {
			_ = f.release(one, 0, token) // one that fails leaves a permit, of which there is no want
		}
		cancel()
		if err == nil {
			return at, nil
		}
		if useful != nil {
			if err := useful(); err != nil {
				return at, err
			}
		}
		if err := pause(ctx, time.Millisecond); err != nil {
			return at, err
		}
	}
}

// newestSnapshot is up to which entry the server's newest snapshot goes; 0 when it has none.
func newestSnapshot(server *servers.Server) (index uint64, err error) {
	names, err := snapshots.Names(filepath.Join(server.Data(), "snapshots"))
	for _, name := range names { // term-index-milliseconds
		if fields := strings.Split(name, "-"); len(fields) == 3 && !strings.HasSuffix(name, snapshots.Unfinished) {
			if n, err := strconv.ParseUint(fields[1], 10, 64); err == nil {
				index = max(index, n)
			}
		}
	}
	return index, err
}
