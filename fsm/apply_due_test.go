package fsm_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// replaceCurrent returns a Replace that applies the given changes to the current definition.
func (l *log) replaceCurrent(name string, change ...func(*semaphore.Definition)) fsm.Change {
	l.tb.Helper()
	d := l.state().Definition(name)
	now := d.Definition.Clone()
	for _, c := range change {
		c(now)
	}
	return replace(now, d.Version)
}

// edit applies a batch and returns its revision.
func (l *log) edit(b fsm.EditBatch) uint64 {
	l.tb.Helper()
	r := applyOne[fsm.EditResult](l, b)
	if r.Conflict != nil || r.Revision == 0 {
		l.tb.Fatalf("edit: %+v", r)
	}
	return r.Revision
}

func group(pattern string) func(*semaphore.Definition) {
	return func(d *semaphore.Definition) { d.GroupPattern = pattern }
}

func draining(d time.Duration, changes ...fsm.Change) fsm.EditBatch {
	b := edits(changes...)
	b.Drain = d
	return b
}

func until(t time.Time, changes ...fsm.Change) fsm.EditBatch {
	b := edits(changes...)
	b.Until = t
	return b
}

// refreshWithoutGroup returns the outcome of refreshing a permit whose group no longer matches.
func (l *log) refreshWithoutGroup(token uint64) semaphore.Outcome {
	p := l.state().Permit(token)
	f := l.state().Facts(&semaphore.Request{Semaphore: p.Semaphore, Identity: p.Identity}, "")
	f.Admission = semaphore.Admission{Acquirer: true}
	return semaphore.Admit(p, &f).Outcome
}

func TestDrain_Edit_CoversEarlierPermits(t *testing.T) {
	l := newLevel2Log(t)
	l.define("s", permits(5))
	l.define("empty")
	before := l.grant("s", "a")
	change := l.edit(draining(time.Minute, l.replaceCurrent("s", group("east")), l.replaceCurrent("empty", group("east"))))
	after := l.grant("s", "b")
	equal(t, "drains", l.state().Drains("s"), []semaphore.Drain{{Revision: change, Duration: time.Minute}})
	equal(t, "drains of a semaphore without permits", l.state().Drains("empty"), []semaphore.Drain(nil))
	equal(t, "refresh of the earlier permit", l.refreshWithoutGroup(before.Token), semaphore.Refreshed)
	equal(t, "refresh of the later permit", l.refreshWithoutGroup(after.Token), semaphore.Denied)
	for e := range l.state().JournalBackward("s", 0) {
		equal(t, "journaled drain", e.Drain, time.Minute)
		break
	}

	// An edit without a drain keeps the existing drain. A second drain also covers the newer permit.
	l.edit(edits(l.replaceCurrent("s", permits(6))))
	equal(t, "refresh after another edit", l.refreshWithoutGroup(before.Token), semaphore.Refreshed)
	second := l.edit(draining(time.Hour, l.replaceCurrent("s", group("west"))))
	equal(t, "refresh of the newer permit", l.refreshWithoutGroup(after.Token), semaphore.Refreshed)

	unchanged[fsm.RevisionResult](l, fsm.EndDrain{Change: second, Term: l.term - 1, Names: []string{"s"}})
	unchanged[fsm.RevisionResult](l, fsm.EndDrain{Change: second + 1, Term: l.term, Names: []string{"s", "empty", "none"}})
	r := applyOne[fsm.RevisionResult](l, fsm.EndDrain{Change: second, Term: l.term, Names: []string{"s", "empty", "s"}, At: at(9)})
	equal(t, "result", r, fsm.RevisionResult{Applied: true, Revision: second + 1})
	equal(t, "events", l.events, []fsm.Event{{
		Revision: second + 1, Kind: fsm.DrainedEvent, Semaphore: "s", Definition: l.state().Definition("s"), Before: l.state().Definition("s"), Change: second, At: at(9),
	}})
	equal(t, "refresh of the newer permit after the second drain", l.refreshWithoutGroup(after.Token), semaphore.Denied)
	equal(t, "refresh of the older permit during the first drain", l.refreshWithoutGroup(before.Token), semaphore.Refreshed)
	applyOne[fsm.RevisionResult](l, fsm.EndDrain{Change: change, Term: l.term, Names: []string{"s"}})
	equal(t, "refresh after both drains", l.refreshWithoutGroup(before.Token), semaphore.Denied)
}

