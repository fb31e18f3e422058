package missed

import (
	"sync/atomic"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/epoch"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// checkInterval is how often semaphores are checked for missed work.
const checkInterval = time.Second

// Config configures a Listener.
type Config struct {
	// State returns the newest applied state.
	State func() *fsm.State
	// Propose appends a command to the log and reports its outcome exactly once. Neither Propose nor done may block.
	Propose func(cmd fsm.Command, done func(batcher.Outcome))
	// HasWaiters reports whether a caller is waiting in a semaphore's queue.
	HasWaiters func(semaphore string) bool
}

// Report describes how a semaphore is missing its work.
type Report struct {
	Kind fsm.Missed
	// Since is when activity on the semaphore was last seen, by this server's clock.
	Since time.Time
	// Text is a human-readable description.
	Text string
	// Reason is why the last caller was denied. It is set for fsm.AllDenied.
	Reason semaphore.Reason
}

// Kinds is the number of kinds of missed work, including fsm.NothingMissed. They are numbered from 0.
const Kinds = int(fsm.HeldTooLong) + 1

// Listener tracks expected work during one epoch. It is safe for concurrent use. While this server is not the leader,
// it has no records. See package epoch for Demote and Close.
type Listener struct {
	*epoch.Room // its lock guards all fields below except cfg and watched

	cfg Config
	// watched is len(records), for calls that only compare it with 0.
	watched  atomic.Int64
	promoted time.Time
	records  map[string]*record
	list     []*record // in no particular order; each record stores its index
	counts   [Kinds]int
}

// New returns a Listener for a server that is not the leader.
func New(cfg Config) *Listener {
	l := &Listener{cfg: cfg}
	l.Room = epoch.NewRoom(cfg.Propose, l.forget)
	return l
}

// Promote starts an epoch. The caller must not apply entries during the call.
func (l *Listener) Promote(term uint64, instant time.Time, state *fsm.State) {
	l.Begin(term, func(e *epoch.Epoch) {
		l.promoted, l.records = instant, make(map[string]*record)
		l.Go(func() { l.adopt(e, state) })
		e.Every(checkInterval, func() { l.check(e) })
	})
}

// forget drops all of the epoch's records.
func (l *Listener) forget() {
	l.records, l.list, l.counts = nil, nil, [Kinds]int{}
	l.watched.Store(0)
}

// Asked records that a caller asked for a permit.
func (l *Listener) Asked(sem string) {
	l.withRecord(sem, func(r *record) {
		r.asked = time.Now()
		r.checkSoon(r.asked)
	})
}

// Denied records that a caller was denied, and why.
func (l *Listener) Denied(sem string, id semaphore.Identity, reason semaphore.Reason, message string) {
	l.withRecord(sem, func(r *record) {
		r.denied, r.asker, r.reason, r.message = time.Now(), id, reason, message
		r.checkSoon(r.denied)
	})
}

// Progress records that a permit's job reported progress at the given time.
func (l *Listener) Progress(sem string, token uint64, at time.Time) {
	l.withRecord(sem, func(r *record) { r.recordProgress(token, at) })
}

// Of reports whether a semaphore is missing its work, and how.
func (l *Listener) Of(sem string) (report Report, missed bool) {
	l.withRecord(sem, func(r *record) { report, missed = r.Report, r.Kind != fsm.NothingMissed })
	return report, missed
}

// Counts returns the number of semaphores that are missing their work, by kind. The count of fsm.NothingMissed is 0.
func (l *Listener) Counts() [Kinds]int {
	l.Lock()
	defer l.Unlock()
	return l.counts
}

// withRecord calls do with a semaphore's record, if it has one, while holding the lock.
func (l *Listener) withRecord(sem string, do func(*record)) {
	if l.watched.Load() == 0 {
		return
	}
	l.Lock()
	defer l.Unlock()
	if r := l.records[sem]; r != nil {
		do(r)
	}
}

// Applied processes the events of an entry. It must be called for every entry, in order.
func (l *Listener) Applied(a fsm.Applied) {
	if len(a.Events) == 0 {
		return
	}
	l.Lock()
	defer l.Unlock()
	if l.Current() == nil {
		return
	}
	now := time.Now()
	for i := range a.Events {
		l.handleEvent(&a.Events[i], now)
	}
}

func (l *Listener) handleEvent(e *fsm.Event, now time.Time) {
	r := l.records[e.Semaphore]
	switch e.Kind {
	case fsm.Created, fsm.Replaced, fsm.RevertedEvent, fsm.Deleted:
		l.definitionChanged(e.Semaphore, r, e.Definition, now)
		return
	default:
	}
	if r == nil {
		return
	}
	switch e.Kind {
	case fsm.Granted:
		r.hold(e.Permit, now)
	case fsm.SupersededEvent:
		r.supersede(e.Superseded.Token, e.Permit.Token)
	case fsm.Released, fsm.Expired, fsm.HeldEvent, fsm.CoolingEvent, fsm.Abandoned, fsm.FreedUnsafely:
		r.end(e.Permit.Token, now)
	case fsm.MissedEvent, fsm.HeardEvent:
		r.noted = e.Missed
	default:
	}
}

// definitionChanged starts, updates or stops tracking a definition that was edited. sd is nil if it was deleted. When
// tracking starts, the first expect_every interval begins at now.
func (l *Listener) definitionChanged(name string, r *record, sd *fsm.StoredDefinition, now time.Time) {
	switch {
	case sd == nil || sd.Definition.ExpectEvery == 0:
		l.drop(r)
	case r == nil:
		l.track(l.cfg.State(), name, sd.Definition.ExpectEvery, now)
	default:
		r.every, r.next = sd.Definition.ExpectEvery, now
	}
}
