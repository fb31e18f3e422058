package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// Counters that the bench reads from the admin port.
const (
	metricEntries  = "gatekeeper_log_entries_total"
	metricCommands = "gatekeeper_log_entry_commands_sum"
	metricCPU      = "process_cpu_seconds_total" // not available on all systems
)

// counters counts the log entries and commands that a server has written since it started. cpu is its CPU time in
// seconds.
type counters struct{ entries, commands, cpu float64 }

// scrape reads a server's counters from its admin port.
func scrape(ctx context.Context, server *servers.Server) (counters, error) {
	sums, err := server.Metrics(ctx)
	if err != nil {
		return counters{}, err
	}
	for _, name := range []string{metricEntries, metricCommands} {
		if _, ok := sums[name]; !ok {
			return counters{}, fmt.Errorf("%s does not export %s", server.ID, name)
		}
	}
	return counters{entries: sums[metricEntries], commands: sums[metricCommands], cpu: sums[metricCPU]}, nil
}

// quietPeriod is how long the leader must go without writing to be considered idle. It records callers once a second.
const quietPeriod = 2 * time.Second

// awaitQuiet waits until the leader has finished its background writes.
func awaitQuiet(ctx context.Context, leader *servers.Server) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 15*quietPeriod, errors.New("the leader keeps writing to its log even though it is receiving no requests"))
	defer cancel()
	tick := time.NewTicker(quietPeriod / 20)
	defer tick.Stop()
	var last counters
	for since := time.Now(); time.Since(since) < quietPeriod; {
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

// withoutWrites calls do and fails if the leader writes anything to its log in the meantime.
func withoutWrites(ctx context.Context, leader *servers.Server, do func() error) error {
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
