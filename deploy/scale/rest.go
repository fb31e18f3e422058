package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/gatekeeperd/gatekeeper/client/deffile"
	"github.com/gatekeeperd/gatekeeper/deploy/samples"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// settleTime is how long a server must go without requests before it counts as idle.
const settleTime = 2 * time.Second

// measureIdleServer measures a server with a real job schedule and no requests.
func (s *scale) measureIdleServer(ctx context.Context, r *report) error {
	jobs, err := samples.Kubernetes()
	if err != nil {
		return err
	}
	definitions, err := samples.Definitions(jobs)
	if err != nil {
		return err
	}
	text, err := deffile.Marshal(definitions)
	if err != nil {
		return err
	}
	file := filepath.Join(s.dir, "definitions.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	cluster, err := s.start(ctx, "rest", 1, file)
	if err != nil {
		return err
	}
	defer cluster.Kill()
	server := cluster.Servers[0]
	if err := pause(ctx, settleTime); err != nil {
		return err
	}
	r.Rest.Definitions = len(jobs)
	if r.Rest.CPU, r.Rest.Seconds, err = idle(ctx, server, s.rest); err != nil {
		return err
	}
	// Do not trigger a collection first, because operators see the memory usage without one.
	m, err := server.Metrics(ctx)
	r.Rest.Resident = m["process_resident_memory_bytes"]
	return err
}

// idle returns the server's CPU usage without requests, as a percentage of one core.
func idle(ctx context.Context, server *servers.Server, length time.Duration) (percent, seconds float64, err error) {
	before, err := cpuTime(ctx, server)
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if err := pause(ctx, length); err != nil {
		return 0, 0, err
	}
	after, err := cpuTime(ctx, server)
	seconds = time.Since(start).Seconds()
	return 100 * (after - before).Seconds() / seconds, seconds, err
}

// pause waits for a duration, or until ctx ends.
func pause(ctx context.Context, length time.Duration) error {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
