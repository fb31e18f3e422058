package lessor

import (
	"container/heap"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/epoch"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Config is what a Lessor needs.
type Config struct {
	// State is the newest applied state.
	State func() *fsm.State
	// Propose hands a command to the log and reports its outcome once. It must not block, nor may done.
	Propose func(cmd fsm.Command, done func(batcher.Outcome))
	// Overheld hears of a permit that has been held for longer than its definition's max_hold. It is called without
	// locks.
	Overheld func(*semaphore.Permit)
}

// Lessor keeps a deadline for every live and cooling permit of one epoch, and proposes their end. It is safe for
// concurrent use. While this server does not lead it keeps nothing and ends nothing. See package epoch for Demote and
// Close.
type Lessor struct {
	*epoch.Room // its lock guards everything from promoted on

	cfg    Config
	intake intake
	base   time.Time // see moment

	promoted moment
	// lastToken is the last one that was given out before the promotion. The time of a permit with a later token began
	// in this epoch.
	lastToken uint64
	// marks counts the ends that were proposed in this epoch; see Unchanged.
	marks  uint64
	leases map[uint64]*lease
	due    epoch.Heap[*lease]
	// owed is by token when the last deadline of superseded tokens has passed, of the few permits that have superseded
	// any.
	owed map[uint64]moment
}

// lease is the deadline of one permit in this epoch.
type lease struct {
	token    uint64
	deadline moment
	// since is when the holding began, as far as this epoch knows: the grant, or the promotion.
	since moment
	// overAt is when max_hold runs out; zero without one, and once the holder has been notified.
	overAt moment
	// plain is the last judgement, if nothing spoke against the permit; it stands for as long as its rules do.
	plain judgement
	// shortening is the shorter duration that is being committed, or zero. Until its outcome is known no answer says
	// more.
	shortening time.Duration
	// stream and received are of the newest frame that renewed it; see durations.
	stream   uint64
	received moment
	// others is when anybody but that stream was last answered, as far as can be; zero if nobody was since the grant.
	others moment
	// mark is set while the permit's end is proposed, and closed when the proposal is resolved.
	mark chan struct{}
	// at and index are its place in the heap: at is never later than the next thing to do.
	at    moment
	index int32 // narrow: there are a million leases
	// cooling: it is that of a cooling permit; else of a live one.
	cooling bool
	// renewed: a refresh or a replay may have returned this permit to somebody, so it can no longer be abandoned.
	renewed bool
	// abandoned: no caller received this permit, and it ends at the next chance unless one does.
	abandoned bool
}

// New returns a lessor that does not lead.
func New(cfg Config) *Lessor {
	l := &Lessor{cfg: cfg, base: newBase(), intake: intake{now: newGeneration()}}
	l.Room = epoch.NewRoom(cfg.Propose, l.forget)
	return l
}

// Promote starts an epoch. The caller holds back the application of entries meanwhile, so that state is exactly what
// precedes the first event of the epoch. instant is from where permits get their full duration again.
func (l *Lessor) Promote(term uint64, instant time.Time, state *fsm.State) {
	l.Begin(term, func(e *epoch.Epoch) {
		l.promoted, l.lastToken, l.marks = l.moment(instant), state.LastToken(), 0
		l.leases, l.owed = make(map[uint64]*lease), make(map[uint64]moment)
		l.Go(func() { l.adopt(e, state) })
		e.Run(func() (func(), time.Duration) {
			due, over, next := l.collect()
			if len(due)+len(over) == 0 {
				return nil, next
			}
			return func() { l.end(e, due, over) }, 0
		})
	})
}

// forget drops all leases at the end of an epoch. Their marks are resolved afterwards, so that it takes as long with a
// million leases as with none: nothing reaches a lease any more but the calls that wait for its mark.
func (l *Lessor) forget() {
	old := l.leases
	l.leases, l.due, l.owed = nil, nil, nil
	l.Go(func() {
		for _, le := range old {
			le.resolve()
		}
	})
}

// Applied takes in what an entry did. It is subscribed to the state machine and sees every entry in order.
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
		l.take(&a.Events[i], a.State, now)
	}
}

