package fsm_test

import (
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// TestPermitEnd_UpdatesSlotFiringAndJournal checks how permits end, and the effect on their slots and firings.
func TestPermitEnd_UpdatesSlotFiringAndJournal(t *testing.T) {
	const cooling = 5 * time.Second
	for _, tc := range []struct {
		name   string
		define []func(*semaphore.Definition)
		before func(l *log)
		end    func(l *log) fsm.Command
		state  semaphore.PermitState // 0 if the permit no longer exists
		claim  semaphore.ClaimState  // 0 if the firing may be claimed again
		event  fsm.EventKind
		note   fsm.EventKind
		ended  semaphore.End // NotEnded if no end is remembered
	}{
		{
			name: "release", end: func(*log) fsm.Command { return fsm.Release{Token: 1, At: at(5)} },
			claim: semaphore.ClaimDone, event: fsm.Released, note: fsm.Released, ended: semaphore.EndReleased,
		},
		{
			name: "release, not run", end: func(*log) fsm.Command { return fsm.Release{Token: 1, Job: semaphore.JobNotRun, At: at(5)} },
			event: fsm.Released, note: fsm.Released, ended: semaphore.EndReleased,
		},
		{
			name: "release, cooling", end: func(*log) fsm.Command { return fsm.Release{Token: 1, Cooling: cooling, At: at(5)} },
			state: semaphore.Cooling, claim: semaphore.ClaimDone, event: fsm.CoolingEvent, note: fsm.Released, ended: semaphore.EndReleased,
		},
		{
			name: "release, not run, cooling",
			end: func(*log) fsm.Command {
				return fsm.Release{Token: 1, Job: semaphore.JobNotRun, Cooling: cooling, At: at(5)}
			},
			state: semaphore.Cooling, event: fsm.CoolingEvent, note: fsm.Released, ended: semaphore.EndReleased,
		},
		{
			name: "release, cut short", end: func(*log) fsm.Command { return fsm.Release{Token: 1, Job: semaphore.JobCutShort, At: at(5)} },
			claim: semaphore.ClaimSpent, event: fsm.Released, note: fsm.Released, ended: semaphore.EndReleased,
		},
		{
			name: "release, cut short, firing free", define: []func(*semaphore.Definition){freeOnLoss},
			end:   func(*log) fsm.Command { return fsm.Release{Token: 1, Job: semaphore.JobCutShort, At: at(5)} },
			event: fsm.Released, note: fsm.Released, ended: semaphore.EndReleased,
		},
		{
			name: "release, cut short, cooling, firing free after cooling", define: []func(*semaphore.Definition){freeOnLoss},
			end: func(*log) fsm.Command {
				return fsm.Release{Token: 1, Job: semaphore.JobCutShort, Cooling: cooling, At: at(5)}
			},
			state: semaphore.Cooling, claim: semaphore.ClaimHeld, event: fsm.CoolingEvent, note: fsm.Released, ended: semaphore.EndReleased,
		},
		{
			name: "expiry", end: func(l *log) fsm.Command { return fsm.Expire{Token: 1, Term: l.term, At: at(5)} },
			claim: semaphore.ClaimSpent, event: fsm.Expired, note: fsm.Expired, ended: semaphore.EndExpired,
		},
		{
			name: "expiry, firing free", define: []func(*semaphore.Definition){freeOnLoss},
			end:   func(l *log) fsm.Command { return fsm.Expire{Token: 1, Term: l.term, At: at(5)} },
			event: fsm.Expired, note: fsm.Expired, ended: semaphore.EndExpired,
		},
		{
			name:  "expiry, cooling",
			end:   func(l *log) fsm.Command { return fsm.Expire{Token: 1, Term: l.term, Cooling: cooling, At: at(5)} },
			state: semaphore.Cooling, claim: semaphore.ClaimSpent, event: fsm.CoolingEvent, note: fsm.Expired, ended: semaphore.EndExpired,
		},
		{
			name: "expiry, cooling, firing free after cooling", define: []func(*semaphore.Definition){freeOnLoss},
			end:   func(l *log) fsm.Command { return fsm.Expire{Token: 1, Term: l.term, Cooling: cooling, At: at(5)} },
			state: semaphore.Cooling, claim: semaphore.ClaimHeld, event: fsm.CoolingEvent, note: fsm.Expired, ended: semaphore.EndExpired,
		},
		{
			name: "expiry, hold", define: []func(*semaphore.Definition){hold},
			end:   func(l *log) fsm.Command { return fsm.Expire{Token: 1, Term: l.term, Cooling: cooling, At: at(5)} },
			state: semaphore.Held, claim: semaphore.ClaimHeld, event: fsm.HeldEvent, note: fsm.HeldEvent,
		},
		{
			name: "expiry, hold, definition deleted", define: []func(*semaphore.Definition){hold, freeOnLoss},
			before: func(l *log) { l.apply(edits(remove("s", l.state().Definition("s").Version))) },
			end:    func(l *log) fsm.Command { return fsm.Expire{Token: 1, Term: l.term, At: at(5)} },
			claim:  semaphore.ClaimSpent, event: fsm.Expired, note: fsm.Expired, ended: semaphore.EndExpired,
		},
		{
			name: "abandon", end: func(l *log) fsm.Command { return fsm.Abandon{Token: 1, Term: l.term} },
			event: fsm.Abandoned, note: fsm.Abandoned, ended: semaphore.EndAbandoned,
		},
		{
			name: "cancel", end: func(*log) fsm.Command {
				return fsm.Cancel{Semaphore: "s", Identity: identity("a"), RequestID: "r1"}
			},
			event: fsm.Abandoned, note: fsm.Abandoned, ended: semaphore.EndCancelled,
		},
		{
			name: "clear", define: []func(*semaphore.Definition){hold},
			before: func(l *log) { l.apply(fsm.Expire{Token: 1, Term: l.term}) },
			end:    func(*log) fsm.Command { return fsm.Clear{Token: 1, Author: "ann", Reason: "checked", At: at(5)} },
			claim:  semaphore.ClaimSpent, event: fsm.Cleared, note: fsm.Cleared, ended: semaphore.EndCleared,
		},
		{
			name: "clear, firing free", define: []func(*semaphore.Definition){hold, freeOnLoss},
			before: func(l *log) { l.apply(fsm.Expire{Token: 1, Term: l.term}) },
			end:    func(*log) fsm.Command { return fsm.Clear{Token: 1, Author: "ann", Reason: "checked", At: at(5)} },
			event:  fsm.Cleared, note: fsm.Cleared, ended: semaphore.EndCleared,
		},
		{
			name: "clear, after a late release of a finished job", define: []func(*semaphore.Definition){hold, freeOnLoss},
			before: func(l *log) { l.apply(fsm.Expire{Token: 1, Term: l.term}, fsm.Release{Token: 1}) },
			end:    func(*log) fsm.Command { return fsm.Clear{Token: 1, Author: "ann", Reason: "checked", At: at(5)} },
			claim:  semaphore.ClaimDone, event: fsm.Cleared, note: fsm.Cleared, ended: semaphore.EndCleared,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := newLevel2Log(t)
			l.define("s", tc.define...)
			l.grant("s", "a", requestID("r1"), firing("f", 5))
			if tc.before != nil {
				tc.before(l)
			}
			original, revision := l.state().Permit(1), l.state().Revision()
			l.apply(tc.end(l))
			s := l.state()
			equal(t, "revision", s.Revision(), revision+1)
			equal(t, "permit revision", s.PermitRevision("s"), revision+1)
			equal(t, "events", kinds(l.events), []fsm.EventKind{tc.event})

			now := s.Permit(1)
			if tc.state == 0 {
				if now != nil {
					t.Fatalf("permit after it ended = %+v, want nil", now)
				}
				equal(t, "used", s.Used("s"), uint64(0))
				equal(t, "event permit", l.events[0].Permit, original)
			} else {
				want := *original
				want.State = tc.state
				if tc.state == semaphore.Cooling {
					want.Duration, want.Ended = cooling, tc.ended
				}
				equal(t, "permit", now, &want)
				equal(t, "event permit", l.events[0].Permit, now)
				equal(t, "used", s.Used("s"), uint64(1))
			}
			if held := s.Own("s", identity("a")) != nil; held != (tc.state == semaphore.Held) {
				t.Fatalf("Own() returned a permit: %v, want %v", held, !held)
			}

			claim := s.Claim("s", *newFiring("f", 5))
			switch {
			case tc.claim == 0 && claim != nil, tc.claim != 0 && claim == nil:
				t.Fatalf("claim = %+v, want state %v", claim, tc.claim)
			case claim != nil:
				equal(t, "claim state", claim.State, tc.claim)
			}

			if tc.ended == semaphore.NotEnded {
				if r := s.Request("s", identity("a"), "r1"); r != nil {
					t.Fatalf("Request() = %+v, want nil", r)
				}
			} else {
				want := &fsm.Remembered{Semaphore: "s", Identity: identity("a"), RequestID: "r1", Outcome: tc.ended, Token: 1, Revision: revision + 1}
				equal(t, "request", s.Request("s", identity("a"), "r1"), want)
				equal(t, "ended permit", s.EndedPermit(1), want)
			}

			notes := collect(s.Journal("s", revision+1))
			if len(notes) != 1 || notes[0].Kind != tc.note || notes[0].Permit.Token != 1 {
				t.Fatalf("journal = %+v, want one entry of kind %v for token 1", notes, tc.note)
			}
			equal(t, "author", notes[0].Author, l.events[0].Author)
			equal(t, "restored", snapshotRecords(t, restored(t, s).State()), snapshotRecords(t, s))
		})
	}
}

