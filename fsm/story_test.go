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

// everyCommand is each command once, with every field set. Golden files are made of it: what stands here is frozen, a new
// command goes to the end.
func everyCommand() []fsm.Command {
	expected := uint64(3)
	return []fsm.Command{
		fsm.EditBatch{
			Changes: []fsm.Change{
				{Kind: fsm.Create, Name: "export", Definition: &semaphore.Definition{
					Name: "export", Description: "nightly export", Labels: map[string]string{"team": "data", "env": "prod"}, GroupPattern: "prod",
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
			Semaphore: "export", Identity: identity("a"), Weight: 2, Firing: fire("nightly", 60), RequestID: "r1",
			Metadata: map[string]string{"pid": "7", "cmd": "export"}, DefinitionVersion: 1, CordonRevision: expected, At: at(4),
		},
		fsm.Extend{Token: 1, Duration: 2 * time.Minute, Term: 3},
		fsm.Revoke{Token: 1, Author: "ann", Reason: "stuck", At: at(5)},
		fsm.Expire{Token: 1, Term: 3, Cooling: time.Second, At: at(6)},
		fsm.Clear{Token: 1, Author: "ann", Reason: "checked", At: at(7)},
		fsm.Release{Token: 2, NotRun: true, Cooling: 2 * time.Second, At: at(8)},
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

// A field that was added to a command and not to the codec comes back empty; one that was not added here goes unnoticed.
func TestEveryCommand_HasEveryFieldSet_AndComesBackSo(t *testing.T) {
	cmds := everyCommand()
	entry, err := fsm.Encode(1, cmds)
	if err != nil {
		t.Fatal(err)
	}
	back, err := fsm.Decode(entry)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "commands", back, cmds)
	fields := unset{}
	fields.look(cmds)
	fields.report(t)
}

// The same for what is stored: every field of it comes up in the story, and is there after a restart.
func TestStory_HasEveryStoredFieldSet(t *testing.T) {
	fields := unset{}
	fields.look(everything(storyOfEveryCommand(t).state()))
	fields.report(t)
}

// everything is all that a state holds, as its readers see it.
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
	for token := range s.LastToken() {
		if r := s.EndedPermit(token); r != nil {
			all = append(all, r)
		}
	}
	all = append(all, s.EditRequest("e1"), s.EditRequest("e2"))
	for e := range s.Journal("", 0) {
		all = append(all, e)
	}
	return append(all, s.Settings(), s.LargestDuration(), s.FeatureLevel(), s.LastToken(), s.Revision(), s.CordonRevision())
}

// unset tells for each field of a struct whether it was ever seen with a value.
type unset map[string]bool

func (u unset) look(v any) { u.value(reflect.ValueOf(v)) }

func (u unset) value(v reflect.Value) {
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

func (u unset) report(t *testing.T) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(u)) {
		if !u[name] {
			t.Errorf("%s is never set", name)
		}
	}
}

// storyOfEveryCommand leaves a state with every kind of record in it, each in every shape.
func storyOfEveryCommand(tb tester) *log {
	l := newLog(tb)
	l.apply(everyCommand()...)
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
