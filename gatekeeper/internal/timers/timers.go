package timers

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

// Config is what Timers need.
type Config struct {
	// State is the newest applied state.
	State func() *fsm.State
	// Propose hands a command to the log and tells its outcome once. It must not block, nor may done.
	Propose func(cmd fsm.Command, done func(batcher.Outcome))
}

// Timers know what ends when, in one epoch, and propose it. They are safe for concurrent use. While this server does not
// lead they keep nothing and end nothing.
type Timers struct {
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

// New returns a set of timers that does not lead.
func New(cfg Config) *Timers { return &Timers{cfg: cfg} }

// Promote starts an epoch. The caller holds back the application of entries meanwhile, so that state is exactly what
// precedes the first change of the epoch. instant is from where durations run again in full.
func (t *Timers) Promote(term uint64, instant time.Time, state *fsm.State) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.term, t.promoted, t.before = term, instant, state.Revision()
	t.known = make(map[end]time.Time)
	t.spans, t.dates, t.sweepAt = nil, nil, roomy
	t.wake = make(chan struct{}, 1)
	t.runs.Add(2)
	go t.run(term, t.wake)
	go t.adopt(term, state)
}

// Demote ends the epoch of that term.
func (t *Timers) Demote(term uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.term != term {
		return
	}
	t.term = 0
	t.known, t.spans, t.dates = nil, nil, nil
	t.poke()
}

// Close ends the epoch, if any, and waits until no timer runs any more.
func (t *Timers) Close() {
	t.mu.Lock()
	term := t.term
	t.mu.Unlock()
	if term != 0 {
		t.Demote(term)
	}
	t.runs.Wait()
}

// Applied takes in what an entry did. It is subscribed to the state machine and sees every entry in order.
func (t *Timers) Applied(e fsm.Applied) {
	if len(e.Events) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.term == 0 {
		return
	}
	now := time.Now()
	for i := range e.Events {
		switch ev := &e.Events[i]; ev.Kind {
		case fsm.Created, fsm.Replaced, fsm.Deleted, fsm.RevertedEvent, fsm.PausedEvent:
			t.ofSemaphore(e.State, ev.Semaphore, now)
		case fsm.CordonedEvent:
			t.ofCordon(ev.Cordon, now)
		case fsm.StoppingEvent:
			t.ofPermit(ev.Permit.Token, ev.Permit.StopOrder().Revision, ev.Permit.StopOrder().Drain, now)
		default:
		}
	}
}