func TestRelease_Repeat_ReturnsEnd(t *testing.T) {
	for _, id := range []string{"", "r1"} {
		l := newLog(t)
		l.define("s")
		p := l.grant("s", "a", requestID(id))
		first := applyOne[fsm.ReleaseResult](l, fsm.Release{Token: p.Token})
		if !first.Released || first.Permit != p || first.Revision != 3 {
			t.Fatalf("first release: got %+v, want Released", first)
		}
		again := unchanged[fsm.ReleaseResult](l, fsm.Release{Token: p.Token})
		if again.Released || again.Permit != nil || again.Ended == nil || again.Ended.Outcome != semaphore.EndReleased || again.Revision != 0 {
			t.Fatalf("repeated release: got %+v", again)
		}
		if r := unchanged[fsm.ReleaseResult](l, fsm.Release{Token: 99}); r.Released || r.Ended != nil {
			t.Fatalf("release of an unknown token: got %+v", r)
		}
	}
}

func TestRelease_HeldForOperator_KeepsPermit(t *testing.T) {
	l := newLog(t)
	l.define("s", hold)
	p := l.grant("s", "a")
	l.apply(fsm.Expire{Token: p.Token, Term: l.term})
	r := unchanged[fsm.ReleaseResult](l, fsm.Release{Token: p.Token})
	if r.Released || r.Ended != nil || r.Permit.State != semaphore.Held {
		t.Fatalf("Release of a permit held for an operator: got %+v, want it still held", r)
	}
}

