package lessor

import (
	"errors"
	"iter"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

const (
	// chunk is how many leases are handled under one hold of the lock, so that traffic gets its turns between.
	chunk = 512
	// retryAfter is how long an expiry that did not reach the log waits before it is proposed again.
	retryAfter = 50 * time.Millisecond
	// brief is a life so short that its lease is made at once after a promotion. The rests between the chunks of all others are no
	// longer than half of it together, and than longestRest each.
	brief       = 20 * time.Second
	longestRest = 5 * time.Millisecond
)

// run ends what is due, until its epoch is over.
func (l *Lessor) run(term uint64, wake <-chan struct{}) {
	defer l.runs.Done()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		due, over, next, leading := l.collect(term)
		if !leading {
			return
		}
		for _, p := range over {
			l.cfg.Overheld(p)
		}
		if len(due) > 0 {
			l.settle(term, due)
		}
		if len(due)+len(over) > 0 {
			continue
		}
		timer.Reset(next)
		select {
		case <-timer.C:
		case <-wake:
		}
	}
}

// collect takes at most a chunk of leases whose time has come off the schedule, and tells how long nothing else is due.
func (l *Lessor) collect(term uint64) (due []uint64, over []*semaphore.Permit, next time.Duration, leading bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.term != term {
		return nil, nil, 0, false
	}
	now := l.now()
	state := l.cfg.State()
	for len(l.due) > 0 && len(due)+len(over) < chunk {
		if wait := l.due[0].at.sub(now); wait > 0 {
			return due, over, wait, true
		}
		le := l.due.pop()
		if le.overAt != 0 && le.overAt <= now {
			le.overAt = 0
			if p := state.Permit(le.token); p != nil && p.State == semaphore.Live {
				over = append(over, p)
			}
		}
		if le.deadline > now && !le.abandoned {
			l.due.set(le, le.next())
			continue
		}
		due = append(due, le.token)
	}
	return due, over, time.Hour, true
}

// settle marks the leases that are still due and proposes their end.
func (l *Lessor) settle(term uint64, tokens []uint64) {
	// The fence: whoever had received a frame by now gets to move its deadlines first.
	l.intake.fence()

	var ends []fsm.Command
	l.mu.Lock()
	if l.term != term {
		l.mu.Unlock()
		return
	}
	now, at := l.now(), time.Now()
	state := l.cfg.State()
	for _, token := range tokens {
		le := l.leases[token]
		if le == nil || le.mark != nil {
			continue
		}
		p := state.Permit(token)
		if p == nil || p.State == semaphore.Held {
			l.drop(token)
			continue
		}
		if le.cooling != (p.State == semaphore.Cooling) {
			continue // it was released just now: this deadline is not that of the cooling, whose event is on its way
		}
		if le.deadline > now && !le.abandoned {
			l.reschedule(le)
			continue
		}
		l.marked(le)
		if le.abandoned {
			ends = append(ends, fsm.Abandon{Token: token, Term: term, Cooling: l.owing(le)})
			continue
		}
		ends = append(ends, end(state, p, term, now.sub(le.since), at))
	}
	l.mu.Unlock()
	for _, cmd := range ends {
		l.propose(term, cmd)
	}
}

// end is the command that ends a permit whose deadline has passed.
func end(state *fsm.State, p *semaphore.Permit, term uint64, held time.Duration, at time.Time) fsm.Command {
	if p.State == semaphore.Cooling {
		return fsm.EndCooling{Token: p.Token, Term: term}
	}
	var def *semaphore.Definition
	if sd := state.Definition(p.Semaphore); sd != nil {
		def = sd.Definition
	}
	return fsm.Expire{Token: p.Token, Term: term, Cooling: semaphore.LossCooling(def, held), At: at}
}

