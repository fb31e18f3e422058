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

// three holds the results for three servers, built from one server by adding two members.
type three struct {
	Empty gaps `json:"empty"`
	Full  gaps `json:"full"`
	// Joined is the time until both new members were voters and had caught up, in seconds.
	Joined float64 `json:"joined_seconds"`
	// Grant is the cost of a grant and its release on a leader with two followers.
	Grant op `json:"grant"`
	// Follower and Leader are the memory usage by role.
	Follower memory `json:"follower"`
	Leader   memory `json:"leader"`
}

// gaps holds the times without grants, in ms, as medians and maxima.
type gaps struct {
	Handover    float64 `json:"hand_over_p50_ms"`
	HandoverMax float64 `json:"hand_over_max_ms"`
	Kill        float64 `json:"kill_p50_ms"`
	KillMax     float64 `json:"kill_max_ms"`
}

// measureEmpty measures three almost empty servers, as a baseline.
func (s *scale) measureEmpty(ctx context.Context, r *report) error {
	cluster, err := s.start(ctx, "empty", 1, "")
	if err != nil {
		return err
	}
	defer cluster.Kill()
	f, err := newFleet(ctx, cluster.Servers[0].API, concurrentCallers)
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

// measureThreeServers adds two servers to the full one and measures the cluster.
func (s *scale) measureThreeServers(ctx context.Context, cluster *servers.Cluster, f *fleet, r *report) error {
	var err error
	if r.Three.Joined, err = s.join(ctx, cluster); err != nil {
		return err
	}
	s.logf("  joined in %.1f s", r.Three.Joined)
	if r.Three.Leader, err = measureMemory(ctx, cluster.Servers[0]); err != nil {
		return err
	}
	if r.Three.Follower, err = measureMemory(ctx, cluster.Servers[1]); err != nil {
		return err
	}
	if r.Three.Grant, err = s.measureOp(ctx, cluster.Servers[0], f.acquireAndRelease); err != nil {
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
	if got := int(status.GetPermits()); got < f.created.Permits {
		return fmt.Errorf("the last leader has %d permits, but %d were granted", got, f.created.Permits)
	}
	return nil
}

// join adds two servers, one after the other, and returns the time until they were voters.
func (s *scale) join(ctx context.Context, cluster *servers.Cluster) (seconds float64, err error) {
	start := time.Now()
	for voters := 2; voters <= 3; voters++ {
		server, err := cluster.Join("gk" + strconv.Itoa(voters))
		if err != nil {
			return 0, err
		}
		if err := server.Ready(ctx); err != nil {
			return 0, fmt.Errorf("%w\n%s", err, server.LogTail())
		}
		if err := s.awaitCaughtUp(ctx, cluster, voters); err != nil {
			return 0, err
		}
	}
	return time.Since(start).Seconds(), nil
}

// awaitCaughtUp waits until the given number of voters exists and every server has applied the entries that the leader
// had applied at the beginning.
func (s *scale) awaitCaughtUp(ctx context.Context, cluster *servers.Cluster, voters int) error {
	const longest = 3 * time.Minute
	ctx, cancel := context.WithTimeoutCause(ctx, longest, fmt.Errorf("not all %d servers caught up within %v", voters, longest))
	defer cancel()
	leader, err := cluster.Leader(ctx)
	if err != nil {
		return err
	}
	var targetIndex uint64
	for {
		now, err := leader.Status(ctx)
		if err == nil {
			count := 0
			for _, m := range now.GetMembers() {
				if m.GetVoter() {
					count++
				}
			}
			if targetIndex == 0 {
				targetIndex = now.GetAppliedIndex()
			}
			for _, server := range cluster.Servers {
				if status, err := server.Status(ctx); err != nil || status.GetAppliedIndex() < targetIndex {
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

// measureGaps transfers leadership and kills leaders, and measures the times without grants.
func (s *scale) measureGaps(ctx context.Context, cluster *servers.Cluster) (g gaps, err error) {
	var handovers, kills []time.Duration
	for range s.handovers {
		gap, err := s.gap(ctx, cluster, func(leader, next *servers.Server) error {
			conn, err := leader.Conn()
			if err != nil {
				return err
			}
			_, err = gatekeeperv1.NewClusterServiceClient(conn).TransferLeadership(ctx, &gatekeeperv1.TransferLeadershipRequest{Id: next.ID})
			return err
		})
		if err != nil {
			return g, fmt.Errorf("handover: %w", err)
		}
		handovers = append(handovers, gap)
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
			err = s.awaitCaughtUp(ctx, cluster, len(cluster.Servers))
		}
		if err != nil {
			return g, fmt.Errorf("kill: %w", err)
		}
	}
	g.Handover, g.HandoverMax = medianAndMax(handovers)
	g.Kill, g.KillMax = medianAndMax(kills)
	s.logf("  no grants for %.0f ms after a handover, %.0f ms after a kill (medians)", g.Handover, g.Kill)
	return g, nil
}

// medianAndMax returns the median and the maximum, in ms.
func medianAndMax(durations []time.Duration) (median, longest float64) {
	slices.Sort(durations)
	return load.Micros(durations[len(durations)/2]) / 1000, load.Micros(durations[len(durations)-1]) / 1000
}

// gap starts a client that continuously acquires permits through a server other than the leader, runs an action against
// the leader, and returns the longest time between two grants.
func (s *scale) gap(ctx context.Context, cluster *servers.Cluster, do func(leader, next *servers.Server) error) (time.Duration, error) {
	leader, err := cluster.Leader(ctx)
	if err != nil {
		return 0, err
	}
	next := cluster.Servers[0]
	if next == leader {
		next = cluster.Servers[1]
	}
	initial, err := leader.Status(ctx)
	if err != nil {
		return 0, err
	}
	probeCtx, stop := context.WithCancel(ctx)
	defer stop()
	grants := make(chan time.Time, 1<<16) // buffered, so that the action does not delay the client
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() {
		defer close(grants)
		failed = probe(probeCtx, next.API, grants)
	})
	defer wg.Wait()
	defer stop() // runs before Wait

	const minGrants = 20 // number of grants before and after the action
	longest, last, done := time.Duration(0), time.Time{}, false
	var newLeaderAt time.Time // when the new leader was first observed
	for before, after := 0, 0; after < minGrants; {
		select {
		case at, more := <-grants:
			if !more {
				return 0, failed
			}
			if before < minGrants {
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
			// Only grants by the new leader show that the gap has ended.
			if newLeaderAt.IsZero() {
				if now, err := next.Status(ctx); err == nil && now.GetTerm() > initial.GetTerm() && now.GetLeaderId() != "" {
					newLeaderAt = time.Now()
				}
			} else if at.After(newLeaderAt) {
				after++
			}
		case <-time.After(time.Minute):
			return 0, errors.New("no permit was granted for a minute")
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return longest, nil
}

// probe acquires and releases permits until ctx ends, and sends the time of each grant.
func probe(ctx context.Context, address string, grants chan<- time.Time) error {
	f, err := newProber(address)
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

// newProber returns a caller with one connection, which is restored almost immediately if it is lost.
func newProber(address string) (*fleet, error) {
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1, MaxDelay: 10 * time.Millisecond}, MinConnectTimeout: time.Second,
		}))
	if err != nil {
		return nil, err
	}
	return &fleet{conns: load.Conns{conn}}, nil
}

// firstGrant requests a permit until it is granted, releases it, and returns the time of the response. Between attempts
// it calls checkAlive, and stops if that returns an error.
func (f *fleet) firstGrant(ctx context.Context, checkAlive func() error) (time.Time, error) {
	id := newHolder()
	for {
		attemptCtx, cancel := context.WithTimeout(ctx, 2*time.Second)
		token, err := f.acquire(attemptCtx, 0, wideName(0), "prober", id)
		at := time.Now()
		if err == nil {
			_ = f.release(attemptCtx, 0, token) // if the release fails, the permit remains held, which is harmless
		}
		cancel()
		if err == nil {
			return at, nil
		}
		if checkAlive != nil {
			if err := checkAlive(); err != nil {
				return at, err
			}
		}
		if err := pause(ctx, time.Millisecond); err != nil {
			return at, err
		}
	}
}

// newestSnapshot returns the index of the server's newest snapshot, or 0 if there is none.
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