func TestRelease_Late_CompletesFiringUnlessClaimedAgain(t *testing.T) {
	lose := func(l *log, cooling time.Duration) {
		l.grant("s", "a", firing("f", 5))
		l.apply(fsm.Expire{Token: 1, Term: l.term, Cooling: cooling})
	}
	t.Run("firing spent", func(t *testing.T) {
		l := newLevel2Log(t)
		l.define("s")
		lose(l, 0)
		unchanged[fsm.ReleaseResult](l, fsm.Release{Token: 1, Job: semaphore.JobNotRun})
		unchanged[fsm.ReleaseResult](l, fsm.Release{Token: 1, Job: semaphore.JobCutShort})
		r := applyOne[fsm.ReleaseResult](l, fsm.Release{Token: 1})
		if r.Released || r.Ended.Outcome != semaphore.EndExpired || r.Revision != 5 {
			t.Fatalf("late Release: got %+v, want expired and revision 5", r)
		}
		c := l.state().Claim("s", *newFiring("f", 5))
		if c.State != semaphore.ClaimDone || c.Revision != 5 {
			t.Fatalf("claim after a late Release = %+v, want done at revision 5", c)
		}
		unchanged[fsm.ReleaseResult](l, fsm.Release{Token: 1})
	})
	t.Run("still cooling", func(t *testing.T) {
		l := newLog(t)
		l.define("s", freeOnLoss)
		lose(l, time.Second)
		if r := applyOne[fsm.ReleaseResult](l, fsm.Release{Token: 1}); r.Released || r.Permit.State != semaphore.Cooling {
			t.Fatalf("late Release of a cooling permit: got %+v, want it still cooling", r)
		}
		l.apply(fsm.EndCooling{Token: 1, Term: l.term})
		if c := l.state().Claim("s", *newFiring("f", 5)); c == nil || c.State != semaphore.ClaimDone {
			t.Fatalf("claim after cooling = %+v, want done", c)
		}
	})
	t.Run("claimed again", func(t *testing.T) {
		l := newLog(t)
		l.define("s", freeOnLoss)
		lose(l, 0)
		l.grant("s", "b", firing("f", 5))
		unchanged[fsm.ReleaseResult](l, fsm.Release{Token: 1})
		if c := l.state().Claim("s", *newFiring("f", 5)); c.Token != 2 || c.State != semaphore.ClaimHeld {
			t.Fatalf("claim after a late Release = %+v, want held by token 2", c)
		}
	})
}

