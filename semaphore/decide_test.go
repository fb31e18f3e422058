package semaphore

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var due = time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)

// newRequest returns a request that Decide grants with the facts from newFacts.
func newRequest() *Request {
	return &Request{Semaphore: "export", Identity: Identity{Group: "prod", Acquirer: "app1"}, Weight: 1}
}

// newFacts returns the facts for a semaphore with 1 of 3 permits in use.
func newFacts() *Facts {
	d := defaultDefinition("export")
	d.Permits = 3
	return &Facts{Definition: d, Admission: Admitted(), Used: 1}
}

// livePermit returns a live permit held by the identity in the request from newRequest.
func livePermit() *Permit {
	return &Permit{
		Semaphore: "export", Identity: Identity{Group: "prod", Acquirer: "app1"},
		Weight: 1, Token: 42, Duration: time.Minute, State: Live,
	}
}

func newClaim(state ClaimState) *Claim {
	return &Claim{
		Semaphore: "export", Firing: Firing{Name: "nightly", Due: due}, Token: 41,
		Winner: Identity{Group: "prod", Acquirer: "app2"}, State: state,
	}
}

func nightly() *Firing { return &Firing{Name: "nightly", Due: due} }

func TestDecide_EveryRule(t *testing.T) {
	type change func(*Request, *Facts)
	denied := func(r Reason) Decision { return Decision{Outcome: Denied, Reason: r} }
	stopped := func(r Reason, c StopCause) Decision { return Decision{Outcome: Denied, Reason: r, Stop: c} }
	// clock requests a firing and sets the leader's clock to the given offset from its due time.
	clock := func(fromDue time.Duration) change {
		return func(r *Request, f *Facts) { r.Firing, f.LeaderClock = nightly(), due.Add(fromDue) }
	}
	hold := func(edit func(*Permit)) change {
		return func(_ *Request, f *Facts) {
			f.Own, f.Repeat = livePermit(), true
			edit(f.Own)
		}
	}
	asIs := func(*Permit) {}
	newAcquisition := func(_ *Request, f *Facts) { f.Repeat = false }
	asWorker := func(r *Request, f *Facts) { r.Worker, f.OwnTask = true, true }

	for _, test := range []struct {
		name   string
		change []change
		want   Decision
	}{
		{"a free permit is granted", nil, Decision{Outcome: Granted}},
		{"the last permit is granted", []change{func(_ *Request, f *Facts) { f.Used = 2 }}, Decision{Outcome: Granted}},
		{"weight equal to all permits is granted", []change{func(r *Request, f *Facts) { r.Weight, f.Used = 3, 0 }}, Decision{Outcome: Granted}},

		{"1: no definition", []change{func(_ *Request, f *Facts) { f.Definition = nil }}, denied(NoSuchSemaphore)},
		{"1: deleted with a holder", []change{hold(asIs), func(_ *Request, f *Facts) { f.Definition = nil }}, stopped(NoSuchSemaphore, StopNoLongerAdmitted)},
		{"2: group", []change{func(_ *Request, f *Facts) { f.Admission.Group = false }}, denied(GroupMismatch)},
		{"2: group with a holder", []change{hold(asIs), func(_ *Request, f *Facts) { f.Admission.Group = false }}, stopped(GroupMismatch, StopNoLongerAdmitted)},
		{"3: acquirer", []change{func(_ *Request, f *Facts) { f.Admission.Acquirer = false }}, denied(AcquirerMismatch)},
		{"3: acquirer with a holder", []change{hold(asIs), func(_ *Request, f *Facts) { f.Admission.Acquirer = false }}, stopped(AcquirerMismatch, StopNoLongerAdmitted)},
		{"4: cordon", []change{func(_ *Request, f *Facts) { f.Admission.Cordons = []Cordon{{ID: "k"}} }}, denied(Cordoned)},
		{"4: cordon with a holder", []change{hold(asIs), func(_ *Request, f *Facts) { f.Admission.Cordons = []Cordon{{ID: "k"}} }}, stopped(Cordoned, StopCordoned)},
		{"4: pause with stop", []change{func(_ *Request, f *Facts) { f.Pause = &Pause{Stop: true} }}, denied(Paused)},
		{"4: pause with stop and a holder", []change{hold(asIs), func(_ *Request, f *Facts) { f.Pause = &Pause{Stop: true} }}, stopped(Paused, StopPaused)},
		{"4: a permit held for an operator has no holder to stop", []change{hold(func(p *Permit) { p.State = Held }), func(_ *Request, f *Facts) { f.Admission.Cordons = []Cordon{{ID: "k"}} }}, denied(Cordoned)},

		{"5: a retry is refreshed", []change{hold(asIs)}, Decision{Outcome: Refreshed}},
		{"5: refreshed even though no permit is free", []change{hold(asIs), func(_ *Request, f *Facts) { f.Used, f.WaitsAhead = 3, true }}, Decision{Outcome: Refreshed}},
		{"5: refreshed even though the permits were lowered", []change{hold(asIs), func(_ *Request, f *Facts) { f.Definition.Permits = 0 }}, Decision{Outcome: Refreshed}},
		{"5: refreshed during a plain pause", []change{hold(asIs), func(_ *Request, f *Facts) { f.Pause = &Pause{} }}, Decision{Outcome: Refreshed}},
		{"5: refreshed with its own claim", []change{hold(func(p *Permit) { p.Firing = nightly() }), func(r *Request, f *Facts) { r.Firing, f.Claim = nightly(), newClaim(ClaimHeld) }}, Decision{Outcome: Refreshed}},
		{"5: due times are equal across time zones", []change{hold(func(p *Permit) { p.Firing = nightly() }), func(r *Request, _ *Facts) {
			r.Firing = nightly()
			r.Firing.Due = r.Firing.Due.In(time.FixedZone("CET", 3600))
		}}, Decision{Outcome: Refreshed}},
		{"5: another acquisition supersedes the token", []change{hold(asIs), newAcquisition}, Decision{Outcome: Reacquired}},
		{"5: another acquisition supersedes the token even though no permit is free", []change{hold(asIs), newAcquisition, func(_ *Request, f *Facts) { f.Used, f.WaitsAhead = 3, true }}, Decision{Outcome: Reacquired}},
		{"5: another acquisition of a permit with a firing", []change{hold(func(p *Permit) { p.Firing = nightly() }), newAcquisition, func(r *Request, f *Facts) { r.Firing, f.Claim = nightly(), newClaim(ClaimHeld) }}, Decision{Denied, FiringClaimed, NotStopping, newClaim(ClaimHeld)}},
		{"5: another acquisition with a different weight", []change{hold(func(p *Permit) { p.Weight = 2 }), newAcquisition}, denied(AlreadyHeld)},
		{"5: another acquisition of a permit that is being stopped", []change{hold(func(p *Permit) { p.Stop = StopRevoked }), newAcquisition}, stopped(Stopping, StopRevoked)},
		{"5: another acquisition of a permit held for an operator", []change{hold(func(p *Permit) { p.State = Held }), newAcquisition}, denied(HeldForOperator)},
		{"5: revoked", []change{hold(func(p *Permit) { p.Stop = StopRevoked })}, stopped(Stopping, StopRevoked)},
		{"5: taken over", []change{hold(func(p *Permit) { p.Stop = StopTakenOver })}, stopped(Stopping, StopTakenOver)},
		{"5: past max_hold", []change{hold(asIs), func(_ *Request, f *Facts) { f.OwnOverheld = true }}, stopped(Stopping, StopHeldTooLong)},
		{"5: an operator's stop takes precedence over max_hold", []change{hold(func(p *Permit) { p.Stop = StopDrained }), func(_ *Request, f *Facts) { f.OwnOverheld = true }}, stopped(Stopping, StopDrained)},
		{"5: stopping takes precedence over a different weight", []change{hold(func(p *Permit) { p.Stop, p.Weight = StopRevoked, 2 })}, stopped(Stopping, StopRevoked)},
		{"5: held for an operator", []change{hold(func(p *Permit) { p.State = Held })}, denied(HeldForOperator)},
		{"5: held for an operator even though it was being stopped", []change{hold(func(p *Permit) { p.State, p.Stop = Held, StopRevoked })}, denied(HeldForOperator)},
		{"5: different weight", []change{hold(func(p *Permit) { p.Weight = 2 })}, denied(AlreadyHeld)},
		{"5: the request adds a firing", []change{hold(asIs), func(r *Request, _ *Facts) { r.Firing = nightly() }}, denied(AlreadyHeld)},
		{"5: the request drops the firing", []change{hold(func(p *Permit) { p.Firing = nightly() })}, denied(AlreadyHeld)},
		{"5: the request changes the due time", []change{hold(func(p *Permit) { p.Firing = nightly() }), func(r *Request, _ *Facts) { r.Firing = &Firing{"nightly", due.Add(1)} }}, denied(AlreadyHeld)},
		{"5: different firing name", []change{hold(func(p *Permit) { p.Firing = nightly() }), func(r *Request, _ *Facts) { r.Firing = &Firing{"daily", due} }}, denied(AlreadyHeld)},
		{"5: a cooling permit is not held by the caller", []change{hold(func(p *Permit) { p.State = Cooling })}, Decision{Outcome: Granted}},

		{"5: a worker's retry is refreshed", []change{hold(asIs), asWorker}, Decision{Outcome: Refreshed}},
		{"5: another acquisition by a worker", []change{hold(asIs), newAcquisition, asWorker}, denied(AlreadyHeld)},
		{"5: the request adds a task", []change{hold(asIs), func(r *Request, _ *Facts) { r.Worker = true }}, denied(AlreadyHeld)},
		{"5: the request drops the task", []change{hold(asIs), func(_ *Request, f *Facts) { f.OwnTask = true }}, denied(AlreadyHeld)},

		{"6: pause", []change{func(_ *Request, f *Facts) { f.Pause = &Pause{} }}, denied(Paused)},
		{"6: weight above permits", []change{func(r *Request, _ *Facts) { r.Weight = 4 }}, denied(WeightExceedsPermits)},
		{"6: zero permits", []change{func(_ *Request, f *Facts) { f.Definition.Permits, f.Used = 0, 0 }}, denied(WeightExceedsPermits)},
		{"6: pause takes precedence over weight", []change{func(r *Request, f *Facts) { r.Weight, f.Pause = 4, &Pause{} }}, denied(Paused)},

		{"7: claimed", []change{func(r *Request, f *Facts) { r.Firing, f.Claim = nightly(), newClaim(ClaimHeld) }}, Decision{Denied, FiringClaimed, NotStopping, newClaim(ClaimHeld)}},
		{"7: spent", []change{func(r *Request, f *Facts) { r.Firing, f.Claim = nightly(), newClaim(ClaimSpent) }}, Decision{Denied, FiringClaimed, NotStopping, newClaim(ClaimSpent)}},
		{"7: failed", []change{func(r *Request, f *Facts) { r.Firing, f.Claim = nightly(), newClaim(ClaimFailed) }}, Decision{Denied, FiringDone, NotStopping, newClaim(ClaimFailed)}},
		{"7: cut short", []change{func(r *Request, f *Facts) { r.Firing, f.Claim = nightly(), newClaim(ClaimCutShort) }}, Decision{Denied, FiringClaimed, NotStopping, newClaim(ClaimCutShort)}},
		{"7: open", []change{func(r *Request, f *Facts) { r.Firing, f.Claim = nightly(), newClaim(ClaimOpen) }}, Decision{Outcome: Granted}},
		{"7: open claim, below the low-water mark", []change{func(r *Request, f *Facts) { r.Firing, f.LowWater, f.Claim = nightly(), due, newClaim(ClaimOpen) }}, Decision{Outcome: Denied, Reason: FiringForgotten}},
		{"7: done", []change{func(r *Request, f *Facts) { r.Firing, f.Claim = nightly(), newClaim(ClaimDone) }}, Decision{Denied, FiringDone, NotStopping, newClaim(ClaimDone)}},
		{"7: at the low-water mark", []change{func(r *Request, f *Facts) { r.Firing, f.LowWater = nightly(), due }}, denied(FiringForgotten)},
		{"7: below the low-water mark", []change{func(r *Request, f *Facts) { r.Firing, f.LowWater = nightly(), due.Add(1) }}, denied(FiringForgotten)},
		{"7: above the low-water mark", []change{func(r *Request, f *Facts) { r.Firing, f.LowWater = nightly(), due.Add(-1) }}, Decision{Outcome: Granted}},
		{"7: remembered claim, below the low-water mark", []change{func(r *Request, f *Facts) { r.Firing, f.LowWater, f.Claim = nightly(), due, newClaim(ClaimSpent) }}, Decision{Denied, FiringClaimed, NotStopping, newClaim(ClaimSpent)}},
		{"7: the low-water mark ignores firings without a due time", []change{func(r *Request, f *Facts) { r.Firing, f.LowWater = &Firing{Name: "nightly"}, due }}, Decision{Outcome: Granted}},
		{"7: due exactly at the limit", []change{clock(-10 * time.Minute)}, Decision{Outcome: Granted}},
		{"7: due too far ahead", []change{clock(-10*time.Minute - 1)}, denied(FiringTooFarAhead)},
		{"7: due too far ahead for its definition", []change{clock(-10 * time.Minute), func(_ *Request, f *Facts) { f.Definition.FiringMaxAhead = time.Minute }}, denied(FiringTooFarAhead)},
		{"7: due a year ahead without a limit", []change{clock(-365 * 24 * time.Hour), func(_ *Request, f *Facts) { f.Definition.FiringMaxAhead = FiringUnbounded }}, Decision{Outcome: Granted}},
		{"7: due in the past", []change{clock(365 * 24 * time.Hour)}, Decision{Outcome: Granted}},
		{"7: too far ahead takes precedence over forgotten", []change{clock(-time.Hour), func(_ *Request, f *Facts) { f.LowWater = due }}, denied(FiringTooFarAhead)},
		{"7: done takes precedence over too far ahead", []change{clock(-time.Hour), func(_ *Request, f *Facts) { f.Claim = newClaim(ClaimDone) }}, Decision{Denied, FiringDone, NotStopping, newClaim(ClaimDone)}},
		{"7: a firing without a due time is not too far ahead", []change{clock(-time.Hour), func(r *Request, _ *Facts) { r.Firing = &Firing{Name: "nightly"} }}, Decision{Outcome: Granted}},
		{"7: a claim does not affect a request without a firing", []change{func(_ *Request, f *Facts) { f.Claim, f.LowWater = newClaim(ClaimDone), due }}, Decision{Outcome: Granted}},
		{"7: done takes precedence over full", []change{func(r *Request, f *Facts) { r.Firing, f.Claim, f.Used = nightly(), newClaim(ClaimDone), 3 }}, Decision{Denied, FiringDone, NotStopping, newClaim(ClaimDone)}},

		{"7: no task", []change{func(r *Request, _ *Facts) { r.Worker = true }}, denied(NoTask)},
		{"7: a task is waiting", []change{func(r *Request, f *Facts) { r.Worker, f.Tasks = true, 1 }}, Decision{Outcome: Granted}},
		{"7: no task takes precedence over full", []change{func(r *Request, f *Facts) { r.Worker, f.Used = true, 3 }}, denied(NoTask)},
		{"9: full even though tasks are waiting", []change{func(r *Request, f *Facts) { r.Worker, f.Tasks, f.Used = true, 2, 3 }}, denied(NoFreePermit)},

		{"9: full", []change{func(_ *Request, f *Facts) { f.Used = 3 }}, denied(NoFreePermit)},
		{"9: more permits in use than defined", []change{func(_ *Request, f *Facts) { f.Used = 5 }}, denied(NoFreePermit)},
		{"9: too heavy for the free permits", []change{func(r *Request, _ *Facts) { r.Weight = 3 }}, denied(NoFreePermit)},
		{"9: another caller is ahead in the queue", []change{func(_ *Request, f *Facts) { f.WaitsAhead = true }}, denied(NoFreePermit)},
	} {
		t.Run(test.name, func(t *testing.T) {
			req, f := newRequest(), newFacts()
			for _, change := range test.change {
				change(req, f)
			}
			if diff := cmp.Diff(test.want, Decide(req, f)); diff != "" {
				t.Errorf("Decide (-want +got):\n%s", diff)
			}
			checkAgreement(t, req, f)
		})
	}
}

