package semaphore

import (
	"testing"
	"time"
)

func TestCooling_AfterReleaseAndLoss(t *testing.T) {
	const s = time.Second
	for _, test := range []struct {
		minHold, lossDelay, held, release, loss time.Duration
	}{
		{0, 0, 10 * s, 0, 0},
		{60 * s, 0, 0, 60 * s, 60 * s},
		{60 * s, 0, 10 * s, 50 * s, 50 * s},
		{60 * s, 0, 60 * s, 0, 0},
		{60 * s, 0, time.Hour, 0, 0},
		{60 * s, 0, -s, 60 * s, 60 * s}, // a clock that was set back does not prolong the cooldown
		{0, 30 * s, 10 * s, 0, 30 * s},
		{60 * s, 30 * s, 10 * s, 50 * s, 50 * s},
		{60 * s, 30 * s, 40 * s, 20 * s, 30 * s},
	} {
		d := &Definition{MinHold: test.minHold, LossDelay: test.lossDelay}
		if got := ReleaseCooling(d, test.held); got != test.release {
			t.Errorf("%+v: ReleaseCooling() = %v, want %v", test, got, test.release)
		}
		if got := LossCooling(d, test.held); got != test.loss {
			t.Errorf("%+v: LossCooling() = %v, want %v", test, got, test.loss)
		}
	}
	if ReleaseCooling(nil, 0) != 0 || LossCooling(nil, 0) != 0 {
		t.Error("got a cooldown for a deleted definition, want none")
	}
}

func TestRun_Claim_EveryEnd(t *testing.T) {
	spent, free := &Definition{FiringOnLoss: FiringSpent}, &Definition{FiringOnLoss: FiringFree}
	thrice := &Definition{FiringOnLoss: FiringFree, MaxAttempts: 3}
	for _, test := range []struct {
		def  *Definition
		run  Run
		want ClaimState
	}{
		{spent, Run{End: EndReleased}, ClaimDone},
		{free, Run{End: EndReleased}, ClaimDone},
		{nil, Run{End: EndReleased}, ClaimDone},
		{free, Run{End: EndReleased, Job: JobFailed}, ClaimFailed},
		{nil, Run{End: EndReleased, Job: JobFailed}, ClaimFailed},
		{spent, Run{End: EndReleased, Job: JobNotRun}, ClaimOpen},
		{nil, Run{End: EndReleased, Job: JobNotRun}, ClaimOpen},
		{thrice, Run{End: EndReleased, Job: JobNotRun, Attempts: 3}, ClaimOpen},
		{spent, Run{End: EndReleased, Job: JobCutShort}, ClaimCutShort},
		{free, Run{End: EndReleased, Job: JobCutShort}, ClaimOpen},
		{nil, Run{End: EndReleased, Job: JobCutShort}, ClaimCutShort},
		{spent, Run{End: EndCancelled, Job: JobCutShort}, ClaimOpen},
		{spent, Run{End: EndExpired}, ClaimSpent},
		{spent, Run{End: EndExpired, Job: JobNotRun}, ClaimSpent},
		{spent, Run{End: EndExpired, Job: JobFailed}, ClaimSpent},
		{free, Run{End: EndExpired}, ClaimOpen},
		{nil, Run{End: EndExpired}, ClaimSpent},
		{spent, Run{End: EndFreedUnsafely}, ClaimSpent},
		{free, Run{End: EndFreedUnsafely}, ClaimOpen},
		{spent, Run{End: EndCleared}, ClaimSpent},
		{free, Run{End: EndCleared}, ClaimOpen},
		{spent, Run{End: EndAbandoned}, ClaimOpen},
		{spent, Run{End: EndCancelled}, ClaimOpen},
		{free, Run{}, ClaimHeld},
		{free, Run{End: EndSuperseded}, ClaimHeld},
		// A firing is not handed over after its last attempt.
		{thrice, Run{End: EndExpired, Attempts: 2}, ClaimOpen},
		{thrice, Run{End: EndExpired, Attempts: 3}, ClaimSpent},
		{thrice, Run{End: EndReleased, Job: JobCutShort, Attempts: 3}, ClaimCutShort},
		{&Definition{FiringOnLoss: FiringFree, MaxAttempts: 1}, Run{End: EndExpired}, ClaimSpent},
		// A takeover frees the firing unless no attempts are left.
		{spent, Run{End: EndExpired, Stop: StopTakenOver}, ClaimOpen},
		{spent, Run{End: EndReleased, Job: JobCutShort, Stop: StopTakenOver}, ClaimOpen},
		{spent, Run{End: EndReleased, Stop: StopTakenOver}, ClaimDone},
		{spent, Run{End: EndExpired, Stop: StopRevoked}, ClaimSpent},
		{&Definition{FiringOnLoss: FiringSpent, MaxAttempts: 1}, Run{End: EndExpired, Stop: StopTakenOver, Attempts: 1}, ClaimSpent},
		{nil, Run{End: EndExpired, Stop: StopTakenOver}, ClaimSpent},
	} {
		if got := test.run.Claim(test.def); got != test.want {
			t.Errorf("%+v.Claim(%+v) = %v, want %v", test.run, test.def, got, test.want)
		}
	}
}

func TestFiring_Equal_ComparesInstants(t *testing.T) {
	var none *Firing
	a := &Firing{"a", due}
	for _, test := range []struct {
		f, o *Firing
		want bool
	}{
		{none, none, true},
		{none, a, false},
		{a, none, false},
		{a, &Firing{"a", due}, true},
		{a, &Firing{"a", due.In(time.FixedZone("CET", 3600))}, true},
		{a, &Firing{"a", due.Add(1)}, false},
		{a, &Firing{"a", time.Time{}}, false},
		{a, &Firing{"b", due}, false},
		{&Firing{Name: "a"}, &Firing{Name: "a"}, true},
	} {
		if got := test.f.Equal(test.o); got != test.want {
			t.Errorf("%v.Equal(%v) = %v, want %v", test.f, test.o, got, test.want)
		}
	}
}
