package fsm_test

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// requestCommands returns the commands that use the request hashes, request revisions and request limits of feature
// level 3. They are frozen.
func requestCommands() []fsm.Command {
	return []fsm.Command{
		fsm.Grant{Semaphore: "s", Identity: identity("a"), Weight: 1, RequestID: "r1", RequestRevision: 7, At: at(60)},
		fsm.EditBatch{
			Changes:   []fsm.Change{{Kind: fsm.Create, Name: "s", Definition: definition("s")}},
			RequestID: "e", RequestHash: 11, RequestRevision: 8, At: at(61),
		},
		fsm.Pause{Names: []string{"s"}, RequestID: "p", RequestHash: 12, RequestRevision: 9, At: at(62)},
		fsm.Resume{Names: []string{"s"}, RequestID: "q", RequestHash: 13, RequestRevision: 10, At: at(63)},
		fsm.SetCordon{ID: "rack", GroupPattern: "r", RequestID: "c", RequestHash: 14, RequestRevision: 11, At: at(64)},
		fsm.Uncordon{ID: "rack", RequestID: "d", RequestHash: 15, RequestRevision: 12, At: at(65)},
		fsm.Undo{Change: 3, RequestID: "u", RequestHash: 16, RequestRevision: 13, At: at(66)},
		fsm.Trim{Term: 3, UpTo: 5, Names: []string{"", "s"}},
		fsm.Configure{Settings: fsm.Settings{
			MaxDuration: time.Hour, JournalPerSemaphore: 9, JournalTotal: 99, RememberedRequests: 9, RememberedDeletions: 9,
			Requests: fsm.RequestBounds{Lifetime: time.Minute, Kept: 1, RequestBytes: 1 << 20, EditBytes: 1 << 16},
		}, At: at(67)},
	}
}

// keptPauseCommands returns the feature level 3 pauses that keep existing pauses. They are frozen.
func keptPauseCommands() []fsm.Command {
	return []fsm.Command{fsm.Pause{Names: []string{"s"}, Keep: true, At: at(63)}}
}

// expectedPauseCommands returns the feature level 3 pauses and resumes with expected versions. They are frozen.
func expectedPauseCommands() []fsm.Command {
	return []fsm.Command{
		fsm.Pause{Names: []string{"s", "t"}, Expected: []fsm.Expected{{Version: 2}, {Version: 3, Pause: 4}}, At: at(64)},
		fsm.Resume{Names: []string{"s"}, Expected: []fsm.Expected{{Version: 2, Pause: 5}}, At: at(65)},
	}
}

// requestScenario returns a log with remembered and forgotten requests for existing semaphores, for deleted semaphores,
// and by operators. It is frozen.
func requestScenario(tb tester) *log {
	l := newLog(tb)
	settings := fsm.DefaultSettings()
	settings.JournalPerSemaphore = 0
	settings.Requests = fsm.RequestBounds{Lifetime: time.Minute, Kept: 1, RequestBytes: 1 << 20, EditBytes: 1 << 16}
	l.apply(fsm.RaiseFeatureLevel{Level: 3}, fsm.Configure{Settings: settings})
	l.define("s", permits(2))
	run := func(name, holder, id string) {
		l.apply(fsm.Release{Token: l.grant(name, holder, requestID(id)).Token})
	}
	run("s", "a", "r1")
	run("s", "a", "r2")
	for _, name := range []string{"left", "gone"} {
		d := l.define(name)
		run(name, "a", "r1")
		l.apply(edits(remove(name, d.Version)))
	}
	l.apply(fsm.Trim{Term: l.term, UpTo: l.state().Revision(), Names: []string{"", "s", "left", "gone"}})
	l.apply(fsm.Cancel{Semaphore: "left", Identity: identity("b"), RequestID: "r3"})
	l.apply(fsm.Cancel{Semaphore: "left", Identity: identity("b"), RequestID: "r4"})
	l.apply(fsm.Trim{Term: l.term, UpTo: l.state().Revision() - 1, Names: []string{"left"}})

	batch := edits(create(definition("made", permits(3))))
	batch.RequestID, batch.RequestHash, batch.Reason = "forgotten", 20, "first"
	l.apply(batch)
	l.apply(fsm.Trim{Term: l.term, UpTo: l.state().Revision(), Names: []string{""}})
	d := l.state().Definition("made")
	batch = edits(replace(definition("made", permits(4)), d.Version))
	batch.RequestID, batch.RequestHash, batch.Reason = "created", 21, "second"
	l.apply(fsm.Pause{Names: []string{"made"}, Reason: "night", Author: "ann"}, batch)
	l.apply(edits(replace(definition("made", permits(5)), l.state().Definition("made").Version)))
	l.define("left behind")
	l.grant("left behind", "a")
	batch = edits(remove("left behind", l.state().Definition("left behind").Version))
	batch.RequestID, batch.RequestHash = "deleted", 22
	l.apply(
		batch,
		fsm.Pause{Names: []string{"s", "made"}, RequestID: "paused", RequestHash: 23},
		fsm.SetCordon{ID: "rack", GroupPattern: "r", Until: at(900), Author: "ann", Reason: "heat", RequestID: "cordoned", RequestHash: 24},
		fsm.Uncordon{ID: "rack"},
		fsm.Resume{RequestID: "nothing", RequestHash: 25},
	)
	return l
}
