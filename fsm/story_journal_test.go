package fsm_test

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// journalCommands returns the commands that use the journal fields of feature level 3. They are frozen.
func journalCommands() []fsm.Command {
	return []fsm.Command{
		fsm.Undo{Change: 3, OtherChanges: []uint64{4, 5}, Partial: true, At: at(70)},
		fsm.Configure{Settings: fsm.Settings{
			MaxDuration: time.Hour, JournalPerSemaphore: 9, JournalTotal: 99, RememberedRequests: 9, RememberedDeletions: 9,
			JournalLifetime: 24 * time.Hour,
		}, At: at(71)},
	}
}

// journalScenario returns a log whose journal was started at level 2 and continued at level 3. It contains changes to
// one semaphore and to several, and some of its entries have been forgotten. It is frozen.
func journalScenario(tb tester) *log {
	l := newLevel2Log(tb)
	settings := fsm.DefaultSettings()
	settings.JournalPerSemaphore = 2
	l.apply(fsm.Configure{Settings: settings})
	l.define("a", permits(2))
	l.define("b", permits(2))
	l.apply(fsm.Pause{Names: []string{"a", "b"}, At: at(1)}, fsm.RaiseFeatureLevel{Level: 3})
	settings.JournalLifetime = 24 * time.Hour
	l.apply(fsm.Configure{Settings: settings, At: at(2)})
	l.apply(fsm.Resume{Names: []string{"a", "b"}, At: at(3)})
	resumed := l.state().Revision()
	both := func(n uint32, second int) fsm.EditBatch {
		batch := edits(
			replace(definition("a", permits(n)), l.state().Definition("a").Version), replace(definition("b", permits(n)), l.state().Definition("b").Version),
		)
		batch.At = at(second)
		return batch
	}
	l.apply(both(3, 4))
	for i := range 3 {
		l.apply(fsm.Release{Token: l.grant("a", "h").Token, At: at(5 + i)})
	}
	v := l.state().Definition("a").Version
	l.apply(fsm.Undo{Change: v, OtherChanges: []uint64{resumed}, Partial: true, At: at(9), Edits: []fsm.UndoEdit{
		{Change: replace(definition("a", permits(2)), v)},
	}})
	return l
}
