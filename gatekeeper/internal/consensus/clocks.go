package consensus

import (
	"time"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/peer"
)

// sample is what the wall clock of a member showed.
type sample struct {
	ahead time.Duration
	at    time.Time
}

// MemberClock is a member's wall clock, compared with that of the member that asked.
type MemberClock struct {
	ID    string
	Voter bool
	// Ahead is negative when the clock is behind. It is right to half the time that the member took to answer.
	Ahead time.Duration
}

// noteClock remembers what a member that was dialed said of its clock. Only ids of members come here.
func (n *Node) noteClock(s peer.Statement) {
	if s.Ahead == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clocks[s.ID] = sample{*s.Ahead, time.Now()}
}

// Clocks asks every other member what its wall clock shows, and returns those that answered and this member's own.
// members is how many there are. It takes as long as the slowest answer, 2 s at most.
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