// adopt notes what was to end when the epoch began. It holds the lock for a few names at a time.
func (t *Timers) adopt(term uint64, state *fsm.State) {
	defer t.runs.Done()
	t.during(term, func(now time.Time) {
		for _, c := range state.Cordons() {
			t.ofCordon(c, now)
		}
		if d := state.Quarantine(); d > 0 {
			t.note(end{kind: quarantineEnd}, t.promoted.Add(d), time.Time{})
		}
	})
	names := make([]string, 0, walk)
	flush := func() (leading bool) {
		defer func() { names = names[:0] }()
		return t.during(term, func(now time.Time) {
			for _, name := range names {
				t.ofSemaphore(state, name, now)
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
		if p.StopOrder().Drain > 0 && !t.during(term, func(now time.Time) { t.ofPermit(p.Token, p.StopOrder().Revision, p.StopOrder().Drain, now) }) {
			return
		}
	}
}

// during does something in an epoch, under the lock, unless it is over.
func (t *Timers) during(term uint64, do func(now time.Time)) (leading bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.term != term {
		return false
	}
	do(time.Now())
	return true
}

// ofSemaphore notes what is to end of a semaphore.
func (t *Timers) ofSemaphore(state *fsm.State, name string, now time.Time) {
	for _, d := range state.Drains(name) {
		t.note(end{kind: drainEnd, change: d.Revision, name: name}, t.from(d.Revision, now).Add(d.Duration), time.Time{})
	}
	for _, e := range state.Ends(name) {
		t.note(end{kind: editEnd, change: e.Revision, name: name}, time.Time{}, e.Until)
	}
	sd := state.Definition(name)
	if sd == nil || sd.Pause == nil {
		return
	}
	if p := sd.Pause; p.Drain > 0 {
		t.note(end{kind: drainEnd, change: p.Revision, name: name}, t.from(p.Revision, now).Add(p.Drain), time.Time{})
	}
	if p := sd.Pause; !p.Until.IsZero() {
		t.note(end{kind: pauseEnd, change: p.Revision, name: name}, time.Time{}, p.Until)
	}
}

func (t *Timers) ofCordon(c *fsm.Cordon, now time.Time) {
	if c.Drain > 0 {
		t.note(end{kind: cordonDrainEnd, change: c.Revision, name: c.ID}, t.from(c.Revision, now).Add(c.Drain), time.Time{})
	}
	if !c.Until.IsZero() {
		t.note(end{kind: cordonEnd, change: c.Revision, name: c.ID}, time.Time{}, c.Until)
	}
}

func (t *Timers) ofPermit(token, change uint64, drain time.Duration, now time.Time) {
	if drain > 0 {
		t.note(end{kind: permitDrainEnd, change: change, token: token}, t.from(change, now).Add(drain), time.Time{})
	}
}

// from is when the time of a change began: now, or with the epoch when it was made before.
func (t *Timers) from(change uint64, now time.Time) time.Time {
	if change <= t.before {
		return t.promoted
	}
	return now
}

// note adds a timer for an end, unless there is one.
func (t *Timers) note(e end, at, date time.Time) {
	if _, ok := t.known[e]; ok {
		return
	}
	first := false
	if date.IsZero() {
		t.known[e] = at
		first = t.spans.add(e, at)
	} else {
		t.known[e] = date
		first = t.dates.add(e, date)
	}
	if first || len(t.known) == t.sweepAt {
		t.poke()
	}
}

// SemaphoreDrain is how long a drain has still to run that the change of that revision began: an edit or a pause. full is its whole length, and the answer when nothing is known yet.
func (t *Timers) SemaphoreDrain(name string, change uint64, full time.Duration) time.Duration {
	return t.left(end{kind: drainEnd, change: change, name: name}, full)
}

// CordonDrain is SemaphoreDrain for the drain of a cordon.
func (t *Timers) CordonDrain(id string, change uint64, full time.Duration) time.Duration {
	return t.left(end{kind: cordonDrainEnd, change: change, name: id}, full)
}

// PermitDrain is SemaphoreDrain for that of a revoked permit.
func (t *Timers) PermitDrain(token, change uint64, full time.Duration) time.Duration {
	return t.left(end{kind: permitDrainEnd, change: change, token: token}, full)
}

func (t *Timers) left(e end, full time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, ok := t.known[e]
	if !ok {
		return full
	}
	return min(max(time.Until(at), 0), full)
}

func (t *Timers) poke() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// run proposes what is due until its epoch is over.
func (t *Timers) run(term uint64, wake <-chan struct{}) {
	defer t.runs.Done()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		due, next, leading := t.collect(term)
		if !leading {
			return
		}
		now := time.Now()
		for _, group := range commands(due, term, now) {
			t.cfg.Propose(group.command, func(o batcher.Outcome) { t.settled(term, group.ends, o.Err) })
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

// collect removes the timers that are due, and says how long nothing else is.
func (t *Timers) collect(term uint64) (due []end, next time.Duration, leading bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.term != term {
		return nil, 0, false
	}
	if len(t.known) >= t.sweepAt {
		t.sweep()
	}
	now := time.Now()
	due = t.spans.take(due, now)
	due = t.dates.take(due, now.Round(0)) // the wall clock: without its monotonic reading
	state := t.cfg.State()
	due = slices.DeleteFunc(due, func(e end) bool {
		if e.holds(state) {
			return false
		}
		delete(t.known, e) // it ended otherwise, or was replaced
		return true
	})
	next = time.Hour
	if len(t.spans) > 0 {
		next = min(next, t.spans[0].at.Sub(now))
	}
	if len(t.dates) > 0 {
		next = min(next, recheck, max(t.dates[0].at.Sub(now.Round(0)), 0))
	}
	return due, next, true
}

// sweep forgets what has ended otherwise, or was replaced, before it is due.
func (t *Timers) sweep() {
	state := t.cfg.State()
	over := func(e end) bool {
		if e.holds(state) {
			return false
		}
		delete(t.known, e)
		return true
	}
	t.spans.drop(over)
	t.dates.drop(over)
	t.sweepAt = max(roomy, 2*len(t.known))
}

// settled forgets ends that were applied, and puts the others back.
func (t *Timers) settled(term uint64, ends []end, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.term != term {
		return
	}
	again := time.Now().Add(retryUnknown)
	if errors.Is(err, consensus.ErrNotAppended) {
		again = time.Now().Add(retryAfter)
	}
	for _, e := range ends {
		if err == nil {
			delete(t.known, e)
		} else {
			t.spans.add(e, again)
		}
	}
	if err != nil {
		t.poke()
	}
}
