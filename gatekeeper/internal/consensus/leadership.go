package consensus

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// epoch is one leadership of this server.
type epoch struct {
	term uint64
	over chan struct{} // closed when it is over

	mu      sync.Mutex // guards what follows
	pending map[*Pending]struct{}
	ended   bool
	toVote  map[raft.ServerID]bool // non-voters to be made voters
}

func newEpoch(term uint64) *epoch {
	return &epoch{
		term:    term,
		over:    make(chan struct{}),
		pending: make(map[*Pending]struct{}),
		toVote:  make(map[raft.ServerID]bool),
	}
}

// track says that p ends with the epoch; false when the epoch is over.
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

func (e *epoch) wantVoter(id raft.ServerID, want bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.toVote[id] = want
}

func (e *epoch) wantsVoter(id raft.ServerID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.toVote[id]
}

// end closes over and ends what is pending, as unknown.
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

// Lead sets what is called for this server's leaderships. Call it once; until then there are none.
func (n *Node) Lead(l Leading) {
	n.wg.Go(func() { watchLeadership(n.life, n.raft, n.epochs, n.endEpoch) })
	n.wg.Go(func() { n.promote(l) })
}

// leaderSource is what the watcher needs of Raft.
type leaderSource interface {
	CurrentTerm() uint64
	State() raft.RaftState
	LeaderCh() <-chan bool
}

// leads returns the term and whether this server leads in it, as Raft says.
func leads(r leaderSource) (term uint64, leads bool) {
	for {
		term = r.CurrentTerm()
		leads = r.State() == raft.Leader
		if r.CurrentTerm() == term {
			return term, leads
		}
	}
}

// watchLeadership turns what Raft says into epochs. The newest one that nobody has taken yet is in epochs, which is
// closed when ctx ends. Raft's channel keeps only the newest value, so a leadership that was lost and regained looks
// like one that goes on: the term shows it.
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
			case <-epochs: // it ended before anybody took it
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
	e.end() // first: who publishes it now sees that it is over
	n.epoch.CompareAndSwap(e, nil)
	signal(n.confirmer.woken) // so that nobody waits for a leadership that is over
}

// promote promotes and demotes, one epoch after the other.
func (n *Node) promote(l Leading) {
	for e := range n.epochs {
		if !n.settled(e) {
			continue
		}
		n.cfg.Logger.Info("leading", "term", e.term)
		l.Promote(e.term, e.over)
		n.promoted.Store(e.term)
		n.tend(e)
		<-e.over
		n.promoted.Store(0)
		l.Demote(e.term)
		n.cfg.Logger.Info("no longer leading", "term", e.term)
	}
}

// settled waits until everything that was committed before the epoch is applied here, and publishes the epoch; false
// when it ended first.
func (n *Node) settled(e *epoch) bool {
	for {
		select {
		case <-e.over:
			return false
		case err := <-n.await(n.raft.Barrier(n.enqueueTimeout())):
			n.transfers.saw(err)
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
			n.cfg.Logger.Debug("the barrier of a new leadership failed", "term", e.term, "error", err)
		}
		// Still the leader by what the watcher knows: refused for a transfer, or too busy. Or it learns the end in a
		// moment.
		select {
		case <-e.over:
			return false
		case <-time.After(n.cfg.Timeouts.Heartbeat / 10):
		}
	}
}

// await returns where the future's error will be, if it ever comes: a future that was on its way to the state machine
// when Raft shut down is never answered. Nobody may wait for one without another way out.
func (n *Node) await(f raft.Future) <-chan error {
	c := make(chan error, 1)
	if !n.futures.TryGo(func() { c <- f.Error() }) {
		c <- ErrClosed
	}
	return c
}

// within waits for the future, for ctx and for the node's end.
func (n *Node) within(ctx context.Context, f raft.Future) error {
	select {
	case err := <-n.await(f):
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-n.life.Done():
		return ErrClosed
	}
}
