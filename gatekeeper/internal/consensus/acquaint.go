package consensus

import (
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/peer"
)

// acquaint dials every other member once, so that each member learns the data directories of all. Raft itself connects
// two followers only when one of them requests votes. By then, a member that has lost its data could pass for its
// former self. acquaint dials all members again while this member has no contact with a leader, when the membership
// changes, and when a peer connects with a changed statement. Only a member's answer at its configured address is
// believed.
func (n *Node) acquaint() {
	ticker := time.NewTicker(n.cfg.Timeouts.Heartbeat)
	defer ticker.Stop()
	for {
		all := false
		select {
		case <-n.asked:
			all = true
		case <-ticker.C:
		case <-n.life.Done():
			return
		}
		if servers, err := n.servers(); err == nil {
			n.introduce(servers, all || n.leaderless())
		}
		if !all {
			continue
		}
		select { // any peer can trigger this, but not in a tight loop
		case <-time.After(n.cfg.Timeouts.Heartbeat / 8):
		case <-n.life.Done():
			return
		}
	}
}

// introduce dials all other members, or only those never met, concurrently, so that an unresponsive one delays none of
// the others.
func (n *Node) introduce(servers []raft.Server, all bool) {
	var dialing sync.WaitGroup
	defer dialing.Wait()
	for _, s := range servers {
		if s.ID == n.id || n.cfg.DataDir.hasMet(string(s.ID)) && !all {
			continue
		}
		dialing.Go(func() {
			conn, err := n.layer.Dial(peer.Target(s.ID, s.Address), transportTimeout)
			if err == nil {
				conn.Close()
			}
			n.heard(s.ID, err)
		})
	}
}
