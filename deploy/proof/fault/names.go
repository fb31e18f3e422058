package fault

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/proof/network"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// Misdirected is the kind that redirects addresses. It requires addresses that can be redirected, and another cluster.
const Misdirected = "misdirected"

// Hop is the suffix of a server's API endpoint for other members, if they reach the API over a different link than
// clients do.
const Hop = "/hop"

// Addresses redirects servers' addresses to other servers.
type Addresses interface {
	// Redirect redirects an endpoint's address to a target. An empty target restores the original address.
	Redirect(endpoint, target string)
}

// misdirected redirects a member's addresses, as seen by other members, to another member or to a server in another
// cluster. The other cluster and its members may have the same names. Clients' addresses are not redirected, because
// clients cannot detect which server they reach.
func misdirected(ctx context.Context, a *Arena, random *rand.Rand) error {
	victim := a.leader(ctx, random)
	if random.IntN(3) == 0 {
		victim = a.follower(ctx, random)
	}
	to, from := a.peerLinks(victim)
	var target *servers.Server
	if random.IntN(3) == 0 {
		other := to[random.IntN(len(to))].From
		for _, s := range a.Cluster.Servers {
			if s.ID == other {
				target = s
			}
		}
	} else {
		callCtx, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		var err error
		if target, err = a.Foreign.Leader(callCtx); err != nil {
			return err
		}
		// The foreign leader would grant permits. The foreign member with the victim's id, if there is one, would
		// impersonate the victim.
		if i := random.IntN(2 * len(a.Foreign.Servers)); i < len(a.Foreign.Servers) {
			target = a.Foreign.Servers[i]
		}
		a.Note("to another cluster", target.ID)
	}
	a.Note(Misdirected+" to "+target.ID, victim.ID)
	breakAll := func() {
		for _, l := range append(append(to, from...), network.Link{From: Members, To: victim.ID + Hop}) {
			a.Network.Reset(l)
		}
	}
	what := random.IntN(3) // the peer address, the API address, or both
	if what != 1 {
		a.Names.Redirect(victim.ID, target.Peer)
	}
	if what != 0 {
		a.Names.Redirect(victim.ID+Hop, target.API)
	}
	breakAll()
	sleep(ctx, between(random, 500*time.Millisecond, 4*time.Second))
	a.Names.Redirect(victim.ID, "")
	a.Names.Redirect(victim.ID+Hop, "")
	breakAll()
	a.Note("healed", Misdirected)
	return nil
}
