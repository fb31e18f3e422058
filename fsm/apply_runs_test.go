package fsm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// claimStates formats a semaphore's claims, for example as "f: open after 1".
func (l *log) claimStates(name string) string {
	var all []string
	for c := range l.state().Claims(name) {
		all = append(all, fmt.Sprintf("%s: %s after %d%s", c.Firing.Name, c.State, c.Attempts, strings.TrimRight(" "+c.Failure, " ")))
	}
	return strings.Join(all, "; ")
}

func TestRelease_EveryJobOutcome_UpdatesClaim(t *testing.T) {
	l := runScenario(t)
	if got, want := l.claimStates("s"), "done: done after 1; failed: failed after 1 exit code 3; open: open after 1; spent: spent after 2; taken over: claimed after 1"; got != want {
		t.Errorf("claims after all runs ended:\ngot  %s\nwant %s", got, want)
	}
	if got, want := l.claimStates("t"), "cut short: cut short after 1"; got != want {
		t.Errorf("claims of jobs that were cut short: got %s, want %s", got, want)
	}
}

// Servers below feature level 4 do not count attempts and lack the claim states added in level 4, and all members must
// store the same state.
func TestPermitEnd_BelowFeatureLevel4_DoesNotCountAttempts(t *testing.T) {
	l := newLog(t)
	l.apply(fsm.RaiseFeatureLevel{Level: 3})
	l.define("free", permits(9), func(d *semaphore.Definition) { d.FiringOnLoss = semaphore.FiringFree })
	l.define("spent", permits(9))
	l.apply(fsm.Release{Token: l.grant("spent", "a", firing("f", 10)).Token, Job: semaphore.JobCutShort})
	l.apply(fsm.Expire{Token: l.grant("free", "a", firing("f", 10)).Token, Term: l.term})
	if got := l.claimStates("spent") + l.claimStates("free"); got != "f: spent after 0" {
		t.Errorf("claims below feature level 4: got %s, want f: spent after 0", got)
	}
}

func TestAttempts_RunThatNeverBegan_DoesNotCount(t *testing.T) {
	l := newLog(t)
	l.apply(fsm.RaiseFeatureLevel{Level: 4})
	l.define("s", permits(9), limitedAttempts)
	lose := func() { l.apply(fsm.Expire{Token: l.grant("s", "a", firing("f", 10)).Token, Term: l.term}) }
	lose()
	for range 3 {
		l.apply(fsm.Release{Token: l.grant("s", "b", firing("f", 10)).Token, Job: semaphore.JobNotRun})
		l.apply(fsm.Abandon{Token: l.grant("s", "c", firing("f", 10)).Token, Term: l.term})
	}
	if got := l.claimStates("s"); got != "f: open after 1" {
		t.Errorf("claims after runs that never began: got %s, want open after 1 attempt", got)
	}
	lose()
	if got := l.claimStates("s"); got != "f: spent after 2" {
		t.Errorf("claims after the second loss: got %s, want spent after 2 attempts", got)
	}
	if got := l.denialReason("s", "d", newFiring("f", 10)); got != semaphore.FiringClaimed {
		t.Errorf("third attempt: got %v, want FIRING_CLAIMED", got)
	}
}

func TestAttempts_LoweredLimit_RefusesOpenFiring(t *testing.T) {
	l := newLog(t)
	l.apply(fsm.RaiseFeatureLevel{Level: 4})
	l.define("s", permits(9), limitedAttempts)
	l.apply(fsm.Expire{Token: l.grant("s", "a", firing("f", 10)).Token, Term: l.term})
	l.apply(l.replace("s", limitedAttempts, func(d *semaphore.Definition) { d.MaxAttempts = 1 }))
	if got := l.denialReason("s", "b", newFiring("f", 10)); got != semaphore.FiringClaimed {
		t.Errorf("second attempt with max_attempts 1: got %v, want FIRING_CLAIMED", got)
	}
	l.apply(l.replace("s", limitedAttempts))
	l.grant("s", "b", firing("f", 10))
}

