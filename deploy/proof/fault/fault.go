// Package fault injects faults into a cluster and its clients, like those in production but more frequent. A seed
// determines the faults, their times and their durations. The targets also depend on which server is the leader at the
// time.
package fault

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/gatekeeperd/gatekeeper/deploy/proof/load"
	"github.com/gatekeeperd/gatekeeper/deploy/proof/network"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// Arena holds the targets of faults.
type Arena struct {
	Cluster *servers.Cluster
	Network Network
	Clients *load.Clients
	// Holders are clients in separate processes.
	Holders []*Holder
	// Workers and Submitters are also separate processes. They share tasks, and Disrupt kills and suspends them.
	Workers, Submitters []*Holder
	// Full fills a server's disk and returns a function that frees the space. It is nil if the servers do not have
	// separate disks.
	Full func(*servers.Server) (func(), error)
	// Disk sets the state of a server's disk, as defined by the code with the build tag `faulty`. It is nil if the
	// servers were built without that tag.
	Disk func(s *servers.Server, state string) error
	// Names and Foreign are nil except in Misdirected runs. Foreign is another cluster.
	Names   Addresses
	Foreign *servers.Cluster
	// Credentials are the clients' credentials.
	Credentials credentials.TransportCredentials
	// Reach returns the address at which clients reach a server's API.
	Reach func(*servers.Server) string
	// Seed is the seed of the run.
	Seed uint64
	// Lease is how long a leader that cannot reach a majority continues to lead.
	Lease time.Duration
	// Note records a fault.
	Note func(kind, on string)

	mu      sync.Mutex // guards the fields below; locked while servers are started and stopped
	joined  int
	removed map[string]bool // servers that were removed from the cluster

	damageMu sync.Mutex // locked while a fault damages a server
	holderMu sync.Mutex // locked while a fault acts on a holder
}

// Network is the network between servers and clients.
type Network interface {
	// Can reports whether the network supports a link state.
	Can(network.State) bool
	// Set sets a link's state.
	Set(network.Link, network.State)
	// Heal restores all links.
	Heal()
	// Reset breaks the link's connections.
	Reset(network.Link)
}

// A Kind injects one fault and returns when the fault has ended or the context is done. It repairs everything that Heal
// does not repair. An error means that the harness failed, or that a server did not handle the fault as it must.
type Kind func(context.Context, *Arena, *rand.Rand) error

// kinds returns all kinds of faults by name.
func kinds() map[string]Kind {
	return map[string]Kind{
		"kill-leader":     killLeader,
		"kill-follower":   killFollower,
		"kill-all":        killAll,
		"stop-leader":     stopLeader,
		"stop-follower":   stopFollower,
		"isolate":         isolate,
		"one-way":         oneWay,
		"bridge":          bridge,
		SlowNetwork:       slowNetwork,
		Narrow:            narrow,
		"reset":           reset,
		Misdirected:       misdirected,
		Crowd:             crowd,
		ClockSteps:        clockSteps,
		"clients-cut":     clientsCut,
		"transfer":        transfer,
		"rolling-restart": rollingRestart,
		"members":         members,
		"damage":          damage,
		FullDisk:          fullDisk,
		SlowDisk:          slowDisk,
		DiskError:         diskError,
		"client-killed":   clientKilled,
		"client-stopped":  clientStopped,
		"storm":           storm,
		"overload":        overload,
		"strangers":       strangers,
	}
}

// Mixed combines all kinds of faults, two at a time.
const Mixed = "mixed"

// Names returns the sorted names of all kinds.
func Names() []string { return slices.Sorted(maps.Keys(kinds())) }

// Run injects faults of the given kind, one after another, until the context is done. It returns the number of faults
// by name.
func Run(ctx context.Context, a *Arena, name string, seed uint64) (map[string]int, error) {
	all := kinds()
	choice, lanes := []string{name}, 1
	if name == Mixed {
		choice, lanes = slices.DeleteFunc(Names(), func(kind string) bool { return !a.can(kind) }), 2
	}
	counts := map[string]int{}
	var mu sync.Mutex // guards counts and failed
	var failed error
	var wg sync.WaitGroup
	for lane := range lanes {
		random := rand.New(rand.NewPCG(seed, uint64(100+lane)))
		wg.Go(func() {
			for {
				sleep(ctx, time.Duration(300+random.IntN(1200))*time.Millisecond)
				if ctx.Err() != nil {
					return
				}
				kind := choice[random.IntN(len(choice))]
				err := all[kind](ctx, a, random)
				mu.Lock()
				counts[kind]++
				if err != nil && ctx.Err() == nil && failed == nil {
					failed = fmt.Errorf("%s: %w", kind, err)
				}
				stopped := failed != nil
				mu.Unlock()
				if stopped {
					return
				}
			}
		})
	}
	wg.Wait()
	return counts, failed
}

// can reports whether a kind can be combined with others in this arena.
func (a *Arena) can(kind string) bool {
	switch kind {
	case FullDisk:
		return a.Full != nil
	case SlowDisk, DiskError:
		return a.Disk != nil
	case Misdirected:
		return a.Names != nil
	case Crowd:
		return false // it leaves no capacity for another fault
	}
	return a.Network.Can(Needs(kind))
}

// Heal repairs everything that faults left broken and starts all stopped servers.
func (a *Arena) Heal() error {
	a.Network.Heal()
	for _, h := range slices.Concat(a.Holders, a.Workers, a.Submitters) {
		h.resume()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.Disk != nil {
		if err := a.setDisks(a.Members(), ""); err != nil {
			return err
		}
	}
	for _, s := range a.Members() {
		if s.Running() {
			_ = s.Resume()
			continue
		}
		if err := s.Start(); err != nil {
			return err
		}
	}
	return nil
}

// Members returns the servers that are members of the cluster.
func (a *Arena) Members() []*servers.Server {
	return slices.DeleteFunc(slices.Clone(a.Cluster.Servers), func(s *servers.Server) bool { return a.removed[s.ID] })
}

// Endpoints returns the API addresses of the members.
func (a *Arena) Endpoints() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var endpoints []string
	for _, s := range a.Members() {
		endpoints = append(endpoints, a.Reach(s))
	}
	return endpoints
}

// sleep waits for the given time or until the context is done.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// between returns a random duration in [lo, hi).
func between(random *rand.Rand, lo, hi time.Duration) time.Duration {
	return lo + time.Duration(random.Int64N(int64(hi-lo)))
}

// leader returns the leader, or a random member if no leader is found for a few seconds.
func (a *Arena) leader(ctx context.Context, random *rand.Rand) *servers.Server {
	callCtx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	a.mu.Lock()
	all := a.Members()
	a.mu.Unlock()
	if s, err := (&servers.Cluster{Servers: all}).Leader(callCtx); err == nil {
		return s
	}
	return all[random.IntN(len(all))]
}

// follower returns a random member that is not the leader.
func (a *Arena) follower(ctx context.Context, random *rand.Rand) *servers.Server {
	leader := a.leader(ctx, random)
	a.mu.Lock()
	others := slices.DeleteFunc(a.Members(), func(s *servers.Server) bool { return s == leader })
	a.mu.Unlock()
	return others[random.IntN(len(others))]
}
