package fsm_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// everyCommand returns every kind of command, with every field set.
func everyCommand() []fsm.Command {
	return slices.Concat(level1Commands(), level2Commands(), cutShortCommands(), undoCommands(), requestCommands(), journalCommands(),
		futureFiringCommands(), supersedeCommands(), keptPauseCommands(), expectedPauseCommands(), forgetFiringsCommands(), runCommands(), workCommands(),
		accessCommands())
}

// level1Commands returns every level 1 command. Golden files are generated from these commands, so they are frozen.
func level1Commands() []fsm.Command {
	expected := uint64(3)
	return []fsm.Command{
		fsm.EditBatch{
			Changes: []fsm.Change{
				{Kind: fsm.Create, Name: "export", Definition: &semaphore.Definition{
					Name: "export", Description: "nightly export", Labels: semaphore.LabelsOf(map[string]string{"team": "data", "env": "prod"}), GroupPattern: "prod",
					AcquirerPattern: "app[12]", Permits: 4, Duration: time.Minute, MaxHold: 2 * time.Hour, MinHold: time.Second, LossDelay: 3 * time.Second,
					OnExpiry: semaphore.OnExpiryHold, FiringOnLoss: semaphore.FiringFree, Takeover: true, ExpectEvery: 24 * time.Hour,
					FiringRetention: 48 * time.Hour, FiringLimit: 10,
				}},
				{Kind: fsm.Declare, Name: "import", Definition: definition("import", permits(2))},
				{Kind: fsm.Create, Name: "passing", Definition: definition("passing")},
			},
			Author: "ann", Reason: "first", RequestID: "e1", At: at(1),
		},
		fsm.EditBatch{Changes: []fsm.Change{
			{Kind: fsm.Replace, Name: "import", Definition: definition("import", permits(9)), ExpectedVersion: 1},
			{Kind: fsm.Delete, Name: "passing", ExpectedVersion: 1},
		}, Author: "bob", Reason: "second", At: at(2)},
		fsm.SetCordon{ID: "dr", GroupPattern: "dr-.*", AcquirerPattern: "app9", Until: at(500), Author: "ann", Reason: "power", At: at(3)},
		fsm.Grant{
			Semaphore: "export", Identity: identity("a"), Weight: 2, Firing: newFiring("nightly", 60), RequestID: "r1",
			Metadata: map[string]string{"pid": "7", "cmd": "export"}, DefinitionVersion: 1, CordonRevision: expected, At: at(4),
		},
		fsm.Extend{Token: 1, Duration: 2 * time.Minute, Term: 3},
		fsm.Revoke{Token: 1, Author: "ann", Reason: "stuck", At: at(5)},
		fsm.Expire{Token: 1, Term: 3, Cooling: time.Second, At: at(6)},
		fsm.Clear{Token: 1, Author: "ann", Reason: "checked", At: at(7)},
		fsm.Release{Token: 2, Job: semaphore.JobNotRun, Cooling: 2 * time.Second, At: at(8)},
		fsm.Abandon{Token: 3, Term: 3},
		fsm.EndCooling{Token: 2, Term: 3},
		fsm.Cancel{Semaphore: "export", Identity: identity("b"), RequestID: "r2"},
		fsm.Pause{Names: []string{"export", "import"}, Reason: "moving", Until: at(600), Stop: true, Author: "ann", At: at(9)},
		fsm.Resume{Names: []string{"import"}, Term: 3, Revision: 9, Author: "bob", Reason: "moved", At: at(10)},
		fsm.Uncordon{ID: "dr", Term: 3, Revision: 3, Author: "bob", Reason: "power is back", At: at(11)},
		fsm.Forget{Semaphore: "export", Term: 3, UpTo: at(30), Names: []string{"once"}},
		fsm.Configure{
			Settings: fsm.Settings{MaxDuration: 2 * time.Hour, JournalPerSemaphore: 10, JournalTotal: 100, RememberedRequests: 50, RememberedDeletions: 20},
			Author:   "ann", Reason: "smaller", At: at(12),
		},
		fsm.RetireMember{ID: "gk9"},
		fsm.RaiseFeatureLevel{Level: 1},
		fsm.Grant{Semaphore: "import", Identity: identity("c"), Weight: 1, ExpectedRevision: &expected, At: at(13)},
	}
}

