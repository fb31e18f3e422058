package main

import (
	"context"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// memory is the memory usage of a server, in bytes.
type memory struct {
	// Resident is the resident set size. Besides memory in use, it includes garbage until the next collection (GOGC).
	Resident float64 `json:"resident"`
	// InUse is the size of the heap spans that contain objects after a collection, plus the goroutines' stacks.
	InUse float64 `json:"in_use"`
	// Live is the size of the objects on the heap after a collection. The rest of their spans is reserved for more
	// objects of the same size.
	Live       float64 `json:"live"`
	Goroutines float64 `json:"goroutines"`
}

// perObject returns the increase since the previous measurement, divided by count.
func (m memory) perObject(before memory, count int) memory {
	n := float64(max(count, 1))
	return memory{
		(m.Resident - before.Resident) / n, (m.InUse - before.InUse) / n, (m.Live - before.Live) / n, (m.Goroutines - before.Goroutines) / n,
	}
}

// measureMemory triggers garbage collections in the server and reads its memory usage. It collects twice, to free
// objects that only a finalizer keeps alive.
func measureMemory(ctx context.Context, server *servers.Server) (memory, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for range 2 {
		if err := server.CollectGarbage(ctx); err != nil {
			return memory{}, err
		}
	}
	m, err := server.Metrics(ctx)
	if err != nil {
		return memory{}, err
	}
	return memory{
		Resident:   m["process_resident_memory_bytes"],
		InUse:      m["go_memstats_heap_inuse_bytes"] + m["go_memstats_stack_inuse_bytes"],
		Live:       m["go_memstats_heap_alloc_bytes"],
		Goroutines: m["go_goroutines"],
	}, nil
}

// cpuTime returns the CPU time that a server has used since it started.
func cpuTime(ctx context.Context, server *servers.Server) (time.Duration, error) {
	m, err := server.Metrics(ctx)
	return time.Duration(m["process_cpu_seconds_total"] * float64(time.Second)), err
}

// idleResult is the result for a server with a real job schedule and no requests.
type idleResult struct {
	Definitions int     `json:"definitions"`
	Seconds     float64 `json:"seconds"`
	Resident    float64 `json:"resident_bytes"`
	CPU         float64 `json:"cpu_percent"` // percent of one core
}
