package fsm_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	logv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/log/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// forget returns a command that forgets the given firings with their current claims.
func (l *log) forget(name string, lowerTo time.Time, firings ...*semaphore.Firing) fsm.ForgetFirings {
	c := fsm.ForgetFirings{
		Semaphore: name, LowerTo: lowerTo, Author: "ann", Reason: "a clock was a year ahead", RequestID: "forgotten " + name, RequestHash: 16, At: at(91),
	}
	for _, f := range firings {
		e := fsm.ExpectedClaim{Firing: *f}
		if claim := l.state().Claim(name, *f); claim != nil {
			e.Token = claim.Token
		}
		c.Firings = append(c.Firings, e)
	}
	return c
}

// undoForget returns the Undo that the leader would propose for the last change to the remembered firings.
func (l *log) undoForget(name string) fsm.Undo {
	for e := range l.state().JournalBackward(name, 0) {
		f := e.Details().Firings
		if f == nil {
			continue
		}
		u := fsm.UndoFirings{Semaphore: name, LowWater: f.MarkBefore, ExpectedLowWater: f.MarkAfter}
		if e.Kind == fsm.FiringsForgotten {
			u.Restore = f.Claims
		} else {
			for _, c := range f.Claims {
				u.Forget = append(u.Forget, fsm.ExpectedClaim{Firing: c.Firing, Token: c.Token})
			}
		}
		return fsm.Undo{Change: e.Revision, Author: "bob", Reason: "not that one", At: at(92), Firings: []fsm.UndoFirings{u}}
	}
	l.tb.Fatal("no firings were forgotten")
	return fsm.Undo{}
}

// dueSeconds returns the remembered firings' due times in seconds.
func (l *log) dueSeconds(name string) (all []int) {
	for c := range l.state().Claims(name) {
		all = append(all, int(c.Firing.Due.Sub(at(0))/time.Second))
	}
	return all
}

func (l *log) denialReason(name, holder string, f *semaphore.Firing) semaphore.Reason {
	l.tb.Helper()
	r := applyOne[fsm.GrantResult](l, l.request(name, holder, func(g *fsm.Grant) { g.Firing = f }))
	if r.Outcome == fsm.GrantGranted {
		l.apply(fsm.Release{Token: r.Permit.Token, Job: semaphore.JobNotRun})
		return 0
	}
	return r.Decision.Reason
}

func TestForgetFirings_FutureFirings_AllowsCurrentFirings(t *testing.T) {
	l := newLevel3LogWithBounds(t, fsm.RequestBounds{})
	l.define("s")
	l.claimFutureFirings("s")
	equal(t, "current firing", l.denialReason("s", "b", newFiring("f", 95)), semaphore.FiringForgotten)
	claims := collect(l.state().Claims("s"))

	r := applyOne[fsm.FiringsResult](l, l.forget("s", at(90), newFiring("f", 9000), newFiring("f", 9100)))
	change := &fsm.FiringsChange{Claims: claims, MarkBefore: at(8000), MarkAfter: at(90)}
	equal(t, "result", r, fsm.FiringsResult{Revision: l.state().Revision(), Firings: change})
	equal(t, "events", kinds(l.events), []fsm.EventKind{fsm.FiringsForgotten})
	e := collect(l.state().Journal("s", r.Revision))
	if len(e) != 1 || e[0].Kind != fsm.FiringsForgotten || e[0].Author != "ann" {
		t.Fatalf("journal = %+v, want one FiringsForgotten by ann", e)
	}
	equal(t, "firings in the journal entry", e[0].Details().Firings, change)
	equal(t, "remembered firings", l.dueSeconds("s"), []int(nil))
	equal(t, "low-water mark", l.state().LowWater("s"), at(90))
	equal(t, "current firing", l.denialReason("s", "b", newFiring("f", 95)), semaphore.Reason(0))
	equal(t, "firing at the mark", l.denialReason("s", "b", newFiring("f", 90)), semaphore.FiringForgotten)

	l.apply(l.undoForget("s"))
	equal(t, "events after the undo", kinds(l.events), []fsm.EventKind{fsm.FiringsRemembered})
	equal(t, "claims after the undo", collect(l.state().Claims("s")), claims)
	equal(t, "mark after the undo", l.state().LowWater("s"), at(8000))
	l.apply(l.undoForget("s"))
	equal(t, "remembered firings after the second undo", l.dueSeconds("s"), []int(nil))
	equal(t, "mark after the second undo", l.state().LowWater("s"), at(90))
	equal(t, "snapshot after a restore", snapshot(t, restored(t, l.state()).State()), snapshot(t, l.state()))
}