// level2Commands returns every command that feature level 2 added or extended. They are frozen too.
func level2Commands() []fsm.Command {
	return []fsm.Command{
		fsm.RaiseFeatureLevel{Level: 2},
		fsm.EditBatch{
			Changes: []fsm.Change{{Kind: fsm.Replace, Name: "import", Definition: definition("import", permits(3)), ExpectedVersion: 2}},
			Author:  "ann", Reason: "for the weekend", RequestID: "e3", At: at(20), Drain: time.Minute, Until: at(700),
		},
		fsm.SetCordon{ID: "rack", AcquirerPattern: "app8", Until: at(800), Author: "ann", Reason: "heat", At: at(21), Drain: 2 * time.Minute},
		fsm.Pause{Names: []string{"import"}, Reason: "full", Until: at(900), Stop: true, Author: "bob", At: at(22), Drain: 3 * time.Minute},
		fsm.Revoke{Token: 1, Author: "bob", Reason: "soon", At: at(23), Drain: 4 * time.Minute},
		fsm.Revoke{Token: 2, Author: "bob", Reason: "now", At: at(24), UnsafeNow: true},
		fsm.EndDrain{Change: 9, Term: 3, Names: []string{"export", "import"}, At: at(25)},
		fsm.EndDrain{Change: 9, Term: 3, Cordon: "rack", At: at(26)},
		fsm.EndDrain{Change: 9, Term: 3, Token: 1, At: at(27)},
		fsm.Revert{Change: 9, Term: 3, Names: []string{"import"}, At: at(28)},
		fsm.Sight{Term: 3, Sightings: []fsm.Sighting{{Group: "prod", Acquirer: "app1", At: at(29)}, {Group: "prod", Acquirer: "app2", At: at(29)}}},
		fsm.NoteMissed{Semaphore: "import", Term: 3, Missed: fsm.NoRequests, Text: "nobody has asked for 25h", At: at(30)},
		fsm.EndQuarantine{Term: 3, At: at(31)},
	}
}

// cutShortCommands returns a release of a job that was cut short, a later addition to level 2. It is frozen too.
func cutShortCommands() []fsm.Command {
	return []fsm.Command{fsm.Release{Token: 2, Job: semaphore.JobCutShort, Cooling: 2 * time.Second, At: at(40)}}
}

// undoCommands returns undos and operator changes with request ids, a later addition to feature level 2. They are
// frozen too.
func undoCommands() []fsm.Command {
	pause := &semaphore.Pause{Reason: "moving", Until: at(600), Stop: true, Revision: 9, Author: "ann", Drain: time.Minute, Change: 9}
	end := &fsm.EditEnd{Revision: 4, Until: at(700), Before: definition("import"), After: definition("import", permits(9)), Drain: time.Minute}
	return []fsm.Command{
		fsm.Undo{
			Change: 9, Author: "ann", Reason: "not that one", RequestID: "u1", At: at(50), Drain: time.Minute,
			Edits: []fsm.UndoEdit{
				{Change: fsm.Change{Kind: fsm.Create, Name: "gone", Definition: definition("gone")}, Pause: pause},
				{
					Change:       fsm.Change{Kind: fsm.Replace, Name: "import", Definition: definition("import"), ExpectedVersion: 5},
					RestoredEnds: []*fsm.EditEnd{end}, RemovedEnds: []uint64{7},
				},
				{Change: fsm.Change{Kind: fsm.Delete, Name: "fresh", ExpectedVersion: 6}},
			},
			Pauses: []fsm.UndoPause{
				{Pause: pause, Expected: []fsm.ExpectedPause{{Name: "a", Revision: 7}, {Name: "b"}}}, {Expected: []fsm.ExpectedPause{{Name: "c", Revision: 8}}},
			},
			Cordons: []fsm.UndoCordon{
				{ID: "rack", Expected: 3, Cordon: &fsm.Cordon{ID: "rack", AcquirerPattern: "app8", GroupPattern: "dr", Until: at(800), Author: "ann",
					Reason: "heat", Revision: 2, Drain: time.Minute, Change: 2}},
				{ID: "host", Expected: 4},
			},
		},
		fsm.Pause{Names: []string{"import"}, RequestID: "p1", At: at(51)},
		fsm.Resume{Names: []string{"import"}, RequestID: "p2", At: at(52)},
		fsm.SetCordon{ID: "rack", AcquirerPattern: "app8", RequestID: "p3", At: at(53)},
		fsm.Uncordon{ID: "rack", RequestID: "p4", At: at(54)},
	}
}

