package consensus

import (
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/peer"
)

// A member that is removed is not told so by Raft: the leader sends it the entry and never that it was committed, and a member
// that was away gets not even the entry. It would wait for a leader for ever. So it asks: whoever hears nothing from a leader
// introduces itself to the others again, and is told when it was removed.

// removed tells whether a member was certainly removed. Its id is retired first, which is committed when it is seen here. That the
// configuration without it may still be undone changes nothing: somebody meant it to go, and must say so once more.
func (n *Node) removed(id string) bool {
	if !n.started.Load() || !n.cfg.Retired(id) {
		return false
	}
	servers, err := n.servers()
	return err == nil && find(servers, raft.ServerID(id)) == nil
}

// leaderless tells whether this member has not heard of a leader for longer than an election takes.
func (n *Node) leaderless() bool {
	_, leading := leads(n.raft)
	return !leading && time.Since(n.raft.LastContact()) > 2*n.cfg.Timeouts.Election
}

// heard takes in how a peer answered an introduction.
func (n *Node) heard(from raft.ServerID, err error) {
	if refused, ok := errors.AsType[*peer.RefusedError](err); ok && refused.Removed {
		n.guard.Fail(fmt.Errorf("%w: %s says so. Its permits and definitions live on in the others; a new server needs a new id and an empty data folder",
			ErrRemoved, from))
	}
}

// succeeds tells whether a cluster id is of a later life of the cluster that had the other one.
func succeeds(later, earlier string) bool {
	a, errA := ParseClusterID(later)
	b, errB := ParseClusterID(earlier)
	return errA == nil && errB == nil && a.Succeeds(b)
}

// succeeded is told by a peer that a later life of this cluster runs. A majority of the old servers that came back, when a site
// has power again for example, would be a second cluster that grants what the new one grants.
func (n *Node) succeeded(reason string) {
	// It is noted first: a server that is started again later may meet nobody who tells it.
	n.guard.Fail(errors.Join(succeededBy(reason), n.cfg.Folder.succeeded(reason)))
}

func succeededBy(reason string) error {
	return fmt.Errorf("%w: %s. It must not go on; a new server needs a new id and an empty data folder", ErrSucceeded, reason)
}
