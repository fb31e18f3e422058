// Package fault does to a cluster and its clients what happens to them in real life, sooner and more often. Which
// faults, when and for how long is decided by a seed; on whom, by that and by who leads at that moment.
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

// Arena is what faults are done to.
type Arena struct {
	Cluster *servers.Cluster
	Network Network
	Clients *load.Clients
	// Holders are clients in processes of their own.
	Holders []*Holder
	// Workers and Submitters are such processes too. They share tasks, and Harm kills and suspends them.
	Workers, Submitters []*Holder
	// Full fills the disk of a server, and returns what makes room again; nil where servers have no disks of their own.
	Full func(*servers.Server) (func(), error)
	// Disk sets the state of a server's disk, in the words of the tag `faulty`; nil when the servers are as they are
	// released.
	Disk func(s *servers.Server, state string) error
	// Names and Foreign, another cluster, are nil but in runs of Misdirected.
	Names   Addresses
	Foreign *servers.Cluster
	// Credentials are those of the clients.
	Credentials credentials.TransportCredentials
	// Reach is where clients reach a server's API.
	Reach func(*servers.Server) string
	// Seed is the run's.
	Seed uint64
	// Lease is how long a leader leads that reaches no majority.
	Lease time.Duration
	// Note writes a fault down.
	Note func(kind, on string)

	mu     sync.Mutex // guards the fields below, and is held while servers are started and ended
	joined int
	gone   map[string]bool // servers that are no members any more

	hurting sync.Mutex // is held while a server is damaged
	holding sync.Mutex // is held while a fault has its hands on a holder
}

// Network is what lies between servers and clients.
type Network interface {
	// Can says whether links can be in this state.
	Can(network.State) bool
	// Set sets a link's state.
	Set(network.Link, network.State)
	// Heal makes every link good.
	Heal()
	// Reset breaks the link's connections.
	Reset(network.Link)
}

// A Kind of fault begins, lasts, and ends when it returns, or with the context; it leaves nothing broken but what Mend
// mends. An error says that the harness failed, not that the cluster did.
type Kind func(context.Context, *Arena, *rand.Rand) error

// kinds are all faults by their names.
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

// Mixed is any kind of fault, two at a time.
const Mixed = "mixed"

// Names are those of all kinds, in order.
func Names() []string { return slices.Sorted(maps.Keys(kinds())) }

// Run does faults of this kind one after the other until the context ends. It counts what it has done.
func Run(ctx context.Context, a *Arena, name string, seed uint64) (map[string]int, error) {
	all := kinds()
	choice, lines := []string{name}, 1
	if name == Mixed {
		choice, lines = slices.DeleteFunc(Names(), func(kind string) bool { return !a.can(kind) }), 2
	}
	counts := map[string]int{}
	var mu sync.Mutex // guards counts and failed
	var failed error
	var wg sync.WaitGroup
	for line := range lines {
		random := rand.New(rand.NewPCG(seed, uint64(100+line)))
		wg.Go(func() {
			for {
				rest(ctx, time.Duration(300+random.IntN(1200))*time.Millisecond)
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
				over := failed != nil
				mu.Unlock()
				if over {
					return
				}
			}
		})
	}
	wg.Wait()
	return counts, failed
}

// can says whether a kind can be done beside others in this arena.
func (a *Arena) can(kind string) bool {
	switch kind {
	case FullDisk:
		return a.Full != nil
	case SlowDisk, DiskError:
		return a.Disk != nil
	case Misdirected:
		return a.Names != nil
	case Crowd:
		return false // there is no room beside it
	}
	return a.Network.Can(Needs(kind))
}

// Mend repairs what faults have left, and starts what does not run.
func (a *Arena) Mend() error {
	a.Network.Heal()
	for _, h := range slices.Concat(a.Holders, a.Workers, a.Submitters) {
		h.resume()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.Disk != nil {
		if err := a.disks(a.Members(), ""); err != nil {
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

// Members are the servers that are members.
func (a *Arena) Members() []*servers.Server {
	return slices.DeleteFunc(slices.Clone(a.Cluster.Servers), func(s *servers.Server) bool { return a.gone[s.ID] })
}

// Endpoints are the API addresses of the members.
func (a *Arena) Endpoints() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var endpoints []string
	for _, s := range a.Members() {
		endpoints = append(endpoints, a.Reach(s))
	}
	return endpoints
}

// rest waits for a while, or until the context ends.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// between draws a time.
func between(random *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(random.Int64N(int64(most-least)))
}

// leader is who leads now, or, when nobody does for a while, any member.
func (a *Arena) leader(ctx context.Context, random *rand.Rand) *servers.Server {
	asking, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	a.mu.Lock()
	all := a.Members()
	a.mu.Unlock()
	if s, err := (&servers.Cluster{Servers: all}).Leader(asking); err == nil {
		return s
	}
	return all[random.IntN(len(all))]
}

// follower is any member that does not lead.
func (a *Arena) follower(ctx context.Context, random *rand.Rand) *servers.Server {
	leader := a.leader(ctx, random)
	a.mu.Lock()
	others := slices.DeleteFunc(a.Members(), func(s *servers.Server) bool { return s == leader })
	a.mu.Unlock()
	return others[random.IntN(len(others))]
}