func jobEnds() []semaphore.JobEnd {
	return []semaphore.JobEnd{semaphore.JobDone, semaphore.JobNotRun, semaphore.JobCutShort, semaphore.JobFailed}
}

// A field that is added to a command but not to the codec is decoded as empty and fails this test. setFields reports
// fields that everyCommand does not set.
func TestEveryCommand_AllFieldsSet_RoundTrips(t *testing.T) {
	cmds := everyCommand()
	entry, err := fsm.Encode(fsm.SupportedLevel, cmds)
	if err != nil {
		t.Fatal(err)
	}
	back, err := fsm.Decode(entry)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "commands", back, cmds)
	fields := setFields{}
	fields.visit(cmds)
	fields.report(t)
}

// The restore tests cover every stored field only if the scenarios set all of them.
func TestScenarios_SetEveryField(t *testing.T) {
	fields := setFields{}
	fields.visit(everything(undoScenario(t).state()))
	fields.visit(everything(requestScenario(t).state()))
	fields.visit(everything(journalScenario(t).state()))
	fields.visit(everything(futureFiringScenario(t).state()))
	fields.visit(everything(supersedeScenario(t).state()))
	fields.visit(everything(forgetFiringsScenario(t).state()))
	fields.visit(everything(runScenario(t).state()))
	fields.visit(everything(workScenario(t).state()))
	fields.visit(everything(accessScenario(t).state()))
	fields.report(t)
}

// everything returns all data that can be read from a state.
func everything(s *fsm.State) []any {
	var all []any
	semaphores := map[string]bool{}
	for d := range s.Definitions("") {
		all = append(all, d)
		semaphores[d.Definition.Name] = true
	}
	for p := range s.Permits(0) {
		all = append(all, p, s.Permit(p.Token))
		semaphores[p.Semaphore] = true
	}
	for name := range s.ClaimedSemaphores() {
		for c := range s.Claims(name) {
			all = append(all, c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(semaphores)) {
		all = append(all, name, s.Used(name), s.HolderCount(name), s.PermitRevision(name), s.LowWater(name), s.WasDeleted(name))
	}
	for _, c := range s.Cordons() {
		all = append(all, c)
	}
	for name := range s.Names() {
		all = append(all, name, s.Drains(name))
		for _, end := range s.Ends(name) {
			all = append(all, end)
		}
	}
	for seen := range s.Sightings() {
		all = append(all, seen)
	}
	all = append(all, s.SightingCount(), s.Quarantine())
	for token := range min(s.LastToken(), 1000) {
		if r := s.EndedPermit(token); r != nil {
			all = append(all, r)
		}
	}
	all = append(all, s.EditRequest("e1"), s.EditRequest("e2"), s.EditRequest("e3"), s.EditRequest("u3"))
	for _, id := range []string{"created", "deleted", "paused", "cordoned", "nothing", "forgotten repaired"} {
		all = append(all, s.EditRequest(id))
	}
	for e := range s.Journal("", 0) {
		all = append(all, e)
	}
	for j := range s.Jobs(0) {
		all = append(all, j, s.Work(j.Semaphore))
		for t := range s.Tasks(j.Number, 0) {
			all = append(all, t)
		}
	}
	for _, b := range s.Bindings() {
		all = append(all, b)
	}
	return append(all, s.AccessRevision(), s.Settings(), s.LargestDuration(), s.FeatureLevel(), s.LastToken(), s.Revision(), s.CordonRevision())
}

// setFields records which struct fields were non-zero in any of the visited values.
type setFields map[string]bool

func (u setFields) visit(v any) { u.value(reflect.ValueOf(v)) }

func (u setFields) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			u.value(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			u.value(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			name := v.Type().String() + "." + v.Type().Field(i).Name
			u[name] = u[name] || !v.Field(i).IsZero()
			u.value(v.Field(i))
		}
	}
}

func (u setFields) report(t *testing.T) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(u)) {
		if !u[name] {
			t.Errorf("field %s is never set", name)
		}
	}
}