func TestForgetFirings_Repeat_ReturnsFirstResult(t *testing.T) {
	l := newLevel3LogWithBounds(t, fsm.RequestBounds{})
	l.define("s")
	l.claimFutureFirings("s")
	cmd := l.forget("s", at(90), newFiring("f", 9000))
	first := applyOne[fsm.FiringsResult](l, cmd)
	l.apply(fsm.Release{Token: l.grant("s", "b", firing("f", 9000)).Token}) // a retry must not forget this claim
	first.Repeated = true
	equal(t, "repeat", unchanged[fsm.FiringsResult](l, cmd), first)

	nothing := l.forget("s", at(95))
	nothing.RequestID = "nothing"
	equal(t, "no-op", applyOne[fsm.FiringsResult](l, nothing), fsm.FiringsResult{})
	equal(t, "repeated no-op", unchanged[fsm.FiringsResult](l, nothing), fsm.FiringsResult{Repeated: true})
	equal(t, "snapshot after a restore", snapshot(t, restored(t, l.state()).State()), snapshot(t, l.state()))
	cmd.RequestHash++
	if used := unchanged[fsm.InvalidResult](l, cmd).UsedBy; used == nil || used.Edit != fsm.EditForgetFirings {
		t.Errorf("different request with the same id: UsedBy = %+v, want ForgetFirings", used)
	}
}

func TestForgetFirings_UnmetExpectation_ForgetsNothing(t *testing.T) {
	l := newLevel3LogWithBounds(t, fsm.RequestBounds{})
	l.define("s", permits(2))
	l.claimFutureFirings("s")
	l.grant("s", "b", firing("g", 9000))
	ok, held := newFiring("f", 9000), newFiring("g", 9000)
	other := l.forget("s", at(90), ok)
	other.Firings[0].Token++
	for name, tc := range map[string]struct {
		cmd   fsm.ForgetFirings
		index int
	}{
		"held by a live permit": {l.forget("s", at(90), ok, held), 1},
		"not remembered":        {l.forget("s", at(90), newFiring("f", 1)), 0},
		"claimed since":         {other, 0},
		"in another semaphore":  {l.forget("t", at(90), ok), 0},
	} {
		r := unchanged[fsm.FiringsResult](l, tc.cmd)
		want := &fsm.Conflict{Index: tc.index, Kind: fsm.ConflictFirings, Name: tc.cmd.Semaphore}
		equal(t, name, r, fsm.FiringsResult{Conflict: want})
	}
	unchanged[fsm.InvalidResult](l, l.forget("s", at(90), ok, ok))
	unchanged[fsm.InvalidResult](l, l.forget("s", at(90), newFiring("", 9000)))
	unchanged[fsm.InvalidResult](l, l.forget("", at(90)))
}

// A cooling permit's job may still be running, so its firing stays claimed until the permit has cooled.
func TestForgetFirings_CoolingPermit_IsRefused(t *testing.T) {
	l := newLevel3LogWithBounds(t, fsm.RequestBounds{})
	l.define("s", freeOnLoss)
	p := l.grant("s", "a", firing("f", 9000))
	l.apply(fsm.Expire{Token: p.Token, Term: l.term, Cooling: time.Minute})
	if r := unchanged[fsm.FiringsResult](l, l.forget("s", at(90), newFiring("f", 9000))); r.Conflict == nil {
		t.Errorf("ForgetFirings of a cooling permit's firing: got %+v, want a conflict", r)
	}
}

func TestForgetFirings_Mark_IsNeverRaised(t *testing.T) {
	l := newLevel3LogWithBounds(t, fsm.RequestBounds{})
	l.define("s")
	l.claimFutureFirings("s")
	applyOne[fsm.FiringsResult](l, l.forget("s", at(8500), newFiring("f", 9000)))
	equal(t, "mark", l.state().LowWater("s"), at(8000))
}

func TestUndo_UnexpectedFirings_IsConflict(t *testing.T) {
	for name, interfere := range map[string]func(l *log){
		"claimed again": func(l *log) { l.grant("s", "b", firing("f", 9000)) },
		"mark raised":   func(l *log) { l.apply(fsm.Forget{Semaphore: "s", Term: l.term, UpTo: at(93)}) },
	} {
		l := newLevel3LogWithBounds(t, fsm.RequestBounds{})
		l.define("s")
		l.claimFutureFirings("s")
		l.apply(l.forget("s", at(90), newFiring("f", 9000)))
		undo := l.undoForget("s")
		interfere(l)
		equal(t, name, unchanged[fsm.UndoResult](l, undo), fsm.UndoResult{Conflict: &fsm.Conflict{Kind: fsm.ConflictFirings, Name: "s"}})
	}
}

