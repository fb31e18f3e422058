package consensus

import (
	"time"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/peer"
)

// sample is one reading of a member's wall clock.
type sample struct {
	ahead time.Duration
	at    time.Time
}

// MemberClock compares a member's wall clock with the clock of the member that called Clocks.
type MemberClock struct {
	ID    string
	Voter bool
	// Ahead is negative when the clock is behind. It is accurate to within half the time that the member took to
	// respond.
	Ahead time.Duration
}

// noteClock records the clock reading of a member that was dialed. The caller must have checked that the statement
// comes from a member.
func (n *Node) noteClock(s peer.Statement) {
	if s.Ahead == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clocks[s.ID] = sample{*s.Ahead, time.Now()}
}

// Clocks reads the wall clocks of all other members. It returns this member's clock and the clocks of the members that
// responded, and the number of members in the cluster. It takes as long as the slowest response, at most 2 s.
func (n *Node) Clocks() (clocks []MemberClock, members int, err error) {
	servers, err := n.servers()
	if err != nil {
		return nil, 0, err
	}
	start := time.Now()
	if n.layer != nil {
		n.introduce(servers, true)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range servers {
		c, ok := n.clocks[string(s.ID)]
		if s.ID == n.id {
			c, ok = sample{at: start}, true
		}
		if ok && !c.at.Before(start) {
			clocks = append(clocks, MemberClock{ID: string(s.ID), Voter: s.Suffrage == raft.Voter, Ahead: c.ahead})
		}
	}
	return clocks, len(servers), nil
}
