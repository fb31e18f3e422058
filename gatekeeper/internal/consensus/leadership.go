package consensus

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// epoch is a term in which this server leads.
type epoch struct {
	term uint64
	over chan struct{} // closed when the epoch ends

	mu         sync.Mutex // guards the fields below
	pending    map[*Pending]struct{}
	ended      bool
	promotions map[raft.ServerID]bool // non-voters to promote to voters
}

func newEpoch(term uint64) *epoch {
	return &epoch{
		term:       term,
		over:       make(chan struct{}),
		pending:    make(map[*Pending]struct{}),
		promotions: make(map[raft.ServerID]bool),
	}
}

// track makes p complete when the epoch ends. It returns false if the epoch has ended.
func (e *epoch) track(p *Pending) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return false
	}
	e.pending[p] = struct{}{}
	return true
}

func (e *epoch) forget(p *Pending) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.pending, p)
}

func (e *epoch) setPromotion(id raft.ServerID, want bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.promotions[id] = want
}

func (e *epoch) shouldPromote(id raft.ServerID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.promotions[id]
}

// end closes e.over and completes the pending entries with an unknown outcome.
func (e *epoch) end() {
	e.mu.Lock()
	pending := e.pending
	e.pending, e.ended = nil, true
	e.mu.Unlock()
	close(e.over)
	for p := range pending {
		p.end(unknown(errTermOver))
	}
}

// ObserveLeadership sets the LeadershipObserver that is notified when this server starts and stops leading. It must be
// called exactly once. Until then, leadership is ignored.
func (n *Node) ObserveLeadership(l LeadershipObserver) {
	n.wg.Go(func() { watchLeadership(n.ctx, n.raft, n.epochs, n.endEpoch) })
	n.wg.Go(func() { n.promote(l) })
}

// leaderSource is the part of Raft that the watcher uses.
type leaderSource interface {
	CurrentTerm() uint64
	State() raft.RaftState
	LeaderCh() <-chan bool
}

// leads returns Raft's current term and whether this server leads in it.
func leads(r leaderSource) (term uint64, leads bool) {
	for {
		term = r.CurrentTerm()
		leads = r.State() == raft.Leader
		if r.CurrentTerm() == term {
			return term, leads
		}
	}
}

// watchLeadership converts Raft's notifications into epochs. It puts the newest epoch into epochs, replacing one that
// has not been received yet, and closes epochs when ctx ends. Raft's channel keeps only its newest value, so leadership
// that was lost and regained looks uninterrupted. A changed term reveals the loss.
func watchLeadership(ctx context.Context, r leaderSource, epochs chan *epoch, end func(*epoch)) {
	var current *epoch
	defer func() {
		if current != nil {
			end(current)
		}
		close(epochs)
	}()
	for {
		term, leads := leads(r)
		if current != nil && (!leads || current.term != term) {
			end(current)
			current = nil
		}
		if current == nil && leads {
			current = newEpoch(term)
			select {
			case <-epochs: // it ended before promote received it
			default:
			}
			epochs <- current
		}
		select {
		case <-r.LeaderCh():
		case <-ctx.Done():
			return
		}
	}
}

func (n *Node) endEpoch(e *epoch) {
	e.end() // must come first, so that a goroutine concurrently publishing e sees that it has ended
	n.epoch.CompareAndSwap(e, nil)
	signal(n.confirmer.wake) // so that no caller keeps waiting after leadership is lost
}

// promote calls Promote and Demote for one epoch after another.
func (n *Node) promote(l LeadershipObserver) {
	for e := range n.epochs {
		if !n.publishEpoch(e) {
			continue
		}
		n.cfg.Logger.Info("leading", "term", e.term)
		l.Promote(e.term, e.over)
		n.promoted.Store(e.term)
		n.maintainMembers(e)
		<-e.over
		n.promoted.Store(0)
		l.Demote(e.term)
		n.cfg.Logger.Info("no longer leading", "term", e.term)
	}
}

// publishEpoch waits until everything committed before the epoch has been applied here, and publishes the epoch. It
// returns false if the epoch ended first.
func (n *Node) publishEpoch(e *epoch) bool {
	for {
		select {
		case <-e.over:
			return false
		case err := <-n.await(n.raft.Barrier(n.enqueueTimeout())):
			n.transfers.observe(err)
			term, leads := leads(n.raft)
			if err == nil && leads && term == e.term {
				n.epoch.Store(e)
				select {
				case <-e.over: // ended before it was published
					n.epoch.CompareAndSwap(e, nil)
					return false
				default:
					return true
				}
			}
			n.cfg.Logger.Debug("the post-election barrier failed", "term", e.term, "error", err)
		}
		// As far as the watcher knows, this server still leads. The barrier was refused because of a leadership
		// transfer, or Raft is too busy, or the watcher is about to see that leadership was lost.
		select {
		case <-e.over:
			return false
		case <-time.After(n.cfg.Timeouts.Heartbeat / 10):
		}
	}
}

// await returns a channel for the future's result. The result may never arrive: a future that was in flight to the
// state machine when Raft shut down never completes. Callers must have another way to stop waiting.
func (n *Node) await(f raft.Future) <-chan error {
	c := make(chan error, 1)
	if !n.futures.TryGo(func() { c <- f.Error() }) {
		c <- ErrClosed
	}
	return c
}

// waitFuture waits for the future until ctx is done or the node stops.
func (n *Node) waitFuture(ctx context.Context, f raft.Future) error {
	select {
	case err := <-n.await(f):
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-n.ctx.Done():
		return ErrClosed
	}
}