// A deleted name is kept until its drain ends, and is then removed completely.
func TestDrain_DeletedSemaphore_KeepsNameUntilDrainEnds(t *testing.T) {
	l := newLevel2Log(t)
	settings := fsm.DefaultSettings()
	settings.JournalPerSemaphore = 0
	l.apply(fsm.Configure{Settings: settings})
	d := l.define("s")
	p := l.grant("s", "a")
	change := l.edit(draining(time.Minute, remove("s", d.Version)))
	equal(t, "refresh after the deletion", l.refreshWithoutGroup(p.Token), semaphore.Refreshed)
	l.apply(fsm.Release{Token: p.Token})
	equal(t, "names", collect(l.state().Names()), []string{"s"})
	equal(t, "restored drains", restored(t, l.state()).State().Drains("s"), l.state().Drains("s"))
	applyOne[fsm.RevisionResult](l, fsm.EndDrain{Change: change, Term: l.term, Names: []string{"s"}})
	equal(t, "names", collect(l.state().Names()), []string(nil))
}

func TestDrains_PerName_AreBounded(t *testing.T) {
	l := newLevel2Log(t)
	l.define("s")
	l.grant("s", "a")
	var changes []uint64
	for i := range 20 {
		changes = append(changes, l.edit(draining(time.Minute, l.replaceCurrent("s", permits(uint32(2+i))))))
	}
	var got []uint64
	for _, d := range l.state().Drains("s") {
		got = append(got, d.Revision)
	}
	equal(t, "drains", got, changes[4:])
}

func TestDrain_OutOfBounds_IsInvalid(t *testing.T) {
	l := newLevel2Log(t)
	l.define("s")
	p := l.grant("s", "a")
	for _, d := range []time.Duration{-1, fsm.MaxDrain + 1} {
		for _, cmd := range []fsm.Command{
			draining(d, l.replaceCurrent("s")), fsm.SetCordon{ID: "k", Drain: d}, fsm.Pause{Names: []string{"s"}, Stop: true, Drain: d}, fsm.Revoke{Token: p.Token, Drain: d},
		} {
			if why := unchanged[fsm.InvalidResult](l, cmd).Why; !strings.Contains(why, "is not between 0 and 24h0m0s") {
				t.Errorf("%T with an out-of-bounds drain: got %s", cmd, why)
			}
		}
	}
	for why, cmd := range map[string]fsm.Command{
		"a drain requires stop":                  fsm.Pause{Names: []string{"s"}, Drain: 1},
		"an unsafe revoke must not have a drain": fsm.Revoke{Token: p.Token, Drain: 1, UnsafeNow: true},
	} {
		if got := unchanged[fsm.InvalidResult](l, cmd).Why; !strings.Contains(got, why) {
			t.Errorf("got %q, want an error that contains: %s", got, why)
		}
	}
}

