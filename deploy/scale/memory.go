package main

import (
	"context"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// memory is what a server takes, in bytes.
type memory struct {
	// Resident is what the system says. Beside what is in use Go keeps what fills up before the next collection (GOGC).
	Resident float64 `json:"resident"`
	// InUse are the spans of the heap that hold anything after a collection, and the stacks of goroutines.
	InUse float64 `json:"in_use"`
	// Live is what the objects themselves have of the heap after a collection. The rest of their spans is for the next
	// ones of their size.
	Live       float64 `json:"live"`
	Goroutines float64 `json:"goroutines"`
}

// each is by how much it is more than before, for each of so many things.
func (m memory) each(before memory, count int) memory {
	n := float64(max(count, 1))
	return memory{
		(m.Resident - before.Resident) / n, (m.InUse - before.InUse) / n, (m.Live - before.Live) / n, (m.Goroutines - before.Goroutines) / n,
	}
}

// look has the server collect its garbage, twice so that nothing is left that only a finalizer held, and reads what it
// takes.
func look(ctx context.Context, server *servers.Server) (memory, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for range 2 {
		if err := server.Collect(ctx); err != nil {
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

// used is the CPU time that a server has taken since it started.
func used(ctx context.Context, server *servers.Server) (time.Duration, error) {
	m, err := server.Metrics(ctx)
	return time.Duration(m["process_cpu_seconds_total"] * float64(time.Second)), err
}

// atRest is a server with a real timetable that nobody asks anything.
type atRest struct {
	Definitions int     `json:"definitions"`
	Seconds     float64 `json:"seconds"`
	Resident    float64 `json:"resident_bytes"`
	CPU         float64 `json:"cpu_percent"` // of one core
}
