package consensus

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// leadership is what Confirm needs of Raft.
type leadership interface {
	CurrentTerm() uint64
	State() raft.RaftState
	GetConfiguration() raft.ConfigurationFuture
	VerifyLeader() raft.Future
}

// confirmer answers Confirm for all callers with as few rounds of heartbeats as possible. See the package's
// documentation for what it proves.
type confirmer struct {
	raft    leadership
	self    raft.ServerID
	answers *answers
	again   time.Duration // after how long without a majority a round is started again
	bound   time.Duration // how long a caller waits at most
	rounds  func()        // counts
	// spawn runs what waits for Raft on a separate goroutine; false when this server closes.
	spawn func(func()) bool

	woken chan struct{} // holds a token when a caller came that no round under way sees to, or a leadership ended

	begun    uint64        // rounds that Raft was asked for; run's alone
	answered atomic.Uint64 // the latest of them that Raft is known to be done with

	// proven is the latest that was found for waiters. What was proven once stays true.
	proven atomic.Pointer[proof]

	mu      sync.Mutex // guards what follows
	waiters []*waiter
	// asked: a round is under way for some of the waiters. A waiter that comes now is considered when the round is
	// answered or times out.
	asked  bool
	closed bool
}

// proof says that this server led in term at or after latest, and whether it is the only voter.
type proof struct {
	term   uint64
	latest time.Time
	alone  bool
}

type waiter struct {
	term uint64
	t    time.Time
	late time.Time   // when it gets errNoAnswer; zero: its context has a deadline
	tell func(error) // must not block
}

var (
	errTermOver = errors.New("the leadership is over, or not yet begun")
	errNoAnswer = errors.New("no majority of the voters answered in time")
)

// newConfirmer returns a confirmer for a leader with the given lease. A round that finds no majority is started again
// as often as Raft sends heartbeats anyway.
func newConfirmer(r leadership, self raft.ServerID, a *answers, lease time.Duration, rounds func(), spawn func(func()) bool) *confirmer {
	return &confirmer{raft: r, self: self, answers: a, again: lease / 10, bound: 2 * lease, rounds: rounds, spawn: spawn,
		woken: make(chan struct{}, 1)}
}

// confirm returns nil when this server still led in term at or after t.
func (c *confirmer) confirm(ctx context.Context, term uint64, t time.Time) error {
	if c.already(term, t) {
		return nil
	}
	done := make(chan error, 1)
	w := &waiter{term: term, t: t, tell: func(err error) { done <- err }}
	if !c.add(w) {
		return ErrClosed
	}
	late := time.NewTimer(c.bound)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		c.remove(w)
		return errNoAnswer
	case <-ctx.Done():
		c.remove(w)
		return ctx.Err()
	}
}

// later reports what confirm would return, immediately or on the confirmer's goroutine.
func (c *confirmer) later(term uint64, t time.Time, tell func(error)) {
	if c.already(term, t) {
		tell(nil)
		return
	}
	if !c.add(&waiter{term: term, t: t, late: time.Now().Add(c.bound), tell: tell}) {
		tell(ErrClosed)
	}
}

// already says whether what is known proves it. Answers that came before anybody waited are seldom late enough, so that
// is not looked into; a lone voter needs none.
func (c *confirmer) already(term uint64, t time.Time) bool {
	p := c.proven.Load()
	if p == nil || p.term != term {
		return false
	}
	if !t.After(p.latest) {
		return true
	}
	if !p.alone {
		return false
	}
	covered, leads, _ := c.covered(term)
	return leads && !t.After(covered)
}

// covered returns the latest time t for which a majority of voters is known to have been ours in term at or after t,
// whether this server leads in term, and whether it is the only voter. It is where the proof is made.
func (c *confirmer) covered(term uint64) (latest time.Time, leads, alone bool) {
	// Self counts for this moment, if what is read after it says so. No answer's time is later than the reading of the
	// answers, which may be old: time moves on only towards safety. Configuration and term are read last, so that they
	// are read at or after the result.
	now := time.Now()
	configuration := c.raft.GetConfiguration().Configuration()
	if c.raft.CurrentTerm() != term || c.raft.State() != raft.Leader || c.raft.CurrentTerm() != term {
		return time.Time{}, false, false
	}
	var room [9]time.Time // on the stack: this is done for every refresh and denial, and nearly nobody has more voters
	times := room[:0]
	for _, server := range configuration.Servers {
		switch {
		case server.Suffrage != raft.Voter:
		case server.ID == c.self:
			times, alone = append(times, now), true
		default:
			times = append(times, c.answers.in(term, server.ID).sent)
		}
	}
	if len(times) == 0 {
		return time.Time{}, true, false
	}
	slices.SortFunc(times, func(a, b time.Time) int { return b.Compare(a) })
	latest = times[len(times)/2] // as many as a majority are not earlier
	if latest.After(now) {
		latest = now
	}
	return latest, true, alone && len(times) == 1
}

