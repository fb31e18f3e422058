package fsm_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func recovery(change ...func(*fsm.Recovery)) fsm.Recovery {
	r := fsm.Recovery{ClusterID: "5eed.2", At: at(5000), Author: "ann", Reason: "the building burned", Retired: []string{"gk1", "gk9"}}
	for _, c := range change {
		c(&r)
	}
	return r
}

func keep(r *fsm.Recovery) { r.KeepPermits = true }

func grantAfter(d time.Duration) func(*fsm.Recovery) {
	return func(r *fsm.Recovery) { r.UnsafeGrantAfter = &d }
}

// recovered returns s.Recovered(r). It checks that s is not modified and that the result can be restored.
func recovered(tb tester, s *fsm.State, r fsm.Recovery) *fsm.State {
	tb.Helper()
	before := snapshot(tb, s)
	next, err := s.Recovered(r)
	if err != nil {
		tb.Fatalf("Recovered: %v", err)
	}
	if !bytes.Equal(before, snapshot(tb, s)) {
		tb.Fatal("Recovered modified the old state")
	}
	if !bytes.Equal(snapshot(tb, next), snapshot(tb, restored(tb, next).State())) {
		tb.Fatal("the recovered state does not round-trip through a snapshot")
	}
	return next
}

// newPermitLog returns a log with live, held and cooling permits, with and without firings. One of the live permits has
// a definition with on_expiry: hold.
func newPermitLog(t *testing.T) *log {
	l := newLog(t)
	l.define("free", permits(9), freeOnLoss)
	l.define("spent", permits(9))
	l.define("hold", permits(9), hold)
	l.grant("free", "a", requestID("ra"), firing("f", 100))
	l.grant("spent", "b", requestID("rb"), firing("f", 100))
	l.grant("hold", "c", firing("f", 100))
	l.grant("hold", "d")
	l.grant("free", "e", firing("g", 100))
	l.grant("spent", "f")
	l.apply(fsm.Expire{Token: 4, Term: l.term}, fsm.Expire{Token: 5, Term: l.term, Cooling: time.Minute}, fsm.Release{Token: 6, Cooling: time.Minute})
	return l
}

