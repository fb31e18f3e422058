package main

import (
	"slices"
	"testing"
	"time"
)

var sizes = map[string]uint32{"job": 1, "pool": 4}

func isPool(semaphore string) bool { return semaphore == "pool" }

func TestCount_HonestHosts_HaveNoOverlap(t *testing.T) {
	got := count([]life{
		{host: "a", records: []record{
			{Event: eventGranted, Semaphore: "job", At: 10, Token: 1, Weight: 1, Asked: 9},
			{Event: eventGranted, Semaphore: "pool", At: 11, Token: 2, Weight: 2, Asked: 10},
			{Event: eventEnded, Semaphore: "pool", At: 20, Token: 2, Until: 20, Reason: endReleased},
			{Event: eventEnded, Semaphore: "job", At: 30, Token: 1, Until: 30, Reason: endReleased},
		}},
		{host: "b", records: []record{
			{Event: eventDenied, Semaphore: "job", At: 12, Reason: "NO_FREE_PERMIT"},
			{Event: eventGranted, Semaphore: "job", At: 33, Token: 3, Weight: 1, Asked: 15},
			{Event: eventEnded, Semaphore: "job", At: 40, Token: 3, Until: 40, Reason: endLost},
		}},
	}, sizes, isPool, 0)
	if len(got.overlaps) != 0 || len(got.falling) != 0 || len(got.beliefs) != 3 {
		t.Errorf("overlaps %v, falling tokens %v, %d beliefs", got.overlaps, got.falling, len(got.beliefs))
	}
	if got.grants[false] != 2 || got.grants[true] != 1 || got.denials["NO_FREE_PERMIT"] != 1 || got.ends[endLost] != 1 {
		t.Errorf("%+v", got)
	}
	if !slices.Equal(got.handOvers, []time.Duration{3}) {
		t.Errorf("hand-overs %v, want the 3 from a's end to b's grant", got.handOvers)
	}
}

func TestCount_BeliefThatOutlivesItsDeadline_IsSeen(t *testing.T) {
	got := count([]life{
		{host: "a", records: []record{
			{Event: eventGranted, Semaphore: "job", At: 10, Token: 1, Weight: 1},
			{Event: eventEnded, Semaphore: "job", At: 50, Token: 1, Until: 50, Reason: endLost},
		}},
		{host: "b", records: []record{{Event: eventGranted, Semaphore: "job", At: 33, Token: 3, Weight: 1}}, killed: 60},
	}, sizes, isPool, 0)
	if len(got.overlaps) != 1 || got.overlaps[0].From != 33 || got.overlaps[0].Until != 50 {
		t.Errorf("overlaps %v, want one from 33 to 50", got.overlaps)
	}
}

func TestCount_KilledHost_BelievesNothingFromThenOn(t *testing.T) {
	dead := life{host: "a", killed: 20, records: []record{{Event: eventGranted, Semaphore: "job", At: 10, Token: 1, Weight: 1}}}
	next := life{host: "b", records: []record{
		{Event: eventGranted, Semaphore: "job", At: 25, Token: 2, Weight: 1},
		{Event: eventEnded, Semaphore: "job", At: 30, Token: 2, Until: 30, Reason: endReleased},
	}}
	got := count([]life{dead, next}, sizes, isPool, 0)
	if len(got.overlaps) != 0 || got.orphans != 1 {
		t.Errorf("overlaps %v, %d orphans", got.overlaps, got.orphans)
	}
	dead.killed = 0 // it lives and never said that it stopped
	if got := count([]life{dead, next}, sizes, isPool, 0); len(got.overlaps) != 1 {
		t.Errorf("overlaps %v, want one: a living host that says nothing believes on", got.overlaps)
	}
}

func TestCount_FiringThatRanTwice_IsSeen(t *testing.T) {
	run := func(host string, token uint64, at time.Duration, ran bool) life {
		return life{host: host, records: []record{
			{Event: eventGranted, Semaphore: "job", At: at, Token: token, Weight: 1, Firing: "job at noon"},
			{Event: eventEnded, Semaphore: "job", At: at + 1, Until: at + 1, Token: token, Reason: endReleased, Ran: ran},
		}}
	}
	again := count([]life{run("a", 1, 10, false), run("b", 2, 20, true)}, sizes, isPool, 0)
	if got := again.twice(); len(got) != 0 {
		t.Errorf("given back without having run, and then run: %v ran twice", got)
	}
	twice := count([]life{run("a", 1, 10, true), run("b", 2, 20, true)}, sizes, isPool, 0)
	if got := twice.twice(); !slices.Equal(got, []string{"job at noon"}) {
		t.Errorf("%v ran twice, want job at noon", got)
	}
}

func TestCount_FailOver_IsTheFirstGrantOfTheNextLeader(t *testing.T) {
	at := func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }
	got := count([]life{{host: "a", records: []record{
		{Event: eventGranted, Semaphore: "pool", At: at(900), Token: 1, Weight: 1},
		{Event: eventGranted, Semaphore: "pool", At: at(1001), Token: 2, Weight: 1}, // the old leader's last answer
		{Event: eventGranted, Semaphore: "pool", At: at(2700), Token: 3, Weight: 1},
	}, killed: at(3000)}}, sizes, isPool, at(1000))
	if got.failOver != at(1700) {
		t.Errorf("fail-over %v, want 1.7s", got.failOver)
	}
}
