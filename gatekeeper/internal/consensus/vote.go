package consensus

import (
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/raft"
)

// A follower of Raft (v1.8.0) refuses every vote for as long as it believes in its leader, and it looks whether it
// still should only once in one to two heartbeat timeouts. So the last of a majority to look decides when a dead leader
// is replaced. Here a follower that is asked for its vote looks at once, and the first one decides.
//
// What a pre-vote says is bound to nothing. A vote is still Raft's to give, by term, log and what it has voted before;
// only the belief in a leader is passed over, which keeps no promise of Raft or of Gatekeeper: nothing is answered
// because of a lease, Confirm asks a majority. It keeps a member who alone does not hear the leader from being elected,
// and so it does here, for then the others hear it.

// silence is the part of the heartbeat timeout after which a follower that is asked takes the leader for gone. The one
// who asks has heard nothing for all of it, and a leader speaks to one up to two tenths of it later than to another.
func silence(heartbeat time.Duration) time.Duration { return heartbeat * 3 / 4 }

// preVote answers a pre-vote that Raft would refuse only because of a leader who is gone; false leaves it to Raft.
func (i *incoming) preVote(rpc raft.RPC) bool {
	req, ok := rpc.Command.(*raft.RequestPreVoteRequest)
	if !ok || !i.leaderless() || req.Term <= i.raft.CurrentTerm() || !i.votes(raft.ServerID(req.ID)) || !i.upToDate(req.LastLogTerm, req.LastLogIndex) {
		return false
	}
	rpc.Respond(&raft.RequestPreVoteResponse{RPCHeader: i.header, Term: req.Term, Granted: true}, nil)
	return true
}

// vote prepares a request for a vote for Raft, and answers one that names no member; true says that it was answered.
//
// Raft (v1.8.0) remembers its vote by the candidate's address. Two members that advertise one address, by a copied unit
// file for example, would both get this member's vote in one term, the second one whatever its log holds. So Raft sees
// the candidate's id in the place of its address. The vote that a member gives to itself is stored under its address,
// which no such name equals.
func (i *incoming) vote(rpc *raft.RPC) (answered bool) {
	asked, ok := rpc.Command.(*raft.RequestVoteRequest)
	if !ok {
		return false
	}
	if len(asked.ID) == 0 {
		rpc.Respond(&raft.RequestVoteResponse{RPCHeader: i.header}, nil)
		return true
	}
	req := *asked
	// To a voter LeadershipTransfer means only that it does not insist on its leader.
	req.LeadershipTransfer = req.LeadershipTransfer || i.leaderless() || i.isLeader(req.ID)
	req.Addr = []byte("member " + string(req.ID))
	rpc.Command = &req
	return false
}

// isLeader reports whether this member follows the member with that id. Raft lets its leader stand again, and knows it
// by its address.
func (i *incoming) isLeader(id []byte) bool {
	if !i.runs() {
		return false
	}
	_, leader := i.raft.LeaderWithID()
	return leader != "" && string(leader) == string(id)
}

// leaderless reports whether this member follows, and has not heard of its leader for long. What the leader sent before
// the question counts, but for a fiftieth of the heartbeat timeout.
func (i *incoming) leaderless() bool {
	return i.idle() && i.raft.State() == raft.Follower && time.Since(i.raft.LastContact()) >= i.silence
}

func (i *incoming) votes(id raft.ServerID) bool {
	return slices.ContainsFunc(i.raft.GetConfiguration().Configuration().Servers, func(s raft.Server) bool {
		return s.ID == id && s.Suffrage == raft.Voter
	})
}

// upToDate reports whether a log which ends so is not behind that of this member.
func (i *incoming) upToDate(term, index uint64) bool {
	stats := i.raft.Stats()
	for _, of := range []string{"log", "snapshot"} {
		lastTerm, err1 := strconv.ParseUint(stats["last_"+of+"_term"], 10, 64)
		lastIndex, err2 := strconv.ParseUint(stats["last_"+of+"_index"], 10, 64)
		if err1 != nil || err2 != nil || term < lastTerm || term == lastTerm && index < lastIndex {
			return false
		}
	}
	return true
}
