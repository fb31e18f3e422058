package semaphore

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// referenceDecide is an independent implementation of the decision, written from the design rather than the code. It
// returns the outcome, the reason and the number of the deciding step.
func referenceDecide(r *Request, f *Facts) (Outcome, Reason, int) {
	def, own := f.Definition, f.Own
	if own != nil && own.State == Cooling {
		own = nil
	}
	rules := []struct {
		step    int
		applies bool
		outcome Outcome
		reason  Reason
	}{
		{1, def == nil, Denied, NoSuchSemaphore},
		{2, !f.Admission.Group, Denied, GroupMismatch},
		{3, !f.Admission.Acquirer, Denied, AcquirerMismatch},
		{4, len(f.Admission.Cordons) > 0, Denied, Cordoned},
		{4, f.Pause != nil && f.Pause.Stop, Denied, Paused},
		{5, own != nil && own.State == Held, Denied, HeldForOperator},
		{5, own != nil && (own.Stop != NotStopping || f.OwnOverheld), Denied, Stopping},
		{5, own != nil && own.Weight == r.Weight && own.Firing.text() == r.Firing.text() && f.OwnTask == r.Worker && f.Repeat, Refreshed, NoReason},
		{5, own != nil && own.Weight == r.Weight && own.Firing.text() == r.Firing.text() && f.OwnTask == r.Worker && r.Firing != nil, Denied, FiringClaimed},
		{5, own != nil && own.Weight == r.Weight && r.Firing == nil && own.Firing == nil && !f.OwnTask && !r.Worker, Reacquired, NoReason},
		{5, own != nil, Denied, AlreadyHeld},
		{6, f.Pause != nil, Denied, Paused},
		{6, def != nil && r.Weight > def.Permits, Denied, WeightExceedsPermits},
		{7, r.Firing != nil && f.Claim != nil && (f.Claim.State == ClaimDone || f.Claim.State == ClaimFailed), Denied, FiringDone},
		{7, r.Firing != nil && f.Claim != nil && (f.Claim.State != ClaimOpen || def != nil && def.MaxAttempts > 0 && f.Claim.Attempts >= def.MaxAttempts), Denied, FiringClaimed},
		{7, r.Firing != nil && !f.LeaderClock.IsZero() && def != nil && def.FiringMaxAhead >= 0 &&
			r.Firing.Due.Sub(f.LeaderClock) > cmp.Or(def.FiringMaxAhead, 10*time.Minute), Denied, FiringTooFarAhead},
		{7, r.Firing != nil && !r.Firing.Due.IsZero() && r.Firing.Due.Compare(f.LowWater) <= 0, Denied, FiringForgotten},
		{7, r.Worker && f.Tasks == 0, Denied, NoTask},
		{8, def != nil && f.Used+uint64(r.Weight) <= uint64(def.Permits) && !f.WaitsAhead, Granted, NoReason},
	}
	for _, rule := range rules {
		if rule.applies {
			return rule.outcome, rule.reason, rule.step
		}
	}
	return Denied, NoFreePermit, 9
}

// referenceAdmit applies drains to the decision on a holder's retry. If every cause that excludes the holder has a
// drain that covers its permit, the permit is refreshed. Otherwise the first cause without such a drain is the reason.
func referenceAdmit(p *Permit, f *Facts, retry Decision) Decision {
	if p.State != Live {
		return retry
	}
	covered := func(drains ...Drain) bool {
		for _, d := range drains {
			if d.Duration > 0 && p.GrantedRevision < d.Revision {
				return true
			}
		}
		return false
	}
	cordons := true
	for _, c := range f.Admission.Cordons {
		cordons = cordons && covered(c.Drain)
	}
	var first StopCause
	for _, c := range []struct {
		applies, drains bool
		reason          Reason
		stop            StopCause
	}{
		{f.Definition == nil, covered(f.Drains...), NoSuchSemaphore, StopNoLongerAdmitted},
		{!f.Admission.Group, covered(f.Drains...), GroupMismatch, StopNoLongerAdmitted},
		{!f.Admission.Acquirer, covered(f.Drains...), AcquirerMismatch, StopNoLongerAdmitted},
		{len(f.Admission.Cordons) > 0, cordons, Cordoned, StopCordoned},
		{f.Pause != nil && f.Pause.Stop, f.Pause != nil && covered(Drain{f.Pause.Revision, f.Pause.Drain}), Paused, StopPaused},
		{p.Stop != NotStopping, covered(Drain{p.StopOrder().Revision, p.StopOrder().Drain}), Stopping, p.Stop},
		{f.OwnOverheld, false, Stopping, StopHeldTooLong},
	} {
		if c.applies && !c.drains {
			return Decision{Outcome: Denied, Reason: c.reason, Stop: c.stop}
		}
		if c.applies && first == NotStopping {
			first = c.stop
		}
	}
	return Decision{Outcome: Refreshed, Stop: first}
}

