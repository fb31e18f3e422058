package lessor

import (
	"container/heap"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/epoch"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Config configures a Lessor.
type Config struct {
	// State returns the newest applied state.
	State func() *fsm.State
	// Propose hands a command to the log and reports its outcome exactly once. Neither Propose nor done may block.
	Propose func(cmd fsm.Command, done func(batcher.Outcome))
	// Overheld is called with each permit that has been held for longer than its definition's max_hold. No locks are
	// held during the call.
	Overheld func(*semaphore.Permit)
}

// Lessor tracks the deadline of every live and cooling permit in one epoch. When the deadline passes, it proposes to
// end the permit. It is safe for concurrent use. While this server is not the leader, it tracks no deadlines and ends
// no permits. See package epoch for Demote and Close.
type Lessor struct {
	*epoch.Room // its lock guards promoted and all fields below it

	cfg    Config
	intake intake
	base   time.Time // see moment

	promoted moment
	// lastToken is the last token issued before the promotion. Permits with a later token were granted in this epoch.
	lastToken uint64
	// marks counts the proposals to end a permit in this epoch; see Unchanged.
	marks  uint64
	leases map[uint64]*lease
	due    epoch.Heap[*lease]
	// owed maps a permit's token to the last deadline of the tokens that it superseded. Few permits have one.
	owed map[uint64]moment
}

// lease is the deadline of one permit in this epoch.
type lease struct {
	token    uint64
	deadline moment
	// since is when the permit was granted or, for a permit from before this epoch, the promotion.
	since moment
	// maxHoldAt is when max_hold runs out. It is zero if there is no max_hold, or once the holder has been notified.
	maxHoldAt moment
	// lastAdmitted is the last judgement that raised no objection to the permit. See judgement.isValid for how long it
	// remains valid.
	lastAdmitted judgement
	// shortening is the shorter duration being committed, or zero. Until the outcome is known, no response may exceed
	// it.
	shortening time.Duration
	// stream and received belong to the newest frame that renewed the lease; see durations.
	stream   uint64
	received moment
	// otherResponse is an upper bound on the time at which a response was last sent outside that stream. It is zero if
	// none has been sent since the grant.
	otherResponse moment
	// mark is set while a proposal to end the permit is pending, and closed when the proposal is resolved.
	mark chan struct{}
	// at and index are the lease's position in the heap. at is never later than the next deadline of the lease.
	at    moment
	index int32 // int32, because a leader may have a million leases
	// cooling reports whether the permit is cooling rather than live.
	cooling bool
	// renewed reports whether a refresh or a replay may have returned this permit to a caller. It can then no longer be
	// abandoned.
	renewed bool
	// abandoned means that no caller received this permit, so it ends as soon as possible unless it is renewed first.
	abandoned bool
}

// New returns a Lessor for a server that is not the leader.
func New(cfg Config) *Lessor {
	l := &Lessor{cfg: cfg, base: newBase(), intake: intake{current: newGeneration()}}
	l.Room = epoch.NewRoom(cfg.Propose, l.forget)
	return l
}

// Promote starts an epoch. The caller must not apply entries during the call, so that state is exactly as it was before
// the epoch's first event. Permits get their full duration again, counted from instant.
func (l *Lessor) Promote(term uint64, instant time.Time, state *fsm.State) {
	l.Begin(term, func(e *epoch.Epoch) {
		l.promoted, l.lastToken, l.marks = l.moment(instant), state.LastToken(), 0
		l.leases, l.owed = make(map[uint64]*lease), make(map[uint64]moment)
		l.Go(func() { l.adopt(e, state) })
		e.Run(func() (func(), time.Duration) {
			due, overheld, next := l.collect()
			if len(due)+len(overheld) == 0 {
				return nil, next
			}
			return func() { l.end(e, due, overheld) }, 0
		})
	})
}

// forget drops all leases at the end of an epoch. It resolves their marks on another goroutine, so that it takes the
// same time regardless of the number of leases. At that point, only calls waiting for a mark still reference a lease.
func (l *Lessor) forget() {
	old := l.leases
	l.leases, l.due, l.owed = nil, nil, nil
	l.Go(func() {
		for _, le := range old {
			le.resolve()
		}
	})
}

// Applied processes the events of an entry. It must be subscribed to the state machine and called for every entry in
// order.
func (l *Lessor) Applied(a fsm.Applied) {
	if len(a.Events) == 0 {
		return
	}
	l.Lock()
	defer l.Unlock()
	if l.Current() == nil {
		return
	}
	now := l.now()
	for i := range a.Events {
		l.handleEvent(&a.Events[i], a.State, now)
	}
}

func (l *Lessor) handleEvent(e *fsm.Event, state *fsm.State, now moment) {
	switch e.Kind {
	case fsm.Granted:
		// The lease may already exist, if a refresh saw the new state before this event. Its deadline is kept.
		le := l.lookup(e.Permit, state)
		le.since = min(le.since, now)
		le.extend(now.add(lifetime(e.Permit)))
		l.reschedule(le)
	case fsm.SupersededEvent:
		l.supersede(e, state)
	case fsm.DurationChanged:
		// A longer duration counts from now, even if the epoch has no lease for the permit yet. A deadline never moves
		// to an earlier time.
		le := l.lookup(e.Permit, state)
		le.extend(now.add(lifetime(e.Permit)))
		l.reschedule(le)
	case fsm.CoolingEvent:
		l.drop(e.Permit.Token)
		l.put(e.Permit, now)
	case fsm.Released, fsm.Expired, fsm.HeldEvent, fsm.CoolingEnded, fsm.Cleared, fsm.Abandoned, fsm.FreedUnsafely:
		l.drop(e.Permit.Token)
	case fsm.Created, fsm.Replaced, fsm.RevertedEvent:
		if e.Before == nil || e.Before.Definition.MaxHold != e.Definition.Definition.MaxHold {
			current, name := l.Current(), e.Semaphore
			l.Go(func() { l.rearm(current, name, state) })
		}
	}
}

// supersede moves the lease of a permit to its new token. A holder of the old token may rely on it until the old
// deadline, but no longer.
func (l *Lessor) supersede(e *fsm.Event, state *fsm.State) {
	old, le := l.lookup(e.Superseded, state), l.lookup(e.Permit, state)
	le.since = old.since
	owed := l.owed[old.token]
	if !e.Replaces {
		owed = max(owed, old.deadline)
	}
	l.owed[le.token] = owed
	le.maxHoldAt = maxHoldAt(state, e.Permit, le.since)
	le.extend(old.deadline)
	l.reschedule(le)
	l.drop(old.token)
}

// put creates a lease for a permit whose duration counts from the given moment.
func (l *Lessor) put(p *semaphore.Permit, start moment) *lease {
	le := &lease{token: p.Token, since: start, deadline: start.add(lifetime(p)), cooling: p.State == semaphore.Cooling, index: unscheduled}
	if p.OldTokensInUse {
		l.owed[p.Token] = le.deadline
	}
	l.leases[p.Token] = le
	l.reschedule(le)
	return le
}

// lookup returns the lease of a permit, creating it if the epoch has none yet. If the permit existed before the epoch,
// its duration counts from the promotion. Otherwise, it counts from now, because the permit's event has not arrived yet
// and can only move the start to an earlier time.
func (l *Lessor) lookup(p *semaphore.Permit, state *fsm.State) *lease {
	le := l.leases[p.Token]
	if le == nil {
		startTime := l.startTime(p)
		le = l.put(p, startTime)
		if p.Token <= l.lastToken {
			le.otherResponse = startTime
		}
		le.maxHoldAt = maxHoldAt(state, p, startTime)
		l.reschedule(le)
	}
	return le
}

// startTime returns the moment from which the duration of a permit without a lease counts, or a later moment.
func (l *Lessor) startTime(p *semaphore.Permit) moment {
	if p.Token > l.lastToken {
		return l.now()
	}
	return l.promoted
}

func (l *Lessor) drop(token uint64) {
	le := l.leases[token]
	if le == nil {
		return
	}
	le.resolve()
	if le.index != unscheduled {
		heap.Remove(&l.due, int(le.index))
	}
	delete(l.leases, token)
	delete(l.owed, token)
}

// reschedule makes sure that the lease is checked no later than at its next deadline. An extended deadline keeps its
// old position in the heap, and the extension is noticed when that position is reached. So a refresh need not touch the
// heap at all.
func (l *Lessor) reschedule(le *lease) {
	next := le.next()
	if le.index != unscheduled && next >= le.at {
		return
	}
	if l.schedule(le, next) {
		l.Wake()
	}
}

// schedule makes the lease due at the given moment and reports whether it is now the first in the heap.
func (l *Lessor) schedule(le *lease, at moment) (first bool) {
	le.at = at
	if le.index == unscheduled {
		heap.Push(&l.due, le)
	} else {
		heap.Fix(&l.due, int(le.index))
	}
	return le.index == 0
}

// unscheduled is the index of a lease that is not in the heap.
const unscheduled = -1

// Before implements epoch.Item.
func (le *lease) Before(other *lease) bool { return le.at < other.at }

// Moved implements epoch.Item.
func (le *lease) Moved(index int) { le.index = int32(index) } //nolint:gosec // there are fewer than 2^31 leases

func (le *lease) next() moment {
	if le.maxHoldAt != 0 {
		return min(le.maxHoldAt, le.deadline)
	}
	return le.deadline
}

func (le *lease) extend(deadline moment) { le.deadline = max(le.deadline, deadline) }

// setMark marks the lease. The caller then proposes to end its permit.
func (l *Lessor) setMark(le *lease) {
	le.mark = make(chan struct{})
	l.marks++
}

func (le *lease) resolve() {
	if le.mark != nil {
		close(le.mark)
		le.mark = nil
	}
}

// lifetime returns the minimum time from the start of a permit until its end is proposed.
func lifetime(p *semaphore.Permit) time.Duration { return p.Duration + semaphore.Grace(p.Duration) }

// maxHoldAt returns when a permit held since the given moment exceeds max_hold, or zero if its definition sets no
// limit.
func maxHoldAt(state *fsm.State, p *semaphore.Permit, since moment) moment {
	if p.State != semaphore.Live {
		return 0
	}
	sd := state.Definition(p.Semaphore)
	if sd == nil || sd.Definition.MaxHold == 0 {
		return 0
	}
	return since.add(sd.Definition.MaxHold)
}