// A proposal may be appended in a later term than the one in which it was made. By then, the new leader has restarted
// the permit's full duration.
func TestExpire_AppendedInLaterTerm_IsIgnored(t *testing.T) {
	l := newLog(t)
	l.define("s", permits(2))
	p, q := l.grant("s", "a"), l.grant("s", "b")
	l.apply(fsm.Release{Token: q.Token, Cooling: time.Second})
	made := l.term
	l.term++
	for _, cmd := range []fsm.Command{
		fsm.Expire{Token: p.Token, Term: made}, fsm.Abandon{Token: p.Token, Term: made}, fsm.EndCooling{Token: q.Token, Term: made},
		fsm.Expire{Token: p.Token}, fsm.Abandon{Token: p.Token}, fsm.EndCooling{Token: q.Token},
		fsm.Expire{Token: p.Token, Term: l.term + 1},
	} {
		if r := unchanged[fsm.PermitResult](l, cmd); r.Applied {
			t.Fatalf("%+v: got %+v, want nothing applied", cmd, r)
		}
	}
	if r := unchanged[fsm.RevisionResult](l, fsm.Forget{Semaphore: "s", Term: made, UpTo: at(9)}); r.Applied {
		t.Fatal("Forget from an earlier term was applied")
	}
	for _, cmd := range []fsm.Command{fsm.Expire{Token: p.Token, Term: l.term}, fsm.EndCooling{Token: q.Token, Term: l.term}} {
		if r := applyOne[fsm.PermitResult](l, cmd); !r.Applied {
			t.Fatalf("%+v: got %+v, want it applied", cmd, r)
		}
	}
}

// A timer may fire after its permit has changed state.
func TestEnd_UnexpectedState_ChangesNothing(t *testing.T) {
	l := newLog(t)
	l.define("s", hold, permits(3))
	live, held, cooling := l.grant("s", "a").Token, l.grant("s", "b").Token, l.grant("s", "c").Token
	l.apply(fsm.Expire{Token: held, Term: l.term}, fsm.Release{Token: cooling, Cooling: time.Second})
	for _, cmd := range []fsm.Command{
		fsm.Expire{Token: held, Term: l.term}, fsm.Expire{Token: cooling, Term: l.term}, fsm.Expire{Token: 99, Term: l.term},
		fsm.Abandon{Token: held, Term: l.term}, fsm.Abandon{Token: cooling, Term: l.term}, fsm.Abandon{Token: 99, Term: l.term},
		fsm.EndCooling{Token: live, Term: l.term}, fsm.EndCooling{Token: held, Term: l.term}, fsm.EndCooling{Token: 99, Term: l.term},
		fsm.Clear{Token: live}, fsm.Clear{Token: cooling}, fsm.Clear{Token: 99},
		fsm.Revoke{Token: held}, fsm.Revoke{Token: cooling}, fsm.Revoke{Token: 99},
	} {
		r := unchanged[fsm.PermitResult](l, cmd)
		if r.Applied || r.Revision != 0 {
			t.Fatalf("%+v: got %+v, want nothing applied", cmd, r)
		}
	}
	unchanged[fsm.InvalidResult](l, fsm.Release{Token: live, Cooling: -1})
	unchanged[fsm.InvalidResult](l, fsm.Release{Token: live, Cooling: l.state().LargestDuration() + 1})
	unchanged[fsm.InvalidResult](l, fsm.Expire{Token: live, Term: l.term, Cooling: -1})
}