// If several rules deny a request, the first one determines the reason.
func TestDecide_SeveralReasons_ReportsFirst(t *testing.T) {
	violations := []struct {
		reason Reason
		change func(*Request, *Facts)
	}{
		{NoFreePermit, func(_ *Request, f *Facts) { f.Used = 3 }},
		{FiringForgotten, func(r *Request, f *Facts) { r.Firing, f.LowWater = nightly(), due }},
		{FiringTooFarAhead, func(_ *Request, f *Facts) { f.LeaderClock = due.Add(-time.Hour) }},
		{WeightExceedsPermits, func(r *Request, _ *Facts) { r.Weight = 4 }},
		{Paused, func(_ *Request, f *Facts) { f.Pause = &Pause{} }},
		{AlreadyHeld, func(_ *Request, f *Facts) { f.Own = livePermit() }},
		{Stopping, func(_ *Request, f *Facts) { f.OwnOverheld = true }},
		{Paused, func(_ *Request, f *Facts) { f.Pause.Stop = true }},
		{Cordoned, func(_ *Request, f *Facts) { f.Admission.Cordons = []Cordon{{ID: "k"}} }},
		{AcquirerMismatch, func(_ *Request, f *Facts) { f.Admission.Acquirer = false }},
		{GroupMismatch, func(_ *Request, f *Facts) { f.Admission.Group = false }},
		{NoSuchSemaphore, func(_ *Request, f *Facts) { f.Definition = nil }},
	}
	req, f := newRequest(), newFacts()
	for _, b := range violations {
		b.change(req, f)
		if got := Decide(req, f); got.Outcome != Denied || got.Reason != b.reason {
			t.Errorf("Decide() = %v %v, want denied %v", got.Outcome, got.Reason, b.reason)
		}
		checkAgreement(t, req, f)
	}
}