// checkAgreement checks that Decide, Explain, Admit and the sentences agree with each other and with the reference
// implementation.
func checkAgreement(t rapid.TB, req *Request, f *Facts) {
	t.Helper()
	d := Decide(req, f)
	outcome, reason, wantStep := referenceDecide(req, f)
	if d.Outcome != outcome || d.Reason != reason {
		t.Errorf("Decide() = %v %v, want %v %v as in the reference implementation", d.Outcome, d.Reason, outcome, reason)
	}

	steps := Explain(req, f)
	for i, s := range steps {
		passes := i < len(steps)-1 && s.Number != int(stepFree) || i == len(steps)-1 && outcome != Denied
		if s.Number != i+1 || s.Passed != passes || s.Name == "" || !strings.HasSuffix(s.Text, ".") {
			t.Errorf("Explain() step %d = %+v, want passed %v", i+1, s, passes)
		}
		if i > 0 && s.Text == steps[i-1].Text {
			t.Errorf("Explain() steps %d and %d have the same text %q", i, i+1, s.Text)
		}
	}
	last := steps[len(steps)-1]
	if last.Number != wantStep || last.Text != d.Sentence(req, f) {
		t.Errorf("Explain() ends with %+v, want step %d: %s", last, wantStep, d.Sentence(req, f))
	}

	if f.Own != nil && f.Own.State != Cooling {
		same := *req
		same.Weight, same.Firing, same.Worker = f.Own.Weight, f.Own.Firing, f.OwnTask
		repeat := *f
		repeat.Repeat = true
		retry, admitted := Decide(&same, &repeat), Admit(f.Own, f)
		if want := referenceAdmit(f.Own, f, retry); admitted != want {
			t.Errorf("Admit() = %+v, want %+v as in the reference implementation; Decide() for a retry = %+v", admitted, want, retry)
		}
		checkStops(t, f, admitted)
		if mentioned := strings.Contains(d.Sentence(req, f), "its drain is over"); mentioned != (d.Stop != NotStopping && admitted.Outcome == Refreshed) {
			t.Errorf("Sentence() mentions a drain: %v, but Admit() = %+v", mentioned, admitted)
		}
	}
	if holds := f.Own != nil && f.Own.State == Live; d.Stop != NotStopping != (holds && outcome == Denied && reason != AlreadyHeld && (reason != FiringClaimed || wantStep != int(stepOwn))) {
		t.Errorf("Decide() has stop cause %v with reason %v and own permit %+v", d.Stop, reason, f.Own)
	}
	if s := d.Sentence(req, &Facts{}); !strings.HasSuffix(s, ".") {
		t.Errorf("Sentence() with newer facts = %q, want a full sentence", s)
	}
}

// The random facts include combinations that the state machine never produces.
func TestDecide_RandomFacts_ImplementationsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := drawRequest(t)
		req.Worker = req.Firing == nil && rapid.Bool().Draw(t, "worker")
		f := drawFacts(t, req)
		checkAgreement(t, req, f)

		// With a waiter ahead, a request is never granted, no matter how many permits are in use.
		tighter := *f
		tighter.Used += rapid.Uint64Range(0, 3).Draw(t, "more used")
		tighter.WaitsAhead = true
		if Decide(req, &tighter).Outcome == Granted {
			t.Errorf("Decide() grants even though a waiter is ahead")
		}
	})
}

