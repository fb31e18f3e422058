package main

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"testing"
)

func TestHeapUse_Percent_FillsTheFloor_AndLeavesLargeHeapsAlone(t *testing.T) {
	for _, test := range []struct {
		use  heapUse
		want int
	}{
		{heapUse{}, 100 * heapFloor / leastHeap}, // before the first collection
		{heapUse{live: leastHeap}, 100 * (heapFloor - leastHeap) / leastHeap},
		{heapUse{live: heapFloor / 4}, 300},
		{heapUse{live: heapFloor / 4, roots: heapFloor / 4}, 150},
		{heapUse{live: heapFloor / 4, roots: heapFloor}, usualPercent},
		{heapUse{live: heapFloor / 2}, usualPercent},
		{heapUse{live: heapFloor}, usualPercent},
		{heapUse{live: 10 << 30}, usualPercent},
	} {
		if got := test.use.percent(); got != test.want {
			t.Errorf("%+v: %d percent, want %d", test.use, got, test.want)
		}
	}
}

func TestUsed_IsWhatACollectionFinds(t *testing.T) {
	held := make([]byte, 32<<20)
	runtime.GC()
	if u := used(); u.live < 32<<20 || u.roots == 0 {
		t.Errorf("%+v with 32 MiB in use", u)
	}
	runtime.KeepAlive(held)
}

// With each collection the pace follows what is in use. The pacer has no end, and sets nothing here but what the test reads.
func TestHeapPacer_FollowsWhatIsInUse(t *testing.T) {
	var live, set atomic.Uint64
	p := &heapPacer{
		measure: func() heapUse { return heapUse{live: live.Load()} },
		set:     func(percent int) int { return int(set.Swap(uint64(percent))) },
		percent: usualPercent,
	}
	p.collected()
	for _, step := range []struct{ live, want uint64 }{{heapFloor, usualPercent}, {heapFloor / 4, 300}, {1 << 30, usualPercent}} {
		live.Store(step.live)
		for set.Load() != step.want { // or the time limit of all tests ends it
			runtime.GC()
		}
	}
}

func TestPaceHeap_LeavesTheOperatorTheSay(t *testing.T) {
	before := percentNow(t)
	for _, set := range []string{"GOGC", "GOMEMLIMIT"} {
		paceHeap(func(name string) string { return map[string]string{set: "1"}[name] })
		if now := percentNow(t); now != before {
			t.Errorf("%s was given, and the pace is %d percent", set, now)
		}
	}
}

func percentNow(t *testing.T) uint64 {
	t.Helper()
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