// Accepted undos must leave a state that Restore accepts.
func TestUndo_InvalidFirings_IsRefused(t *testing.T) {
	l := newLevel3LogWithBounds(t, fsm.RequestBounds{})
	l.define("s", permits(3))
	l.claimFutureFirings("s")
	l.apply(l.forget("s", at(90), newFiring("f", 9000)))
	live := l.grant("s", "b", firing("g", 9000)).Token
	good := l.undoForget("s")
	for name, change := range map[string]func(u *fsm.UndoFirings, c *semaphore.Claim){
		"in another semaphore":    func(_ *fsm.UndoFirings, c *semaphore.Claim) { c.Semaphore = "t" },
		"held without a holder":   func(_ *fsm.UndoFirings, c *semaphore.Claim) { c.State = semaphore.ClaimHeld },
		"future token":            func(_ *fsm.UndoFirings, c *semaphore.Claim) { c.Token = l.state().LastToken() + 1 },
		"no token":                func(_ *fsm.UndoFirings, c *semaphore.Claim) { c.Token = 0 },
		"token of another permit": func(_ *fsm.UndoFirings, c *semaphore.Claim) { c.Token = live },
		"future revision":         func(_ *fsm.UndoFirings, c *semaphore.Claim) { c.Revision = l.state().Revision() + 1 },
		"no name":                 func(_ *fsm.UndoFirings, c *semaphore.Claim) { c.Firing.Name = "" },
		"listed twice":            func(u *fsm.UndoFirings, c *semaphore.Claim) { u.Restore = append(u.Restore, c) },
		"nothing":                 func(u *fsm.UndoFirings, _ *semaphore.Claim) { u.Restore, u.LowWater = nil, time.Time{} },
	} {
		cmd, u := good, good.Firings[0]
		c := *u.Restore[0]
		u.Restore = []*semaphore.Claim{&c}
		change(&u, &c)
		cmd.Firings = []fsm.UndoFirings{u}
		t.Run(name, func(t *testing.T) {
			l.tb = t
			unchanged[fsm.InvalidResult](l, cmd)
		})
	}
	l.tb = t
	if r := applyOne[fsm.UndoResult](l, good); r.Conflict != nil {
		t.Errorf("valid undo: got %+v", r)
	}
}

// A deleted semaphore's remaining data is dropped with its last firing.
func TestForgetFirings_DeletedSemaphore_RemovesAllData(t *testing.T) {
	l := newLevel3LogWithBounds(t, fsm.RequestBounds{})
	d := l.define("s")
	l.claimFutureFirings("s")
	settings := l.state().Settings()
	settings.JournalPerSemaphore = 0
	l.apply(fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Delete, Name: "s", ExpectedVersion: d.Version}}}, fsm.Configure{Settings: settings})
	applyOne[fsm.FiringsResult](l, l.forget("s", at(90), newFiring("f", 9000), newFiring("f", 9100)))
	equal(t, "names", collect(l.state().Names()), []string(nil))
	equal(t, "snapshot after a restore", snapshot(t, restored(t, l.state()).State()), snapshot(t, l.state()))
}

func TestRestore_InconsistentForgottenFirings_IsRefused(t *testing.T) {
	file := snapshot(t, forgetFiringsScenario(t).state())
	for why, change := range map[string]func(e *logv1.JournalEntry){
		"of kind 27 has unexpected or missing firings": func(e *logv1.JournalEntry) { e.Firings = nil },
		"of kind 1 has unexpected or missing firings":  func(e *logv1.JournalEntry) { e.Kind = uint32(fsm.Created) },
		`of "elsewhere", with token`:                   func(e *logv1.JournalEntry) { e.Firings.Claims[0].Semaphore = "elsewhere" },
		`"repaired", with token 0`:                     func(e *logv1.JournalEntry) { e.Firings.Claims[0].Token = 0 },
		`has firing "f" of "repaired"`:                 func(e *logv1.JournalEntry) { e.Firings.Claims[0].State = uint32(semaphore.ClaimHeld) },
		"a firing that was forgotten has":              func(e *logv1.JournalEntry) { e.Firings.Claims[0].Revision = 1 << 40 },
		"a firing is missing":                          func(e *logv1.JournalEntry) { e.Firings.Claims[0].Firing = nil },
	} {
		records := readRecords(t, file)
		for _, r := range records {
			if r.GetJournal().GetFirings() != nil {
				change(r.GetJournal())
				break
			}
		}
		if err := fsm.New("").Restore(bytes.NewReader(writeRecords(t, records))); !errors.Is(err, fsm.ErrSnapshot) || !strings.Contains(err.Error(), why) {
			t.Errorf("Restore() = %v, want an error that contains %s", err, why)
		}
	}
}

func TestClaimsBackward_PagesFromNewest(t *testing.T) {
	l := newLevel3LogWithBounds(t, fsm.RequestBounds{})
	for _, name := range []string{"r", "s", "t"} {
		l.define(name)
		for i, f := range []*semaphore.Firing{newFiring("g", 10), newFiring("f", 20), newFiring("g", 20), newFiring("f", 0)} {
			l.apply(fsm.Release{Token: l.grant(name, string(rune('a'+i)), func(g *fsm.Grant) { g.Firing = f }).Token})
		}
	}
	var all []semaphore.Firing
	for c := range l.state().ClaimsBackward("s", nil) {
		all = append(all, c.Firing)
	}
	equal(t, "all", all, []semaphore.Firing{*newFiring("g", 20), *newFiring("f", 20), *newFiring("g", 10), *newFiring("f", 0)})
	var rest []semaphore.Firing
	for c := range l.state().ClaimsBackward("s", newFiring("f", 20)) {
		rest = append(rest, c.Firing)
	}
	equal(t, "claims after f at 20", rest, all[2:])
}