// everyCommandScenario returns a log whose state has every kind of record in every variant. It is frozen: additions for
// a new level belong in a separate scenario.
func everyCommandScenario(tb tester) *log {
	l := level1Scenario(tb)
	l.apply(level2Commands()...)
	l.apply(fsm.Resume{Names: []string{"import"}}, fsm.Uncordon{ID: "rack"})
	replace := func(name string, n uint32) fsm.Change {
		d := l.state().Definition(name)
		now := d.Definition.Clone()
		now.Permits = n
		return fsm.Change{Kind: fsm.Replace, Name: name, Definition: now, ExpectedVersion: d.Version}
	}
	l.apply(fsm.EditBatch{Changes: []fsm.Change{replace("import", 8), replace("fresh", 2)}, Until: at(600), Drain: time.Minute, Author: "ann"})
	l.grant("import", "draining")
	l.grant("import", "freed", requestID("f"), firing("freed", 200))
	token := l.state().LastToken()
	l.apply(fsm.EditBatch{Changes: []fsm.Change{replace("import", 9)}, Until: at(700), Author: "ann", Reason: "more"})
	l.apply(fsm.Revert{Change: l.state().Revision(), Term: l.term, Names: []string{"import"}, At: at(700)})
	l.apply(fsm.EditBatch{Changes: []fsm.Change{replace("import", 7)}, Until: at(800), Drain: time.Hour, Author: "ann"})
	l.apply(fsm.Revoke{Token: token - 1, Drain: time.Minute, Author: "ann"}, fsm.Revoke{Token: token, UnsafeNow: true, Author: "ann", Reason: "it is dead"})
	l.apply(fsm.SetCordon{ID: "rack", AcquirerPattern: "app8", Drain: time.Minute}, fsm.SetCordon{ID: "drained", AcquirerPattern: "app7", Drain: time.Minute})
	l.apply(fsm.EndDrain{Change: l.state().Revision(), Term: l.term, Cordon: "drained"})
	l.apply(
		fsm.NoteMissed{Semaphore: "fresh", Term: l.term, Missed: fsm.HeldTooLong, Text: "held for 2h", At: at(40)},
		fsm.NoteMissed{Semaphore: "fresh", Term: l.term, At: at(41)},
		fsm.Pause{Names: []string{"fresh"}, Stop: true, Drain: 2 * time.Hour, Author: "bob"},
	)
	l.grant("export", "kept", requestID("k"))
	d := l.state().Definition("export")
	l.apply(fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Delete, Name: "export", ExpectedVersion: d.Version}}, Drain: time.Minute})
	l.apply(edits(create(definition("export"))))
	return l
}

// cutShortScenario extends everyCommandScenario with jobs that were cut short, with and without cooling, for both
// values of firing_on_loss. It is frozen too.
func cutShortScenario(tb tester) *log {
	l := everyCommandScenario(tb)
	l.define("once", permits(3))
	l.define("again", permits(3), freeOnLoss)
	for _, cut := range []struct {
		name, firing string
		cooling      time.Duration
	}{{"once", "spent", 0}, {"once", "spent later", time.Minute}, {"again", "free", 0}, {"again", "free later", time.Minute}} {
		l.grant(cut.name, cut.firing, firing(cut.firing, 300))
		l.apply(fsm.Release{Token: l.state().LastToken(), Job: semaphore.JobCutShort, Cooling: cut.cooling, At: at(50)})
	}
	return l
}