func TestAdmit_RunsOnlyStepsUpToOwnPermit(t *testing.T) {
	p := livePermit()
	p.Weight, p.Firing = 2, nightly()
	f := newFacts()
	f.Own = nil // Admit uses the permit instead
	f.Used, f.WaitsAhead, f.Pause, f.Claim = 3, true, &Pause{}, newClaim(ClaimSpent)
	if got := Admit(p, f); got != (Decision{Outcome: Refreshed}) {
		t.Errorf("Admit() = %+v, want refreshed because only steps 1 to 5 apply", got)
	}
	if f.Own != nil {
		t.Error("Admit modified the facts")
	}
	p.State = Cooling
	if got := Admit(p, f); got != (Decision{}) {
		t.Errorf("Admit(cooling permit) = %+v, want no decision", got)
	}
	p.State = Held
	if got := Admit(p, f); got != (Decision{Outcome: Denied, Reason: HeldForOperator}) {
		t.Errorf("Admit(held permit) = %+v, want held for an operator", got)
	}
}

func TestDecide_DoesNotAllocate(t *testing.T) {
	cases := map[string]func(*Request, *Facts){
		"granted":   func(*Request, *Facts) {},
		"refreshed": func(_ *Request, f *Facts) { f.Own = livePermit() },
		"full":      func(_ *Request, f *Facts) { f.Used = 3 },
		"claimed":   func(r *Request, f *Facts) { r.Firing, f.Claim = nightly(), newClaim(ClaimHeld) },
		"mismatch":  func(_ *Request, f *Facts) { f.Admission.Group = false },
	}
	for name, change := range cases {
		req, f := newRequest(), newFacts()
		change(req, f)
		if n := testing.AllocsPerRun(100, func() {
			facts := *f // on the stack, as in the leader
			decision = Decide(req, &facts)
		}); n != 0 {
			t.Errorf("%s: Decide() allocates %v times, want 0", name, n)
		}
	}
	p, f := livePermit(), newFacts()
	if n := testing.AllocsPerRun(100, func() { decision = Admit(p, f) }); n != 0 {
		t.Errorf("Admit() allocates %v times, want 0", n)
	}
	f.Admission.Cordons = []Cordon{{"k", Drain{9, 1}}}
	if n := testing.AllocsPerRun(100, func() { decision = Admit(p, f) }); n != 0 {
		t.Errorf("Admit() for a permit with a cordon drain allocates %v times, want 0", n)
	}
}

