package missed

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/epoch"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// adopt starts tracking the definitions that existed when the epoch began, if they still exist and expect work.
func (l *Listener) adopt(e *epoch.Epoch, state *fsm.State) {
	expected := func(sd *fsm.StoredDefinition) bool { return sd.Definition.ExpectEvery > 0 }
	epoch.Walk(e, 0, epoch.Filter(state.Definitions(""), expected), func(old *fsm.StoredDefinition) {
		now, name := l.cfg.State(), old.Definition.Name
		if sd := now.Definition(name); sd != nil && expected(sd) && l.records[name] == nil {
			l.track(now, name, sd.Definition.ExpectEvery, l.promoted)
		}
	})
}

// track creates a semaphore's record from the state. Tracking starts at from.
func (l *Listener) track(state *fsm.State, name string, every time.Duration, from time.Time) {
	r := &record{name: name, index: len(l.list), every: every, from: from, holders: make(map[uint64]*holding), next: from}
	for p := range state.Holders(name) {
		if p.State == semaphore.Live {
			r.holders[p.Token] = &holding{id: p.Identity, since: from, granted: p.GrantedAt()}
		}
	}
	for e := range state.JournalBackward(name, 0) {
		if e.Kind == fsm.HeardEvent || e.After != nil && e.After.ExpectEvery == 0 || e.Before == nil && e.After != nil {
			break // older events belong to an earlier expect_every
		}
		if e.Kind == fsm.MissedEvent {
			r.noted = e.Missed
			held := e.Missed == fsm.NoProgress || e.Missed == fsm.HeldTooLong
			if r.fromJournal = held == (len(r.holders) > 0); r.fromJournal {
				r.Report = Report{Kind: e.Missed, Since: e.At, Text: e.Reason}
				l.counts[e.Missed]++
			}
			break
		}
	}
	l.records[name] = r
	l.list = append(l.list, r)
	l.watched.Store(int64(len(l.records)))
}

// drop stops tracking a semaphore. r may be nil.
func (l *Listener) drop(r *record) {
	if r == nil {
		return
	}
	if r.Kind != fsm.NothingMissed {
		l.counts[r.Kind]--
	}
	last := len(l.list) - 1
	l.list[r.index] = l.list[last]
	l.list[r.index].index = r.index
	l.list[last] = nil
	l.list = l.list[:last]
	delete(l.records, r.name)
	l.watched.Store(int64(len(l.records)))
}

// check finds the semaphores that are missing their work, one chunk at a time, and proposes the notes that the journal
// lacks.
func (l *Listener) check(e *epoch.Epoch) {
	more := true
	for from := 0; more; from += epoch.Chunk {
		var notes []fsm.Command
		var names []string
		if !e.IfCurrent(func() { notes, names, more = l.checkChunk(e.Term, from) }) {
			return
		}
		e.Propose(func(i int, _ error) {
			if r := l.records[names[i]]; r != nil {
				// If the command was applied, its event has already set noted. Otherwise the next check proposes it
				// again.
				r.noting = false
			}
		}, notes...)
	}
}

// checkChunk judges the records in one chunk that are due for a check. It returns the commands to propose, the names of
// their semaphores, and whether there are more chunks.
func (l *Listener) checkChunk(term uint64, from int) (notes []fsm.Command, names []string, more bool) {
	now := time.Now()
	supported := l.cfg.State().FeatureLevel() >= fsm.Level(fsm.NoteMissed{})
	end := min(from+epoch.Chunk, len(l.list))
	for _, r := range l.list[min(from, end):end] {
		if r.next.After(now) {
			continue
		}
		l.judge(r, now)
		if r.Kind == r.noted || r.noting || !supported {
			continue
		}
		r.noting = true
		cmd := fsm.NoteMissed{Semaphore: r.name, Term: term, Missed: r.Kind, Text: r.Text, At: now}
		if r.Kind == fsm.NothingMissed {
			cmd.Text = "activity has resumed after missed work"
		}
		notes, names = append(notes, cmd), append(names, r.name)
	}
	return notes, names, end < len(l.list)
}

// judge updates the report of a record.
func (l *Listener) judge(r *record, now time.Time) {
	report, next := r.judge(now, l.cfg.HasWaiters(r.name))
	r.next = next
	if r.fromJournal && report.Kind == fsm.NothingMissed {
		return // there is nothing newer than the journal's entry yet
	}
	if r.fromJournal && report.Kind == fsm.AllDenied {
		report.Since = r.Since // the semaphore has not been held since then either
	} else {
		r.fromJournal = false
	}
	if report.Kind != r.Kind {
		if r.Kind != fsm.NothingMissed {
			l.counts[r.Kind]--
		}
		if report.Kind != fsm.NothingMissed {
			l.counts[report.Kind]++
		}
	}
	r.Report = report
	if r.Kind != r.noted {
		r.next = now // keep checking until the journal agrees
	}
}
