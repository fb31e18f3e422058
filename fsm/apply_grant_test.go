package fsm_test

import (
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestGrant_FreeSlot_ReturnsPermitWithNextTokenAndRevision(t *testing.T) {
	l := newLog(t)
	def := l.define("export", permits(2))
	first := l.grant("export", "a", requestID("r1"), firing("nightly", 60))
	equal(t, "permit", first, &semaphore.Permit{
		Semaphore: "export", Identity: identity("a"), Weight: 1, Token: 1, Duration: def.Definition.Duration, Firing: newFiring("nightly", 60),
		State: semaphore.Live, GrantedRevision: 2, GrantedNanos: nanos(at(1)), RequestID: "r1",
	})
	equal(t, "events", kinds(l.events), []fsm.EventKind{fsm.Granted})
	second := l.grant("export", "b")
	if second.Token != 2 || second.GrantedRevision != 3 {
		t.Fatalf("second permit has token %d and revision %d, want 2 and 3", second.Token, second.GrantedRevision)
	}
	s := l.state()
	equal(t, "used", s.Used("export"), uint64(2))
	equal(t, "holders", tokens(collect(s.Holders("export"))), []uint64{1, 2})
	equal(t, "own", s.Own("export", identity("b")), second)
	equal(t, "permit revision", s.PermitRevision("export"), uint64(3))
	equal(t, "claim", s.Claim("export", *newFiring("nightly", 60)), &semaphore.Claim{
		Semaphore: "export", Firing: *newFiring("nightly", 60), Token: 1, Winner: identity("a"), State: semaphore.ClaimHeld, Revision: 2, At: at(1),
	})
}

// A refused grant changes nothing, and its result reports the reason.
func TestGrant_Refused_ChangesNothing(t *testing.T) {
	revision := func(n uint64) func(*fsm.Grant) { return func(g *fsm.Grant) { g.ExpectedRevision = &n } }
	version := func(n uint64) func(*fsm.Grant) { return func(g *fsm.Grant) { g.DefinitionVersion = n } }
	cordons := func(n uint64) func(*fsm.Grant) { return func(g *fsm.Grant) { g.CordonRevision = n } }
	ended := func(l *log) {
		p := l.grant("s", "a", requestID("r1"))
		l.apply(fsm.Release{Token: p.Token, At: at(2)})
	}
	for _, tc := range []struct {
		name    string
		arrange func(l *log)
		grant   []func(*fsm.Grant)
		outcome fsm.GrantOutcome
		reason  semaphore.Reason
		stop    semaphore.StopCause
	}{
		{
			name:    "no such semaphore",
			arrange: func(l *log) { l.apply(edits(remove("s", 1))) },
			outcome: fsm.GrantDenied, reason: semaphore.NoSuchSemaphore,
		},
		{
			name:    "wrong definition version",
			arrange: func(*log) {},
			grant:   []func(*fsm.Grant){version(7)},
			outcome: fsm.GrantChanged,
		},
		{
			name:    "wrong cordon revision",
			arrange: func(*log) {},
			grant:   []func(*fsm.Grant){cordons(7)},
			outcome: fsm.GrantChanged,
		},
		{
			name:    "stale permit revision",
			arrange: func(l *log) { l.grant("s", "b") },
			grant:   []func(*fsm.Grant){revision(1)},
			outcome: fsm.GrantRevisionChanged,
		},
		{
			name:    "stale permit revision and wrong definition version",
			arrange: func(l *log) { l.grant("s", "b") },
			grant:   []func(*fsm.Grant){revision(1), version(7)},
			outcome: fsm.GrantRevisionChanged,
		},
		{
			name:    "full",
			arrange: func(l *log) { l.grant("s", "b"); l.grant("s", "c") },
			outcome: fsm.GrantDenied, reason: semaphore.NoFreePermit,
		},
		{
			name:    "weight above free permits",
			arrange: func(l *log) { l.grant("s", "b") },
			grant:   []func(*fsm.Grant){weight(2)},
			outcome: fsm.GrantDenied, reason: semaphore.NoFreePermit,
		},
		{
			name:    "weight above permits",
			arrange: func(*log) {},
			grant:   []func(*fsm.Grant){weight(3)},
			outcome: fsm.GrantDenied, reason: semaphore.WeightExceedsPermits,
		},
		{
			name:    "paused",
			arrange: func(l *log) { l.apply(fsm.Pause{Names: []string{"s"}}) },
			outcome: fsm.GrantDenied, reason: semaphore.Paused,
		},
		{
			name:    "own permit, same weight and firing",
			arrange: func(l *log) { l.grant("s", "a", firing("f", 5)) },
			grant:   []func(*fsm.Grant){firing("f", 5), requestID("other")},
			outcome: fsm.GrantHeld,
		},
		{
			name:    "own permit, different weight",
			arrange: func(l *log) { l.grant("s", "a") },
			grant:   []func(*fsm.Grant){weight(2)},
			outcome: fsm.GrantDenied, reason: semaphore.AlreadyHeld,
		},
		{
			name:    "own permit, different firing",
			arrange: func(l *log) { l.grant("s", "a", firing("f", 5)) },
			grant:   []func(*fsm.Grant){firing("f", 6)},
			outcome: fsm.GrantDenied, reason: semaphore.AlreadyHeld,
		},
		{
			name: "own permit, revoked",
			arrange: func(l *log) {
				p := l.grant("s", "a")
				l.apply(fsm.Revoke{Token: p.Token})
			},
			outcome: fsm.GrantDenied, reason: semaphore.Stopping, stop: semaphore.StopRevoked,
		},
		{
			name: "own permit, held for an operator",
			arrange: func(l *log) {
				l.apply(edits(replace(definition("s", hold), 1)))
				p := l.grant("s", "a")
				l.apply(fsm.Expire{Token: p.Token, Term: l.term})
			},
			outcome: fsm.GrantDenied, reason: semaphore.HeldForOperator,
		},
		{
			name: "retry of a granted request, stale expectations",
			arrange: func(l *log) {
				l.grant("s", "a", requestID("r1"))
				l.apply(fsm.SetCordon{ID: "c"})
				l.apply(edits(replace(definition("s"), 1)))
			},
			grant:   []func(*fsm.Grant){requestID("r1"), revision(0), version(1), cordons(0)},
			outcome: fsm.GrantHeld,
		},
		{
			name: "retry of a granted request, paused with stop",
			arrange: func(l *log) {
				l.grant("s", "a", requestID("r1"))
				l.apply(fsm.Pause{Names: []string{"s"}, Stop: true})
			},
			grant:   []func(*fsm.Grant){requestID("r1")},
			outcome: fsm.GrantDenied, reason: semaphore.Paused, stop: semaphore.StopPaused,
		},
		{
			name:    "another request by the holder, stale permit revision",
			arrange: func(l *log) { l.grant("s", "a", requestID("r1")) },
			grant:   []func(*fsm.Grant){requestID("r2"), revision(0)},
			outcome: fsm.GrantRevisionChanged,
		},
		{
			name:    "holder without a request id, stale permit revision",
			arrange: func(l *log) { l.grant("s", "a") },
			grant:   []func(*fsm.Grant){revision(0)},
			outcome: fsm.GrantRevisionChanged,
		},
		{
			name:    "request has ended",
			arrange: ended,
			grant:   []func(*fsm.Grant){requestID("r1")},
			outcome: fsm.GrantRequestEnded,
		},
		{
			name:    "request has ended, stale expectations",
			arrange: func(l *log) { ended(l); l.apply(edits(remove("s", 1))) },
			grant:   []func(*fsm.Grant){requestID("r1"), revision(99), version(99), weight(9)},
			outcome: fsm.GrantRequestEnded,
		},
		{
			name:    "request was cancelled before it arrived",
			arrange: func(l *log) { l.apply(fsm.Cancel{Semaphore: "s", Identity: identity("a"), RequestID: "r1"}) },
			grant:   []func(*fsm.Grant){requestID("r1")},
			outcome: fsm.GrantRequestEnded,
		},
		{
			name:    "firing is claimed",
			arrange: func(l *log) { l.grant("s", "b", firing("f", 5)) },
			grant:   []func(*fsm.Grant){firing("f", 5)},
			outcome: fsm.GrantDenied, reason: semaphore.FiringClaimed,
		},
		{
			name: "firing is done",
			arrange: func(l *log) {
				p := l.grant("s", "b", firing("f", 0))
				l.apply(fsm.Release{Token: p.Token})
			},
			grant:   []func(*fsm.Grant){firing("f", 0)},
			outcome: fsm.GrantDenied, reason: semaphore.FiringDone,
		},
		{
			name: "firing was cut short",
			arrange: func(l *log) {
				p := l.grant("s", "b", firing("f", 5))
				l.apply(fsm.Expire{Token: p.Token, Term: l.term})
			},
			grant:   []func(*fsm.Grant){firing("f", 5)},
			outcome: fsm.GrantDenied, reason: semaphore.FiringClaimed,
		},
		{
			name:    "firing is below the low-water mark",
			arrange: func(l *log) { l.apply(fsm.Forget{Semaphore: "s", Term: l.term, UpTo: at(6)}) },
			grant:   []func(*fsm.Grant){firing("f", 5)},
			outcome: fsm.GrantDenied, reason: semaphore.FiringForgotten,
		},
		{
			name: "slot is cooling",
			arrange: func(l *log) {
				p := l.grant("s", "b", weight(2))
				l.apply(fsm.Release{Token: p.Token, Cooling: time.Second})
			},
			outcome: fsm.GrantDenied, reason: semaphore.NoFreePermit,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := newLog(t)
			l.define("s", permits(2))
			tc.arrange(l)
			r := unchanged[fsm.GrantResult](l, l.request("s", "a", tc.grant...))
			if r.Outcome != tc.outcome || r.Decision.Reason != tc.reason || r.Decision.Stop != tc.stop {
				t.Fatalf("grant: got outcome %d, reason %v, stop %v; want %d, %v, %v", r.Outcome, r.Decision.Reason, r.Decision.Stop, tc.outcome, tc.reason, tc.stop)
			}
			if r.PermitRevision != l.state().PermitRevision("s") {
				t.Fatalf("permit revision = %d, want %d", r.PermitRevision, l.state().PermitRevision("s"))
			}
			switch own := l.state().Own("s", identity("a")); r.Outcome {
			case fsm.GrantHeld:
				equal(t, "permit", r.Permit, own)
			case fsm.GrantRequestEnded:
				equal(t, "ended", r.Ended, l.state().Request("s", identity("a"), "r1"))
				if r.Ended == nil {
					t.Fatal("grant: result has no ended request")
				}
			}
		})
	}
}

