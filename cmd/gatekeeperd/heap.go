package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

const (
	// heapFloor is how large the heap may grow before garbage is collected, in bytes, however little of it is in use. A server has some 10 MB in use
	// and makes as much garbage with a thousand calls: at Go's own pace collecting takes a fifth of a busy leader's CPU time.
	heapFloor = 96 << 20
	// leastHeap is the heap at which Go begins to collect at 100 percent (runtime/mgcpacer.go of 1.26).
	leastHeap = 4 << 20
	// usualPercent is Go's own pace: as much garbage as there is in use.
	usualPercent = 100
)

// heapPacer keeps the garbage collector from running again and again over a small heap. After each collection it says anew by how many percent
// the heap may grow, which is what GOGC says for all sizes alike. Above heapFloor it is Go's own pace.
type heapPacer struct{ percent atomic.Int64 }

// paceHeap begins, unless the operator has said by GOGC or GOMEMLIMIT what the heap may do.
func paceHeap(getenv func(string) string) {
	if getenv("GOGC") != "" || getenv("GOMEMLIMIT") != "" {
		return
	}
	p := new(heapPacer)
	p.collected(0)
}

// collected is called after each collection, with what is in use.
func (p *heapPacer) collected(live uint64) {
	now := percentFor(live)
	// Setting it stops everything for a moment, so little differences are left alone.
	if was := p.percent.Load(); now < was-was/8 || now > was+was/8 {
		p.percent.Store(now)
		debug.SetGCPercent(int(now))
	}
	// What nobody refers to is found by the next collection.
	runtime.AddCleanup(new([2]uintptr), func(p *heapPacer) { p.collected(inUse()) }, p)
}

// percentFor is by how many percent a heap may grow of which so much is in use.
func percentFor(live uint64) int64 {
	live = max(live, leastHeap)
	if 2*live >= heapFloor {
		return usualPercent
	}
	return int64((heapFloor - live) * 100 / live)
}

// inUse is what the last collection found in use.
func inUse() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