func (l *Lessor) take(e *fsm.Event, state *fsm.State, now moment) {
	switch e.Kind {
	case fsm.Granted:
		// The lease may be there: a refresh that saw the new state before this event has made it, and its deadline
		// stands.
		le := l.lookup(e.Permit, state)
		le.since = min(le.since, now)
		le.extend(now.add(lifetime(e.Permit)))
		l.reschedule(le)
	case fsm.SupersededEvent:
		l.supersede(e, state)
	case fsm.DurationChanged:
		// A longer duration counts from here, also if the epoch has no lease of it yet; a deadline never moves in.
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

// supersede goes on with the lease of a permit under its new token. Nobody who was answered the old one counts on it
// for longer than the old deadline.
func (l *Lessor) supersede(e *fsm.Event, state *fsm.State) {
	old, le := l.lookup(e.Superseded, state), l.lookup(e.Permit, state)
	le.since = old.since
	owed := l.owed[old.token]
	if !e.Replaces {
		owed = max(owed, old.deadline)
	}
	l.owed[le.token] = owed
	le.overAt = overAt(state, e.Permit, le.since)
	le.extend(old.deadline)
	l.reschedule(le)
	l.drop(old.token)
}

// put makes the lease of a permit whose time begins then.
func (l *Lessor) put(p *semaphore.Permit, then moment) *lease {
	le := &lease{token: p.Token, since: then, deadline: then.add(lifetime(p)), cooling: p.State == semaphore.Cooling, index: unscheduled}
	if p.Owes {
		l.owed[p.Token] = le.deadline
	}
	l.leases[p.Token] = le
	l.reschedule(le)
	return le
}

// lookup returns the lease of a permit, making it if the epoch has none yet. The time of a permit that was there before
// the epoch began at the promotion. That of a later one begins now: its event is on its way, and can only move its
// start back.
func (l *Lessor) lookup(p *semaphore.Permit, state *fsm.State) *lease {
	le := l.leases[p.Token]
	if le == nil {
		begun := l.begun(p)
		le = l.put(p, begun)
		if p.Token <= l.lastToken {
			le.others = begun
		}
		le.overAt = overAt(state, p, begun)
		l.reschedule(le)
	}
	return le
}

// begun is when the time of a permit that has no lease began, or later.
func (l *Lessor) begun(p *semaphore.Permit) moment {
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

// reschedule makes sure that the lease is looked at no later than at the next thing to do. A deadline that moved out is
// left where it is in the schedule and found later: that keeps a refresh from touching the schedule at all.
func (l *Lessor) reschedule(le *lease) {
	next := le.next()
	if le.index != unscheduled && next >= le.at {
		return
	}
	if l.schedule(le, next) {
		l.Wake()
	}
}

// schedule has the lease looked at then, and reports whether it is now the first.
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

// Before is epoch.Item's.
func (le *lease) Before(other *lease) bool { return le.at < other.at }

// Moved is epoch.Item's.
func (le *lease) Moved(index int) { le.index = int32(index) } //nolint:gosec // nobody has so many

func (le *lease) next() moment {
	if le.overAt != 0 {
		return min(le.overAt, le.deadline)
	}
	return le.deadline
}

func (le *lease) extend(deadline moment) { le.deadline = max(le.deadline, deadline) }

// marked marks the lease: its end is about to be proposed.
func (l *Lessor) marked(le *lease) {
	le.mark = make(chan struct{})
	l.marks++
}

func (le *lease) resolve() {
	if le.mark != nil {
		close(le.mark)
		le.mark = nil
	}
}

// lifetime is how long after the start of its time a permit is proposed to end, at the earliest.
func lifetime(p *semaphore.Permit) time.Duration { return p.Duration + semaphore.Grace(p.Duration) }

// overAt is when a permit held since then will have been held too long; zero when its definition sets no limit.
func overAt(state *fsm.State, p *semaphore.Permit, since moment) moment {
	if p.State != semaphore.Live {
		return 0
	}
	sd := state.Definition(p.Semaphore)
	if sd == nil || sd.Definition.MaxHold == 0 {
		return 0
	}
	return since.add(sd.Definition.MaxHold)
}
