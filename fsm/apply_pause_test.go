package fsm_test

import (
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestPause_AllOrNothing(t *testing.T) {
	l := newLog(t)
	l.define("a")
	l.define("b")
	pause := fsm.Pause{Names: []string{"a", "b"}, Reason: "night", Until: at(60), Stop: true, Author: "ann", At: at(1)}
	r := applyOne[fsm.RevisionResult](l, pause)
	equal(t, "result", r, fsm.RevisionResult{Applied: true, Revision: 3, Names: []string{"a", "b"}})
	equal(t, "events", kinds(l.events), []fsm.EventKind{fsm.PausedEvent, fsm.PausedEvent})
	d := l.state().Definition("b")
	equal(t, "pause", d.Pause, &semaphore.Pause{Reason: "night", Until: at(60), Stop: true, Revision: 3, Author: "ann"})
	equal(t, "version", d.Version, uint64(2))
	equal(t, "journal", len(collect(l.state().Journal("b", 3))), 1)
	for _, names := range [][]string{nil, {"a", "none"}, {"a", "a"}} {
		unchanged[fsm.InvalidResult](l, fsm.Pause{Names: names})
		unchanged[fsm.InvalidResult](l, fsm.Resume{Names: names})
	}
}

func TestPauseAndResume_UnmetExpectation_ChangesNothing(t *testing.T) {
	l := newLog(t)
	l.apply(fsm.RaiseFeatureLevel{Level: 3})
	names := []string{"a", "b"}
	a, b := l.define("a"), l.define("b")
	expected := func() []fsm.Expected {
		return []fsm.Expected{l.state().Definition("a").AsExpected(), l.state().Definition("b").AsExpected()}
	}
	refused := func(kind fsm.ConflictKind, expected []fsm.Expected) {
		t.Helper()
		for _, cmd := range []fsm.Command{fsm.Pause{Names: names, Expected: expected}, fsm.Resume{Names: names, Expected: expected}} {
			r := unchanged[fsm.RevisionResult](l, cmd)
			equal(t, "conflict", r, fsm.RevisionResult{Conflict: &fsm.Conflict{Index: 1, Kind: kind, Name: "b", Current: l.state().Definition("b")}})
		}
	}
	equal(t, "expected", expected(), []fsm.Expected{{Version: a.Version}, {Version: b.Version}})
	unchanged[fsm.InvalidResult](l, fsm.Pause{Names: names, Expected: expected()[:1]})

	seen := expected()
	edited := *b.Definition
	edited.Permits++
	l.apply(edits(replace(&edited, b.Version)))
	refused(fsm.ConflictStale, seen)

	seen = expected()
	l.apply(fsm.Pause{Names: []string{"b"}})
	refused(fsm.ConflictPause, seen)
	r := applyOne[fsm.RevisionResult](l, fsm.Pause{Names: names, Expected: expected()})
	equal(t, "paused", r.Names, names)

	seen = expected()
	l.apply(fsm.Resume{Names: []string{"b"}})
	refused(fsm.ConflictPause, seen)
	if r := applyOne[fsm.RevisionResult](l, fsm.Resume{Names: names, Expected: expected()}); !r.Applied {
		t.Errorf("Resume with the expected state: got %+v", r)
	}

	seen = expected()
	l.apply(edits(remove("b", l.state().Definition("b").Version)))
	refused(fsm.ConflictAbsent, seen)
}

func TestResume_ByTimer_EndsOnlyItsOwnPause(t *testing.T) {
	l := newLog(t)
	l.define("a")
	l.define("b")
	if r := unchanged[fsm.RevisionResult](l, fsm.Resume{Names: []string{"a"}}); r.Applied {
		t.Fatalf("Resume of a semaphore that is not paused: got %+v", r)
	}
	l.apply(fsm.Pause{Names: []string{"a", "b"}, Until: at(60)}) // revision 3
	l.apply(fsm.Pause{Names: []string{"b"}, Reason: "longer", Until: at(90)})

	// The first pause's timer has no effect in another term, or on semaphores that were paused again.
	timer := fsm.Resume{Names: []string{"a", "b", "none"}, Term: l.term, Revision: 3, Reason: "over"}
	late := timer
	late.Term--
	if r := unchanged[fsm.RevisionResult](l, late); r.Applied {
		t.Fatalf("Resume by a timer from another term: got %+v, want nothing applied", r)
	}
	if r := applyOne[fsm.RevisionResult](l, timer); !r.Applied {
		t.Fatalf("Resume by the timer: got %+v, want it applied", r)
	}
	if s := l.state(); s.Definition("a").Pause != nil || s.Definition("b").Pause == nil {
		t.Fatal("the timer did not end the pause of a, or ended the later pause of b")
	}
	equal(t, "events", kinds(l.events), []fsm.EventKind{fsm.ResumedEvent})
	if r := unchanged[fsm.RevisionResult](l, timer); r.Applied {
		t.Fatalf("second Resume by the timer: got %+v, want nothing applied", r)
	}
	if r := applyOne[fsm.RevisionResult](l, fsm.Resume{Names: []string{"a", "b"}, Author: "ann"}); !r.Applied || l.state().Definition("b").Pause != nil {
		t.Fatalf("Resume by an operator: got %+v, want no pause left", r)
	}
	equal(t, "events", kinds(l.events), []fsm.EventKind{fsm.ResumedEvent})
}

func TestCordons_SetReplaceAndLift(t *testing.T) {
	l := newLog(t)
	l.define("s")
	r := applyOne[fsm.RevisionResult](l, fsm.SetCordon{ID: "z", GroupPattern: "dr-.*", Until: at(60), Author: "ann", Reason: "power", At: at(1)})
	equal(t, "result", r, fsm.RevisionResult{Applied: true, Revision: 2, Cordon: l.state().Cordons()[0]})
	l.apply(fsm.SetCordon{ID: "a", AcquirerPattern: "app1"})
	before := l.state()
	l.apply(fsm.SetCordon{ID: "z", GroupPattern: "dr-site"})
	equal(t, "cordons in the old state", before.Cordons()[1].GroupPattern, "dr-.*")
	s := l.state()
	equal(t, "cordons", s.Cordons(), []*fsm.Cordon{
		{ID: "a", AcquirerPattern: "app1", Revision: 3}, {ID: "z", GroupPattern: "dr-site", Revision: 4},
	})
	equal(t, "cordon revision", s.CordonRevision(), uint64(4))
	for _, cmd := range []fsm.Uncordon{
		{ID: "none"}, {ID: "z", Revision: 2}, {ID: "z", Term: l.term - 1}, {ID: "z", Term: l.term, Revision: 2},
	} {
		if r := unchanged[fsm.RevisionResult](l, cmd); r.Applied {
			t.Fatalf("%+v: got %+v, want nothing applied", cmd, r)
		}
	}
	if r := applyOne[fsm.RevisionResult](l, fsm.Uncordon{ID: "z", Term: l.term, Revision: 4}); !r.Applied {
		t.Fatalf("Uncordon by the timer: got %+v, want it applied", r)
	}
	equal(t, "events", kinds(l.events), []fsm.EventKind{fsm.UncordonedEvent})
	equal(t, "cordon revision", l.state().CordonRevision(), uint64(5))
	if r := applyOne[fsm.RevisionResult](l, fsm.Uncordon{ID: "a", Author: "ann"}); !r.Applied || len(l.state().Cordons()) != 0 {
		t.Fatalf("Uncordon by an operator: got %+v, want no cordon left", r)
	}
	equal(t, "cordons in the old state", len(s.Cordons()), 2)
	unchanged[fsm.InvalidResult](l, fsm.SetCordon{GroupPattern: "x"})
}

// The journal shows every pause and cordon with its end time and author, even after it has ended.
func TestJournal_CordonsAndPauses_AreComplete(t *testing.T) {
	l := newLog(t)
	l.define("s")
	l.apply(
		fsm.SetCordon{ID: "z", GroupPattern: "dr-.*", AcquirerPattern: "app1", Until: at(60), Author: "ann", Reason: "power", At: at(1)},
		fsm.SetCordon{ID: "z", GroupPattern: "dr-site", Author: "bob"},
		fsm.Uncordon{ID: "z", Author: "cyd", Reason: "power is back", At: at(2)},
		fsm.Pause{Names: []string{"s"}, Reason: "night", Until: at(60), Stop: true, Author: "ann", At: at(3)},
		fsm.Pause{Names: []string{"s"}, Reason: "longer"},
		fsm.Resume{Names: []string{"s"}, Author: "bob", Reason: "day", At: at(4)},
	)
	dr := &fsm.Cordon{ID: "z", GroupPattern: "dr-.*", AcquirerPattern: "app1", Until: at(60), Author: "ann", Reason: "power", Revision: 2}
	site := &fsm.Cordon{ID: "z", GroupPattern: "dr-site", Author: "bob", Revision: 3}
	night := &semaphore.Pause{Reason: "night", Until: at(60), Stop: true, Revision: 5, Author: "ann"}
	longer := &semaphore.Pause{Reason: "longer", Revision: 6}
	want := []*fsm.JournalEntry{
		{Revision: 2, Kind: fsm.CordonedEvent, Cordon: dr, Author: "ann", Reason: "power", At: at(1)},
		{Revision: 3, Kind: fsm.CordonedEvent, Cordon: site, Author: "bob"},
		{Revision: 4, Kind: fsm.UncordonedEvent, Cordon: site, Author: "cyd", Reason: "power is back", At: at(2)},
		{Revision: 5, Kind: fsm.PausedEvent, Semaphore: "s", Pause: night, Author: "ann", Reason: "night", At: at(3)},
		{Revision: 6, Kind: fsm.PausedEvent, Semaphore: "s", Pause: longer, Reason: "longer"},
		{Revision: 7, Kind: fsm.ResumedEvent, Semaphore: "s", Pause: longer, Author: "bob", Reason: "day", At: at(4)},
	}
	equal(t, "journal", collect(l.state().Journal("", 2)), want)
	equal(t, "journal after a restart", collect(restored(t, l.state()).State().Journal("", 2)), want)
}

func TestForget_KeepsHeldClaimsAndRaisesMark(t *testing.T) {
	l := newLog(t)
	l.define("s", permits(9))
	done := func(name string, due int) {
		p := l.grant("s", name, firing(name, due))
		l.apply(fsm.Release{Token: p.Token})
	}
	done("d1", 10)
	done("d2", 20)
	done("d3", 30)
	done("n1", 0)
	done("n2", 0)
	l.grant("s", "h", firing("held", 15))
	l.grant("s", "i", firing("named", 0))
	r := applyOne[fsm.RevisionResult](l, fsm.Forget{Semaphore: "s", Term: l.term, UpTo: at(20), Names: []string{"n1", "n1", "named", "none", "d3"}})
	if !r.Applied || r.Revision != l.state().Revision() {
		t.Fatalf("Forget: got %+v", r)
	}
	var left []string
	for c := range l.state().Claims("s") {
		left = append(left, c.Firing.Name)
	}
	equal(t, "claims", left, []string{"n2", "named", "held", "d3"})
	equal(t, "count", l.state().ClaimCount("s"), 4)
	equal(t, "low water", l.state().LowWater("s"), at(20))

	if r := unchanged[fsm.RevisionResult](l, fsm.Forget{Semaphore: "s", Term: l.term, UpTo: at(19)}); r.Applied {
		t.Fatal("Forget with a lower mark was applied")
	}
	if r := unchanged[fsm.RevisionResult](l, fsm.Forget{Semaphore: "s", Term: l.term, Names: []string{"named"}}); r.Applied {
		t.Fatal("a held claim was forgotten")
	}
	applyOne[fsm.RevisionResult](l, fsm.Forget{Semaphore: "s", Term: l.term, Names: []string{"n2"}})
	equal(t, "low water", l.state().LowWater("s"), at(20))
	if r := unchanged[fsm.RevisionResult](l, fsm.Forget{Semaphore: "none", Term: l.term, UpTo: at(20)}); r.Applied {
		t.Fatal("Forget of an unknown semaphore was applied")
	}
	// Firings forgotten by due time are refused. Firings forgotten individually may run again.
	if r := unchanged[fsm.GrantResult](l, l.request("s", "x", firing("d1", 10))); r.Decision.Reason != semaphore.FiringForgotten {
		t.Fatalf("grant: got %+v", r)
	}
	l.grant("s", "x", firing("n1", 0))
	restored(t, l.state())
}

// Firings due far in the future are forgotten individually. Raising the mark that far would refuse all earlier firings.
func TestForget_IndividualFirings_DoesNotRaiseMark(t *testing.T) {
	l := newLog(t)
	l.apply(fsm.RaiseFeatureLevel{Level: 3})
	l.define("s", permits(2))
	for _, id := range []string{"near", "far"} {
		due := map[string]int{"near": 10, "far": 9000}[id]
		l.apply(fsm.Release{Token: l.grant("s", "a", firing("f", due), requestID(id)).Token})
	}
	held := l.grant("s", "a", firing("f", 8000), requestID("held"))
	applyOne[fsm.RevisionResult](l, fsm.Forget{Semaphore: "s", Term: l.term, Firings: []semaphore.Firing{
		{Name: "f", Due: at(9000)}, {Name: "f", Due: at(9000)}, {Name: "f", Due: at(8000)}, {Name: "f", Due: at(7000)},
	}})
	if s := l.state(); s.ClaimCount("s") != 2 || !s.LowWater("s").IsZero() || s.Claim("s", *held.Firing) == nil {
		t.Fatalf("after Forget: got %d claims and low-water mark %v", s.ClaimCount("s"), s.LowWater("s"))
	}
	restored(t, l.state())
}

func TestConfigure_KeepsLargestDurationAndRejectsInvalidSettings(t *testing.T) {
	l := newLog(t)
	settings := fsm.DefaultSettings()
	if r := unchanged[fsm.RevisionResult](l, fsm.Configure{Settings: settings}); r.Applied {
		t.Fatal("Configure with the same settings was applied")
	}
	settings.MaxDuration = 3 * time.Hour
	r := applyOne[fsm.RevisionResult](l, fsm.Configure{Settings: settings, Author: "ann"})
	equal(t, "result", r, fsm.RevisionResult{Applied: true, Revision: 1})
	equal(t, "events", kinds(l.events), []fsm.EventKind{fsm.Configured})
	settings.MaxDuration = time.Minute
	l.apply(fsm.Configure{Settings: settings})
	equal(t, "settings", l.state().Settings(), settings)
	equal(t, "largest duration", l.state().LargestDuration(), 3*time.Hour)
	for _, change := range []func(*fsm.Settings){
		func(s *fsm.Settings) { s.MaxDuration = time.Millisecond },
		func(s *fsm.Settings) { s.MaxDuration = 1<<63 - 1 },
		func(s *fsm.Settings) { s.RememberedRequests = 0 },
	} {
		bad := fsm.DefaultSettings()
		change(&bad)
		unchanged[fsm.InvalidResult](l, fsm.Configure{Settings: bad})
	}
}

func TestRetireMember_Repeat_ChangesNothing(t *testing.T) {
	l := newLog(t)
	for _, id := range []string{"gk2", "gk1"} {
		if r := applyOne[fsm.RevisionResult](l, fsm.RetireMember{ID: id}); !r.Applied {
			t.Fatalf("RetireMember: got %+v", r)
		}
	}
	if r := unchanged[fsm.RevisionResult](l, fsm.RetireMember{ID: "gk1"}); r.Applied {
		t.Fatal("a member was retired twice")
	}
	unchanged[fsm.InvalidResult](l, fsm.RetireMember{})
	if s := l.state(); !s.Retired("gk1") || !s.Retired("gk2") || s.Retired("gk3") {
		t.Fatal("want only gk1 and gk2 retired")
	}
}

func TestRaiseFeatureLevel_NotAboveCurrent_ChangesNothing(t *testing.T) {
	l := newLog(t)
	for _, level := range []uint32{0, 1} {
		if r := unchanged[fsm.RevisionResult](l, fsm.RaiseFeatureLevel{Level: level}); r.Applied {
			t.Fatalf("RaiseFeatureLevel: got %+v", r)
		}
	}
	equal(t, "level", l.state().FeatureLevel(), uint32(1))
}

func TestPause_Keep_PreservesExistingPauses(t *testing.T) {
	l := newLevel2Log(t)
	l.apply(fsm.RaiseFeatureLevel{Level: 3})
	l.define("a")
	l.define("b")
	first := l.apply(fsm.Pause{Names: []string{"a"}, Reason: "first", Until: at(600)})
	both := fsm.Pause{Names: []string{"a", "b"}, Reason: "second", Keep: true, RequestID: "r"}
	second := fsm.RevisionResult{Applied: true, Revision: l.state().Revision() + 1, Names: []string{"b"}}
	equal(t, "result", l.apply(both), []fsm.Result{second})
	if p := l.state().Definition("a").Pause; p.Reason != "first" || p.Revision != first[0].(fsm.RevisionResult).Revision {
		t.Errorf("pause of a = %+v, want the first pause", p)
	}
	both.RequestID = "none left"
	equal(t, "nothing to pause", l.apply(both), []fsm.Result{fsm.RevisionResult{}})
	l.apply(fsm.Resume{Names: []string{"a", "b"}})
	equal(t, "repeat", l.apply(both), []fsm.Result{fsm.RevisionResult{Repeated: true}})
	if l.state().Definition("a").Pause != nil {
		t.Error("a retry of Pause paused a semaphore that had since been resumed")
	}
	restored(t, l.state())
}
