package fsm_test

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// futureFiringCommands returns the feature level 3 commands for firings far in the future. They are frozen.
func futureFiringCommands() []fsm.Command {
	ahead := func(d *semaphore.Definition) { d.FiringMaxAhead = time.Hour }
	unbounded := func(d *semaphore.Definition) { d.FiringMaxAhead = semaphore.FiringUnbounded }
	end := &fsm.EditEnd{Revision: 4, Until: at(70), Before: definition("s", ahead), After: definition("s", unbounded)}
	return []fsm.Command{
		fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Create, Name: "s", Definition: definition("s", unbounded)}}, At: at(60)},
		fsm.Undo{Change: 3, At: at(61), Edits: []fsm.UndoEdit{{
			Change:       fsm.Change{Kind: fsm.Replace, Name: "s", Definition: definition("s", ahead), ExpectedVersion: 2},
			RestoredEnds: []*fsm.EditEnd{end},
		}}},
		fsm.Forget{Semaphore: "s", Term: 3, Firings: []semaphore.Firing{{Name: "f", Due: at(9000)}, {Name: "g"}}},
	}
}

// futureFiringScenario returns a log with two definitions, one of which limits how far ahead firings may be, and with a
// forgotten future firing. It is frozen.
func futureFiringScenario(tb tester) *log {
	l := newLog(tb)
	l.apply(fsm.RaiseFeatureLevel{Level: 3})
	l.define("s", func(d *semaphore.Definition) { d.FiringMaxAhead = semaphore.FiringUnbounded })
	l.define("t", func(d *semaphore.Definition) { d.FiringMaxAhead = time.Hour })
	for i, due := range []int{10, 8000, 9000} {
		l.apply(fsm.Release{Token: l.grant("s", "a", firing("f", due), requestID(string(rune('a'+i)))).Token})
	}
	l.apply(fsm.Forget{Semaphore: "s", Term: l.term, Firings: []semaphore.Firing{{Name: "f", Due: at(9000)}}})
	return l
}
