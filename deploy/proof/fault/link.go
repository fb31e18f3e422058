package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/proof/network"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// Clients is the link endpoint that all clients share. A server's API endpoint is its id followed by API. On links
// between members, an endpoint is just the member's id. A member that calls another member's API uses the clients'
// links.
const (
	Clients = "clients"
	API     = "/api"
)

// Members is the endpoint of members that call an API over a separate link.
const Members = "members"

// Kinds that only some networks support.
const (
	SlowNetwork = "slow-network"
	Narrow      = "narrow"
)

// Needs returns the link state that a kind requires.
func Needs(kind string) network.State {
	switch kind {
	case SlowNetwork:
		return network.State{Delay: 1}
	case Narrow:
		return network.State{Rate: 1}
	}
	return network.State{}
}

// cut interrupts links temporarily. Sometimes it also breaks their connections.
func (a *Arena) cut(ctx context.Context, random *rand.Rand, kind string, links []network.Link) error {
	for _, l := range links {
		a.Note(kind, l.From+">"+l.To)
		a.Network.Set(l, network.State{Down: true})
	}
	broken := random.IntN(3) == 0
	sleep(ctx, between(random, 200*time.Millisecond, 4*time.Second))
	for _, l := range links {
		if broken {
			a.Network.Reset(l)
		}
		a.Network.Set(l, network.State{})
	}
	a.Note("healed", kind)
	return nil
}

// peerLinks returns the links between a member and all other members.
func (a *Arena) peerLinks(s *servers.Server) (to, from []network.Link) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, o := range a.Members() {
		if o != s {
			to, from = append(to, network.Link{From: o.ID, To: s.ID}), append(from, network.Link{From: s.ID, To: o.ID})
		}
	}
	return to, from
}

// isolate cuts the leader off from the other members, and half of the time also from clients.
func isolate(ctx context.Context, a *Arena, random *rand.Rand) error {
	s := a.leader(ctx, random)
	to, from := a.peerLinks(s)
	links := append(to, from...)
	if random.IntN(2) == 0 {
		links = append(links, network.Link{From: Clients, To: s.ID + API}, network.Link{From: s.ID + API, To: Clients})
	}
	return a.cut(ctx, random, "isolate", links)
}

// oneWay cuts the leader's links in one direction.
func oneWay(ctx context.Context, a *Arena, random *rand.Rand) error {
	to, from := a.peerLinks(a.leader(ctx, random))
	if random.IntN(2) == 0 {
		to = from
	}
	return a.cut(ctx, random, "one-way", to)
}

// bridge cuts the links between two members, both of which can still reach the others. Usually one of the two is the
// leader.
func bridge(ctx context.Context, a *Arena, random *rand.Rand) error {
	member := a.leader(ctx, random)
	if random.IntN(4) == 0 {
		member = a.follower(ctx, random)
	}
	to, from := a.peerLinks(member)
	i := random.IntN(len(to))
	return a.cut(ctx, random, "bridge", []network.Link{to[i], from[i]})
}

// clientsCut cuts one or both directions of the links between the leader and its clients. Their connections stay open
// while the links are cut.
func clientsCut(ctx context.Context, a *Arena, random *rand.Rand) error {
	s := a.leader(ctx, random)
	links := []network.Link{{From: Clients, To: s.ID + API}, {From: s.ID + API, To: Clients}}
	switch random.IntN(3) {
	case 0:
		links = links[:1]
	case 1:
		links = links[1:]
	}
	return a.cut(ctx, random, "clients-cut", links)
}

// slowNetwork delays all packets and drops some.
func slowNetwork(ctx context.Context, a *Arena, random *rand.Rand) error {
	state := network.State{
		Delay: between(random, time.Millisecond, 150*time.Millisecond), Jitter: between(random, time.Millisecond, 150*time.Millisecond),
		Loss: random.Float64() / 5,
	}
	return a.degrade(ctx, random, state, SlowNetwork+": "+state.Delay.String())
}

// narrow limits the bandwidth to less than the demand and drops the excess.
func narrow(ctx context.Context, a *Arena, random *rand.Rand) error {
	state := network.State{Rate: 10_000 << random.IntN(6)}
	return a.degrade(ctx, random, state, fmt.Sprintf("%s: %d bytes per second", Narrow, state.Rate))
}

// degrade temporarily puts all links into a degraded state.
func (a *Arena) degrade(ctx context.Context, random *rand.Rand, state network.State, name string) error {
	a.Note(name, "")
	set := func(state network.State) {
		a.mu.Lock()
		all := a.Members()
		a.mu.Unlock()
		for _, s := range all {
			to, _ := a.peerLinks(s)
			for _, l := range append(to, network.Link{From: Clients, To: s.ID + API}, network.Link{From: s.ID + API, To: Clients}) {
				a.Network.Set(l, state)
			}
		}
	}
	set(state)
	sleep(ctx, between(random, time.Second, 4*time.Second))
	set(network.State{})
	return nil
}

// reset breaks the leader's connections to members and clients.
func reset(ctx context.Context, a *Arena, random *rand.Rand) error {
	for range 1 + random.IntN(5) {
		s := a.leader(ctx, random)
		to, from := a.peerLinks(s)
		a.Note("reset", s.ID)
		for _, l := range append(append(to, from...), network.Link{From: Clients, To: s.ID + API}) {
			a.Network.Reset(l)
		}
		sleep(ctx, between(random, 10*time.Millisecond, 500*time.Millisecond))
	}
	return nil
}
