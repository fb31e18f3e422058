package fsm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// ends are the firings of a semaphore with what became of them.
func (l *log) ends(name string) string {
	var all []string
	for c := range l.state().Claims(name) {
		all = append(all, fmt.Sprintf("%s: %s after %d%s", c.Firing.Name, c.State, c.Attempts, strings.TrimRight(" "+c.Failure, " ")))
	}
	return strings.Join(all, "; ")
}

func TestRelease_EachWay_EndsTheFiring(t *testing.T) {
	l := storyOfRuns(t)
	if got, want := l.ends("s"), "done: done after 1; failed: failed after 1 exit code 3; open: open after 1; spent: spent after 2; taken over: claimed after 1"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := l.ends("t"), "cut short: cut short after 1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Servers below feature level 4 know neither attempts nor the new ends, and all members must store the same.
func TestEnds_BelowFeatureLevel4_AreAsTheyWere(t *testing.T) {
	l := newLog(t)
	l.apply(fsm.RaiseFeatureLevel{Level: 3})
	l.define("free", permits(9), func(d *semaphore.Definition) { d.FiringOnLoss = semaphore.FiringFree })
	l.define("spent", permits(9))
	l.apply(fsm.Release{Token: l.grant("spent", "a", firing("f", 10)).Token, Job: semaphore.JobCutShort})
	l.apply(fsm.Expire{Token: l.grant("free", "a", firing("f", 10)).Token, Term: l.term})
	if got := l.ends("spent") + l.ends("free"); got != "f: spent after 0" {
		t.Error(got)
	}
}

func TestAttempts_OfARunThatNeverBegan_DoNotCount(t *testing.T) {
	l := newLog(t)
	l.apply(fsm.RaiseFeatureLevel{Level: 4})
	l.define("s", permits(9), bounded)
	lose := func() { l.apply(fsm.Expire{Token: l.grant("s", "a", firing("f", 10)).Token, Term: l.term}) }
	lose()
	for range 3 {
		l.apply(fsm.Release{Token: l.grant("s", "b", firing("f", 10)).Token, Job: semaphore.JobNotRun})
		l.apply(fsm.Abandon{Token: l.grant("s", "c", firing("f", 10)).Token, Term: l.term})
	}
	if got := l.ends("s"); got != "f: open after 1" {
		t.Error(got)
	}
	lose()
	if got := l.ends("s"); got != "f: spent after 2" {
		t.Error(got)
	}
	if got := l.denied("s", "d", fire("f", 10)); got != semaphore.FiringClaimed {
		t.Errorf("a third attempt: %v", got)
	}
}

func TestAttempts_BoundLoweredSince_StopsAnOpenFiring(t *testing.T) {
	l := newLog(t)
	l.apply(fsm.RaiseFeatureLevel{Level: 4})
	l.define("s", permits(9), bounded)
	l.apply(fsm.Expire{Token: l.grant("s", "a", firing("f", 10)).Token, Term: l.term})
	l.apply(l.replace("s", bounded, func(d *semaphore.Definition) { d.MaxAttempts = 1 }))
	if got := l.denied("s", "b", fire("f", 10)); got != semaphore.FiringClaimed {
		t.Errorf("a second attempt of one: %v", got)
	}
	l.apply(l.replace("s", bounded))
	l.grant("s", "b", firing("f", 10))
}

// The slot decides when a lost firing may be claimed again, and the bound is looked at when it is lost.
func TestOpen_AfterCooling(t *testing.T) {
	l := newLog(t)
	l.apply(fsm.RaiseFeatureLevel{Level: 4})
	l.define("s", permits(9), bounded)
	for attempt, want := range []string{"f: open after 1", "f: spent after 2"} {
		p := l.grant("s", "a", firing("f", 10))
		l.apply(fsm.Expire{Token: p.Token, Term: l.term, Cooling: 5})
		if got := l.ends("s"); attempt == 0 && got != "f: claimed after 1" {
			t.Errorf("while it cools: %s", got)
		}
		l.apply(fsm.EndCooling{Token: p.Token, Term: l.term})
		if got := l.ends("s"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestRelease_TooLate_StillSaysHowTheJobEnded(t *testing.T) {
	l := newLog(t)
	l.apply(fsm.RaiseFeatureLevel{Level: 4})
	l.define("s", permits(9), bounded)
	lost := l.grant("s", "a", firing("f", 10))
	l.apply(fsm.Expire{Token: lost.Token, Term: l.term})
	var events []fsm.Event
	l.m.Subscribe(func(a fsm.Applied) { events = append(events, a.Events...) })
	l.apply(fsm.Release{Token: lost.Token, Job: semaphore.JobFailed, Failure: "no space"})
	if got := l.ends("s"); got != "f: failed after 1 no space" {
		t.Error(got)
	}
	if len(events) != 1 || events[0].Kind != fsm.ClaimsChanged || events[0].Semaphore != "s" {
		t.Errorf("events: %+v", events)
	}
	// The first word counts.
	l.apply(fsm.Release{Token: lost.Token})
	if got := l.ends("s"); got != "f: failed after 1 no space" {
		t.Error(got)
	}
	// A word on a claim that another holder took over since does not.
	lost = l.grant("s", "a", firing("g", 10))
	l.apply(fsm.Expire{Token: lost.Token, Term: l.term})
	l.grant("s", "b", firing("g", 10))
	unchanged[fsm.ReleaseResult](l, fsm.Release{Token: lost.Token, Job: semaphore.JobFailed})
	unchanged[fsm.InvalidResult](l, fsm.Release{Token: lost.Token, Job: semaphore.JobFailed, Failure: strings.Repeat("x", 257)})
}

func TestTakeOver_WhereItIsAllowed_StopsTheHolderAndFreesNothing(t *testing.T) {
	l := newLog(t)
	l.apply(fsm.RaiseFeatureLevel{Level: 4})
	l.define("s", func(d *semaphore.Definition) { d.Takeover = true })
	l.define("no", permits(2))
	takeOver := func(p *semaphore.Permit) fsm.TakeOver {
		return fsm.TakeOver{Token: p.Token, By: identity("b"), Reason: "it does not answer", At: at(1)}
	}
	p := l.grant("s", "a", firing("f", 10))
	r := l.apply(takeOver(p))[0].(fsm.PermitResult)
	if !r.Applied || r.Permit.State != semaphore.Live || r.Permit.Stop != semaphore.StopTakenOver || r.Permit.StopOrder().Reason != "it does not answer" {
		t.Fatalf("%+v", r)
	}
	if got := l.denied("s", "b", nil); got != semaphore.NoFreePermit {
		t.Errorf("the slot of a holder that was taken over: %v", got)
	}
	unchanged[fsm.PermitResult](l, takeOver(p))
	unchanged[fsm.PermitResult](l, takeOver(l.grant("no", "a")))
	unchanged[fsm.PermitResult](l, fsm.TakeOver{Token: 99})
	// firing_on_loss is spent, and the firing is free all the same: that is what the takeover is for.
	l.apply(fsm.Expire{Token: p.Token, Term: l.term})
	if again := l.grant("s", "b", firing("f", 10)); l.state().Claim("s", *fire("f", 10)).Attempts != 2 || again.Stop != semaphore.NotStopping {
		t.Errorf("%+v, %s", again, l.ends("s"))
	}
	// It shortens the drain of a revoke, and a revoke without a drain leaves nothing to shorten.
	q := l.grant("no", "c")
	l.apply(l.replace("no", permits(2), func(d *semaphore.Definition) { d.Takeover = true }))
	l.apply(fsm.Revoke{Token: q.Token, Drain: 9})
	if r := l.apply(takeOver(q))[0].(fsm.PermitResult); !r.Applied || r.Permit.StopOrder().Drain != 0 {
		t.Errorf("during a drain: %+v", r)
	}
}
