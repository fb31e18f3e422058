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

// sample is all servers at one moment.
type sample struct {
	At      float64 `json:"at"` // seconds
	Done    counts  `json:"done"`
	Servers []state `json:"servers"`
	// Stall is for how long at most, in seconds, the machine stood still since the look before.
	Stall float64 `json:"stall"`
}

// term is the newest that a server knows.
func (s sample) term() (newest uint64) {
	for _, server := range s.Servers {
		newest = max(newest, server.Term)
	}
	return newest
}

// state is one server at one moment.
type state struct {
	// Memory is what the Go heap and the stacks hold. Resident memory has in it also what the collector has freed and
	// not given back, and mapped pages of raft.db.
	Memory     float64 `json:"memory_bytes"`
	Resident   float64 `json:"resident_bytes"`
	Goroutines float64 `json:"goroutines"`
	Disk       float64 `json:"data_bytes"`
	CPU        float64 `json:"cpu_seconds"`
	Term       uint64  `json:"term"`
	// Applied is how many entries the log has had.
	Applied uint64 `json:"applied_index"`
}

// look looks at every server.
func look(ctx context.Context, cluster *servers.Cluster) (sample, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var all sample
	for _, server := range cluster.Servers {
		m, err := server.Metrics(ctx)
		if err != nil {
			return sample{}, err
		}
		status, err := server.Status(ctx)
		for err != nil && ctx.Err() == nil { // it waits for a second only, and the machine is saturated
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
			}
			status, err = server.Status(ctx)
		}
		if err != nil {
			return sample{}, fmt.Errorf("%s says nothing of itself: %w", server.ID, err)
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

// size is how many bytes the files of a folder have. Snapshots come and go meanwhile.
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
