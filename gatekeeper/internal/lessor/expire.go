package lessor

import (
	"container/heap"
	"errors"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/epoch"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

const (
	// shortLifetime is the longest lifetime of permits whose leases are created immediately after a promotion. All
	// other leases are created in chunks, with a delay of at most maxRest between chunks and at most half of
	// shortLifetime in total.
	shortLifetime = 20 * time.Second
	maxRest       = 5 * time.Millisecond
)

// collect takes at most one chunk of due leases off the heap and returns the time until the next one is due.
func (l *Lessor) collect() (due []uint64, overheld []*semaphore.Permit, next time.Duration) {
	now := l.now()
	state := l.cfg.State()
	for len(l.due) > 0 && len(due)+len(overheld) < epoch.Chunk {
		if wait := l.due[0].at.sub(now); wait > 0 {
			return due, overheld, wait
		}
		le := heap.Pop(&l.due).(*lease) //nolint:forcetypeassert // the heap contains only leases
		if le.maxHoldAt != 0 && le.maxHoldAt <= now {
			le.maxHoldAt = 0
			if p := state.Permit(le.token); p != nil && p.State == semaphore.Live {
				overheld = append(overheld, p)
			}
		}
		if le.deadline > now && !le.abandoned {
			l.schedule(le, le.next())
			continue
		}
		due = append(due, le.token)
	}
	return due, overheld, time.Hour
}

// end reports permits that have been held for too long and proposes to end those that are due.
func (l *Lessor) end(e *epoch.Epoch, due []uint64, overheld []*semaphore.Permit) {
	for _, p := range overheld {
		l.cfg.Overheld(p)
	}
	if len(due) == 0 {
		return
	}
	// The fence: frames received before this moment extend their deadlines first.
	l.intake.fence()

	var cmds []fsm.Command
	var tokens []uint64
	e.IfCurrent(func() { cmds, tokens = l.markDue(e.Term, due) })
	l.propose(e, cmds, tokens)
}

// markDue marks the leases that are still due. It returns the commands that end their permits, and the permits' tokens.
func (l *Lessor) markDue(term uint64, due []uint64) (cmds []fsm.Command, tokens []uint64) {
	now, at := l.now(), time.Now()
	state := l.cfg.State()
	for _, token := range due {
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
			// The permit was just released. Its cooling has a different deadline, and the event for it has not arrived
			// yet.
			continue
		}
		if le.deadline > now && !le.abandoned {
			l.reschedule(le)
			continue
		}
		l.setMark(le)
		tokens = append(tokens, token)
		if le.abandoned {
			cmds = append(cmds, fsm.Abandon{Token: token, Term: term, Cooling: l.owedFor(le)})
			continue
		}
		cmds = append(cmds, endCommand(state, p, term, now.sub(le.since), at))
	}
	return cmds, tokens
}

// endCommand returns the command that ends a permit whose deadline has passed.
func endCommand(state *fsm.State, p *semaphore.Permit, term uint64, held time.Duration, at time.Time) fsm.Command {
	if p.State == semaphore.Cooling {
		return fsm.EndCooling{Token: p.Token, Term: term}
	}
	var def *semaphore.Definition
	if sd := state.Definition(p.Semaphore); sd != nil {
		def = sd.Definition
	}
	return fsm.Expire{Token: p.Token, Term: term, Cooling: semaphore.LossCooling(def, held), At: at}
}

// propose proposes the commands that end permits whose leases are marked. It removes a lease's mark if its command
// definitely never reached the log, or was applied without ending the permit.
func (l *Lessor) propose(e *epoch.Epoch, cmds []fsm.Command, tokens []uint64) {
	e.Propose(func(i int, err error) {
		le := l.leases[tokens[i]]
		if le == nil || le.mark == nil {
			return
		}
		// If the command was applied but the lease still exists, the permit was no longer in the state that the command
		// expected. Check again.
		retryAt := le.next()
		if errors.Is(err, consensus.ErrNotAppended) {
			retryAt = l.now().add(epoch.RetryAfter)
		} else if err != nil {
			return // the command may still be applied, so the mark remains for the rest of the epoch
		}
		le.resolve()
		l.schedule(le, retryAt)
		l.Wake()
	}, cmds...)
}

// adopt creates the leases of the permits that existed at the promotion. It skips permits that have ended since. If the
// event that reports the end has already been delivered, the newest state no longer contains the permit. If it arrives
// later, it drops the lease.
//
// The leases of short-lived permits are created first. The other leases are less urgent than the callers waiting for
// the new leader, so they are created with delays between chunks, but still in time. Only the notification of a holder
// past max_hold may be late.
func (l *Lessor) adopt(e *epoch.Epoch, state *fsm.State) {
	visit := func(old *semaphore.Permit) {
		now := l.cfg.State()
		p := now.Permit(old.Token)
		// If cooling began after the promotion, the release event creates the lease, and that event may not have
		// arrived yet. Counted from the promotion, the cooling might already have ended.
		if p == nil || p.State == semaphore.Held || p.State == semaphore.Cooling && old.State != semaphore.Cooling {
			return
		}
		l.lookup(p, now)
	}
	isShortLived := func(p *semaphore.Permit) bool { return lifetime(p) <= shortLifetime }
	if !epoch.Walk(e, 0, epoch.Filter(state.Permits(0), isShortLived), visit) {
		return
	}
	rest := shortLifetime / 2 / time.Duration(state.PermitCount()/epoch.Chunk+1)
	others := epoch.Filter(state.Permits(0), func(p *semaphore.Permit) bool { return !isShortLived(p) })
	epoch.Walk(e, min(rest, maxRest), others, visit)
}

// rearm recomputes the max_hold deadlines of a semaphore's holders after max_hold has been edited.
func (l *Lessor) rearm(e *epoch.Epoch, sem string, state *fsm.State) {
	epoch.Walk(e, 0, state.Holders(sem), func(old *semaphore.Permit) {
		now := l.cfg.State()
		le, p := l.leases[old.Token], now.Permit(old.Token)
		if le != nil && p != nil && p.State == semaphore.Live {
			le.maxHoldAt = maxHoldAt(now, p, le.since)
			l.reschedule(le)
		}
	})
}