func TestGrant_Malformed_IsInvalid(t *testing.T) {
	l := newLog(t)
	l.define("s")
	for _, change := range []func(*fsm.Grant){
		weight(0), weight(semaphore.MaxPermits + 1), firing("", 5),
		func(g *fsm.Grant) { g.Semaphore = "" },
	} {
		unchanged[fsm.InvalidResult](l, l.request("s", "a", change))
	}
}

// Each command in an entry sees the effects of the commands before it.
func TestGrant_TwoInOneEntry_GrantsOnlyFirst(t *testing.T) {
	l := newLog(t)
	l.define("s")
	r := l.apply(l.request("s", "a"), l.request("s", "b"))
	if got := r[0].(fsm.GrantResult); got.Outcome != fsm.GrantGranted {
		t.Fatalf("first grant: got %+v", got)
	}
	if got := r[1].(fsm.GrantResult); got.Outcome != fsm.GrantDenied || got.Decision.Reason != semaphore.NoFreePermit {
		t.Fatalf("second grant: got %+v", got)
	}
}

// A proposal may be committed even if the proposer never gets its result. A retry must return the same permit, and must
// not be granted a new permit after that permit has ended.
func TestGrant_RetryAfterUnknownOutcome_NeverGrantsTwice(t *testing.T) {
	l := newLog(t)
	l.define("s", permits(5))
	g := l.request("s", "a", requestID("r1"))
	r := l.apply(g, g)
	first, again := r[0].(fsm.GrantResult), r[1].(fsm.GrantResult)
	if first.Outcome != fsm.GrantGranted || again.Outcome != fsm.GrantHeld || again.Permit != first.Permit {
		t.Fatalf("first grant: got %+v\nretry: got %+v", first, again)
	}
	l.apply(fsm.Expire{Token: first.Permit.Token, Term: l.term})
	late := unchanged[fsm.GrantResult](l, g)
	equal(t, "ended", late.Ended, &fsm.Remembered{
		Semaphore: "s", Identity: identity("a"), RequestID: "r1", Outcome: semaphore.EndExpired, Token: 1, Revision: 3,
	})
	// Another identity may use the same request id.
	l.grant("s", "b", requestID("r1"))
}

