package consensus

import (
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/peer"
)

// acquaint meets every other member once, so that each knows the data folders of all: Raft alone connects a follower to
// another only when one of them asks for votes, and then a member that has lost its data would pass for the one that it
// was. It meets them again while this member hears of no leader, when the members change, and when somebody connects
// and states what is not known yet: only what a member answers at its own address is believed.
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
		select { // anybody can have it ask, but not in a tight loop
		case <-time.After(n.cfg.Timeouts.Heartbeat / 8):
		case <-n.life.Done():
			return
		}
	}
}

// introduce dials all other members, or those that were never met, at once: one that does not answer delays none of
// them.
func (n *Node) introduce(servers []raft.Server, all bool) {
	var dialing sync.WaitGroup
	defer dialing.Wait()
	for _, s := range servers {
		if s.ID == n.id || n.cfg.Folder.hasMet(string(s.ID)) && !all {
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
