package consensus

import (
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/peer"
)

// dialMembers dials every other member once, so that the members record each other's data directories. Raft itself
// connects two followers only when one of them requests votes. If members did not meet before that, a member that had
// lost its data could go undetected. dialMembers dials all members again while this member has no contact with a
// leader, and when a peer connects before Raft has started or with a changed statement. It trusts only the response
// from a member's configured address.
func (n *Node) dialMembers() {
	ticker := time.NewTicker(n.cfg.Timeouts.Heartbeat)
	defer ticker.Stop()
	for {
		all := false
		select {
		case <-n.redial:
			all = true
		case <-ticker.C:
		case <-n.ctx.Done():
			return
		}
		if servers, err := n.servers(); err == nil {
			n.introduce(servers, all || n.leaderless())
		}
		if !all {
			continue
		}
		select { // any peer can trigger this, but must not cause a tight loop
		case <-time.After(n.cfg.Timeouts.Heartbeat / 8):
		case <-n.ctx.Done():
			return
		}
	}
}

// introduce dials the other members concurrently, so that an unresponsive member does not delay the rest. Unless all is
// set, it dials only the members that this one has not met yet.
func (n *Node) introduce(servers []raft.Server, all bool) {
	var dialing sync.WaitGroup
	defer dialing.Wait()
	for _, s := range servers {
		if s.ID == n.id || n.cfg.DataDir.knowsPeer(string(s.ID)) && !all {
			continue
		}
		dialing.Go(func() {
			conn, err := n.layer.Dial(peer.Target(s.ID, s.Address), transportTimeout)
			if err == nil {
				conn.Close()
			}
			n.handleDialResult(s.ID, err)
		})
	}
}
