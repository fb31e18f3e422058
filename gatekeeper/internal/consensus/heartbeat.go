package consensus

import (
	"time"

	"github.com/hashicorp/raft"
)

// A leader that hears from no majority for as long as its lease steps down, and Confirm waits for the answers of a
// majority. If those came from Raft's main loop they would wait for the disk: the main loop stores entries itself. With
// followers whose disks stall for as long as the lease nobody would lead, though nobody is missing, and each refresh
// and each denial would wait for the sync of somebody else's grant.
//
// Raft's own way around its main loop changes the term and the state beside it, and logs can diverge (hashicorp/raft
// issue 695, open in v1.8.0). This one changes nothing. See "Heartbeats" in the package's documentation for why such an
// answer may count.

// recent is the part of the heartbeat timeout for which Raft's main loop is not notified of a leader again. It is a
// fraction of the time between two heartbeats, so that what silence is reckoned by hardly moves.
func recent(heartbeat time.Duration) time.Duration { return heartbeat / 50 }

// heartbeat answers the leader that this member follows, at once; everybody else is left to Raft's main loop. After a
// fault nobody gets an answer but an error. The transport calls it, on the goroutine of the connection.
func (i *incoming) heartbeat(rpc raft.RPC) {
	select {
	case <-i.failed:
		rpc.Respond(nil, errFaulty)
		return
	default:
	}
	req, ok := rpc.Command.(*raft.AppendEntriesRequest)
	if !ok || !i.follows(req) {
		if !i.pass(rpc) {
			rpc.Respond(nil, raft.ErrTransportShutdown)
		}
		return
	}
	rpc.Respond(&raft.AppendEntriesResponse{RPCHeader: i.header, Term: req.Term, LastLog: i.raft.LastIndex(), Success: true}, nil)
	if time.Since(i.raft.LastContact()) < i.recent {
		return
	}
	// Raft has to hear of its leader too, or it would stand for election. One that waits to be heard is enough.
	select {
	case i.heard <- raft.RPC{Command: req, RespChan: make(chan raft.RPCResponse, 1)}:
	default:
	}
}

// follows says whether this member follows the one who sent req, in the term in which it was sent. The term is read
// last: that it is still this one when the question is here is what the answer says.
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

// tell has Raft's main loop hear of the leader, when it has time.
func (i *incoming) tell() {
	for {
		select {
		case rpc := <-i.heard:
			if !i.pass(rpc) {
				return
			}
		case <-i.done:
			return
		}
	}
}