func TestRecovered_PermitsNotKept_StartsQuarantine(t *testing.T) {
	l := newPermitLog(t)
	largest := 3 * time.Hour
	settings := fsm.DefaultSettings()
	settings.MaxDuration = largest
	l.apply(fsm.Configure{Settings: settings}, fsm.Configure{Settings: fsm.DefaultSettings()})
	old := l.state()
	s := recovered(t, old, recovery())

	equal(t, "cluster id", s.ClusterID(), "5eed.2")
	equal(t, "feature level", s.FeatureLevel(), uint32(2))
	equal(t, "index and term", []uint64{s.Index(), s.Term()}, []uint64{old.Index(), old.Term()})
	equal(t, "quarantine", s.Quarantine(), largest+semaphore.Grace(largest))
	floor := uint64(at(5000).Unix()) << 20
	equal(t, "last token", s.LastToken(), floor+1)
	if s.Revision() <= floor {
		t.Errorf("revision = %d, want above %d", s.Revision(), floor)
	}
	if !s.Retired("gk1") || !s.Retired("gk9") || s.Retired("gk2") {
		t.Error("the old servers are not retired")
	}

	var remaining []uint64
	for p := range s.Permits(0) {
		remaining = append(remaining, p.Token)
		equal(t, "state", p.State, semaphore.Held)
	}
	equal(t, "permits held for an operator", remaining, []uint64{3, 4})
	for token, want := range map[uint64]semaphore.End{1: semaphore.EndExpired, 2: semaphore.EndExpired, 5: semaphore.EndExpired, 6: semaphore.EndReleased} {
		if r := s.EndedPermit(token); r == nil || r.Outcome != want {
			t.Errorf("EndedPermit(%d) = %+v, want outcome %v", token, r, want)
		}
	}
	if r := s.Request("free", identity("a"), "ra"); r == nil || r.Outcome != semaphore.EndExpired {
		t.Errorf("Request() of a lost permit = %+v, want expired", r)
	}
	if c := s.Claim("free", *newFiring("f", 100)); c != nil {
		t.Errorf("claim of a firing with firing_on_loss free = %+v, want nil", c)
	}
	if c := s.Claim("free", *newFiring("g", 100)); c != nil {
		t.Errorf("claim of a firing whose slot was cooling = %+v, want nil", c)
	}
	if c := s.Claim("spent", *newFiring("f", 100)); c == nil || c.State != semaphore.ClaimSpent {
		t.Errorf("claim of a firing with firing_on_loss spent = %+v, want spent", c)
	}
	if c := s.Claim("hold", *newFiring("f", 100)); c == nil || c.State != semaphore.ClaimHeld {
		t.Errorf("claim of a held permit = %+v, want held", c)
	}

	var entries []*fsm.JournalEntry
	for e := range s.Journal("", old.Revision()+1) {
		entries = append(entries, e)
	}
	if len(entries) != 1 {
		t.Fatalf("got %d journal entries, want 1", len(entries))
	}
	equal(t, "journal", *entries[0], fsm.JournalEntry{
		Revision: floor + 1, Kind: fsm.RecoveredEvent, Author: "ann", At: at(5000),
		Reason: `recovered from cluster "5eed.1": 2 permits are lost, 2 are held for an operator, 2 had finished cooling; no permits are granted for 3h1m48s; the building burned`,
	})

	// The new cluster starts from this state. Nothing is granted until its leader ends the quarantine.
	next := &log{tb: t, m: restored(t, s), index: s.Index(), term: s.Term() + 1}
	next.m.Subscribe(func(a fsm.Applied) { next.events = a.Events })
	equal(t, "grant", unchanged[fsm.GrantResult](next, next.request("spent", "z")).Outcome, fsm.GrantQuarantined)
	equal(t, "retry", unchanged[fsm.GrantResult](next, next.request("free", "a", requestID("ra"))).Outcome, fsm.GrantRequestEnded)
	equal(t, "EndQuarantine from an earlier term", unchanged[fsm.RevisionResult](next, fsm.EndQuarantine{Term: next.term - 1}).Applied, false)
	applyOne[fsm.RevisionResult](next, fsm.EndQuarantine{Term: next.term, At: at(9000)})
	equal(t, "events", kinds(next.events), []fsm.EventKind{fsm.QuarantineEnded})
	equal(t, "quarantine", next.state().Quarantine(), time.Duration(0))
	if p := next.grant("spent", "z"); p.Token != floor+2 {
		t.Errorf("token = %d, want %d", p.Token, floor+2)
	}
	equal(t, "second EndQuarantine", unchanged[fsm.RevisionResult](next, fsm.EndQuarantine{Term: next.term}).Applied, false)
}

func TestRecovered_KeepPermits_GrantsImmediately(t *testing.T) {
	l := newPermitLog(t)
	s := recovered(t, l.state(), recovery(keep))
	equal(t, "quarantine", s.Quarantine(), time.Duration(0))
	var want, got []*semaphore.Permit
	for p := range l.state().Permits(0) {
		want = append(want, p)
	}
	for p := range s.Permits(0) {
		got = append(got, p)
	}
	equal(t, "permits", got, want)
	for e := range s.Journal("", l.state().Revision()+1) {
		equal(t, "reason", e.Reason, `recovered from cluster "5eed.1": 6 permits are carried over; the building burned`)
	}
	// Holders may still rely on permits that an earlier recovery lost.
	lost := recovered(t, l.state(), recovery())
	again := recovered(t, lost, recovery(keep, func(r *fsm.Recovery) { r.ClusterID = "5eed.3" }))
	equal(t, "quarantine from the earlier recovery", again.Quarantine(), lost.Quarantine())
}

func TestRecovered_UnsafeGrantAfter_IsJournaled(t *testing.T) {
	for _, after := range []time.Duration{0, time.Minute} {
		s := recovered(t, newPermitLog(t).state(), recovery(grantAfter(after)))
		equal(t, "quarantine", s.Quarantine(), after)
		for e := range s.JournalBackward("", 0) {
			if !strings.Contains(e.Reason, "UNSAFE: permits are granted after "+after.String()+"; waiting 1h0m36s would be safe") {
				t.Errorf("reason of the recovery entry = %q, want the UNSAFE warning for %v", e.Reason, after)
			}
			break
		}
	}
}

