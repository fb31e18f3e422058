package semaphore

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAdmit_Drains_DelayStops(t *testing.T) {
	type change func(*Permit, *Facts)
	const granted = 7
	deleted := func(_ *Permit, f *Facts) { f.Definition, f.Admission.Group, f.Admission.Acquirer = nil, false, false }
	otherGroup := func(_ *Permit, f *Facts) { f.Admission.Group = false }
	otherAcquirer := func(_ *Permit, f *Facts) { f.Admission.Acquirer = false }
	edited := func(revision uint64) change { return func(_ *Permit, f *Facts) { f.Drains = []Drain{{revision, 1}} } }
	cordoned := func(drain uint64) change {
		return func(_ *Permit, f *Facts) { f.Admission.Cordons = []Cordon{{"k", Drain{drain, 1}}} }
	}
	paused := func(revision uint64, drain time.Duration) change {
		return func(_ *Permit, f *Facts) { f.Pause = &Pause{Stop: true, Revision: revision, Drain: drain} }
	}
	revoked := func(drain time.Duration) change {
		return func(p *Permit, _ *Facts) { p.Stop, p.Order = StopRevoked, &StopOrder{Revision: 9, Drain: drain} }
	}
	overheld := func(_ *Permit, f *Facts) { f.OwnOverheld = true }
	continues := func(c StopCause) Decision { return Decision{Outcome: Refreshed, Stop: c} }
	stops := func(r Reason, c StopCause) Decision { return Decision{Outcome: Denied, Reason: r, Stop: c} }

	for _, test := range []struct {
		name   string
		change []change
		want   Decision
	}{
		{"holder is admitted", []change{edited(9)}, Decision{Outcome: Refreshed}},
		{"1: deleted", []change{deleted, edited(9)}, continues(StopNoLongerAdmitted)},
		{"1: granted after the drain began", []change{deleted, edited(granted)}, stops(NoSuchSemaphore, StopNoLongerAdmitted)},
		{"1: deleted, drain has ended", []change{deleted}, stops(NoSuchSemaphore, StopNoLongerAdmitted)},
		{"2: group", []change{otherGroup, edited(9)}, continues(StopNoLongerAdmitted)},
		{"2: group, granted after the drain began", []change{otherGroup, edited(5)}, stops(GroupMismatch, StopNoLongerAdmitted)},
		{"3: acquirer", []change{otherAcquirer, edited(granted + 1)}, continues(StopNoLongerAdmitted)},
		{"3: acquirer, granted after the drain began", []change{otherAcquirer, edited(granted)}, stops(AcquirerMismatch, StopNoLongerAdmitted)},
		{"4: cordon", []change{cordoned(9)}, continues(StopCordoned)},
		{"4: cordon, granted after the drain began", []change{cordoned(granted)}, stops(Cordoned, StopCordoned)},
		{"4: cordon without a drain", []change{cordoned(0)}, stops(Cordoned, StopCordoned)},
		{"4: pause", []change{paused(9, time.Minute)}, continues(StopPaused)},
		{"4: pause, granted after the drain began", []change{paused(granted, time.Minute)}, stops(Paused, StopPaused)},
		{"4: pause without a drain", []change{paused(9, 0)}, stops(Paused, StopPaused)},
		{"4: the drain of a pause without stop has no effect", []change{func(_ *Permit, f *Facts) { f.Pause = &Pause{Revision: 9, Drain: 1} }, cordoned(0)}, stops(Cordoned, StopCordoned)},
		{"5: revoked", []change{revoked(time.Minute)}, continues(StopRevoked)},
		{"5: revoked without a drain", []change{revoked(0)}, stops(Stopping, StopRevoked)},
		{"5: no drain delays max_hold", []change{overheld, edited(9), revoked(time.Minute)}, stops(Stopping, StopHeldTooLong)},

		{"every cause has a drain: the first cause is reported", []change{deleted, edited(9), cordoned(9), revoked(time.Minute)}, continues(StopNoLongerAdmitted)},
		{"every cause except the edit has a drain", []change{otherGroup, cordoned(9), paused(9, 1), revoked(1)}, stops(GroupMismatch, StopNoLongerAdmitted)},
		{"every cause except the cordon has a drain", []change{otherGroup, edited(9), cordoned(0), paused(9, 1), revoked(1)}, stops(Cordoned, StopCordoned)},
		{"every cause except the pause has a drain", []change{otherGroup, edited(9), cordoned(9), paused(9, 0), revoked(1)}, stops(Paused, StopPaused)},
		{"every cause except the revoke has a drain", []change{otherGroup, edited(9), cordoned(9), paused(9, 1), revoked(0)}, stops(Stopping, StopRevoked)},
		{"deleted and revoked without a drain", []change{deleted, edited(9), revoked(0)}, stops(Stopping, StopRevoked)},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, f := livePermit(), newFacts()
			p.GrantedRevision = granted
			for _, change := range test.change {
				change(p, f)
			}
			before := *p
			if diff := cmp.Diff(test.want, Admit(p, f)); diff != "" {
				t.Errorf("Admit() (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, *p); diff != "" || f.Own != nil {
				t.Errorf("Admit modified its arguments: %s", diff)
			}
			f.Own, f.Repeat = p, true
			checkAgreement(t, newRequest(), f)
			// Drains apply only to refreshes; a new acquire is decided as if there were no drain.
			if d := Decide(newRequest(), f); d.Outcome != Denied && len(test.change) > 1 {
				t.Errorf("Decide() = %+v, want denied", d)
			}
		})
	}
}

// Held and cooling permits have no holder, so drains do not apply to them.
func TestAdmit_HeldOrCooling_IgnoresDrains(t *testing.T) {
	for state, want := range map[PermitState]Decision{
		Held:    {Outcome: Denied, Reason: Cordoned},
		Cooling: {Outcome: Denied, Reason: Cordoned},
	} {
		p, f := livePermit(), newFacts()
		p.State, f.Admission.Cordons = state, []Cordon{{"k", Drain{9, 1}}}
		if got := Admit(p, f); got != want {
			t.Errorf("%v: Admit() = %+v, want %+v", state, got, want)
		}
	}
}

func TestSentence_DrainingPermit_MentionsDrain(t *testing.T) {
	f := newFacts()
	f.Own, f.Admission.Cordons = livePermit(), []Cordon{{"k", Drain{9, 1}}}
	for _, test := range []struct {
		d    Decision
		want string
	}{
		{Decide(newRequest(), f), `Group "prod" or acquirer "app1" is cordoned, so permit 42 must stop; it may be refreshed until its drain is over.`},
		{Admit(f.Own, f), `Refreshed: the caller already holds permit 42, which must stop (cordoned); it may be refreshed until its drain is over.`},
	} {
		if got := test.d.Sentence(newRequest(), f); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}
