package consensus

import (
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// Append proposes an entry. By the time it returns, the entry either has been handed to Raft or definitely never will
// be. While this server's disk is busy, Append can block for as long as the heartbeat timeout. The Pending reports the
// outcome. It always completes. If leadership is lost or the server stops first, it completes with an unknown outcome.
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
		a, err := n.outcome(f)
		n.transfers.observe(err)
		e.forget(p)
		end(a)
	}) {
		end(unknown(ErrClosed))
	}
	return p
}

var errNotApplied = errors.New("consensus: this member stopped before it applied the entry")

// outcome waits for an entry's outcome, and also returns the future's error. Raft returns neither an error nor a result
// if the state machine's goroutine exits while waiting for the disk, or after the machine has failed.
func (n *Node) outcome(f raft.ApplyFuture) (Appended, error) {
	if err := f.Error(); err != nil {
		return n.failedOutcome(err), err
	}
	results, ok := f.Response().([]fsm.Result)
	if !ok {
		return unknown(errNotApplied), nil
	}
	return Appended{Results: results, Index: f.Index()}, nil
}

// failedOutcome translates an error from Raft into an entry's outcome. For three errors, the outcome is certain,
// because Raft returns them only before it appends the entry.
func (n *Node) failedOutcome(err error) Appended {
	switch {
	case errors.Is(err, raft.ErrNotLeader):
		return notAppended(n.notLeader())
	case errors.Is(err, raft.ErrEnqueueTimeout), errors.Is(err, raft.ErrLeadershipTransferInProgress):
		return notAppended(err)
	default:
		return unknown(err)
	}
}

func notAppended(cause error) Appended {
	return Appended{Err: fmt.Errorf("%w: %w", ErrNotAppended, cause)}
}

func unknown(cause error) Appended {
	return Appended{Err: fmt.Errorf("%w: %w", ErrUnknownOutcome, cause)}
}

// notLeader returns an error that names the leader, or ErrClosed if this server is closed.
func (n *Node) notLeader() error {
	if n.ctx.Err() != nil {
		return ErrClosed
	}
	leader := n.Leader()
	if leader.ID == string(n.id) {
		leader = Leader{} // not promoted yet, or no longer leading
	}
	return &NotLeaderError{Leader: leader}
}

// enqueueTimeout bounds the wait for Raft's main loop, not the wait for the result.
func (n *Node) enqueueTimeout() time.Duration { return n.cfg.Timeouts.Heartbeat }
