package consensus

import (
	"time"

	"github.com/hashicorp/raft"
)

// A leader that does not hear from a majority for the length of its lease steps down, and Confirm waits for responses
// from a majority. Responses from Raft's main loop would wait for the disk, because the main loop itself stores
// entries. If the followers' disks stalled for the length of the lease, the cluster would lose its leader even though
// no server was down, and every refresh and every denial would wait for the sync of an unrelated grant.
//
// Raft's own bypass changes the term and the state concurrently with the main loop, and logs can diverge
// (hashicorp/raft issue 695, open in v1.8.0). The bypass in this file changes nothing. "Heartbeats" in the package
// documentation explains why such a response may count.

// recentContact returns the time after contact with the leader during which Raft's main loop is not sent further
// heartbeats. This is much less than the interval between two heartbeats, so it hardly affects how silence is measured.
func recentContact(heartbeat time.Duration) time.Duration { return heartbeat / 50 }

// heartbeat immediately answers a heartbeat from the leader that this member follows, and leaves all others to Raft's
// main loop. After a fault, it responds with an error. The transport calls it on the connection's goroutine.
func (i *incoming) heartbeat(rpc raft.RPC) {
	select {
	case <-i.failed:
		rpc.Respond(nil, errFaulty)
		return
	default:
	}
	req, ok := rpc.Command.(*raft.AppendEntriesRequest)
	if !ok || !i.follows(req) {
		if err := i.forward(rpc); err != nil {
			rpc.Respond(nil, err)
		}
		return
	}
	rpc.Respond(&raft.AppendEntriesResponse{RPCHeader: i.header, Term: req.Term, LastLog: i.raft.LastIndex(), Success: true}, nil)
	if time.Since(i.raft.LastContact()) < i.recentContact {
		return
	}
	// Raft must hear from its leader too; otherwise, it would start an election. One queued heartbeat is enough.
	select {
	case i.answeredHeartbeats <- raft.RPC{Command: req, RespChan: make(chan raft.RPCResponse, 1)}:
	default:
	}
}

// follows reports whether this member follows the sender of req, in the term of req. The term is read last, because the
// response implies that the term was still the same after the request arrived.
func (i *incoming) follows(req *raft.AppendEntriesRequest) bool {
	select {
	case <-i.running:
	default:
		return false
	}
	_, leader := i.raft.LeaderWithID()
	return req.ProtocolVersion == raft.ProtocolVersionMax && i.raft.State() == raft.Follower &&
		leader != "" && string(leader) == string(req.ID) && i.raft.CurrentTerm() == req.Term
}

// forwardHeartbeats passes the queued heartbeats on to Raft's main loop when the loop is ready.
func (i *incoming) forwardHeartbeats() {
	for {
		select {
		case rpc := <-i.answeredHeartbeats:
			if i.forward(rpc) != nil {
				return
			}
		case <-i.done:
			return
		}
	}
}