// undoScenario extends cutShortScenario with undos of a temporary edit, of that undo, of a pause and a cordon that
// replaced earlier ones, and of the deletion of a paused definition with a temporary edit. It is frozen too.
func undoScenario(tb tester) *log {
	l := cutShortScenario(tb)
	l.define("moved", permits(2))
	l.define("night", permits(2))
	temporary := l.replace("night", permits(5))
	temporary.Until, temporary.Drain = at(900), time.Minute
	l.apply(temporary)
	ends := l.state().Ends("night")
	now := l.state().Definition("night")
	l.apply(fsm.Undo{Change: now.Version, Edits: []fsm.UndoEdit{{
		Change: fsm.Change{Kind: fsm.Replace, Name: "night", Definition: ends[0].Before, ExpectedVersion: now.Version}, RemovedEnds: []uint64{ends[0].Revision},
	}}, Author: "ann", RequestID: "u2"})
	undo := l.state().Revision()
	l.apply(fsm.Undo{Change: undo, Edits: []fsm.UndoEdit{{
		Change: fsm.Change{Kind: fsm.Replace, Name: "night", Definition: ends[0].After, ExpectedVersion: undo}, RestoredEnds: ends,
	}}, Author: "bob", RequestID: "u3"})
	l.apply(fsm.Pause{Names: []string{"moved", "night"}, Reason: "moon", Until: at(950), Stop: true, Author: "ann", Drain: time.Minute})
	first := l.state().Definition("moved").Pause
	l.apply(fsm.Pause{Names: []string{"moved"}, Reason: "again", Author: "bob"})
	back := *first
	back.Change = first.Revision
	l.apply(fsm.Undo{
		Change: l.state().Revision(), Pauses: []fsm.UndoPause{{Pause: &back, Expected: []fsm.ExpectedPause{{Name: "moved", Revision: l.state().Revision()}}}}, Author: "bob",
	})
	d := l.state().Definition("night")
	l.apply(edits(remove("night", d.Version)))
	deleted := l.state().Revision()
	l.apply(fsm.Undo{Change: deleted, Edits: []fsm.UndoEdit{{
		Change: fsm.Change{Kind: fsm.Create, Name: "night", Definition: d.Definition}, Pause: &back, RestoredEnds: ends,
	}}, Author: "cyd"})
	l.apply(fsm.SetCordon{ID: "row", GroupPattern: "row-1", Author: "ann"}, fsm.SetCordon{ID: "row", GroupPattern: "row-2", Author: "bob"})
	row := l.state().Cordons()
	second := row[len(row)-1]
	l.apply(fsm.Undo{Change: second.Revision, Cordons: []fsm.UndoCordon{{
		ID: "row", Expected: second.Revision, Cordon: &fsm.Cordon{GroupPattern: "row-1", Author: "ann", Change: second.Revision - 1},
	}}, Author: "cyd"})
	return l
}

// level1Scenario returns the log of a cluster at level 1.
func level1Scenario(tb tester) *log {
	l := newLog(tb)
	l.apply(level1Commands()...)
	l.apply(fsm.SetCordon{ID: "dr", GroupPattern: "dr-.*", Until: at(500), Author: "ann", Reason: "power"}, fsm.SetCordon{ID: "host", AcquirerPattern: "app9"})
	l.apply(fsm.Resume{Names: []string{"export", "import"}})
	for _, holder := range []string{"live", "held", "done", "spent", "cooling", "gone"} {
		name := "import"
		if holder == "held" {
			name = "export"
		}
		l.grant(name, holder, requestID("q"), firing(holder, 100))
	}
	token := l.state().LastToken()
	l.grant("import", "once", firing("named", 0), func(g *fsm.Grant) { g.Metadata = map[string]string{"pid": "7", "cmd": "once"} })
	l.apply(
		fsm.Expire{Token: token - 4, Term: l.term},
		fsm.Release{Token: token - 3},
		fsm.Expire{Token: token - 2, Term: l.term},
		fsm.Expire{Token: token - 1, Term: l.term, Cooling: time.Minute},
		fsm.Release{Token: token},
		fsm.Revoke{Token: token - 5, Author: "ann", Reason: "late"},
	)
	l.apply(fsm.Pause{Names: []string{"import"}, Reason: "again", Until: at(900), Stop: true, Author: "ann"})
	batch := edits(declare(definition("import")), declare(definition("fresh")), declare(definition("passing")))
	batch.RequestID = "e2"
	l.apply(batch)
	d := l.define("orphans")
	l.grant("orphans", "left", requestID("r"))
	l.apply(edits(remove("orphans", d.Version)))
	return l
}
