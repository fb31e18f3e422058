package fsm_test

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func seen(group, acquirer string, second int) fsm.Sighting {
	return fsm.Sighting{Group: group, Acquirer: acquirer, At: at(second)}
}

func TestSight_KeepsNewestAndConsumesNoRevision(t *testing.T) {
	l := newLevel2Log(t)
	revision := l.state().Revision()
	r := applyOne[fsm.RevisionResult](l, fsm.Sight{Term: l.term, Sightings: []fsm.Sighting{seen("g", "b", 5), seen("g", "a", 3), seen("f", "z", 4), seen("g", "b", 4)}})
	equal(t, "result", r, fsm.RevisionResult{Applied: true})
	equal(t, "sightings", collect(l.state().Sightings()), []fsm.Sighting{seen("f", "z", 4), seen("g", "a", 3), seen("g", "b", 5)})
	equal(t, "count", l.state().SightingCount(), 3)
	equal(t, "revision", l.state().Revision(), revision)
	equal(t, "events", l.events, []fsm.Event(nil))
	before := l.state()
	unchanged[fsm.RevisionResult](l, fsm.Sight{Term: l.term, Sightings: []fsm.Sighting{seen("g", "b", 5), seen("g", "a", 1)}})
	unchanged[fsm.RevisionResult](l, fsm.Sight{Term: l.term - 1, Sightings: []fsm.Sighting{seen("g", "b", 9)}})
	applyOne[fsm.RevisionResult](l, fsm.Sight{Term: l.term, Sightings: []fsm.Sighting{seen("g", "b", 9)}})
	if s, ok := l.state().Sighting("g", "b"); !ok || s != seen("g", "b", 9) {
		t.Errorf("Sighting() = %+v, %v, want the newest sighting", s, ok)
	}
	if s, _ := before.Sighting("g", "b"); s != seen("g", "b", 5) {
		t.Errorf("Sighting() in the old state = %+v, want it unchanged", s)
	}
	if s, ok := l.state().Sighting("g", "c"); ok {
		t.Errorf("Sighting() of an unseen caller = %+v, want none", s)
	}
}

func TestSight_Malformed_IsInvalid(t *testing.T) {
	l := newLevel2Log(t)
	for why, bad := range map[string]fsm.Sighting{
		"group":    seen("", "a", 1),
		"acquirer": seen("g", strings.Repeat("a", 257), 1),
		"control":  seen("g", "a\n", 1),
		`at ""`:    {Group: "g", Acquirer: "a"},
	} {
		c := fsm.Sight{Term: l.term, Sightings: []fsm.Sighting{seen("g", "a", 1), bad}}
		if got := unchanged[fsm.InvalidResult](l, c).Why; !strings.Contains(got, "sighting 1") || !strings.Contains(got, why) {
			t.Errorf("Sight: got %q, want an error about: %s", got, why)
		}
	}
}

func TestSight_OverLimit_DropsLeastRecentlySeen(t *testing.T) {
	l := newLevel2Log(t)
	c := fsm.Sight{Term: l.term}
	for i := range fsm.MaxSightings {
		c.Sightings = append(c.Sightings, seen("g", fmt.Sprintf("a%06d", i), 100+i%7))
	}
	l.apply(c)
	// Callers last seen at the same time are dropped in name order. A new sighting older than all others is dropped
	// immediately.
	l.apply(fsm.Sight{Term: l.term, Sightings: []fsm.Sighting{seen("g", "a000000", 300), seen("g", "new1", 200), seen("g", "new2", 200), seen("g", "late", 1)}})
	equal(t, "count", l.state().SightingCount(), fsm.MaxSightings)
	for acquirer, want := range map[string]bool{"a000000": true, "a000007": false, "a000014": false, "a000021": true, "a000001": true, "new1": true, "new2": true, "late": false} {
		if _, ok := l.state().Sighting("g", acquirer); ok != want {
			t.Errorf("Sighting(%s) found = %v, want %v", acquirer, ok, want)
		}
	}
	equal(t, "restored", collect(restored(t, l.state()).State().Sightings()), collect(l.state().Sightings()))
}

// Permits share strings with the caller's sighting, even after the caller is seen again.
func TestGrant_SharesStringsWithSighting(t *testing.T) {
	l := newLevel2Log(t)
	l.define("export", permits(3))
	acquire := func(holder string) *semaphore.Permit {
		return l.grant("export", holder, func(g *fsm.Grant) {
			g.Identity = semaphore.Identity{Group: "site-3", Acquirer: "batch-host-7", HolderID: holder}
		})
	}
	observe := func(second int) {
		l.apply(fsm.Sight{Term: l.term, Sightings: []fsm.Sighting{seen("site-3", "batch-host-7", second)}})
	}
	same := func(a, b string) bool { return a == b && unsafe.StringData(a) == unsafe.StringData(b) }
	unshared := acquire("1")
	observe(1)
	first := acquire("2")
	observe(2)
	second := acquire("3")
	if !same(first.Identity.Group, second.Identity.Group) || !same(first.Identity.Acquirer, second.Identity.Acquirer) {
		t.Error("two permits of the same caller do not share strings")
	}
	if same(unshared.Identity.Acquirer, first.Identity.Acquirer) {
		t.Error("permit granted before the sighting shares strings with a later permit")
	}
}

func TestNoteMissed_IsJournaledAndEmitted(t *testing.T) {
	l := newLevel2Log(t)
	l.define("s")
	unchanged[fsm.RevisionResult](l, fsm.NoteMissed{Semaphore: "none", Term: l.term, Missed: fsm.NoRequests})
	unchanged[fsm.RevisionResult](l, fsm.NoteMissed{Semaphore: "s", Term: l.term + 1, Missed: fsm.NoRequests})
	definition := l.state().Definition("s")
	for _, tc := range []struct {
		missed fsm.Missed
		kind   fsm.EventKind
	}{{fsm.AllDenied, fsm.MissedEvent}, {fsm.NothingMissed, fsm.HeardEvent}} {
		r := applyOne[fsm.RevisionResult](l, fsm.NoteMissed{Semaphore: "s", Term: l.term, Missed: tc.missed, Text: "why", At: at(9)})
		equal(t, "events", l.events, []fsm.Event{{
			Revision: r.Revision, Kind: tc.kind, Semaphore: "s", Missed: tc.missed, Author: "gatekeeper", Reason: "why", At: at(9),
		}})
		for e := range l.state().JournalBackward("s", 0) {
			equal(t, "journal", *e, fsm.JournalEntry{
				Revision: r.Revision, Kind: tc.kind, Semaphore: "s", Missed: tc.missed, Author: "gatekeeper", Reason: "why", At: at(9),
			})
			break
		}
		equal(t, "definition", l.state().Definition("s"), definition)
	}
}
