package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// sample is the state of all servers at one moment.
type sample struct {
	At      float64 `json:"at"` // seconds
	Done    counts  `json:"done"`
	Servers []state `json:"servers"`
	// Stall is the machine's longest stall since the previous sample, in seconds.
	Stall float64 `json:"stall"`
}

// term returns the highest term reported by any server.
func (s sample) term() (newest uint64) {
	for _, server := range s.Servers {
		newest = max(newest, server.Term)
	}
	return newest
}

// state is the state of one server at one moment.
type state struct {
	// Memory is the size of the Go heap and the stacks. Resident memory also includes memory that the collector has
	// freed but not returned, and mapped pages of raft.db.
	Memory     float64 `json:"memory_bytes"`
	Resident   float64 `json:"resident_bytes"`
	Goroutines float64 `json:"goroutines"`
	Disk       float64 `json:"data_bytes"`
	CPU        float64 `json:"cpu_seconds"`
	Term       uint64  `json:"term"`
	// Applied is the number of applied log entries.
	Applied uint64 `json:"applied_index"`
}

// takeSample samples every server.
func takeSample(ctx context.Context, cluster *servers.Cluster) (sample, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var all sample
	for _, server := range cluster.Servers {
		m, err := server.Metrics(ctx)
		if err != nil {
			return sample{}, err
		}
		status, err := server.Status(ctx)
		for err != nil && ctx.Err() == nil { // on a saturated machine, a request may time out after a second
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
			}
			status, err = server.Status(ctx)
		}
		if err != nil {
			return sample{}, fmt.Errorf("%s returned no status: %w", server.ID, err)
		}
		disk, err := size(server.Data())
		if err != nil {
			return sample{}, err
		}
		all.Servers = append(all.Servers, state{
			Memory:   m["go_memstats_heap_inuse_bytes"] + m["go_memstats_stack_inuse_bytes"],
			Resident: m["process_resident_memory_bytes"], Goroutines: m["go_goroutines"], CPU: m["process_cpu_seconds_total"],
			Disk: disk, Term: status.GetTerm(), Applied: status.GetAppliedIndex(),
		})
	}
	return all, nil
}

// size returns the total size of the files in a directory, in bytes. Snapshots may be created and deleted concurrently.
func size(dir string) (bytes float64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = entry.Info(); err == nil {
				bytes += float64(info.Size())
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return bytes, err
}
