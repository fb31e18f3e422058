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

// leadership is the part of Raft that Confirm uses.
type leadership interface {
	CurrentTerm() uint64
	State() raft.RaftState
	GetConfiguration() raft.ConfigurationFuture
	VerifyLeader() raft.Future
}

// confirmer confirms leadership for all callers with as few rounds of heartbeats as possible. The package documentation
// explains what it proves.
type confirmer struct {
	raft       leadership
	self       raft.ServerID
	acks       *acks
	retryAfter time.Duration // how long to wait for a majority before starting another round
	timeout    time.Duration // maximum time that a caller waits
	rounds     func()        // counts started rounds
	// spawn runs a function that waits for Raft on a separate goroutine. It returns false when this server is closing.
	spawn func(func()) bool

	wake chan struct{} // holds a token when a caller that no pending round covers has arrived, or leadership has ended

	requested uint64        // rounds requested from Raft; used only by run
	finished  atomic.Uint64 // the latest round that Raft is known to have finished

	// proven is the latest proof found for the waiters. A proof stays valid forever.
	proven atomic.Pointer[proof]

	mu      sync.Mutex // guards the fields below
	waiters []*waiter
	// roundPending reports whether a round is pending for some of the waiters. A waiter that arrives now is considered
	// when the round completes or times out.
	roundPending bool
	closed       bool
}

// proof records that this server led in term at or after latest, and whether it is the only voter.
type proof struct {
	term      uint64
	latest    time.Time
	soleVoter bool
}

type waiter struct {
	term     uint64
	t        time.Time
	deadline time.Time   // when it fails with errNoMajority; zero if confirm enforces the limit
	done     func(error) // must not block
}

var (
	errTermOver   = errors.New("this server's leadership has ended or has not begun")
	errNoMajority = errors.New("no majority of the voters responded in time")
)

// newConfirmer returns a confirmer for a leader with the given lease. If a round finds no majority, the next one starts
// after the interval at which Raft sends heartbeats anyway.
func newConfirmer(r leadership, self raft.ServerID, a *acks, lease time.Duration, rounds func(), spawn func(func()) bool) *confirmer {
	return &confirmer{raft: r, self: self, acks: a, retryAfter: lease / 10, timeout: 2 * lease, rounds: rounds, spawn: spawn,
		wake: make(chan struct{}, 1)}
}

// confirm returns nil if this server led in term at or after t.
func (c *confirmer) confirm(ctx context.Context, term uint64, t time.Time) error {
	if c.isProven(term, t) {
		return nil
	}
	done := make(chan error, 1)
	w := &waiter{term: term, t: t, done: func(err error) { done <- err }}
	if !c.add(w) {
		return ErrClosed
	}
	deadline := time.NewTimer(c.timeout)
	defer deadline.Stop()
	select {
	case err := <-done:
		return err
	case <-deadline.C:
		c.remove(w)
		return errNoMajority
	case <-ctx.Done():
		c.remove(w)
		return ctx.Err()
	}
}

// confirmLater calls done with the result that confirm would return, immediately or on the confirmer's goroutine.
func (c *confirmer) confirmLater(term uint64, t time.Time, done func(error)) {
	if c.isProven(term, t) {
		done(nil)
		return
	}
	if !c.add(&waiter{term: term, t: t, deadline: time.Now().Add(c.timeout), done: done}) {
		done(ErrClosed)
	}
}

// isProven reports whether the latest proof suffices. It does not look at responses that arrived while nobody was
// waiting, because they are seldom recent enough. A lone voter needs no responses.
func (c *confirmer) isProven(term uint64, t time.Time) bool {
	p := c.proven.Load()
	if p == nil || p.term != term {
		return false
	}
	if !t.After(p.latest) {
		return true
	}
	if !p.soleVoter {
		return false
	}
	covered, leads, _ := c.covered(term)
	return leads && !t.After(covered)
}

// covered returns the latest time t such that a majority of voters is known to have been in term with this server at or
// after t, whether this server leads in term, and whether it is the only voter. This function establishes the proof.
func (c *confirmer) covered(term uint64) (latest time.Time, leads, soleVoter bool) {
	// This server's own time is now, provided that the values read below confirm that it is a voter and leads. No
	// response can be later than the time at which the responses are read. The result may already be old when it is
	// used, which errs on the safe side. The configuration and the term are read after now, so they were current at or
	// after the returned time.
	now := time.Now()
	configuration := c.raft.GetConfiguration().Configuration()
	if c.raft.CurrentTerm() != term || c.raft.State() != raft.Leader || c.raft.CurrentTerm() != term {
		return time.Time{}, false, false
	}
	var buf [9]time.Time // on the stack, because this runs for every refresh and denial; few clusters have more voters
	times := buf[:0]
	for _, server := range configuration.Servers {
		switch {
		case server.Suffrage != raft.Voter:
		case server.ID == c.self:
			times, soleVoter = append(times, now), true
		default:
			times = append(times, c.acks.inTerm(term, server.ID).sent)
		}
	}
	if len(times) == 0 {
		return time.Time{}, true, false
	}
	slices.SortFunc(times, func(a, b time.Time) int { return b.Compare(a) })
	latest = times[len(times)/2] // a majority of the times are not earlier than this one
	if latest.After(now) {
		latest = now
	}
	return latest, true, soleVoter && len(times) == 1
}

