package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/servers"
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
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+server.Admin+"/metrics", nil)
	if err != nil {
		return counters{}, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return counters{}, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return counters{}, fmt.Errorf("%s answered %s", request.URL, answer.Status)
	}
	sums, err := parseMetrics(answer.Body)
	if err != nil {
		return counters{}, err
	}
	for _, name := range []string{metricEntries, metricCommands} {
		if _, ok := sums[name]; !ok {
			return counters{}, fmt.Errorf("%s does not show %s", request.URL, name)
		}
	}
	return counters{entries: sums[metricEntries], commands: sums[metricCommands], cpu: sums[metricCPU]}, nil
}

// parseMetrics reads Prometheus' text format and adds up each metric over its labels.
func parseMetrics(r io.Reader) (map[string]float64, error) {
	sums := map[string]float64{}
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		line := scanner.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		if at := strings.IndexByte(line, '{'); at >= 0 {
			end := strings.LastIndexByte(line, '}')
			if end < at {
				return nil, fmt.Errorf("a metric that cannot be read: %q", line)
			}
			name, rest = line[:at], line[end+1:]
		}
		fields := strings.Fields(rest)
		if len(fields) == 0 {
			return nil, fmt.Errorf("a metric that cannot be read: %q", line)
		}
		value, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			return nil, fmt.Errorf("a metric that cannot be read: %q: %w", line, err)
		}
		sums[name] += value
	}
	return sums, scanner.Err()
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
