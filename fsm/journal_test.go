package fsm_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	logv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/log/v1"
)

func newLevel3Log(t *testing.T) *log {
	l := newLog(t)
	l.apply(fsm.RaiseFeatureLevel{Level: 3})
	return l
}

// runJob runs a job n times. The runs end one second apart, starting at the given second.
func (l *log) runJob(name string, n, second int) {
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

func TestJournal_ManyRuns_DoNotEvictEdits(t *testing.T) {
	l := newLevel3Log(t)
	d := l.define("s")
	l.apply(edits(replace(definition("s", permits(2)), d.Version)))
	l.runJob("s", 104, 10)
	equal(t, "entries", journalKinds(l.state(), "s"), map[fsm.EventKind]int{fsm.Created: 1, fsm.Replaced: 1, fsm.Released: 100})
	equal(t, "forgotten ends", l.state().EndsForgotten("s"), at(13))
	equal(t, "forgotten changes", l.state().ChangesForgotten(), uint64(0))
	afterRestart := restored(t, l.state()).State()
	equal(t, "forgotten ends after a restart", afterRestart.EndsForgotten("s"), at(13))
	equal(t, "entries after a restart", len(collect(afterRestart.Journal("s", 0))), 102)
}

// Below level 3, a cluster evicts journal entries as older servers do.
func TestJournal_BelowLevel3_EditsAndRunsShareLimit(t *testing.T) {
	l := newLevel2Log(t)
	l.define("s")
	l.runJob("s", 104, 10)
	equal(t, "entries", journalKinds(l.state(), "s"), map[fsm.EventKind]int{fsm.Released: 100})
	equal(t, "forgotten ends", l.state().EndsForgotten("s"), time.Time{})
	oldest := collect(l.state().Journal("s", 0))[0].Revision
	l.apply(fsm.RaiseFeatureLevel{Level: 3})
	equal(t, "changes that may be incomplete", l.state().ChangesForgotten(), oldest)
}

func TestJournal_EvictedEntry_KeepsNamesOfChange(t *testing.T) {
	l := newLevel3Log(t)
	l.apply(edits(create(definition("a")), create(definition("b")), create(definition("c"))))
	change := l.state().Revision()
	settings := fsm.DefaultSettings()
	settings.JournalPerSemaphore = 1
	l.apply(fsm.Configure{Settings: settings})
	l.apply(edits(replace(definition("a", permits(3)), l.state().Definition("a").Version)))
	for _, s := range []*fsm.State{l.state(), restored(t, l.state()).State()} {
		var remaining []string
		for e := range s.Journal("", change) {
			if e.Revision == change {
				remaining = append(remaining, e.Semaphore)
				equal(t, "names of the change", e.Change.Names, []string{"a", "b", "c"})
			}
		}
		equal(t, "remaining entries", remaining, []string{"b", "c"})
		for e := range s.Journal("a", 0) {
			equal(t, "names of a change with one entry", len(e.Change.Names), 0)
		}
	}
}

func TestJournal_EntriesBeyondLifetime_AreDroppedOnAppend(t *testing.T) {
	l := newLevel3Log(t)
	settings := fsm.DefaultSettings()
	settings.JournalLifetime = time.Minute
	l.apply(fsm.Configure{Settings: settings, At: at(0)})
	l.define("s", permits(9))
	l.runJob("s", 6, 0)
	l.runJob("s", 1, 60)
	equal(t, "entries within the lifetime", journalKinds(l.state(), "s")[fsm.Released], 7)
	l.runJob("s", 1, 63) // entries 0, 1 and 2 are too old, but an append drops at most two
	equal(t, "entries after old entries were dropped", journalKinds(l.state(), "s")[fsm.Released], 6)
	l.apply(fsm.Pause{Names: []string{"s"}, At: at(100)})
	equal(t, "entries after an edit", journalKinds(l.state(), "s"), map[fsm.EventKind]int{fsm.PausedEvent: 1, fsm.Released: 4})
}

func TestRestore_InconsistentJournal_IsRefused(t *testing.T) {
	// journal returns the last matching entry.
	journal := func(records []*logv1.Record, matches func(*logv1.JournalEntry) bool) (found *logv1.JournalEntry) {
		for _, r := range records {
			if e := r.GetJournal(); e != nil && matches(e) {
				found = e
			}
		}
		return found
	}
	named := func(e *logv1.JournalEntry) bool { return len(e.GetChange().GetNames()) > 0 }
	undone := func(e *logv1.JournalEntry) bool { return e.GetUndoes() != 0 }
	tooHigh := uint64(1) << 40
	for _, tc := range []struct {
		why    string
		change func(r []*logv1.Record)
	}{
		{"names", func(r []*logv1.Record) { journal(r, named).Change = nil }},
		{"names", func(r []*logv1.Record) { journal(r, named).Entries = 7 }},
		{"does not match the names of its change", func(r []*logv1.Record) {
			names := journal(r, named).GetChange().GetNames()
			names[0], names[1] = names[1], names[0]
		}},
		{"cannot have undone", func(r []*logv1.Record) { journal(r, undone).GetChange().AlsoUndoes = []uint64{tooHigh} }},
		{"cannot have undone", func(r []*logv1.Record) { journal(r, undone).Undoes = 0 }},
		{"as journal entries, but the limit is", func(r []*logv1.Record) { r[0].GetHeader().Settings.JournalPerSemaphore = 1 }},
		{"its settings", func(r []*logv1.Record) { r[0].GetHeader().Settings.JournalLifetime = -1 }},
		{"changes were forgotten", func(r []*logv1.Record) { r[0].GetHeader().ChangesForgotten = tooHigh }},
		{"data that requires feature level 3", func(r []*logv1.Record) {
			r[0].GetHeader().FeatureLevel, r[0].GetHeader().Settings.JournalPerSemaphore = 2, 99
		}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			records := readRecords(t, snapshot(t, journalScenario(t).state()))
			tc.change(records)
			err := fsm.New("").Restore(bytes.NewReader(writeRecords(t, records)))
			if !errors.Is(err, fsm.ErrSnapshot) || !strings.Contains(err.Error(), tc.why) {
				t.Fatalf("Restore() = %v, want an error that contains %s", err, tc.why)
			}
		})
	}
}
