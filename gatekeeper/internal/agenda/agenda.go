package agenda

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
)

const (
	// recheck is how often the wall clock is read while anything waits for it.
	recheck = 5 * time.Second
	// retryAfter is how long an end that did not reach the log waits before it is proposed again, and retryUnknown how long
	// one of which that is not known does.
	retryAfter   = 50 * time.Millisecond
	retryUnknown = time.Second
	// chunk is how many names one command ends the pause or the drain of.
	chunk = 1000
	// walk is how many names are looked at under one hold of the lock after a promotion.
	walk = 512
	// roomy is how many ends may stand here before it is looked whether they still are ends.
	roomy = 1024
)

// Config is what an Agenda needs.
type Config struct {
	// State is the newest applied state.
	State func() *fsm.State
	// Propose hands a command to the log and tells its outcome once. It must not block, nor may done.
	Propose func(cmd fsm.Command, done func(batcher.Outcome))
}

// Agenda knows what is to end when, in one epoch, and proposes it. It is safe for concurrent use. While this server does not
// lead it keeps nothing and ends nothing.
type Agenda struct {
	cfg  Config
	runs sync.WaitGroup

	mu sync.Mutex // guards all below
	// term is the epoch; 0 while this server does not lead.
	term uint64
	// promoted is when the epoch began, and before the last revision that was applied until then.
	promoted time.Time
	before   uint64
	// wake is the epoch's own.
	wake chan struct{}
	// known is when each end is due.
	known map[end]time.Time
	spans schedule // on the monotonic clock
	dates schedule // on the wall clock
	// sweepAt is how many known ends are too many to keep without a look: what was replaced or ended by hand stands here until
	// it is due, which may be never.
	sweepAt int
}

// New returns an agenda that does not lead.
func New(cfg Config) *Agenda { return &Agenda{cfg: cfg} }

// Promote starts an epoch. The caller holds back the application of entries meanwhile, so that state is exactly what
// precedes the first change of the epoch. instant is from where durations run again in full.
func (a *Agenda) Promote(term uint64, instant time.Time, state *fsm.State) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.term, a.promoted, a.before = term, instant, state.Revision()
	a.known = make(map[end]time.Time)
	a.spans, a.dates, a.sweepAt = nil, nil, roomy
	a.wake = make(chan struct{}, 1)
	a.runs.Add(2)
	go a.run(term, a.wake)
	go a.adopt(term, state)
}

// Demote ends the epoch of that term.
func (a *Agenda) Demote(term uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.term != term {
		return
	}
	a.term = 0
	a.known, a.spans, a.dates = nil, nil, nil
	a.poke()
}

// Close ends the epoch, if any, and waits until nothing of the agenda runs any more.
func (a *Agenda) Close() {
	a.mu.Lock()
	term := a.term
	a.mu.Unlock()
	if term != 0 {
		a.Demote(term)
	}
	a.runs.Wait()
}

// Applied takes in what an entry did. It is subscribed to the state machine and sees every entry in order.
func (a *Agenda) Applied(e fsm.Applied) {
	if len(e.Events) == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.term == 0 {
		return
	}
	now := time.Now()
	for i := range e.Events {
		switch ev := &e.Events[i]; ev.Kind {
		case fsm.Created, fsm.Replaced, fsm.Deleted, fsm.RevertedEvent, fsm.PausedEvent:
			a.ofSemaphore(e.State, ev.Semaphore, now)
		case fsm.CordonedEvent:
			a.ofCordon(ev.Cordon, now)
		case fsm.StoppingEvent:
			a.ofPermit(ev.Permit.Token, ev.Permit.StopOrder().Revision, ev.Permit.StopOrder().Drain, now)
		default:
		}
	}
}

// adopt notes what was to end when the epoch began. It holds the lock for a few names at a time.
func (a *Agenda) adopt(term uint64, state *fsm.State) {
	defer a.runs.Done()
	a.during(term, func(now time.Time) {
		for _, c := range state.Cordons() {
			a.ofCordon(c, now)
		}
		if d := state.Quarantine(); d > 0 {
			a.note(end{kind: quarantineEnd}, a.promoted.Add(d), time.Time{})
		}
	})
	names := make([]string, 0, walk)
	flush := func() (leading bool) {
		defer func() { names = names[:0] }()
		return a.during(term, func(now time.Time) {
			for _, name := range names {
				a.ofSemaphore(state, name, now)
			}
		})
	}
	for name := range state.Names() {
		if names = append(names, name); len(names) == walk && !flush() {
			return
		}
	}
	if !flush() {
		return
	}
	for p := range state.Permits(0) {
		if p.StopOrder().Drain > 0 && !a.during(term, func(now time.Time) { a.ofPermit(p.Token, p.StopOrder().Revision, p.StopOrder().Drain, now) }) {
			return
		}
	}
}

// during does something in an epoch, under the lock, unless it is over.
func (a *Agenda) during(term uint64, do func(now time.Time)) (leading bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.term != term {
		return false
	}
	do(time.Now())
	return true
}