// run serves the waiting callers until ctx ends.
func (c *confirmer) run(ctx context.Context) {
	defer c.close()
	timer := time.NewTimer(c.retryAfter)
	defer timer.Stop()
	var roundStarted time.Time // when the pending round was started; zero if none
	for {
		// A round sends every peer one more heartbeat. A caller whose t is later than the start of the round waits for
		// the next one, or for responses to other requests sent at or after t. A response to a request sent before a
		// caller's t does not satisfy that caller.
		answered, next := c.settle(roundStarted)
		for _, v := range answered {
			v.done(v.err)
		}
		if next {
			runtime.Gosched() // lets callers that are about to arrive join this round
			roundStarted = time.Now()
			c.startRound()
			timer.Reset(c.retryAfter)
		}
		select {
		case <-c.wake:
		case <-c.acks.changed:
		case <-timer.C:
			roundStarted = time.Time{}
		case <-ctx.Done():
			return
		}
	}
}

// maxPendingRounds is the maximum number of rounds requested from Raft but not finished yet. To keep count, the
// confirmer watches every probeEvery-th round. Raft has room for 64 rounds (v1.8.0), and its main loop drains them.
// While the main loop is waiting for this server's disk, rounds pile up, and afterwards the answered rounds are queued
// again along with new ones. If the queue were full, VerifyLeader would block and the heartbeats would stop.
const (
	maxPendingRounds = 24
	probeEvery       = 8
)

// startRound makes Raft send a round of heartbeats, unless too many rounds are pending. If so, Raft's regular
// heartbeats serve the waiters. The result of a round's future does not matter, only that it completes. A few futures
// never complete, for example when the membership changes in the meantime. The next watched round then updates the
// count.
func (c *confirmer) startRound() {
	if c.requested-c.finished.Load() >= maxPendingRounds {
		return
	}
	round := c.raft.VerifyLeader()
	c.requested++
	c.rounds()
	if count := c.requested; count%probeEvery == 0 {
		c.spawn(func() {
			_ = round.Error()
			for current := c.finished.Load(); current < count && !c.finished.CompareAndSwap(current, count); {
				current = c.finished.Load()
			}
		})
	}
}

// verdict is the result for a waiter.
type verdict struct {
	*waiter
	err error
}

// settle removes and returns the waiters that can be answered, and reports whether the others need a new round.
func (c *confirmer) settle(roundStarted time.Time) (answered []verdict, next bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiters) == 0 {
		c.roundPending = false
		return nil, false
	}
	now := time.Now()
	term := c.raft.CurrentTerm()
	covered, leads, soleVoter := c.covered(term)
	if leads {
		c.proven.Store(&proof{term: term, latest: covered, soleVoter: soleVoter})
	}
	remaining := c.waiters[:0]
	for _, w := range c.waiters {
		switch {
		case w.term != term || !leads:
			answered = append(answered, verdict{w, errTermOver})
		case !w.t.After(covered):
			answered = append(answered, verdict{w, nil})
		case !w.deadline.IsZero() && !now.Before(w.deadline):
			answered = append(answered, verdict{w, errNoMajority})
		default:
			remaining = append(remaining, w)
		}
	}
	clear(c.waiters[len(remaining):])
	c.waiters, c.roundPending = remaining, len(remaining) > 0
	return answered, len(remaining) > 0 && !roundStarted.After(covered)
}

// add hands w to the goroutine that executes run. It returns false if that goroutine has exited.
func (c *confirmer) add(w *waiter) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.waiters = append(c.waiters, w)
	if !c.roundPending {
		signal(c.wake)
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
	remaining := c.waiters
	c.waiters = nil
	c.mu.Unlock()
	for _, w := range remaining {
		w.done(ErrClosed)
	}
}

// Confirm returns nil if this server led in term at or after t. The caller must have read t on this server after it
// received the request that it wants to answer. Confirm returns a wrapped ErrNotConfirmed before the promotion in term,
// after the end of term, and when a majority of the voters does not respond within twice the lease or before ctx ends.
// Any number of callers can share a round of heartbeats.
func (n *Node) Confirm(ctx context.Context, term uint64, t time.Time) error {
	err := n.leadsIn(term)
	if err == nil {
		err = n.confirmer.confirm(ctx, term, t)
	}
	return n.confirmed(term, err)
}

// ConfirmLater calls done with the result that Confirm would return, before ConfirmLater returns or on another
// goroutine. done must not block. ConfirmLater is for callers that would otherwise keep a goroutine waiting. Its only
// time limit is a little more than twice the lease.
func (n *Node) ConfirmLater(term uint64, t time.Time, done func(error)) {
	err := n.leadsIn(term)
	if err != nil {
		done(n.confirmed(term, err))
		return
	}
	n.confirmer.confirmLater(term, t, func(err error) { done(n.confirmed(term, err)) })
}

func (n *Node) leadsIn(term uint64) error {
	if e := n.epoch.Load(); e == nil || e.term != term {
		return errTermOver
	}
	return nil
}

// confirmed converts the confirmer's error into the error that Confirm returns.
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