func drawFiring(t *rapid.T, label string) *Firing {
	return rapid.SampledFrom([]*Firing{
		nil, {Name: "a"}, {Name: "b"}, {Name: "a", Due: due}, {Name: "a", Due: due.Add(time.Hour)}, {Name: "b", Due: due},
	}).Draw(t, label)
}

func drawRequest(t *rapid.T) *Request {
	return &Request{
		Semaphore: "s",
		Identity:  Identity{Group: "prod", Acquirer: rapid.SampledFrom([]string{"app1", "app2", "app3"}).Draw(t, "acquirer")},
		Weight:    rapid.Uint32Range(1, 3).Draw(t, "weight"),
		Firing:    drawFiring(t, "firing"),
	}
}

// checkStops checks that Stops agrees with Admit about the caller's own permit, except for max_hold.
func checkStops(t rapid.TB, f *Facts, admitted Decision) {
	t.Helper()
	if f.Own.State != Live || f.OwnOverheld {
		return
	}
	stops := Stops(f.Own, f)
	continues := true
	for _, s := range stops {
		continues = continues && len(s.Drains) > 0
	}
	var first StopCause
	if len(stops) > 0 && continues {
		first = stops[0].Cause
	}
	if continues != (admitted.Outcome == Refreshed) || continues && admitted.Stop != first || !continues && admitted.Stop == NotStopping {
		t.Errorf("Stops() = %+v, but Admit() = %+v", stops, admitted)
	}
}

func drawFacts(t *rapid.T, req *Request) *Facts {
	likely := func(label string) bool { return rapid.IntRange(0, 7).Draw(t, label) != 0 }
	f := &Facts{
		Admission:   Admission{Group: likely("group"), Acquirer: likely("acquirer fits")},
		Repeat:      likely("repeat"),
		OwnOverheld: !likely("not overheld"),
		Used:        rapid.Uint64Range(0, 5).Draw(t, "used"),
		WaitsAhead:  !likely("no one ahead"),
	}
	if likely("defined") {
		f.Definition = defaultDefinition("s")
		f.Definition.Permits = rapid.Uint32Range(0, 4).Draw(t, "permits")
	}
	if !likely("not paused") {
		f.Pause = &Pause{Stop: rapid.Bool().Draw(t, "stop"), Reason: "r", Until: due}
	}
	if rapid.Bool().Draw(t, "owns") {
		f.Own = &Permit{
			Semaphore: "s", Identity: req.Identity, Token: 7, Firing: drawFiring(t, "own firing"),
			Weight: rapid.Uint32Range(1, 3).Draw(t, "own weight"),
			State:  rapid.SampledFrom([]PermitState{Live, Live, Live, Held, Cooling}).Draw(t, "state"),
			Stop:   rapid.SampledFrom([]StopCause{NotStopping, NotStopping, StopRevoked, StopDrained, StopTakenOver}).Draw(t, "own stop"),
		}
	}
	revision := func(label string) uint64 { return rapid.SampledFrom([]uint64{0, 5, 9, 10}).Draw(t, label) }
	drain := func(label string) Drain {
		return Drain{revision(label), time.Duration(rapid.IntRange(0, 1).Draw(t, label+" duration"))}
	}
	for range rapid.IntRange(0, 2).Draw(t, "drains") {
		f.Drains = append(f.Drains, drain("drain"))
	}
	if !likely("not cordoned") {
		for range rapid.IntRange(1, 2).Draw(t, "cordons") {
			f.Admission.Cordons = append(f.Admission.Cordons, Cordon{Drain: drain("cordon")})
		}
	}
	if f.Pause != nil {
		f.Pause.Revision, f.Pause.Drain = revision("pause"), time.Duration(revision("pause drain"))
	}
	if f.Own != nil {
		f.Own.GrantedRevision = revision("granted")
		if drain := revision("stop drain"); drain > 0 {
			f.Own.Order = &StopOrder{Revision: revision("stop"), Drain: time.Duration(drain)}
		}
	}
	f.Tasks = rapid.Uint64Range(0, 2).Draw(t, "tasks")
	f.OwnTask = f.Own != nil && f.Own.State != Cooling && f.Own.Firing == nil && rapid.Bool().Draw(t, "own task")
	if req.Firing != nil {
		f.LeaderClock = rapid.SampledFrom([]time.Time{{}, due, due.Add(-time.Hour)}).Draw(t, "leader's clock")
		f.LowWater = rapid.SampledFrom([]time.Time{{}, due.Add(-1), due, due.Add(2 * time.Hour)}).Draw(t, "low water")
		if rapid.Bool().Draw(t, "claimed") {
			f.Claim = &Claim{
				Semaphore: "s", Firing: *req.Firing, Token: 5, Winner: Identity{Group: "g", Acquirer: "w"},
				State:    rapid.SampledFrom([]ClaimState{ClaimHeld, ClaimDone, ClaimSpent, ClaimFailed, ClaimCutShort, ClaimOpen}).Draw(t, "claim"),
				Attempts: rapid.Uint32Range(0, 3).Draw(t, "attempts"),
			}
		}
	}
	return f
}

