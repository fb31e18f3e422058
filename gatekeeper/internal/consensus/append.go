package consensus

import (
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// Append proposes an entry. It has been handed to Raft, or certainly not, when Append returns; that can take as long as
// the heartbeat timeout while this server's disk is busy. What becomes of it is in the Pending, which ends in any case:
// with the leadership or the server, as unknown.
//
// An entry can be appended in a later term than the one in which it was proposed.
func (n *Node) Append(entry []byte) *Pending {
	p, end := NewPending()
	e := n.epoch.Load()
	if e == nil || !e.track(p) {
		end(notAppended(n.notLeader()))
		return p
	}
	f := n.raft.Apply(entry, n.enqueueTimeout())
	if !n.futures.TryGo(func() {
		err := f.Error()
		n.transfers.saw(err)
		e.forget(p)
		if err != nil {
			end(n.failed(err))
			return
		}
		results, _ := f.Response().([]fsm.Result)
		end(Appended{Results: results, Index: f.Index()})
	}) {
		end(unknown(ErrClosed))
	}
	return p
}

// failed says what an error of Raft means for an entry. Three of them are certain; Raft gives them only before it
// appends.
func (n *Node) failed(err error) Appended {
	switch {
	case errors.Is(err, raft.ErrNotLeader):
		return notAppended(n.notLeader())
	case errors.Is(err, raft.ErrEnqueueTimeout), errors.Is(err, raft.ErrLeadershipTransferInProgress):
		return notAppended(err)
	default:
		return unknown(err)
	}
}

func notAppended(why error) Appended {
	return Appended{Err: fmt.Errorf("%w: %w", ErrNotAppended, why)}
}

func unknown(why error) Appended {
	return Appended{Err: fmt.Errorf("%w: %w", ErrUnknownOutcome, why)}
}

// notLeader names who leads, or says that this server is closed.
func (n *Node) notLeader() error {
	if n.life.Err() != nil {
		return ErrClosed
	}
	leader := n.Leader()
	if leader.ID == string(n.id) {
		leader = Leader{} // not promoted yet, or no longer
	}
	return &NotLeaderError{Leader: leader}
}

// enqueueTimeout bounds the wait for Raft's main loop, not that for the answer.
func (n *Node) enqueueTimeout() time.Duration { return n.cfg.Timeouts.Heartbeat }