// run serves the callers that wait, until ctx ends.
func (c *confirmer) run(ctx context.Context) {
	defer c.close()
	timer := time.NewTimer(c.again)
	defer timer.Stop()
	var kicked time.Time // when the round under way was started; zero: none is
	for {
		// A round asks every peer once more. A caller whose t is later than a round's start waits for the next one, or
		// for answers that are late enough for other reasons: nobody is satisfied by anything sent before its own t.
		answered, next := c.settle(kicked)
		for _, of := range answered {
			of.tell(of.err)
		}
		if next {
			runtime.Gosched() // those who are about to come take part in it
			kicked = time.Now()
			c.ask()
			timer.Reset(c.again)
		}
		select {
		case <-c.woken:
		case <-c.answers.changed:
		case <-timer.C:
			kicked = time.Time{}
		case <-ctx.Done():
			return
		}
	}
}

// mostRounds is how many rounds Raft is asked for at most that it is not done with; each probeEvery-th is watched to
// know that. Raft has room for 64 (v1.8.0), which its main loop empties. While that waits for this server's own disk
// rounds stay there, and after it those that were answered come once more, beside new ones. With no room left
// VerifyLeader would not return, and the heartbeats would end.
const (
	mostRounds = 24
	probeEvery = 8
)

// ask has Raft send a round of heartbeats, unless it has enough to do: then those that it sends anyway settle who
// waits. What a round's future says is not worth hearing, only that it is answered. A few never are, as when the
// members change meanwhile; then the next watched one shows it.
func (c *confirmer) ask() {
	if c.begun-c.answered.Load() >= mostRounds {
		return
	}
	round := c.raft.VerifyLeader()
	c.begun++
	c.rounds()
	if count := c.begun; count%probeEvery == 0 {
		c.spawn(func() {
			_ = round.Error()
			for have := c.answered.Load(); have < count && !c.answered.CompareAndSwap(have, count); {
				have = c.answered.Load()
			}
		})
	}
}

// verdict is what a waiter is verdict.
type verdict struct {
	*waiter
	err error
}

// settle takes out the waiters that can be answered, and says whether others need a new round.
func (c *confirmer) settle(kicked time.Time) (answered []verdict, next bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiters) == 0 {
		c.asked = false
		return nil, false
	}
	now := time.Now()
	term := c.raft.CurrentTerm()
	covered, leads, alone := c.covered(term)
	if leads {
		c.proven.Store(&proof{term: term, latest: covered, alone: alone})
	}
	left := c.waiters[:0]
	for _, w := range c.waiters {
		switch {
		case w.term != term || !leads:
			answered = append(answered, verdict{w, errTermOver})
		case !w.t.After(covered):
			answered = append(answered, verdict{w, nil})
		case !w.late.IsZero() && !now.Before(w.late):
			answered = append(answered, verdict{w, errNoAnswer})
		default:
			left = append(left, w)
		}
	}
	clear(c.waiters[len(left):])
	c.waiters, c.asked = left, len(left) > 0
	return answered, len(left) > 0 && !kicked.After(covered)
}

// add makes the goroutine of run see to w; false when there is none any more.
func (c *confirmer) add(w *waiter) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.waiters = append(c.waiters, w)
	if !c.asked {
		signal(c.woken)
	}
	return true
}

func (c *confirmer) remove(w *waiter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.waiters, w); i >= 0 {
		c.waiters = slices.Delete(c.waiters, i, i+1)
	}
}

func (c *confirmer) close() {
	c.mu.Lock()
	c.closed = true
	left := c.waiters
	c.waiters = nil
	c.mu.Unlock()
	for _, w := range left {
		w.tell(ErrClosed)
	}
}

// Confirm returns nil if this server led in term at or after t, which the caller read on this server after it had
// received what it wants to answer. Before the promotion of term, after its end, and when a majority of the voters does
// not answer within twice the lease or before ctx ends, it returns ErrNotConfirmed, wrapped. Any number of callers
// share a round of heartbeats.
func (n *Node) Confirm(ctx context.Context, term uint64, t time.Time) error {
	err := n.leadsIn(term)
	if err == nil {
		err = n.confirmer.confirm(ctx, term, t)
	}
	return n.confirmed(term, err)
}

// ConfirmLater reports what Confirm would return, before it returns itself or on another goroutine, which tell must not
// hold up. It is for those who would else keep a goroutine waiting, and has no end but a little more than twice the
// lease.
func (n *Node) ConfirmLater(term uint64, t time.Time, tell func(error)) {
	err := n.leadsIn(term)
	if err != nil {
		tell(n.confirmed(term, err))
		return
	}
	n.confirmer.later(term, t, func(err error) { tell(n.confirmed(term, err)) })
}

func (n *Node) leadsIn(term uint64) error {
	if e := n.epoch.Load(); e == nil || e.term != term {
		return errTermOver
	}
	return nil
}

// confirmed is what Confirm returns when its question was answered with err.
func (n *Node) confirmed(term uint64, err error) error {
	if err == nil && n.guard.Err() != nil {
		err = ErrClosed
	}
	if err == nil {
		return nil
	}
	n.metrics.unconfirmed.Inc()
	return fmt.Errorf("%w for term %d: %w", ErrNotConfirmed, term, err)
}
