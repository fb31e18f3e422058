package fsm_test

import (
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

func newRaised(t *testing.T) *log {
	l := newLog(t)
	l.apply(fsm.RaiseFeatureLevel{Level: 3})
	return l
}

// runs lets a job run so many times, the first of them ending at that second.
func (l *log) runs(name string, n, second int) {
	l.tb.Helper()
	for i := range n {
		l.apply(fsm.Release{Token: l.grant(name, "h").Token, At: at(second + i)})
	}
}

func journalKinds(s *fsm.State, name string) map[fsm.EventKind]int {
	count := map[fsm.EventKind]int{}
	for e := range s.Journal(name, 0) {
		count[e.Kind]++
	}
	return count
}

func TestJournal_ManyRuns_EraseNoEdits(t *testing.T) {
	l := newRaised(t)
	d := l.define("s")
	l.apply(edits(replace(definition("s", permits(2)), d.Version)))
	l.runs("s", 104, 10)
	equal(t, "entries", journalKinds(l.state(), "s"), map[fsm.EventKind]int{fsm.Created: 1, fsm.Replaced: 1, fsm.Released: 100})
	equal(t, "forgotten ends", l.state().EndsForgotten("s"), at(13))
	equal(t, "forgotten changes", l.state().ChangesForgotten(), uint64(0))
	again := restored(t, l.state()).State()
	equal(t, "forgotten ends after a restart", again.EndsForgotten("s"), at(13))
	equal(t, "entries after a restart", len(collect(again.Journal("s", 0))), 102)
}

// Servers of a cluster that has not been raised to level 3 forget as older ones do.
func TestJournal_BelowLevel3_OneBoundHoldsForBoth(t *testing.T) {
	l := newLogOfLevel2(t)
	l.define("s")
	l.runs("s", 104, 10)
	equal(t, "entries", journalKinds(l.state(), "s"), map[fsm.EventKind]int{fsm.Released: 100})
	equal(t, "forgotten ends", l.state().EndsForgotten("s"), time.Time{})
	oldest := collect(l.state().Journal("s", 0))[0].Revision
	l.apply(fsm.RaiseFeatureLevel{Level: 3})
	equal(t, "changes that may be incomplete", l.state().ChangesForgotten(), oldest)
}

func TestJournal_EntriesKnowTheirWholeChange(t *testing.T) {
	l := newRaised(t)
	l.apply(edits(create(definition("a")), create(definition("b")), create(definition("c"))))
	change := l.state().Revision()
	settings := fsm.DefaultSettings()
	settings.JournalPerSemaphore = 1
	l.apply(fsm.Configure{Settings: settings})
	l.apply(edits(replace(definition("a", permits(3)), l.state().Definition("a").Version)))
	for _, s := range []*fsm.State{l.state(), restored(t, l.state()).State()} {
		var left []string
		for e := range s.Journal("", change) {
			if e.Revision == change {
				left = append(left, e.Semaphore)
				equal(t, "names of the change", e.Change.Names, []string{"a", "b", "c"})
			}
		}
		equal(t, "entries left", left, []string{"b", "c"})
		for e := range s.Journal("a", 0) {
			equal(t, "names of a change of one", len(e.Change.Names), 0)
		}
	}
}

func TestJournal_EntriesOlderThanTheLifetime_GoWhenNewOnesCome(t *testing.T) {
	l := newRaised(t)
	settings := fsm.DefaultSettings()
	settings.JournalLifetime = time.Minute
	l.apply(fsm.Configure{Settings: settings, At: at(0)})
	l.define("s", permits(9))
	l.runs("s", 6, 0)
	l.runs("s", 1, 60)
	equal(t, "as old as the lifetime", journalKinds(l.state(), "s")[fsm.Released], 7)
	l.runs("s", 1, 63) // those of 0, 1 and 2 are too old, and two go at once
	equal(t, "older", journalKinds(l.state(), "s")[fsm.Released], 6)
	l.apply(fsm.Pause{Names: []string{"s"}, At: at(100)})
	equal(t, "by an edit", journalKinds(l.state(), "s"), map[fsm.EventKind]int{fsm.PausedEvent: 1, fsm.Released: 4})
}
