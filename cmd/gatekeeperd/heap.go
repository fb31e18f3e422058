package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// heapFloor is how large the heap may grow before garbage is collected, in bytes, however little of it is in use. At Go's own pace, which is twice
	// what is in use, a server with few permits collects all the time: a fifth of a busy leader's CPU time.
	heapFloor = 96 << 20
	// leastHeap is the heap at which Go begins to collect at 100 percent (heapMinimum in runtime/mgcpacer.go of 1.26).
	leastHeap = 4 << 20
	// usualPercent is Go's own pace.
	usualPercent = 100
)

// heapPacer says after each collection by how many percent the heap may grow, which is what GOGC says for all sizes alike. Above heapFloor it is Go's
// own pace. A heap that has just grown far is held to the old percentage until its sweep has ended.
type heapPacer struct {
	measure func() heapUse
	set     func(percent int) int
	percent int
}

// heapUse is what the last collection found, in bytes: what is in use, and what it looks through beside, from which Go reckons as well.
type heapUse struct{ live, roots uint64 }

// paceHeap begins, unless the operator has said by GOGC or GOMEMLIMIT what the heap may do. It is for the rest of the process's life.
func paceHeap(getenv func(string) string) {
	if getenv("GOGC") != "" || getenv("GOMEMLIMIT") != "" {
		return
	}
	(&heapPacer{measure: used, set: debug.SetGCPercent, percent: usualPercent}).collected()
}

// collected is called now, and after each collection.
func (p *heapPacer) collected() {
	if now := p.measure().percent(); now != p.percent {
		p.percent = now
		p.set(now)
	}
	// What nobody refers to is found by the next collection.
	runtime.AddCleanup(new([2]uintptr), (*heapPacer).collected, p)
}

// percent is by how many the heap may grow.
func (u heapUse) percent() int {
	if u.live >= heapFloor {
		return usualPercent
	}
	return max(usualPercent, int((heapFloor-u.live)*100/max(u.live+u.roots, leastHeap)))
}

func used() heapUse {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	metrics.Read(samples)
	return heapUse{live: samples[0].Value.Uint64(), roots: samples[1].Value.Uint64() + samples[2].Value.Uint64()}
}