// A lost firing can be claimed again once its permit has cooled, unless that was its last attempt.
func TestLostFiring_AfterCooling_IsOpen(t *testing.T) {
	l := newLog(t)
	l.apply(fsm.RaiseFeatureLevel{Level: 4})
	l.define("s", permits(9), limitedAttempts)
	for attempt, want := range []string{"f: open after 1", "f: spent after 2"} {
		p := l.grant("s", "a", firing("f", 10))
		l.apply(fsm.Expire{Token: p.Token, Term: l.term, Cooling: 5})
		if got := l.claimStates("s"); attempt == 0 && got != "f: claimed after 1" {
			t.Errorf("claims during cooling: got %s, want claimed after 1 attempt", got)
		}
		l.apply(fsm.EndCooling{Token: p.Token, Term: l.term})
		if got := l.claimStates("s"); got != want {
			t.Errorf("claims after cooling: got %s, want %s", got, want)
		}
	}
}

func TestRelease_Late_StillRecordsJobEnd(t *testing.T) {
	l := newLog(t)
	l.apply(fsm.RaiseFeatureLevel{Level: 4})
	l.define("s", permits(9), limitedAttempts)
	lost := l.grant("s", "a", firing("f", 10))
	l.apply(fsm.Expire{Token: lost.Token, Term: l.term})
	var events []fsm.Event
	l.m.Subscribe(func(a fsm.Applied) { events = append(events, a.Events...) })
	l.apply(fsm.Release{Token: lost.Token, Job: semaphore.JobFailed, Failure: "no space"})
	if got := l.claimStates("s"); got != "f: failed after 1 no space" {
		t.Errorf("claims after a late failure: got %s", got)
	}
	if len(events) != 1 || events[0].Kind != fsm.ClaimsChanged || events[0].Semaphore != "s" {
		t.Errorf("events after a late failure = %+v, want one ClaimsChanged", events)
	}
	// Only the first report counts.
	l.apply(fsm.Release{Token: lost.Token})
	if got := l.claimStates("s"); got != "f: failed after 1 no space" {
		t.Errorf("claims after a second late report: got %s, want the first report", got)
	}
	// A late report is ignored if the firing has since been claimed again.
	lost = l.grant("s", "a", firing("g", 10))
	l.apply(fsm.Expire{Token: lost.Token, Term: l.term})
	l.grant("s", "b", firing("g", 10))
	unchanged[fsm.ReleaseResult](l, fsm.Release{Token: lost.Token, Job: semaphore.JobFailed})
	unchanged[fsm.InvalidResult](l, fsm.Release{Token: lost.Token, Job: semaphore.JobFailed, Failure: strings.Repeat("x", 257)})
}

func TestTakeOver_Allowed_StopsHolderAndKeepsSlot(t *testing.T) {
	l := newLog(t)
	l.apply(fsm.RaiseFeatureLevel{Level: 4})
	l.define("s", func(d *semaphore.Definition) { d.Takeover = true })
	l.define("no", permits(2))
	takeOver := func(p *semaphore.Permit) fsm.TakeOver {
		return fsm.TakeOver{Token: p.Token, By: identity("b"), Reason: "it is not responding", At: at(1)}
	}
	p := l.grant("s", "a", firing("f", 10))
	r := l.apply(takeOver(p))[0].(fsm.PermitResult)
	if !r.Applied || r.Permit.State != semaphore.Live || r.Permit.Stop != semaphore.StopTakenOver || r.Permit.StopOrder().Reason != "it is not responding" {
		t.Fatalf("TakeOver: got %+v", r)
	}
	if got := l.denialReason("s", "b", nil); got != semaphore.NoFreePermit {
		t.Errorf("acquire after the takeover: got %v, want NO_FREE_PERMIT", got)
	}
	unchanged[fsm.PermitResult](l, takeOver(p))
	unchanged[fsm.PermitResult](l, takeOver(l.grant("no", "a")))
	unchanged[fsm.PermitResult](l, fsm.TakeOver{Token: 99})
	// A takeover reopens the firing even if firing_on_loss is spent.
	l.apply(fsm.Expire{Token: p.Token, Term: l.term})
	if again := l.grant("s", "b", firing("f", 10)); l.state().Claim("s", *newFiring("f", 10)).Attempts != 2 || again.Stop != semaphore.NotStopping {
		t.Errorf("grant after the takeover: got %+v, claims %s", again, l.claimStates("s"))
	}
	// A takeover ends a revoke's drain.
	q := l.grant("no", "c")
	l.apply(l.replace("no", permits(2), func(d *semaphore.Definition) { d.Takeover = true }))
	l.apply(fsm.Revoke{Token: q.Token, Drain: 9})
	if r := l.apply(takeOver(q))[0].(fsm.PermitResult); !r.Applied || r.Permit.StopOrder().Drain != 0 {
		t.Errorf("TakeOver during a drain: got %+v", r)
	}
}