func TestEndDrain_PauseCordonOrPermit_EndsOnlyItsOwnDrain(t *testing.T) {
	l := newLevel2Log(t)
	def := l.define("s", permits(5))
	p := l.grant("s", "a")
	pause := applyOne[fsm.RevisionResult](l, fsm.Pause{Names: []string{"s"}, Stop: true, Drain: time.Minute}).Revision
	equal(t, "pause", l.state().Definition("s").Pause.Drain, time.Minute)
	applyOne[fsm.RevisionResult](l, fsm.EndDrain{Change: pause, Term: l.term, Names: []string{"s"}, At: at(9)})
	now := l.state().Definition("s")
	equal(t, "pause", *now.Pause, semaphore.Pause{Stop: true, Revision: pause})
	equal(t, "version", now.Version, def.Version)
	equal(t, "event", l.events[0].Before.Pause.Drain, time.Minute)
	unchanged[fsm.RevisionResult](l, fsm.EndDrain{Change: pause, Term: l.term, Names: []string{"s"}})

	// Pausing again is a separate change, so the first pause's timer has no effect on it.
	again := applyOne[fsm.RevisionResult](l, fsm.Pause{Names: []string{"s"}, Stop: true, Drain: time.Minute}).Revision
	unchanged[fsm.RevisionResult](l, fsm.EndDrain{Change: pause, Term: l.term, Names: []string{"s"}})
	equal(t, "second pause", l.state().Definition("s").Pause.Revision, again)

	cordon := applyOne[fsm.RevisionResult](l, fsm.SetCordon{ID: "k", GroupPattern: "g", Drain: time.Minute, Until: at(70)}).Revision
	applyOne[fsm.RevisionResult](l, fsm.SetCordon{ID: "l", GroupPattern: "h", Drain: time.Minute})
	old := l.state().Cordons()
	unchanged[fsm.RevisionResult](l, fsm.EndDrain{Change: cordon, Term: l.term, Cordon: "l"})
	r := applyOne[fsm.RevisionResult](l, fsm.EndDrain{Change: cordon, Term: l.term, Cordon: "k", At: at(9)})
	over := &fsm.Cordon{ID: "k", GroupPattern: "g", Until: at(70), Revision: cordon}
	equal(t, "cordon", l.state().Cordons()[0], over)
	equal(t, "cordon in the old state", old[0].Drain, time.Minute)
	equal(t, "events", l.events, []fsm.Event{{Revision: r.Revision, Kind: fsm.DrainedEvent, Cordon: over, Change: cordon, At: at(9)}})
	// Callers matched against the old set of cordons must be matched again.
	equal(t, "cordon revision", l.state().CordonRevision(), r.Revision)

	revoke := applyOne[fsm.PermitResult](l, fsm.Revoke{Token: p.Token, Drain: time.Minute}).Revision
	permitRevision := l.state().PermitRevision("s")
	unchanged[fsm.RevisionResult](l, fsm.EndDrain{Change: revoke + 1, Term: l.term, Token: p.Token})
	applyOne[fsm.RevisionResult](l, fsm.EndDrain{Change: revoke, Term: l.term, Token: p.Token})
	equal(t, "events", kinds(l.events), []fsm.EventKind{fsm.DrainedEvent})
	stopping := l.state().Permit(p.Token)
	equal(t, "permit", []any{stopping.Stop, stopping.StopOrder().Revision, stopping.StopOrder().Drain}, []any{semaphore.StopRevoked, revoke, time.Duration(0)})
	equal(t, "permit revision", l.state().PermitRevision("s"), permitRevision)
}

func TestRevoke_Repeat_OnlyShortensDrain(t *testing.T) {
	l := newLevel2Log(t)
	l.define("s")
	p := l.grant("s", "a")
	first := applyOne[fsm.PermitResult](l, fsm.Revoke{Token: p.Token, Drain: time.Hour, Reason: "soon"})
	for _, d := range []time.Duration{time.Hour, 2 * time.Hour} {
		r := unchanged[fsm.PermitResult](l, fsm.Revoke{Token: p.Token, Drain: d})
		equal(t, "permit", r.Permit, first.Permit)
	}
	second := applyOne[fsm.PermitResult](l, fsm.Revoke{Token: p.Token, Drain: time.Minute, Reason: "sooner"})
	equal(t, "permit", second.Permit.StopOrder(), semaphore.StopOrder{Drain: time.Minute, Reason: "sooner", Revision: second.Revision})
	unchanged[fsm.RevisionResult](l, fsm.EndDrain{Change: first.Revision, Term: l.term, Token: p.Token})
	third := applyOne[fsm.PermitResult](l, fsm.Revoke{Token: p.Token, Reason: "now"})
	equal(t, "drain", third.Permit.StopOrder().Drain, time.Duration(0))
	unchanged[fsm.PermitResult](l, fsm.Revoke{Token: p.Token, Reason: "now!"})
}

