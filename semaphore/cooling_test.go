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
		{60 * s, 0, -s, 60 * s, 60 * s}, // a clock that ran backwards does not make it longer
		{0, 30 * s, 10 * s, 0, 30 * s},
		{60 * s, 30 * s, 10 * s, 50 * s, 50 * s},
		{60 * s, 30 * s, 40 * s, 20 * s, 30 * s},
	} {
		d := &Definition{MinHold: test.minHold, LossDelay: test.lossDelay}
		if got := ReleaseCooling(d, test.held); got != test.release {
			t.Errorf("%+v: ReleaseCooling = %v", test, got)
		}
		if got := LossCooling(d, test.held); got != test.loss {
			t.Errorf("%+v: LossCooling = %v", test, got)
		}
	}
	if ReleaseCooling(nil, 0) != 0 || LossCooling(nil, 0) != 0 {
		t.Error("a deleted definition cools nothing")
	}
}

func TestClaimAfter_EveryEnd(t *testing.T) {
	spent, free := &Definition{FiringOnLoss: FiringSpent}, &Definition{FiringOnLoss: FiringFree}
	for _, test := range []struct {
		def  *Definition
		end  End
		job  JobEnd
		want ClaimState
	}{
		{spent, EndReleased, JobDone, ClaimDone},
		{free, EndReleased, JobDone, ClaimDone},
		{nil, EndReleased, JobDone, ClaimDone},
		{spent, EndReleased, JobNotRun, 0},
		{nil, EndReleased, JobNotRun, 0},
		{spent, EndReleased, JobCutShort, ClaimSpent},
		{free, EndReleased, JobCutShort, 0},
		{nil, EndReleased, JobCutShort, ClaimSpent},
		{spent, EndCancelled, JobCutShort, 0},
		{spent, EndExpired, JobDone, ClaimSpent},
		{spent, EndExpired, JobNotRun, ClaimSpent},
		{free, EndExpired, JobDone, 0},
		{nil, EndExpired, JobDone, ClaimSpent},
		{spent, EndCleared, JobDone, ClaimSpent},
		{free, EndCleared, JobDone, 0},
		{spent, EndAbandoned, JobDone, 0},
		{spent, EndCancelled, JobDone, 0},
		{free, NotEnded, JobDone, ClaimHeld},
	} {
		if got := ClaimAfter(test.def, test.end, test.job); got != test.want {
			t.Errorf("%+v: ClaimAfter = %v", test, got)
		}
	}
}

func TestFiring_Equal_AsInstants(t *testing.T) {
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
			t.Errorf("%v Equal %v = %v", test.f, test.o, got)
		}
	}
}
