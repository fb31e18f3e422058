package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// The servers' counters that the bench looks at, as the admin port shows them.
const (
	metricEntries  = "gatekeeper_log_entries_total"
	metricCommands = "gatekeeper_log_entry_commands_sum"
	metricCPU      = "process_cpu_seconds_total" // which not every system tells
)

// counters are what a server has written to its log, and the CPU time in seconds that it has taken, since it started.
type counters struct{ entries, commands, cpu float64 }

// scrape reads the counters of a server from its admin port.
func scrape(ctx context.Context, server *servers.Server) (counters, error) {
	sums, err := server.Metrics(ctx)
	if err != nil {
		return counters{}, err
	}
	for _, name := range []string{metricEntries, metricCommands} {
		if _, ok := sums[name]; !ok {
			return counters{}, fmt.Errorf("%s does not show %s", server.ID, name)
		}
	}
	return counters{entries: sums[metricEntries], commands: sums[metricCommands], cpu: sums[metricCPU]}, nil
}

// quiet is how long nothing may be written for the leader to count as settled: callers are noted once a second.
const quiet = 2 * time.Second

// settled waits until the leader has written for a while nothing more of what it notes in the background.
func settled(ctx context.Context, leader *servers.Server) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 15*quiet, errors.New("the leader goes on writing to its log although nobody asks it to"))
	defer cancel()
	tick := time.NewTicker(quiet / 20)
	defer tick.Stop()
	var last counters
	for since := time.Now(); time.Since(since) < quiet; {
		now, err := scrape(ctx, leader)
		if err != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		if now.entries != last.entries {
			last, since = now, time.Now()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// unwritten runs do and fails when the leader wrote anything to its log meanwhile.
func unwritten(ctx context.Context, leader *servers.Server, do func() error) error {
	before, err := scrape(ctx, leader)
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	after, err := scrape(ctx, leader)
	if err != nil {
		return err
	}
	if after.entries != before.entries || after.commands != before.commands {
		return fmt.Errorf("%v entries with %v commands were written to the log, want none", after.entries-before.entries, after.commands-before.commands)
	}
	return nil
}