func TestRecovered_KeepsOperatorState(t *testing.T) {
	old := everyCommandScenario(t).state()
	s := recovered(t, old, recovery())
	for name := range old.Names() {
		equal(t, "definition of "+name, s.Definition(name), old.Definition(name))
		equal(t, "drains of "+name, s.Drains(name), old.Drains(name))
		equal(t, "ends of "+name, s.Ends(name), old.Ends(name))
	}
	equal(t, "cordons", s.Cordons(), old.Cordons())
	equal(t, "settings", s.Settings(), old.Settings())
	equal(t, "sightings", collect(s.Sightings()), collect(old.Sightings()))
	for p := range old.Permits(0) {
		if next := s.Permit(p.Token); p.State == semaphore.Held && next == nil {
			t.Errorf("permit %d is no longer held", p.Token)
		}
	}
}

// Recovery.MaxDuration can raise the largest max_duration in the state but not lower it.
func TestRecovered_MaxDuration_SetsQuarantine(t *testing.T) {
	for longest, want := range map[time.Duration]time.Duration{
		0: time.Hour + 36*time.Second, time.Minute: time.Hour + 36*time.Second, 2 * time.Hour: 2*time.Hour + 72*time.Second,
	} {
		s := recovered(t, newPermitLog(t).state(), recovery(func(r *fsm.Recovery) { r.MaxDuration = longest }))
		equal(t, "quarantine", s.Quarantine(), want)
		equal(t, "largest duration", s.LargestDuration(), max(longest, time.Hour))
	}
}

func TestRecovered_PermitsLost_ResetsHistoryBegins(t *testing.T) {
	s := recovered(t, newPermitLog(t).state(), recovery())
	equal(t, "history begins", s.HistoryBegins(), recovery().At)
	kept := recovered(t, newPermitLog(t).state(), recovery(keep))
	equal(t, "history begins", kept.HistoryBegins(), time.Time{})
	equal(t, "after a restart", restored(t, s).State().HistoryBegins(), recovery().At)
}

// Tokens and revisions increase even if the clock has gone backwards.
func TestRecovered_TokensAndRevisions_ExceedClockAndState(t *testing.T) {
	first := recovered(t, newPermitLog(t).state(), recovery())
	second := recovered(t, first, recovery(func(r *fsm.Recovery) { r.ClusterID, r.At = "5eed.3", at(0) }))
	if second.LastToken() <= first.LastToken() || second.Revision() <= first.Revision() {
		t.Errorf("second recovery: token = %d, revision = %d, want above %d and %d", second.LastToken(), second.Revision(), first.LastToken(), first.Revision())
	}
}

func TestRecovered_Invalid_IsRefused(t *testing.T) {
	s := newPermitLog(t).state()
	for wantErr, change := range map[string]func(*fsm.Recovery){
		"needs an id other than \"\"":       func(r *fsm.Recovery) { r.ClusterID = "" },
		"needs an id other than \"5eed.1\"": func(r *fsm.Recovery) { r.ClusterID = clusterID },
		"the clock shows":                   func(r *fsm.Recovery) { r.At = time.Time{} },
		"the clock shows 2300":              func(r *fsm.Recovery) { r.At = time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC) },
		"has no id":                         func(r *fsm.Recovery) { r.Retired = []string{""} },
		"UnsafeGrantAfter must be nil": func(r *fsm.Recovery) {
			keep(r)
			grantAfter(time.Minute)(r)
		},
		"UnsafeGrantAfter -1s is not":                 grantAfter(-time.Second),
		"the largest max_duration 1ms is not between": func(r *fsm.Recovery) { r.MaxDuration = time.Millisecond },
		"UnsafeGrantAfter 1h0m37s is not":             grantAfter(time.Hour + 37*time.Second),
	} {
		if next, err := s.Recovered(recovery(change)); err == nil || next != nil || !strings.Contains(err.Error(), wantErr) {
			t.Errorf("Recovered() = %v, want %s", err, wantErr)
		}
	}
}
