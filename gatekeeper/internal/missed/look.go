package missed

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// adopt begins to listen for the definitions that were there when the epoch began, as they are by now.
func (l *Listener) adopt(term uint64, state *fsm.State) {
	defer l.runs.Done()
	names := make([]string, 0, chunk)
	flush := func() (leading bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.term != term {
			return false
		}
		now := l.cfg.State()
		for _, name := range names {
			if sd := now.Definition(name); sd != nil && sd.Definition.ExpectEvery > 0 && l.records[name] == nil {
				l.listen(now, name, sd.Definition.ExpectEvery, l.promoted)
			}
		}
		names = names[:0]
		return true
	}
	for sd := range state.Definitions("") {
		if sd.Definition.ExpectEvery == 0 {
			continue
		}
		if names = append(names, sd.Definition.Name); len(names) == chunk && !flush() {
			return
		}
	}
	flush()
}

// listen makes the record of a semaphore, with what the state knows of it. from is when the listening begins.
func (l *Listener) listen(state *fsm.State, name string, every time.Duration, from time.Time) {
	r := &record{name: name, index: len(l.order), every: every, from: from, holders: make(map[uint64]*holding), next: from}
	for p := range state.Holders(name) {
		if p.State == semaphore.Live {
			r.holders[p.Token] = &holding{id: p.Identity, since: from, granted: p.GrantedAt}
		}
	}
	for e := range state.JournalBackward(name, 0) {
		if e.Kind == fsm.HeardEvent || e.After != nil && e.After.ExpectEvery == 0 || e.Before == nil && e.After != nil {
			break // what is older tells of another time
		}
		if e.Kind == fsm.MissedEvent {
			r.noted = e.Missed
			held := e.Missed == fsm.NoProgress || e.Missed == fsm.HeldLong
			if r.told = held == (len(r.holders) > 0); r.told {
				r.Report = Report{Kind: e.Missed, Since: e.At, Text: e.Reason}
				l.counts[e.Missed]++
			}
			break
		}
	}
	l.records[name] = r
	l.order = append(l.order, r)
	l.watched.Store(int64(len(l.records)))
}

// drop ends the listening for a semaphore; r may be nil.
func (l *Listener) drop(r *record) {
	if r == nil {
		return
	}
	if r.Kind != fsm.Heard {
		l.counts[r.Kind]--
	}
	last := len(l.order) - 1
	l.order[r.index] = l.order[last]
	l.order[r.index].index = r.index
	l.order[last] = nil
	l.order = l.order[:last]
	delete(l.records, r.name)
	l.watched.Store(int64(len(l.records)))
}

// forget drops everything.
func (l *Listener) forget() {
	l.records, l.order, l.counts = make(map[string]*record), nil, [Kinds]int{}
	l.watched.Store(0)
}

// run checks once a second which semaphores miss their work, until the epoch ends.
func (l *Listener) run(term uint64, done <-chan struct{}) {
	defer l.runs.Done()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		for i := 0; i >= 0; {
			var notes []fsm.NoteMissed
			notes, i = l.look(term, i)
			for _, cmd := range notes {
				l.cfg.Propose(cmd, func(o batcher.Outcome) { l.settled(term, cmd.Semaphore, o.Err) })
			}
		}
	}
}

// look judges the records of one chunk whose time has come, and returns what the journal is to be told, and where the next
// chunk begins; negative: there is none.
func (l *Listener) look(term uint64, from int) (notes []fsm.NoteMissed, next int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.term != term {
		return nil, -1
	}
	now := time.Now()
	journals := l.cfg.State().FeatureLevel() >= fsm.Level(fsm.NoteMissed{})
	end := min(from+chunk, len(l.order))
	for _, r := range l.order[min(from, end):end] {
		if r.next.After(now) {
			continue
		}
		l.judge(r, now)
		if r.Kind == r.noted || r.noting || !journals {
			continue
		}
		r.noting = true
		cmd := fsm.NoteMissed{Semaphore: r.name, Term: term, Missed: r.Kind, Text: r.Text, At: now}
		if r.Kind == fsm.Heard {
			cmd.Text = "it missed its work, and is heard of again"
		}
		notes = append(notes, cmd)
	}
	if end == len(l.order) {
		return notes, -1
	}
	return notes, end
}

// judge brings the report of a record up to date.
func (l *Listener) judge(r *record, now time.Time) {
	report, next := r.judge(now, l.cfg.Waits(r.name))
	r.next = next
	if r.told && report.Kind == fsm.Heard {
		return // nothing is known but what the journal tells
	}
	if r.told && report.Kind == fsm.AskedButDenied {
		report.Since = r.Since // nobody has had it since then either
	} else {
		r.told = false
	}
	if report.Kind != r.Kind {
		if r.Kind != fsm.Heard {
			l.counts[r.Kind]--
		}
		if report.Kind != fsm.Heard {
			l.counts[report.Kind]++
		}
	}
	r.Report = report
	if r.Kind != r.noted {
		r.next = now // until the journal says so too
	}
}

// settled takes in that the journal was told, or not.
func (l *Listener) settled(term uint64, name string, _ error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.records[name]; l.term == term && r != nil {
		// What was applied came as an event before, so that noted is right; what was not is told again at the next look.
		r.noting = false
	}
}
