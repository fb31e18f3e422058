package main

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestPercentFor_FillsTheFloor_AndLeavesLargeHeapsAlone(t *testing.T) {
	for _, test := range []struct {
		live uint64
		want int64
	}{
		{0, (heapFloor - leastHeap) * 100 / leastHeap}, // before the first collection
		{leastHeap, (heapFloor - leastHeap) * 100 / leastHeap},
		{heapFloor / 4, 300},
		{heapFloor / 2, usualPercent},
		{heapFloor, usualPercent},
		{10 << 30, usualPercent},
	} {
		if got := percentFor(test.live); got != test.want {
			t.Errorf("%d bytes in use: %d percent, want %d", test.live, got, test.want)
		}
	}
}

// With each collection the pace follows what is in use.
func TestPaceHeap_FollowsWhatIsInUse(t *testing.T) {
	before := debug.SetGCPercent(usualPercent)
	defer debug.SetGCPercent(before)
	pace := func() int64 {
		now := debug.SetGCPercent(usualPercent)
		debug.SetGCPercent(now)
		return int64(now)
	}
	for _, set := range []string{"GOGC", "GOMEMLIMIT"} {
		paceHeap(func(name string) string { return map[string]string{set: "1"}[name] })
		if pace() != usualPercent {
			t.Errorf("%s was given, and the pace is another", set)
		}
	}
	paceHeap(func(string) string { return "" })
	if pace() <= usualPercent {
		t.Errorf("%d percent for an empty heap, want more than %d", pace(), usualPercent)
	}
	full := make([]byte, heapFloor)
	for pace() != usualPercent { // or the time limit of all tests ends it
		runtime.GC()
	}
	runtime.KeepAlive(full)
	for pace() <= usualPercent {
		runtime.GC()
	}
}
