package consensus

import (
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

// ClusterID returns the id of the cluster.
func (n *Node) ClusterID() ClusterID { return n.cfg.DataDir.ClusterID() }

// Name returns a globally unique name for this server, made of the cluster's id, the member's id, and the number of its
// data directory. Only the number distinguishes two clusters that were created with the same names.
func (n *Node) Name() string { return n.cfg.DataDir.memberName(n.ID()) }

// ID returns this member's id.
func (n *Node) ID() string { return string(n.id) }

// PeerAddress returns this member's advertised peer address.
func (n *Node) PeerAddress() string { return string(n.address) }

// Role is a member's role in Raft.
type Role uint8

const (
	NoRole Role = iota // the member is stopping
	RoleFollower
	RoleCandidate
	RoleLeader
)

// String returns the role as a single word.
func (r Role) String() string {
	switch r {
	case RoleFollower:
		return "follower"
	case RoleCandidate:
		return "candidate"
	case RoleLeader:
		return "leader"
	default:
		return "stopping"
	}
}

// Role returns this member's role in Raft.
func (n *Node) Role() Role {
	switch n.raft.State() {
	case raft.Follower:
		return RoleFollower
	case raft.Candidate:
		return RoleCandidate
	case raft.Leader:
		return RoleLeader
	default:
		return NoRole
	}
}

// Term returns Raft's current term.
func (n *Node) Term() uint64 { return n.raft.CurrentTerm() }

// CommitIndex returns the highest index that this member knows to be committed and has on its disk.
func (n *Node) CommitIndex() uint64 { return n.onDisk(n.raft.CommitIndex()) }

// AppliedIndex returns the highest index handed to the state machine, which may not have applied it yet. Entries that
// are not commands never reach the machine, so do not wait for the machine's own index to reach this one.
func (n *Node) AppliedIndex() uint64 { return n.onDisk(n.raft.AppliedIndex()) }

// onDisk caps an index reported by Raft at the last entry on this member's disk.
func (n *Node) onDisk(index uint64) uint64 { return min(index, n.stores.queue.Durable()) }

// Leader returns the current leader, as far as this member knows.
func (n *Node) Leader() Leader {
	address, id := n.raft.LeaderWithID()
	if id == "" {
		return Leader{}
	}
	return Leader{
		ID:          string(id),
		PeerAddress: string(address),
		APIAddress:  n.apiAddressOf(string(id)),
		Name:        n.cfg.DataDir.memberName(string(id)),
		Term:        n.raft.CurrentTerm(),
	}
}

// Members returns the members in this server's latest Raft configuration, which may not be committed yet.
func (n *Node) Members() ([]Member, error) {
	servers, err := n.servers()
	if err != nil {
		return nil, err
	}
	return n.members(servers), nil
}

func (n *Node) members(servers []raft.Server) []Member {
	_, leader := n.raft.LeaderWithID()
	members := make([]Member, len(servers))
	for i, s := range servers {
		members[i] = Member{
			ID:          string(s.ID),
			PeerAddress: string(s.Address),
			APIAddress:  n.apiAddressOf(string(s.ID)),
			Name:        n.cfg.DataDir.memberName(string(s.ID)),
			Voter:       s.Suffrage == raft.Voter,
			Leader:      s.ID == leader,
		}
	}
	return members
}

// Ready returns nil if this member can serve. A leader can serve once Promote has returned. Any other member must be in
// contact with a leader and must have passed to the state machine all entries that it knows to be committed. Membership
// is recorded in the log, so a joiner is not ready until it has all entries that were committed before it joined.
func (n *Node) Ready() error {
	if n.ctx.Err() != nil {
		return errors.Join(ErrClosed, n.guard.Err())
	}
	if term, leads := leads(n.raft); leads {
		if n.promoted.Load() != term {
			return errors.New("consensus: elected, but still applying the entries that were committed in earlier terms")
		}
		return nil
	}
	servers, err := n.servers()
	if err != nil {
		return err
	}
	if find(servers, n.id) == nil {
		return errors.New("consensus: not yet a member, or no longer one")
	}
	if n.Leader().ID == "" {
		return errors.New("consensus: no known leader")
	}
	if silent := time.Since(n.raft.LastContact()); silent > n.cfg.Timeouts.Election {
		return fmt.Errorf("consensus: the last contact with the leader was %v ago", silent.Round(time.Millisecond))
	}
	if applied, committed := n.AppliedIndex(), n.CommitIndex(); applied < committed {
		return fmt.Errorf("consensus: applied up to entry %d of %d", applied, committed)
	}
	return nil
}

func (n *Node) servers() ([]raft.Server, error) {
	f := n.raft.GetConfiguration()
	if err := f.Error(); err != nil {
		return nil, fmt.Errorf("consensus: members: %w", err)
	}
	return f.Configuration().Servers, nil
}

func (n *Node) apiAddressOf(id string) string {
	if id == string(n.id) {
		return n.cfg.APIAddress
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.apiAddress[id]
}

func find(servers []raft.Server, id raft.ServerID) *raft.Server {
	for i := range servers {
		if servers[i].ID == id {
			return &servers[i]
		}
	}
	return nil
}
