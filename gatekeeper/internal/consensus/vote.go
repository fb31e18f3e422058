package consensus

import (
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/raft"
)

// In Raft (v1.8.0), a follower refuses to vote while it considers its leader alive, and rechecks that only when its own
// timer fires. The slowest member of a majority therefore determines when a dead leader is replaced. Here, a follower
// also checks whenever its vote is requested, so a dead leader is replaced once the first member notices.
//
// A pre-vote does not commit a follower to anything. Raft still grants the votes, based on term, log and previous
// votes. Only Raft's check for a live leader is bypassed, and none of Raft's or Gatekeeper's guarantees depend on it:
// no response relies on a lease, and Confirm requires responses from a majority. The check is meant to keep a member
// from being elected if it alone has lost contact with the leader. Such a member is not elected here either, because
// the others are still in contact with the leader and refuse it their votes.

// silenceThreshold returns how long a leader must have been silent for a follower to consider it gone when a vote is
// requested. The candidate has heard nothing for the full timeout, and a leader may contact one member up to a fifth of
// the timeout later than another.
func silenceThreshold(heartbeat time.Duration) time.Duration { return heartbeat * 3 / 4 }

// preVote grants a pre-vote that Raft would refuse only because it has not yet noticed that the leader is gone. It
// returns false if Raft must respond.
func (i *incoming) preVote(rpc raft.RPC) bool {
	req, ok := rpc.Command.(*raft.RequestPreVoteRequest)
	if !ok || !i.leaderless() || req.Term <= i.raft.CurrentTerm() || !i.isVoter(raft.ServerID(req.ID)) || !i.upToDate(req.LastLogTerm, req.LastLogIndex) {
		return false
	}
	now := time.Now()
	i.preVoteGranted.Store(&now)
	rpc.Respond(&raft.RequestPreVoteResponse{RPCHeader: i.header, Term: req.Term, Granted: true}, nil)
	return true
}

// vote prepares a vote request for Raft. If the request has no member id, vote refuses it instead. It reports whether
// it has responded.
//
// Raft (v1.8.0) records its vote under the candidate's address. If two members advertise the same address, for example
// because of a copied unit file, both would receive this member's vote in the same term, the second regardless of its
// log. This function therefore replaces the candidate's address with its id. A member's vote for itself is stored under
// its real address, which never has that form.
func (i *incoming) vote(rpc *raft.RPC) (answered bool) {
	original, ok := rpc.Command.(*raft.RequestVoteRequest)
	if !ok {
		return false
	}
	if len(original.ID) == 0 {
		rpc.Respond(&raft.RequestVoteResponse{RPCHeader: i.header}, nil)
		return true
	}
	req := *original
	// For a voter, LeadershipTransfer only means that it may vote even though it has a leader.
	req.LeadershipTransfer = req.LeadershipTransfer || i.leaderless() || i.isLeader(req.ID)
	req.Addr = []byte("member " + string(req.ID))
	rpc.Command = &req
	return false
}

// isLeader reports whether this member follows the member with that id. Raft also accepts its current leader as a
// candidate, but recognizes it by address.
func (i *incoming) isLeader(id []byte) bool {
	if !i.waitRunning() {
		return false
	}
	_, leader := i.raft.LeaderWithID()
	return leader != "" && string(leader) == string(id)
}

// leaderless reports whether this member is a follower that has not heard from its leader for i.silenceThreshold.
// Contact is measured to within a fiftieth of the heartbeat timeout, and includes everything that the leader sent
// before the vote request.
func (i *incoming) leaderless() bool {
	return i.waitIdle() && i.raft.State() == raft.Follower && time.Since(i.raft.LastContact()) >= i.silenceThreshold
}

func (i *incoming) isVoter(id raft.ServerID) bool {
	return slices.ContainsFunc(i.raft.GetConfiguration().Configuration().Servers, func(s raft.Server) bool {
		return s.ID == id && s.Suffrage == raft.Voter
	})
}

// upToDate reports whether a log that ends at term and index is at least as up to date as this member's log.
func (i *incoming) upToDate(term, index uint64) bool {
	stats := i.raft.Stats()
	for _, kind := range []string{"log", "snapshot"} {
		lastTerm, err1 := strconv.ParseUint(stats["last_"+kind+"_term"], 10, 64)
		lastIndex, err2 := strconv.ParseUint(stats["last_"+kind+"_index"], 10, 64)
		if err1 != nil || err2 != nil || term < lastTerm || term == lastTerm && index < lastIndex {
			return false
		}
	}
	return true
}
