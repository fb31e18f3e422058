package hosts

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
)

var sizes = map[string]uint32{"job": 1, "pool/a": 4}

func TestCount_CorrectHosts_HaveNoOverlap(t *testing.T) {
	got := count([]*stage.Life{
		{Name: "a", Records: []stage.Record{
			{Event: stage.Granted, Semaphore: "job", At: 10, Token: 1, Weight: 1, RequestedAt: 9},
			{Event: stage.Granted, Semaphore: "pool/a", At: 11, Token: 2, Weight: 2, RequestedAt: 10},
			{Event: stage.Ended, Semaphore: "pool/a", At: 20, Token: 2, Until: 20},
			{Event: stage.Ended, Semaphore: "job", At: 30, Token: 1, Until: 30},
		}},
		{Name: "b", Records: []stage.Record{
			{Event: stage.Denied, Semaphore: "job", At: 12, Text: "NO_FREE_PERMIT"},
			{Event: stage.Granted, Semaphore: "job", At: 33, Token: 3, Weight: 1, RequestedAt: 15},
			{Event: stage.Ended, Semaphore: "job", At: 40, Token: 3, Until: 40, Lost: true},
		}},
	}, sizes, 0)
	if len(got.violations) != 0 || len(got.beliefs) != 3 {
		t.Errorf("got violations %v and %d beliefs, want none and 3", got.violations, len(got.beliefs))
	}
	if got.jobs != 2 || got.shares != 1 || got.denials["NO_FREE_PERMIT"] != 1 || got.ends["lost"] != 1 {
		t.Errorf("got tally %+v, want 2 job grants, 1 share grant, 1 denial and 1 lost permit", got)
	}
	if !slices.Equal(got.handovers, []time.Duration{3}) {
		t.Errorf("got handovers %v, want [3ns], the time from the end of a's belief to b's grant", got.handovers)
	}
}

func TestCount_BeliefPastDeadline_IsDetected(t *testing.T) {
	got := count([]*stage.Life{
		{Name: "a", Records: []stage.Record{
			{Event: stage.Granted, Semaphore: "job", At: 10, Token: 1, Weight: 1},
			{Event: stage.Ended, Semaphore: "job", At: 50, Token: 1, Until: 50, Lost: true},
		}},
		{Name: "b", Records: []stage.Record{{Event: stage.Granted, Semaphore: "job", At: 33, Token: 3, Weight: 1}}, Killed: 60},
	}, sizes, 0)
	if len(got.violations) != 1 || !strings.Contains(got.violations[0], "for 17ns") {
		t.Errorf("got violations %v, want one overlap from 33 to 50", got.violations)
	}
}

func TestCount_KilledHost_EndsBelief(t *testing.T) {
	dead := &stage.Life{Name: "a", Killed: 20, Records: []stage.Record{{Event: stage.Granted, Semaphore: "job", At: 10, Token: 1, Weight: 1}}}
	next := &stage.Life{Name: "b", Records: []stage.Record{
		{Event: stage.Granted, Semaphore: "job", At: 25, Token: 2, Weight: 1},
		{Event: stage.Ended, Semaphore: "job", At: 30, Token: 2, Until: 30},
	}}
	got := count([]*stage.Life{dead, next}, sizes, 0)
	if len(got.violations) != 0 || got.orphans != 1 {
		t.Errorf("got violations %v and %d orphans, want none and 1", got.violations, got.orphans)
	}
	dead.Killed = 0 // a is alive and has not recorded the end of its belief
	if got := count([]*stage.Life{dead, next}, sizes, 0); len(got.violations) != 1 {
		t.Errorf("got violations %v, want one overlap, because a live host's belief continues until its end is recorded", got.violations)
	}
}

func TestCount_FiringRanTwice_IsDetected(t *testing.T) {
	run := func(host string, token uint64, at time.Duration, ran bool) *stage.Life {
		l := &stage.Life{Name: host, Records: []stage.Record{
			{Event: stage.Granted, Semaphore: "job", At: at, Token: token, Weight: 1, Due: monday},
			{Event: stage.Ended, Semaphore: "job", At: at + 1, Until: at + 1, Token: token},
		}}
		if ran {
			l.Records = append(l.Records, stage.Record{Event: stage.Began, Semaphore: "job", At: at, Token: token})
		}
		return l
	}
	rerun := count([]*stage.Life{run("a", 1, 10, false), run("b", 2, 20, true)}, sizes, 0)
	if got := rerun.repeatedFirings(); len(got) != 0 {
		t.Errorf("repeatedFirings() = %v, want none: the first host released the firing without running it", got)
	}
	repeated := count([]*stage.Life{run("a", 1, 10, true), run("b", 2, 20, true)}, sizes, 0)
	if got := repeated.repeatedFirings(); len(got) != 1 || !strings.HasPrefix(got[0], "job at 2026-06-01") {
		t.Errorf("got %q, want one firing, on 2026-06-01", got)
	}
}

func TestCount_Failover_EndsWithFirstGrantByNextLeader(t *testing.T) {
	at := func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }
	got := count([]*stage.Life{{Name: "a", Records: []stage.Record{
		{Event: stage.Granted, Semaphore: "pool/a", At: at(900), Token: 1, Weight: 1},
		{Event: stage.Granted, Semaphore: "pool/a", At: at(1001), Token: 2, Weight: 1}, // the old leader's last response
		{Event: stage.Granted, Semaphore: "pool/a", At: at(2700), Token: 3, Weight: 1},
	}, Killed: at(3000)}}, sizes, at(1000))
	if got.failover != at(1700) {
		t.Errorf("got failover time %v, want 1.7s", got.failover)
	}
}