func TestExtend(t *testing.T) {
	l := newLog(t)
	l.define("s", hold, permits(3))
	p := l.grant("s", "a")
	longer := applyOne[fsm.PermitResult](l, fsm.Extend{Token: p.Token, Duration: 2 * time.Minute})
	if !longer.Applied || longer.Permit.Duration != 2*time.Minute || longer.Revision != 3 {
		t.Fatalf("Extend to a longer duration: got %+v", longer)
	}
	equal(t, "events", kinds(l.events), []fsm.EventKind{fsm.DurationChanged})
	equal(t, "permit revision", l.state().PermitRevision("s"), p.GrantedRevision)
	equal(t, "own", l.state().Own("s", identity("a")), longer.Permit)
	if p.Duration != time.Minute {
		t.Fatal("Extend modified a published permit")
	}
	if r := unchanged[fsm.PermitResult](l, fsm.Extend{Token: p.Token, Duration: 2 * time.Minute}); r.Applied || r.Permit == nil {
		t.Fatalf("Extend to the same duration: got %+v", r)
	}
	for _, made := range []uint64{0, l.term - 1, l.term + 1} {
		if r := unchanged[fsm.PermitResult](l, fsm.Extend{Token: p.Token, Duration: time.Second, Term: made}); r.Applied {
			t.Fatalf("Extend to a shorter duration, proposed in term %d: got %+v", made, r)
		}
	}
	if r := applyOne[fsm.PermitResult](l, fsm.Extend{Token: p.Token, Duration: time.Second, Term: l.term}); !r.Applied || r.Permit.Duration != time.Second {
		t.Fatalf("Extend to a shorter duration: got %+v", r)
	}
	if r := applyOne[fsm.PermitResult](l, fsm.Extend{Token: p.Token, Duration: 2 * time.Second, Term: l.term - 1}); !r.Applied {
		t.Fatalf("Extend to a longer duration, proposed in an earlier term: got %+v", r)
	}
	if r := unchanged[fsm.PermitResult](l, fsm.Extend{Token: 99, Duration: time.Second}); r.Applied || r.Permit != nil {
		t.Fatalf("Extend of an unknown token: got %+v", r)
	}
	unchanged[fsm.InvalidResult](l, fsm.Extend{Token: p.Token, Duration: 0})
	unchanged[fsm.InvalidResult](l, fsm.Extend{Token: p.Token, Duration: l.state().LargestDuration() + 1})
	l.apply(fsm.Expire{Token: p.Token, Term: l.term})
	if r := unchanged[fsm.PermitResult](l, fsm.Extend{Token: p.Token, Duration: time.Minute}); r.Applied {
		t.Fatalf("Extend of a held permit: got %+v", r)
	}
	q := l.grant("s", "b")
	l.apply(fsm.Release{Token: q.Token, Cooling: time.Second})
	if r := unchanged[fsm.PermitResult](l, fsm.Extend{Token: q.Token, Duration: time.Minute}); r.Applied {
		t.Fatalf("Extend of a cooling permit: got %+v", r)
	}
}

