package missed

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

const (
	// lookEvery is how often semaphores are checked for missed work.
	lookEvery = time.Second
	// chunk is how many records are looked at under one hold of the lock.
	chunk = 512
)

// Config is what a Listener needs.
type Config struct {
	// State is the newest applied state.
	State func() *fsm.State
	// Propose hands a command to the log and tells its outcome once. It must not block, nor may done.
	Propose func(cmd fsm.Command, done func(batcher.Outcome))
	// Waits tells whether somebody waits in the queue of a semaphore.
	Waits func(semaphore string) bool
}

// Report describes a semaphore that misses its work.
type Report struct {
	Kind fsm.Missed
	// Since is when it was last heard of, by this server's clock.
	Since time.Time
	// Text is for a person.
	Text string
	// Reason is why who asked last was denied, of fsm.AskedButDenied.
	Reason semaphore.Reason
}

// Kinds is how many kinds of missed work there are, fsm.Heard included: they count from 0.
const Kinds = int(fsm.HeldLong) + 1

// Listener listens for expected work in one epoch. It is safe for concurrent use. While this server does not lead it knows
// nothing.
type Listener struct {
	cfg  Config
	runs sync.WaitGroup
	// watched is len(records), for who only wants to know that it is 0.
	watched atomic.Int64

	mu sync.Mutex // guards all below
	// term is the epoch; 0 while this server does not lead.
	term     uint64
	promoted time.Time
	done     chan struct{} // the epoch's own
	records  map[string]*record
	order    []*record // in no order; a record knows its index
	counts   [Kinds]int
}

// New returns a listener of a server that does not lead.
func New(cfg Config) *Listener { return &Listener{cfg: cfg} }

// Promote starts an epoch. The caller holds back the application of entries meanwhile.
func (l *Listener) Promote(term uint64, instant time.Time, state *fsm.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.term, l.promoted = term, instant
	l.forget()
	l.done = make(chan struct{})
	l.runs.Add(2)
	go l.adopt(term, state)
	go l.run(term, l.done)
}

// Demote ends the epoch of that term.
func (l *Listener) Demote(term uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.term != term || term == 0 {
		return
	}
	l.term = 0
	l.forget()
	close(l.done)
}

// Close ends the epoch, if any, and waits until nothing of the listener runs any more.
func (l *Listener) Close() {
	l.mu.Lock()
	term := l.term
	l.mu.Unlock()
	l.Demote(term)
	l.runs.Wait()
}

// Asked takes note that somebody asks for a permit.
func (l *Listener) Asked(sem string) {
	l.with(sem, func(r *record) {
		r.asked = time.Now()
		r.heard(r.asked)
	})
}

// Denied takes note that somebody was denied, why, and what it was told.
func (l *Listener) Denied(sem string, id semaphore.Identity, reason semaphore.Reason, message string) {
	l.with(sem, func(r *record) {
		r.denied, r.asker, r.reason, r.message = time.Now(), id, reason, message
		r.heard(r.denied)
	})
}

// Progress takes note that the job of a permit reported progress at that time.
func (l *Listener) Progress(sem string, token uint64, at time.Time) {
	l.with(sem, func(r *record) { r.report(token, at) })
}

// Of says whether a semaphore misses its work, and how.
func (l *Listener) Of(sem string) (report Report, missed bool) {
	l.with(sem, func(r *record) { report, missed = r.Report, r.Kind != fsm.Heard })
	return report, missed
}

// Counts are how many semaphores miss their work, by kind. That of fsm.Heard is 0.
func (l *Listener) Counts() [Kinds]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

// with does something with the record of a semaphore, if it has one, under the lock.
func (l *Listener) with(sem string, do func(*record)) {
	if l.watched.Load() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.records[sem]; r != nil {
		do(r)
	}
}

// Applied takes in what an entry did. It is subscribed to the state machine and sees every entry in order.
func (l *Listener) Applied(a fsm.Applied) {
	if len(a.Events) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.term == 0 {
		return
	}
	now := time.Now()
	for i := range a.Events {
		l.take(&a.Events[i], now)
	}
}

func (l *Listener) take(e *fsm.Event, now time.Time) {
	r := l.records[e.Semaphore]
	switch e.Kind {
	case fsm.Created, fsm.Replaced, fsm.RevertedEvent, fsm.Deleted:
		l.defined(e.Semaphore, r, e.Definition, now)
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

// defined begins, changes or ends the listening for a definition that was edited; nil when it was deleted. Its first
// expect_every begins now.
func (l *Listener) defined(name string, r *record, sd *fsm.StoredDefinition, now time.Time) {
	switch {
	case sd == nil || sd.Definition.ExpectEvery == 0:
		l.drop(r)
	case r == nil:
		l.listen(l.cfg.State(), name, sd.Definition.ExpectEvery, now)
	default:
		r.every, r.next = sd.Definition.ExpectEvery, now
	}
}