// ofSemaphore notes what is to end of a semaphore.
func (a *Agenda) ofSemaphore(state *fsm.State, name string, now time.Time) {
	for _, d := range state.Drains(name) {
		a.note(end{kind: drainEnd, change: d.Revision, name: name}, a.from(d.Revision, now).Add(d.Duration), time.Time{})
	}
	for _, e := range state.Ends(name) {
		a.note(end{kind: editEnd, change: e.Revision, name: name}, time.Time{}, e.Until)
	}
	sd := state.Definition(name)
	if sd == nil || sd.Pause == nil {
		return
	}
	if p := sd.Pause; p.Drain > 0 {
		a.note(end{kind: drainEnd, change: p.Revision, name: name}, a.from(p.Revision, now).Add(p.Drain), time.Time{})
	}
	if p := sd.Pause; !p.Until.IsZero() {
		a.note(end{kind: pauseEnd, change: p.Revision, name: name}, time.Time{}, p.Until)
	}
}

func (a *Agenda) ofCordon(c *fsm.Cordon, now time.Time) {
	if c.Drain > 0 {
		a.note(end{kind: cordonDrainEnd, change: c.Revision, name: c.ID}, a.from(c.Revision, now).Add(c.Drain), time.Time{})
	}
	if !c.Until.IsZero() {
		a.note(end{kind: cordonEnd, change: c.Revision, name: c.ID}, time.Time{}, c.Until)
	}
}

func (a *Agenda) ofPermit(token, change uint64, drain time.Duration, now time.Time) {
	if drain > 0 {
		a.note(end{kind: permitDrainEnd, change: change, token: token}, a.from(change, now).Add(drain), time.Time{})
	}
}

// from is when the time of a change began: now, or with the epoch when it was made before.
func (a *Agenda) from(change uint64, now time.Time) time.Time {
	if change <= a.before {
		return a.promoted
	}
	return now
}

// note puts an end on the agenda, unless it stands there.
func (a *Agenda) note(e end, at, date time.Time) {
	if _, ok := a.known[e]; ok {
		return
	}
	first := false
	if date.IsZero() {
		a.known[e] = at
		first = a.spans.add(e, at)
	} else {
		a.known[e] = date
		first = a.dates.add(e, date)
	}
	if first || len(a.known) == a.sweepAt {
		a.poke()
	}
}

// SemaphoreDrain is how long a drain has still to run that the change of that revision began: an edit or a pause. full is its whole length, and the answer when nothing is known yet.
func (a *Agenda) SemaphoreDrain(name string, change uint64, full time.Duration) time.Duration {
	return a.left(end{kind: drainEnd, change: change, name: name}, full)
}

// CordonDrain is SemaphoreDrain for the drain of a cordon.
func (a *Agenda) CordonDrain(id string, change uint64, full time.Duration) time.Duration {
	return a.left(end{kind: cordonDrainEnd, change: change, name: id}, full)
}

// PermitDrain is SemaphoreDrain for that of a revoked permit.
func (a *Agenda) PermitDrain(token, change uint64, full time.Duration) time.Duration {
	return a.left(end{kind: permitDrainEnd, change: change, token: token}, full)
}

func (a *Agenda) left(e end, full time.Duration) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, ok := a.known[e]
	if !ok {
		return full
	}
	return min(max(time.Until(at), 0), full)
}

func (a *Agenda) poke() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// run proposes what is due until its epoch is over.
func (a *Agenda) run(term uint64, wake <-chan struct{}) {
	defer a.runs.Done()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		due, next, leading := a.collect(term)
		if !leading {
			return
		}
		now := time.Now()
		for _, group := range commands(due, term, now) {
			a.cfg.Propose(group.command, func(o batcher.Outcome) { a.settled(term, group.ends, o.Err) })
		}
		if len(due) > 0 {
			continue
		}
		timer.Reset(next)
		select {
		case <-timer.C:
		case <-wake:
		}
	}
}

// collect takes off the agenda what is due, and tells how long nothing else is.
func (a *Agenda) collect(term uint64) (due []end, next time.Duration, leading bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.term != term {
		return nil, 0, false
	}
	if len(a.known) >= a.sweepAt {
		a.sweep()
	}
	now := time.Now()
	due = a.spans.take(due, now)
	due = a.dates.take(due, now.Round(0)) // the wall clock: without its monotonic reading
	state := a.cfg.State()
	due = slices.DeleteFunc(due, func(e end) bool {
		if e.holds(state) {
			return false
		}
		delete(a.known, e) // it ended otherwise, or was replaced
		return true
	})
	next = time.Hour
	if len(a.spans) > 0 {
		next = min(next, a.spans[0].at.Sub(now))
	}
	if len(a.dates) > 0 {
		next = min(next, recheck, max(a.dates[0].at.Sub(now.Round(0)), 0))
	}
	return due, next, true
}

// sweep forgets what has ended otherwise, or was replaced, before it is due.
func (a *Agenda) sweep() {
	state := a.cfg.State()
	over := func(e end) bool {
		if e.holds(state) {
			return false
		}
		delete(a.known, e)
		return true
	}
	a.spans.drop(over)
	a.dates.drop(over)
	a.sweepAt = max(roomy, 2*len(a.known))
}

// settled forgets ends that were applied, and puts the others back.
func (a *Agenda) settled(term uint64, ends []end, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.term != term {
		return
	}
	again := time.Now().Add(retryUnknown)
	if errors.Is(err, consensus.ErrNotAppended) {
		again = time.Now().Add(retryAfter)
	}
	for _, e := range ends {
		if err == nil {
			delete(a.known, e)
		} else {
			a.spans.add(e, again)
		}
	}
	if err != nil {
		a.poke()
	}
}