func TestRevoke_UnsafeNow_FreesSlotImmediately(t *testing.T) {
	l := newLevel2Log(t)
	l.define("s", hold)
	l.define("free", freeOnLoss)
	for _, stopping := range []bool{false, true} {
		p := l.grant("s", "a", requestID(fmt.Sprint("r", stopping)), firing(fmt.Sprint(stopping), 100))
		if stopping {
			l.apply(fsm.Revoke{Token: p.Token, Drain: time.Hour})
		}
		r := applyOne[fsm.PermitResult](l, fsm.Revoke{Token: p.Token, UnsafeNow: true, Author: "ann", Reason: "it is dead", At: at(9)})
		equal(t, "applied", r.Applied, true)
		equal(t, "events", kinds(l.events), []fsm.EventKind{fsm.FreedUnsafely})
		equal(t, "author and reason", []string{l.events[0].Author, l.events[0].Reason}, []string{"ann", "it is dead"})
		equal(t, "used", l.state().Used("s"), uint64(0))
		equal(t, "outcome", l.state().EndedPermit(p.Token).Outcome, semaphore.EndFreedUnsafely)
		equal(t, "claim", l.state().Claim("s", *p.Firing).State, semaphore.ClaimSpent)
		for e := range l.state().JournalBackward("s", 0) {
			equal(t, "journal", []any{e.Kind, e.Author, e.Reason, e.Permit.Token}, []any{fsm.FreedUnsafely, "ann", "it is dead", p.Token})
			break
		}
		equal(t, "restored", restored(t, l.state()).State().EndedPermit(p.Token), l.state().EndedPermit(p.Token))
		equal(t, "retry", unchanged[fsm.GrantResult](l, l.request("s", "a", requestID(fmt.Sprint("r", stopping)))).Outcome, fsm.GrantRequestEnded)
	}
	p := l.grant("free", "a", firing("f", 100))
	l.apply(fsm.Revoke{Token: p.Token, UnsafeNow: true})
	if c := l.state().Claim("free", *p.Firing); c != nil {
		t.Errorf("claim with firing_on_loss free = %+v, want nil", c)
	}
	// A permit held for an operator is not live. It can be cleared, but not revoked.
	p = l.grant("s", "a")
	l.apply(fsm.Expire{Token: p.Token, Term: l.term})
	equal(t, "revoke of a held permit", unchanged[fsm.PermitResult](l, fsm.Revoke{Token: p.Token, UnsafeNow: true}).Applied, false)
	equal(t, "revoke of an unknown token", unchanged[fsm.PermitResult](l, fsm.Revoke{Token: 99, UnsafeNow: true}), fsm.PermitResult{})
}

func TestEditBatch_Until_RequiresReplaceAndIsBounded(t *testing.T) {
	l := newLevel2Log(t)
	l.define("s")
	for _, bad := range []fsm.Change{create(definition("new")), declare(definition("new")), remove("s", l.state().Definition("s").Version)} {
		if why := unchanged[fsm.InvalidResult](l, until(at(9), bad)).Why; !strings.Contains(why, "only a replacement can be temporary") {
			t.Errorf("EditBatch with Until but no replacement: got %s", why)
		}
	}
	for i := range fsm.MaxEditEnds {
		l.edit(until(at(100), l.replaceCurrent("s", permits(uint32(i+2)))))
	}
	if why := unchanged[fsm.InvalidResult](l, until(at(100), l.replaceCurrent("s"))).Why; !strings.Contains(why, "the maximum of 16 temporary edits") {
		t.Errorf("EditBatch above the limit of temporary edits: got %s", why)
	}
	l.edit(edits(l.replaceCurrent("s", permits(99)))) // permanent edits are not limited
	equal(t, "ends", len(l.state().Ends("s")), 16)
	l.edit(edits(remove("s", l.state().Definition("s").Version)))
	equal(t, "temporary edits of a deleted name", l.state().Ends("s"), []*fsm.EditEnd(nil))
}

func TestRevert_LaterEdit_KeepsFieldsItChanged(t *testing.T) {
	l := newLevel2Log(t)
	created := l.define("s", permits(1), group("prod"))
	l.apply(fsm.Pause{Names: []string{"s"}})
	change := l.edit(until(at(100), l.replaceCurrent("s", permits(5), group("prod|test"))))
	equal(t, "ends", l.state().Ends("s"), []*fsm.EditEnd{{
		Revision: change, Until: at(100), Before: definition("s", permits(1), group("prod")), After: definition("s", permits(5), group("prod|test")),
	}})
	since := l.edit(edits(l.replaceCurrent("s", permits(3))))
	unchanged[fsm.RevisionResult](l, fsm.Revert{Change: change, Term: l.term + 1, Names: []string{"s"}})
	unchanged[fsm.RevisionResult](l, fsm.Revert{Change: since, Term: l.term, Names: []string{"s", "none"}})

	before := l.state().Definition("s")
	r := applyOne[fsm.RevisionResult](l, fsm.Revert{Change: change, Term: l.term, Names: []string{"s", "none", "s"}, At: at(100)})
	equal(t, "result", r, fsm.RevisionResult{Applied: true, Revision: since + 1})
	reason := fmt.Sprintf("the edit made at revision %d has expired; reverted: group_pattern; changed since then and not reverted: permits", change)
	now := l.state().Definition("s")
	equal(t, "definition", now, &fsm.StoredDefinition{
		Definition: definition("s", permits(3), group("prod")), Version: r.Revision, CreatedRevision: created.Version, UpdatedBy: "gatekeeper", UpdatedAt: at(100),
		Reason: reason, Pause: before.Pause,
	})
	equal(t, "events", l.events, []fsm.Event{{
		Revision: r.Revision, Kind: fsm.RevertedEvent, Semaphore: "s", Definition: now, Before: before, Change: change, Author: "gatekeeper", Reason: reason, At: at(100),
	}})
	for e := range l.state().JournalBackward("s", 0) {
		equal(t, "journal", *e, fsm.JournalEntry{
			Revision: r.Revision, Kind: fsm.RevertedEvent, Semaphore: "s", Author: "gatekeeper", Reason: reason, At: at(100),
			Before: before.Definition, After: now.Definition,
		})
		break
	}
	unchanged[fsm.RevisionResult](l, fsm.Revert{Change: change, Term: l.term, Names: []string{"s"}})
}