func TestCoolingPermit_HasNoOwnerAndEndsOnce(t *testing.T) {
	l := newLog(t)
	l.define("s", permits(2))
	p := l.grant("s", "a", requestID("r1"))
	l.apply(fsm.Release{Token: p.Token, Cooling: time.Second})
	again := l.grant("s", "a", requestID("r2"))
	if again.Token == p.Token {
		t.Fatal("grant returned the cooling permit")
	}
	before := collect(l.state().Journal("", 0))
	r := applyOne[fsm.PermitResult](l, fsm.EndCooling{Token: p.Token, Term: l.term})
	if !r.Applied || r.Permit.State != semaphore.Cooling {
		t.Fatalf("EndCooling: got %+v", r)
	}
	equal(t, "events", kinds(l.events), []fsm.EventKind{fsm.CoolingEnded})
	equal(t, "journal", collect(l.state().Journal("", 0)), before)
	equal(t, "own", l.state().Own("s", identity("a")), again)
	unchanged[fsm.PermitResult](l, fsm.EndCooling{Token: p.Token, Term: l.term})
}

func TestCancel_ReleasesOnlyPermitOfSameRequest(t *testing.T) {
	l := newLog(t)
	l.define("s", hold, permits(3))
	cancel := func(holder, id string) fsm.Cancel {
		return fsm.Cancel{Semaphore: "s", Identity: identity(holder), RequestID: id}
	}
	p := l.grant("s", "a", requestID("r1"))
	if r := applyOne[fsm.CancelResult](l, cancel("a", "r2")); r.ReturnedPermit != nil || r.Ended != nil || r.Revision == 0 {
		t.Fatalf("cancel of another request by the holder: got %+v", r)
	}
	equal(t, "own", l.state().Own("s", identity("a")), p)
	if len(l.events) != 0 {
		t.Fatalf("events = %v, want none", kinds(l.events))
	}
	if r := applyOne[fsm.CancelResult](l, cancel("a", "r1")); r.ReturnedPermit != p {
		t.Fatalf("Cancel: got %+v", r)
	}
	if r := unchanged[fsm.CancelResult](l, cancel("a", "r1")); r.ReturnedPermit != nil || r.Ended.Outcome != semaphore.EndCancelled || r.Ended.Token != p.Token {
		t.Fatalf("repeated Cancel: got %+v", r)
	}
	q := l.grant("s", "b", requestID("r1"))
	l.apply(fsm.Release{Token: q.Token})
	if r := unchanged[fsm.CancelResult](l, cancel("b", "r1")); r.Ended.Outcome != semaphore.EndReleased {
		t.Fatalf("cancel after release: got %+v", r)
	}
	unchanged[fsm.InvalidResult](l, cancel("a", ""))
	unchanged[fsm.InvalidResult](l, fsm.Cancel{Identity: identity("a"), RequestID: "r9"})

	// A permit held for an operator stays held when its request is cancelled. Clearing it then replaces the remembered
	// outcome.
	h := l.grant("s", "c", requestID("r1"))
	l.apply(fsm.Expire{Token: h.Token, Term: l.term})
	if r := applyOne[fsm.CancelResult](l, cancel("c", "r1")); r.ReturnedPermit != nil || r.Ended != nil {
		t.Fatalf("cancel of a held permit's request: got %+v", r)
	}
	l.apply(fsm.Clear{Token: h.Token})
	if r := l.state().Request("s", identity("c"), "r1"); r.Outcome != semaphore.EndCleared || r.Token != h.Token {
		t.Fatalf("Request() after cancel and clear = %+v", r)
	}
	restored(t, l.state())
}

func TestRequests_AboveLimit_ForgetsOldest(t *testing.T) {
	l := newLog(t)
	l.define("s", permits(9))
	settings := fsm.DefaultSettings()
	settings.RememberedRequests = 2
	l.apply(fsm.Configure{Settings: settings})
	for _, id := range []string{"r1", "r2", "r3"} {
		p := l.grant("s", "a", requestID(id))
		l.apply(fsm.Release{Token: p.Token})
	}
	s := l.state()
	if s.Request("s", identity("a"), "r1") != nil || s.EndedPermit(1) != nil {
		t.Fatal("the oldest request is still remembered")
	}
	if s.Request("s", identity("a"), "r2") == nil || s.Request("s", identity("a"), "r3") == nil || s.EndedPermit(2) == nil {
		t.Fatal("a newer request was forgotten")
	}
	settings.RememberedRequests = 1
	l.apply(fsm.Configure{Settings: settings})
	if s := l.state(); s.Request("s", identity("a"), "r2") != nil || s.Request("s", identity("a"), "r3") == nil {
		t.Fatal("the lowered limit was not applied immediately")
	}
	equal(t, "restored", snapshotRecords(t, restored(t, l.state()).State()), snapshotRecords(t, l.state()))
}
