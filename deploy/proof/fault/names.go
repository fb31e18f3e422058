package fault

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/proof/network"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// Misdirected needs addresses that can be led elsewhere, and another cluster.
const Misdirected = "misdirected"

// Hop is what a server's API is called, after its id, where the way of the other members to it is another than the
// clients'.
const Hop = "/hop"

// Addresses lead to other servers.
type Addresses interface {
	// Lead lets an end's addresses lead to a target; an empty one is its own.
	Lead(end, target string)
}

// misdirected lets a member's addresses, as the others know them, lead to another server: to another member, or to one
// of another cluster. That may be made of the same names, so that cluster id and member id are the same too. The
// clients' way stays what it is: nothing tells them whom they ask.
func misdirected(ctx context.Context, a *Arena, random *rand.Rand) error {
	victim := a.leader(ctx, random)
	if random.IntN(3) == 0 {
		victim = a.follower(ctx, random)
	}
	to, from := a.others(victim)
	var elsewhere *servers.Server
	if random.IntN(3) == 0 {
		other := to[random.IntN(len(to))].From
		for _, s := range a.Cluster.Servers {
			if s.ID == other {
				elsewhere = s
			}
		}
	} else {
		asking, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		var err error
		if elsewhere, err = a.Foreign.Leader(asking); err != nil {
			return err
		}
		// Its leader would grant; its member of the same id, if there is one, speaks for itself as the victim would.
		if i := random.IntN(2 * len(a.Foreign.Servers)); i < len(a.Foreign.Servers) {
			elsewhere = a.Foreign.Servers[i]
		}
		a.Note("to another cluster", elsewhere.ID)
	}
	a.Note(Misdirected+" to "+elsewhere.ID, victim.ID)
	breakAll := func() {
		for _, l := range append(append(to, from...), network.Link{From: Members, To: victim.ID + Hop}) {
			a.Network.Reset(l)
		}
	}
	what := random.IntN(3) // the peers' address, the API's, or both
	if what != 1 {
		a.Names.Lead(victim.ID, elsewhere.Peer)
	}
	if what != 0 {
		a.Names.Lead(victim.ID+Hop, elsewhere.API)
	}
	breakAll()
	rest(ctx, between(random, 500*time.Millisecond, 4*time.Second))
	a.Names.Lead(victim.ID, "")
	a.Names.Lead(victim.ID+Hop, "")
	breakAll()
	a.Note("healed", Misdirected)
	return nil
}