// The invariants hold after every step of a random history of one semaphore, with requests, edits, losses and clears in
// any order.
func TestDecide_RandomHistory_PreservesInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newModel()
		if err := w.define("s", defaultDefinition("s")); err != nil {
			t.Fatal(err)
		}
		g := w.gate("s")
		used := uint64(0) // after the previous step
		granted := false
		settledBy := map[string]uint64{} // maps each firing to the token after which it must not run again

		token := func(t *rapid.T) *slot {
			if len(g.slots) == 0 {
				t.Skip("no permits")
			}
			return g.slots[rapid.IntRange(0, len(g.slots)-1).Draw(t, "which")]
		}
		t.Repeat(map[string]func(*rapid.T){
			"acquire": func(t *rapid.T) {
				req := drawRequest(t)
				f := w.facts("s", req.Identity, req.Firing)
				checkAgreement(t, req, f)
				last := w.token
				d, p := w.acquire(req, f)
				switch d.Outcome {
				case Granted:
					granted = true
					if p.Token <= last {
						t.Fatalf("token %d was granted after token %d", p.Token, last)
					}
					if req.Firing != nil && !g.def.MayAttempt(g.claims[req.Firing.text()].Attempts-1) {
						t.Fatalf("attempt %d of firing %s exceeds max_attempts %d", g.claims[req.Firing.text()].Attempts, req.Firing.text(), g.def.MaxAttempts)
					}
					if req.Firing != nil && settledBy[req.Firing.text()] != 0 {
						t.Fatalf("firing %s was granted to token %d after token %d had run it", req.Firing.text(), p.Token, settledBy[req.Firing.text()])
					}
				case Refreshed:
					if p.Token != f.Own.Token || w.token != last || p.Identity != req.Identity || p.State != Live {
						t.Fatalf("a refresh changed the permit: %+v", p)
					}
				case Reacquired:
					if p.Token <= last || w.holds(f.Own.Token) || p.Identity != req.Identity || p.State != Live {
						t.Fatalf("reacquiring %+v returned %+v", f.Own, p)
					}
				case Denied:
					if w.token != last {
						t.Fatal("a denial consumed a token")
					}
				}
			},
			"refresh": func(t *rapid.T) {
				s := token(t)
				before := s.Permit
				if d, now := w.refresh(s.Token); now != nil && d.Outcome == Refreshed && now.Permit != before {
					t.Fatalf("a refresh returned %+v for permit %+v", now.Permit, before)
				}
			},
			"release": func(t *rapid.T) {
				s := token(t)
				if s.State != Live {
					t.Skip("not live")
				}
				job := rapid.SampledFrom([]JobEnd{JobDone, JobNotRun, JobCutShort, JobFailed}).Draw(t, "job")
				if c := g.claimOf(s.Permit); c != nil && (Run{End: EndReleased, Job: job, Stop: s.Stop, Attempts: c.Attempts}).Claim(g.def) != ClaimOpen {
					settledBy[s.Firing.text()] = s.Token
				}
				w.end(s.Token, EndReleased, job, ReleaseCooling(g.def, w.now-s.granted))
			},
			"tick and expire": func(t *rapid.T) {
				w.now += time.Duration(rapid.Int64Range(1, 90).Draw(t, "seconds")) * time.Second
				for _, s := range w.overdue() {
					if c := g.claimOf(s.Permit); w.expire(s) == nil && c != nil && g.claims[s.Firing.text()].State != ClaimOpen {
						settledBy[s.Firing.text()] = s.Token
					}
				}
			},
			"clear": func(t *rapid.T) {
				if s := token(t); s.State == Held {
					w.end(s.Token, EndCleared, JobDone, 0)
				}
			},
			"revoke": func(t *rapid.T) {
				s := token(t)
				stopped := *s.Permit
				stopped.Stop = rapid.SampledFrom([]StopCause{StopRevoked, StopTakenOver}).Draw(t, "cause")
				s.Permit = &stopped
			},
			"edit": func(t *rapid.T) {
				d := defaultDefinition("s")
				d.Permits = rapid.Uint32Range(0, 4).Draw(t, "permits")
				d.AcquirerPattern = rapid.SampledFrom([]string{".*", "app1", "app[12]", "no-run"}).Draw(t, "pattern")
				d.MinHold = rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(t, "min_hold")
				d.MaxHold = rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(t, "max_hold")
				d.LossDelay = rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(t, "loss_delay")
				d.OnExpiry = rapid.SampledFrom([]OnExpiry{OnExpiryFree, OnExpiryHold}).Draw(t, "on_expiry")
				d.FiringOnLoss = rapid.SampledFrom([]FiringOnLoss{FiringSpent, FiringFree}).Draw(t, "firing_on_loss")
				d.MaxAttempts = rapid.Uint32Range(0, 2).Draw(t, "max_attempts")
				if err := w.define("s", d); err != nil {
					t.Fatal(err)
				}
			},
			"delete": func(t *rapid.T) { _ = w.define("s", nil) },
			"pause": func(t *rapid.T) {
				g.pause = rapid.SampledFrom([]*Pause{nil, {}, {Stop: true}}).Draw(t, "pause")
			},
			"": func(t *rapid.T) {
				now := g.used()
				if granted && now > uint64(g.def.Permits) {
					t.Fatalf("after a grant, %d of %d permits are taken", now, g.def.Permits)
				}
				if !granted && now > used {
					t.Fatalf("the used weight rose from %d to %d without a grant", used, now)
				}
				used, granted = now, false

				holders, firings := map[Identity]bool{}, map[string]bool{}
				for _, s := range g.slots {
					if s.State == Cooling {
						continue
					}
					if holders[s.Identity] {
						t.Fatalf("%s holds two permits of the semaphore", s.Identity.text())
					}
					holders[s.Identity] = true
					if s.Firing != nil && firings[s.Firing.text()] {
						t.Fatalf("firing %s is running twice", s.Firing.text())
					}
					if s.Firing != nil {
						firings[s.Firing.text()] = true
					}
				}
			},
		})
	})
}