func TestRevoke_LivePermit_StopsHolderAndKeepsSlot(t *testing.T) {
	l := newLog(t)
	l.define("s")
	p := l.grant("s", "a")
	r := applyOne[fsm.PermitResult](l, fsm.Revoke{Token: p.Token, Author: "ann", Reason: "stuck", At: at(9)})
	if !r.Applied || r.Permit.Stop != semaphore.StopRevoked || r.Permit.StopOrder() != (semaphore.StopOrder{Reason: "stuck", Revision: 3}) || r.Permit.State != semaphore.Live {
		t.Fatalf("Revoke: got %+v", r)
	}
	equal(t, "events", kinds(l.events), []fsm.EventKind{fsm.StoppingEvent})
	equal(t, "used", l.state().Used("s"), uint64(1))
	equal(t, "permit revision", l.state().PermitRevision("s"), p.GrantedRevision)
	again := unchanged[fsm.PermitResult](l, fsm.Revoke{Token: p.Token, Author: "bob", Reason: "me too"})
	if again.Applied || again.Permit.StopOrder().Reason != "stuck" {
		t.Fatalf("second Revoke: got %+v", again)
	}
	if r := unchanged[fsm.PermitResult](l, fsm.Revoke{Token: 99}); r.Applied || r.Permit != nil {
		t.Fatalf("Revoke of an unknown token: got %+v", r)
	}
}
