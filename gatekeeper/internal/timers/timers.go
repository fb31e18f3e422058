package timers

import (
	"container/heap"
	"errors"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/epoch"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

const (
	// recheck is how often the wall clock is read while a timer depends on it.
	recheck = 5 * time.Second
	// retryUnknown is the delay before a command whose outcome is unknown is proposed again.
	retryUnknown = time.Second
	// maxNames is the maximum number of names in one command.
	maxNames = 1000
	// minSweep is the minimum number of timers that triggers a sweep.
	minSweep = 1024
)

// Config is the configuration of Timers.
type Config struct {
	// State returns the newest applied state.
	State func() *fsm.State
	// Propose appends a command to the log and reports its outcome once. Neither Propose nor done may block.
	Propose func(cmd fsm.Command, done func(batcher.Outcome))
}

// Timers ends temporary changes during one epoch: it proposes a command when a change's timer is due. It is safe for
// concurrent use. While this server is not the leader, it has no timers. See package epoch for Demote and Close.
type Timers struct {
	*epoch.Room // its lock guards all fields below except cfg

	cfg Config
	// promoted is the time at which the epoch began. before is the last revision applied before then.
	promoted time.Time
	before   uint64
	// known holds the time at which each timer is due.
	known map[end]time.Time
	spans epoch.Heap[scheduled] // on the monotonic clock
	dates epoch.Heap[scheduled] // on the wall clock
	// sweepAt is the number of known timers that triggers a sweep. Without sweeps, the timer of a change that was
	// replaced or ended manually would remain until it is due, which may be never.
	sweepAt int
}

// New returns Timers for a server that is not the leader.
func New(cfg Config) *Timers {
	t := &Timers{cfg: cfg}
	t.Room = epoch.NewRoom(cfg.Propose, t.forget)
	return t
}

// Promote starts an epoch. The caller must not apply entries during the call, so that state is exactly the state before
// the epoch's first change. All durations restart in full at instant.
func (t *Timers) Promote(term uint64, instant time.Time, state *fsm.State) {
	t.Begin(term, func(e *epoch.Epoch) {
		t.promoted, t.before = instant, state.Revision()
		t.known, t.sweepAt = make(map[end]time.Time), minSweep
		t.Go(func() { t.adopt(e, state) })
		e.Run(func() (func(), time.Duration) {
			due, next := t.collect()
			if len(due) == 0 {
				return nil, next
			}
			return func() { t.propose(e, due) }, 0
		})
	})
}

// forget drops all timers of an epoch.
func (t *Timers) forget() {
	t.known, t.spans, t.dates = nil, nil, nil
}

// Applied processes the events of an entry. It is subscribed to the state machine and receives every entry in order.
func (t *Timers) Applied(e fsm.Applied) {
	if len(e.Events) == 0 {
		return
	}
	t.Lock()
	defer t.Unlock()
	if t.Current() == nil {
		return
	}
	now := time.Now()
	for i := range e.Events {
		switch ev := &e.Events[i]; ev.Kind {
		case fsm.Created, fsm.Replaced, fsm.Deleted, fsm.RevertedEvent, fsm.PausedEvent:
			t.addSemaphore(e.State, ev.Semaphore, now)
		case fsm.CordonedEvent:
			t.addCordon(ev.Cordon, now)
		case fsm.StoppingEvent:
			t.addPermit(ev.Permit, now)
		case fsm.JobSubmitted, fsm.TaskSettled, fsm.JobCancelled, fsm.TasksChanged:
			t.addJob(e.State, ev.Job, now)
		default:
		}
	}
}

// adopt adds the timers of everything that was pending when the epoch began.
func (t *Timers) adopt(e *epoch.Epoch, state *fsm.State) {
	e.IfCurrent(func() {
		for _, c := range state.Cordons() {
			t.addCordon(c, t.promoted)
		}
		if d := state.Quarantine(); d > 0 {
			t.add(end{kind: quarantineEnd}, t.promoted.Add(d), time.Time{})
		}
	})
	if !epoch.Walk(e, 0, state.Names(), func(name string) { t.addSemaphore(state, name, t.promoted) }) {
		return
	}
	draining := func(p *semaphore.Permit) bool { return p.StopOrder().Drain > 0 }
	if !epoch.Walk(e, 0, epoch.Filter(state.Permits(0), draining), func(p *semaphore.Permit) { t.addPermit(p, t.promoted) }) {
		return
	}
	epoch.Walk(e, 0, state.Jobs(0), func(j *work.Job) { t.addJob(state, j, t.promoted) })
}

// addSemaphore adds a semaphore's timers.
func (t *Timers) addSemaphore(state *fsm.State, name string, now time.Time) {
	for _, d := range state.Drains(name) {
		t.add(end{kind: drainEnd, change: d.Revision, name: name}, t.startOf(d.Revision, now).Add(d.Duration), time.Time{})
	}
	for _, e := range state.Ends(name) {
		t.add(end{kind: editEnd, change: e.Revision, name: name}, time.Time{}, e.Until)
	}
	sd := state.Definition(name)
	if sd == nil || sd.Pause == nil {
		return
	}
	if p := sd.Pause; p.Drain > 0 {
		t.add(end{kind: drainEnd, change: p.Revision, name: name}, t.startOf(p.Revision, now).Add(p.Drain), time.Time{})
	}
	if p := sd.Pause; !p.Until.IsZero() {
		t.add(end{kind: pauseEnd, change: p.Revision, name: name}, time.Time{}, p.Until)
	}
}

func (t *Timers) addCordon(c *fsm.Cordon, now time.Time) {
	if c.Drain > 0 {
		t.add(end{kind: cordonDrainEnd, change: c.Revision, name: c.ID}, t.startOf(c.Revision, now).Add(c.Drain), time.Time{})
	}
	if !c.Until.IsZero() {
		t.add(end{kind: cordonEnd, change: c.Revision, name: c.ID}, time.Time{}, c.Until)
	}
}

func (t *Timers) addPermit(p *semaphore.Permit, now time.Time) {
	if o := p.StopOrder(); o.Drain > 0 {
		t.add(end{kind: permitDrainEnd, change: o.Revision, token: p.Token}, t.startOf(o.Revision, now).Add(o.Drain), time.Time{})
	}
}

// startOf returns the start of a change's duration: now, or the time of the promotion if the change precedes it.
func (t *Timers) startOf(change uint64, now time.Time) time.Time {
	if change <= t.before {
		return t.promoted
	}
	return now
}

// add adds a timer, unless it already exists. It is due at the given time on the monotonic clock or, if date is set,
// at that date on the wall clock.
func (t *Timers) add(e end, at, date time.Time) {
	if _, ok := t.known[e]; ok {
		return
	}
	ends := &t.spans
	if !date.IsZero() {
		ends, at = &t.dates, date
	}
	t.known[e] = at
	heap.Push(ends, scheduled{e, at})
	if (*ends)[0].end == e || len(t.known) == t.sweepAt {
		t.Wake()
	}
}

// SemaphoreDrain returns how much is left of the drain started by the edit or pause with the given revision. It returns
// full, the drain's total length, if there is no timer for it yet.
func (t *Timers) SemaphoreDrain(name string, change uint64, full time.Duration) time.Duration {
	return t.left(end{kind: drainEnd, change: change, name: name}, full)
}

// CordonDrain is like SemaphoreDrain, but for a cordon's drain.
func (t *Timers) CordonDrain(id string, change uint64, full time.Duration) time.Duration {
	return t.left(end{kind: cordonDrainEnd, change: change, name: id}, full)
}

// PermitDrain is like SemaphoreDrain, but for a revoked permit's drain.
func (t *Timers) PermitDrain(token, change uint64, full time.Duration) time.Duration {
	return t.left(end{kind: permitDrainEnd, change: change, token: token}, full)
}

func (t *Timers) left(e end, full time.Duration) time.Duration {
	t.Lock()
	defer t.Unlock()
	at, ok := t.known[e]
	if !ok {
		return full
	}
	return min(max(time.Until(at), 0), full)
}

// collect removes and returns the timers that are due, along with the time until the next one.
func (t *Timers) collect() (due []end, next time.Duration) {
	if len(t.known) >= t.sweepAt {
		t.sweep()
	}
	now := time.Now()
	due = popDue(&t.spans, due, now)
	due = popDue(&t.dates, due, now.Round(0))       // strip the monotonic reading
	due = slices.DeleteFunc(due, func(e end) bool { // dropped, and perhaps added again for a later time
		at, ok := t.known[e]
		return !ok || at.After(now)
	})
	due = slices.DeleteFunc(due, t.stale())
	next = time.Hour
	if len(t.spans) > 0 {
		next = min(next, t.spans[0].at.Sub(now))
	}
	if len(t.dates) > 0 {
		next = min(next, recheck, max(t.dates[0].at.Sub(now.Round(0)), 0))
	}
	return due, next
}

// stale returns a function that drops a timer if its change has ended or been replaced, and reports whether it did so.
func (t *Timers) stale() func(end) bool {
	state := t.cfg.State()
	return func(e end) bool {
		if e.pending(state) {
			return false
		}
		delete(t.known, e)
		return true
	}
}

// sweep drops stale timers before they are due.
func (t *Timers) sweep() {
	stale := t.stale()
	for _, ends := range []*epoch.Heap[scheduled]{&t.spans, &t.dates} {
		*ends = slices.DeleteFunc(*ends, func(p scheduled) bool { return stale(p.end) })
		heap.Init(ends)
	}
	t.sweepAt = max(minSweep, 2*len(t.known))
}

// propose proposes the commands for the timers that are due. It drops the timers whose commands were applied, and
// reschedules the others.
func (t *Timers) propose(e *epoch.Epoch, due []end) {
	cmds, ends := commands(due, e.Term, time.Now())
	e.Propose(func(i int, err error) {
		if err == nil {
			for _, ended := range ends[i] {
				delete(t.known, ended)
			}
			return
		}
		again := time.Now().Add(retryUnknown)
		if errors.Is(err, consensus.ErrNotAppended) {
			again = time.Now().Add(epoch.RetryAfter)
		}
		for _, due := range ends[i] {
			heap.Push(&t.spans, scheduled{due, again})
		}
		t.Wake()
	}, cmds...)
}

// scheduled is a timer and the time at which it is due.
type scheduled struct {
	end end
	at  time.Time
}

// Before implements epoch.Item.
func (p scheduled) Before(other scheduled) bool { return p.at.Before(other.at) }

// Moved implements epoch.Item. It does nothing, because a timer is never looked up in its heap.
func (p scheduled) Moved(int) {}

// popDue pops the timers that are due now and appends them to due.
func popDue(ends *epoch.Heap[scheduled], due []end, now time.Time) []end {
	for len(*ends) > 0 && !(*ends)[0].at.After(now) {
		due = append(due, heap.Pop(ends).(scheduled).end) //nolint:forcetypeassert // the heap holds only scheduled timers
	}
	return due
}
