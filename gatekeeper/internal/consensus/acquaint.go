package consensus

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/peer"
)

// acquaint meets every other member once, so that each knows the data folders of all: Raft by itself connects a follower to
// another only when one of them asks for votes, and then a member that has lost its data would pass for the one that it
// was.
func (n *Node) acquaint(layer *peer.Layer) {
	ticker := time.NewTicker(n.cfg.Timeouts.Heartbeat)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-n.life.Done():
			return
		}
		servers, err := n.servers()
		if err != nil {
			continue
		}
		alone := n.leaderless()
		for _, s := range servers {
			if s.ID == n.id || n.cfg.Folder.hasMet(string(s.ID)) && !alone {
				continue
			}
			conn, err := layer.Dial(peer.Target(s.ID, s.Address), transportTimeout)
			if err == nil {
				conn.Close()
			}
			n.heard(s.ID, err)
		}
	}
}