// The end of a temporary edit is journaled even if no field is restored.
func TestRevert_NothingToRevert_IsJournaled(t *testing.T) {
	for name, tc := range map[string]struct {
		since  func(*log)
		reason string
	}{
		"set since":        {func(l *log) { l.edit(edits(l.replaceCurrent("s", permits(7)))) }, "has expired; changed since then and not reverted: permits"},
		"already reverted": {func(l *log) { l.edit(edits(l.replaceCurrent("s", permits(1)))) }, "has expired; there was nothing to revert"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLevel2Log(t)
			l.define("s", permits(1))
			change := l.edit(until(at(100), l.replaceCurrent("s", permits(5))))
			tc.since(l)
			before := l.state().Definition("s")
			r := applyOne[fsm.RevisionResult](l, fsm.Revert{Change: change, Term: l.term, Names: []string{"s"}})
			equal(t, "definition", l.state().Definition("s"), before)
			equal(t, "events", kinds(l.events), []fsm.EventKind{fsm.RevertedEvent})
			equal(t, "ends", l.state().Ends("s"), []*fsm.EditEnd(nil))
			for e := range l.state().JournalBackward("s", 0) {
				if e.Revision != r.Revision || !strings.HasSuffix(e.Reason, tc.reason) {
					t.Errorf("journal entry has revision %d and reason %q, want revision %d and suffix %q", e.Revision, e.Reason, r.Revision, tc.reason)
				}
				break
			}
		})
	}
}

func TestRevert_OldValueNoLongerValid_IsNotRestored(t *testing.T) {
	l := newLevel2Log(t)
	l.define("s", func(d *semaphore.Definition) { d.Duration = time.Hour })
	change := l.edit(until(at(100), l.replaceCurrent("s", permits(5), func(d *semaphore.Definition) { d.Duration = time.Minute })))
	settings := fsm.DefaultSettings()
	settings.MaxDuration = 10 * time.Minute
	l.apply(fsm.Configure{Settings: settings})
	before := l.state().Definition("s")
	applyOne[fsm.RevisionResult](l, fsm.Revert{Change: change, Term: l.term, Names: []string{"s"}})
	equal(t, "definition", l.state().Definition("s"), before)
	for e := range l.state().JournalBackward("s", 0) {
		if !strings.Contains(e.Reason, `its fields keep their current values, because the definition would be invalid with the old ones: duration "1h": must be`) {
			t.Errorf("journal entry has reason %q, want it to explain why no field was restored", e.Reason)
		}
		break
	}
}

// Temporary edits may overlap. After both have ended, in either order, the original values are restored.
func TestRevert_OverlappingEdits_RestoreOriginalValues(t *testing.T) {
	for name, order := range map[string][]int{"first edit ends first": {0, 1}, "second edit ends first": {1, 0}} {
		t.Run(name, func(t *testing.T) {
			l := newLevel2Log(t)
			l.define("s", permits(1))
			changes := []uint64{
				l.edit(until(at(100), l.replaceCurrent("s", permits(5), group("east")))),
				l.edit(until(at(200), l.replaceCurrent("s", permits(9)))),
			}
			for _, i := range order {
				applyOne[fsm.RevisionResult](l, fsm.Revert{Change: changes[i], Term: l.term, Names: []string{"s"}})
			}
			equal(t, "definition", l.state().Definition("s").Definition, definition("s", permits(1)))
			equal(t, "restored", snapshotRecords(t, restored(t, l.state()).State()), snapshotRecords(t, l.state()))
		})
	}
}