func TestString_IsUnique(t *testing.T) {
	checkDistinct := func(kind string, count int, name func(uint8) fmt.Stringer) {
		seen := map[string]uint8{}
		for n := range uint8(count) {
			s := name(n).String()
			if before, ok := seen[s]; ok || s == "" {
				t.Errorf("%s %d and %d have the same String: %q", kind, before, n, s)
			}
			seen[s] = n
		}
	}
	checkDistinct("reason", 20, func(n uint8) fmt.Stringer { return Reason(n) })
	checkDistinct("outcome", 9, func(n uint8) fmt.Stringer { return Outcome(n) })
	checkDistinct("stop cause", 12, func(n uint8) fmt.Stringer { return StopCause(n) })
	checkDistinct("end", 12, func(n uint8) fmt.Stringer { return End(n) })
	checkDistinct("permit state", 9, func(n uint8) fmt.Stringer { return PermitState(n) })
	checkDistinct("claim state", 9, func(n uint8) fmt.Stringer { return ClaimState(n) })
	checkDistinct("on_expiry", 9, func(n uint8) fmt.Stringer { return OnExpiry(n) })
	checkDistinct("firing_on_loss", 9, func(n uint8) fmt.Stringer { return FiringOnLoss(n) })
	checkDistinct("misfire", 9, func(n uint8) fmt.Stringer { return Misfire(n) })
	checkDistinct("step", 12, func(n uint8) fmt.Stringer { return step(n) })
}