var decision Decision // a package variable, so that the compiler cannot optimize the call away

func BenchmarkDecide(b *testing.B) {
	granted, full, firing := newFacts(), newFacts(), newRequest()
	full.Used = 3
	firing.Firing = nightly()
	b.Run("granted", func(b *testing.B) {
		b.ReportAllocs()
		for req := newRequest(); b.Loop(); {
			decision = Decide(req, granted)
		}
	})
	b.Run("full", func(b *testing.B) {
		b.ReportAllocs()
		for req := newRequest(); b.Loop(); {
			decision = Decide(req, full)
		}
	})
	b.Run("firing", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			decision = Decide(firing, granted)
		}
	})
	b.Run("admit", func(b *testing.B) {
		b.ReportAllocs()
		for p := livePermit(); b.Loop(); {
			decision = Admit(p, full)
		}
	})
	b.Run("sentence", func(b *testing.B) {
		b.ReportAllocs()
		d := Decide(newRequest(), full)
		for req := newRequest(); b.Loop(); {
			_ = d.Sentence(req, full)
		}
	})
}

func TestDecideWaiting_Paused_WaitsUnlessDeniedAnyway(t *testing.T) {
	type change = func(*Request, *Facts)
	paused := func(_ *Request, f *Facts) { f.Pause = &Pause{} }
	stopped := func(_ *Request, f *Facts) { f.Pause = &Pause{Stop: true} }
	for _, test := range []struct {
		name   string
		change []change
		want   Reason
		waits  bool
	}{
		{"free", nil, NoReason, false},
		{"full", []change{func(_ *Request, f *Facts) { f.Used = 3 }}, NoFreePermit, true},
		{"paused", []change{paused}, Paused, true},
		{"paused with stop", []change{stopped}, Paused, true},
		{"paused and full", []change{paused, func(_ *Request, f *Facts) { f.Used = 3 }}, Paused, true},
		{"paused, others ahead in the queue", []change{paused, func(_ *Request, f *Facts) { f.WaitsAhead = true }}, Paused, true},
		{"paused, too heavy", []change{paused, func(r *Request, _ *Facts) { r.Weight = 4 }}, WeightExceedsPermits, false},
		{"paused with stop, too heavy", []change{stopped, func(r *Request, _ *Facts) { r.Weight = 4 }}, WeightExceedsPermits, false},
		{"paused, firing done", []change{paused, func(r *Request, f *Facts) { r.Firing, f.Claim = nightly(), newClaim(ClaimDone) }}, FiringDone, false},
		{"paused and cordoned", []change{paused, func(_ *Request, f *Facts) { f.Admission.Cordons = []Cordon{{ID: "k"}} }}, Cordoned, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			req, f := newRequest(), newFacts()
			for _, change := range test.change {
				change(req, f)
			}
			if d, waits := DecideWaiting(req, f); d.Reason != test.want || waits != test.waits {
				t.Errorf("DecideWaiting() = %+v, %t, want reason %v, %t", d, waits, test.want, test.waits)
			}
		})
	}
}

// Admit treats the refresh as a worker's, because the permit carries a task.
func TestAdmit_Worker_IsRefreshed(t *testing.T) {
	f := newFacts()
	f.OwnTask = true
	if got := Admit(livePermit(), f); got != (Decision{Outcome: Refreshed}) {
		t.Errorf("Admit() = %+v, want refreshed", got)
	}
}

func TestDecideWaiting_NoTask_Waits(t *testing.T) {
	req, f := newRequest(), newFacts()
	req.Worker = true
	if d, waits := DecideWaiting(req, f); d.Reason != NoTask || !waits {
		t.Errorf("without a task: DecideWaiting() = %+v, %v, want NO_TASK and waiting", d, waits)
	}
	f.Pause = &Pause{}
	if d, waits := DecideWaiting(req, f); d.Reason != Paused || !waits {
		t.Errorf("during a pause: DecideWaiting() = %+v, %v, want PAUSED and waiting", d, waits)
	}
}