// propose hands the end of a marked lease to the log, and lifts the mark if it certainly did not get there.
func (l *Lessor) propose(term uint64, cmd fsm.Command) {
	token := tokenOf(cmd)
	l.cfg.Propose(cmd, func(o batcher.Outcome) {
		l.mu.Lock()
		defer l.mu.Unlock()
		le := l.leases[token]
		if l.term != term || le == nil || le.mark == nil {
			return
		}
		switch {
		case o.Err == nil:
			// Applied, and yet the lease is there: the command met a permit that was no longer what it was for. Look again.
			le.resolve()
			l.due.set(le, le.next())
			l.poke()
		case errors.Is(o.Err, consensus.ErrNotAppended):
			le.resolve()
			l.due.set(le, l.now().add(retryAfter))
			l.poke()
		default:
			// Unknown: it may still be applied, so the mark stays for the rest of the epoch.
		}
	})
}

func tokenOf(cmd fsm.Command) uint64 {
	switch c := cmd.(type) {
	case fsm.Expire:
		return c.Token
	case fsm.EndCooling:
		return c.Token
	case fsm.Abandon:
		return c.Token
	default:
		return 0
	}
}

// adopt makes the leases of the permits that were there at the promotion. What ended meanwhile is passed over: its event
// either came before, and the newest state lacks it, or comes after and drops the lease.
//
// Those that live briefly come first. The others have time, and who waits for a grant of the new leader has not: their leases are
// made with rests between, and in time all the same. Only who has held too long may be told so later.
func (l *Lessor) adopt(term uint64, state *fsm.State) {
	defer l.runs.Done()
	visit := func(p *semaphore.Permit, now *fsm.State) {
		// What cools only since the promotion gets its lease from the event that tells so, which may not have come yet. Counted
		// from the promotion its cooling might be over by now.
		if p.State == semaphore.Held || p.State == semaphore.Cooling && state.Permit(p.Token).State != semaphore.Cooling {
			return
		}
		l.lookup(p, now)
	}
	isBrief := func(p *semaphore.Permit) bool { return lifetime(p) <= brief }
	l.walk(term, 0, having(state, isBrief), visit)
	rest := brief / 2 / time.Duration(state.PermitCount()/chunk+1)
	l.walk(term, min(rest, longestRest), having(state, func(p *semaphore.Permit) bool { return !isBrief(p) }), visit)
}

// having are the permits of a kind.
func having(state *fsm.State, kind func(*semaphore.Permit) bool) iter.Seq[*semaphore.Permit] {
	return func(yield func(*semaphore.Permit) bool) {
		for p := range state.Permits(0) {
			if kind(p) && !yield(p) {
				return
			}
		}
	}
}

// rearm computes anew when the holders of a semaphore whose max_hold was edited will have held too long.
func (l *Lessor) rearm(term uint64, sem string, state *fsm.State) {
	defer l.runs.Done()
	l.walk(term, 0, state.Holders(sem), func(p *semaphore.Permit, now *fsm.State) {
		if le := l.leases[p.Token]; le != nil && p.State == semaphore.Live {
			le.overAt = overAt(now, p, le.since)
			l.reschedule(le)
		}
	})
}

// walk visits permits as they are in the newest state, those that are still there. It holds the lock for a chunk at a
// time, rests after each, and ends with the epoch.
func (l *Lessor) walk(term uint64, rest time.Duration, permits iter.Seq[*semaphore.Permit], visit func(p *semaphore.Permit, now *fsm.State)) {
	batch := make([]uint64, 0, chunk)
	flush := func() (leading bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.term != term {
			return false
		}
		now := l.cfg.State()
		for _, token := range batch {
			if p := now.Permit(token); p != nil {
				visit(p, now)
			}
		}
		batch = batch[:0]
		return true
	}
	for p := range permits {
		batch = append(batch, p.Token)
		if len(batch) < chunk {
			continue
		}
		if !flush() {
			return
		}
		if rest > 0 {
			<-time.After(rest) // too short to be cut short
		}
	}
	flush()
}
