// Command bench measures Gatekeeper servers that run as separate processes on this machine. It has six parts:
//
//   - core: denials, refreshes, and acquire/release pairs, on one server and on three, along with two limits
//     measured in the same run: grpc-go's unary echo, and an append with fdatasync.
//   - calls: the overhead of the client library over the generated stub, measured alternately against one server with
//     its data in memory.
//   - control: the latency of operator actions on three servers: the delivery of an edit to every watcher, a batch of
//     1,000 edits, the handover from a release to the next waiter, and the cost of 1,000 watchers.
//   - keep: the cost to one client, in a separate process, of keeping 10,000 permits alive on three servers. Each
//     permit has a duration of 30 s.
//   - profile: the CPU profile of a three-server cluster's leader while it denies requests and refreshes and grants
//     permits. It runs only on request.
//   - failover: the time from killing the leader with kill -9 to the next grant, with the default and fast profiles.
//     It takes minutes and runs only on request.
//
// Package peers, a separate module, compares Gatekeeper with other systems. Only ratios and differences within one run
// are meaningful. Absolute figures vary between runs and machines.
//
// The bench also uses the servers' counters to check two guarantees: denials and refreshes for known callers write no
// log entries, and concurrent acquires share entries. It checks two guarantees of the client: no permit is lost, and a
// single stream is enough. A failed call or a broken guarantee fails the run. A missed performance target is only
// reported, because it depends on the machine and its other load.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/bench/failover"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/program"
)

type bench struct {
	bin     string
	dir     string
	parts   []string
	sizes   []int
	callers []int
	store   string
	windows windows
	permits int           // number of permits to keep alive
	keepFor time.Duration // length of the keep window
	runs    int           // number of leader kills per cluster
}

// report holds the results of a run.
type report struct {
	Go       string        `json:"go"`
	CPUs     int           `json:"cpus"`
	Echo     []load.Figure `json:"echo,omitempty"`
	Sync     *load.Figure  `json:"append_fdatasync,omitempty"`
	Clusters []*core       `json:"clusters,omitempty"`
	Calls    []overhead    `json:"client_calls,omitempty"`
	Keep     *keepResult   `json:"client_keeps,omitempty"`
	Control  *control      `json:"control,omitempty"`

	Failover []failover.Result `json:"failover,omitempty"`
	Profiles []profileResult   `json:"profiles,omitempty"`
}

// Parts of a run.
const (
	partCore  = "core"
	partCalls = "calls"
	partKeep  = "keep"

	partControl = "control"

	partFailover = "failover"
	partProfile  = "profile"
)

func main() {
	var b bench
	echo := flag.Bool("echo", false, "run the gRPC echo server; for internal use")
	keeper := flag.String("keeper", "", "hold permits on the servers at these addresses; for internal use")
	parts := flag.String("parts", "core,calls,control,keep", "what to measure; profile and failover run only if named")
	flag.StringVar(&b.bin, "bin", "bin", "directory that contains gatekeeperd")
	sizes := flag.String("servers", "1,3", "cluster sizes to measure")
	callers := flag.String("callers", "1,16,64,256", "numbers of concurrent callers")
	flag.DurationVar(&b.windows.warmUp, "warm-up", 500*time.Millisecond, "warm-up time before each measurement")
	flag.DurationVar(&b.windows.window, "window", time.Second, "length of a window")
	flag.StringVar(&b.store, "log-store", "", "the servers' log store: bolt or wal; if empty, the default")
	flag.IntVar(&b.permits, "permits", 10_000, "number of permits to keep alive with -parts keep")
	flag.DurationVar(&b.keepFor, "keep-for", 24*time.Second, "length of the -parts keep window, which begins once every permit has been refreshed")
	flag.IntVar(&b.runs, "runs", 20, "how many times to kill each cluster's leader with -parts failover")
	flag.IntVar(&b.windows.count, "windows", 3, "number of windows; the result is their median")
	file := flag.String("json", "bin/bench.json", "JSON file to write the results to; empty for none")
	flag.Parse()
	if *echo {
		exit(load.ServeEcho())
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *keeper != "" {
		exit(keep(ctx, os.Stdout, strings.Split(*keeper, ","), b.permits, b.keepFor))
		return
	}
	exit(b.run(ctx, os.Stdout, *parts, *sizes, *callers, *file))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) run(ctx context.Context, out io.Writer, parts, sizes, callers, file string) error {
	if err := b.check(parts, sizes, callers); err != nil {
		return err
	}
	var err error
	// Keep the data next to the binaries, on a real disk. Temporary directories are often in memory.
	if b.dir, err = os.MkdirTemp(b.bin, "bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)

	r := report{Go: runtime.Version(), CPUs: runtime.NumCPU()}
	if slices.Contains(b.parts, partCore) {
		if err := b.measureCores(ctx, &r); err != nil {
			return err
		}
	}
	if err := b.measureClient(ctx, &r); err != nil {
		return err
	}
	if slices.Contains(b.parts, partControl) {
		if r.Control, err = b.measureControl(ctx); err != nil {
			return fmt.Errorf("control: %w", err)
		}
	}
	if slices.Contains(b.parts, partFailover) {
		if r.Failover, err = b.measureFailover(ctx); err != nil {
			return fmt.Errorf("failover: %w", err)
		}
	}
	if slices.Contains(b.parts, partProfile) {
		if r.Profiles, err = b.measureProfiles(ctx); err != nil {
			return fmt.Errorf("profile: %w", err)
		}
	}
	r.print(out)
	return program.SaveJSON(file, r)
}

// check parses the list flags and validates all flags.
func (b *bench) check(parts, sizes, callers string) (err error) {
	b.parts = strings.Split(parts, ",")
	for _, part := range b.parts {
		if known := []string{partCore, partCalls, partControl, partKeep, partProfile, partFailover}; !slices.Contains(known, part) {
			return fmt.Errorf("-parts %q must be a comma-separated list of %s", parts, strings.Join(known, ", "))
		}
	}
	if b.sizes, err = numbers("-servers", sizes); err != nil {
		return err
	}
	if b.callers, err = numbers("-callers", callers); err != nil {
		return err
	}
	if b.windows.count < 1 || b.windows.window <= 0 {
		return fmt.Errorf("-windows %d and -window %v must be greater than 0", b.windows.count, b.windows.window)
	}
	if b.permits < 1 || b.permits > 1_000_000 {
		return fmt.Errorf("-permits %d must be between 1 and 1000000", b.permits)
	}
	if b.runs < 1 {
		return fmt.Errorf("-runs %d must be greater than 0", b.runs)
	}
	if b.keepFor < twoRefreshes {
		return fmt.Errorf("-keep-for %v must be at least %v, so that every permit is refreshed twice", b.keepFor, twoRefreshes)
	}
	return nil
}

// measureCores measures the machine's limits, and then clusters of each size.
func (b *bench) measureCores(ctx context.Context, r *report) error {
	var err error
	if r.Echo, err = b.measureEcho(ctx); err != nil {
		return fmt.Errorf("echo: %w", err)
	}
	synced, err := b.measureSync(ctx)
	if err != nil {
		return fmt.Errorf("append and fdatasync: %w", err)
	}
	r.Sync = &synced
	for _, count := range b.sizes {
		c, err := b.measureCore(ctx, count)
		if err != nil {
			return fmt.Errorf("cluster of %d: %w", count, err)
		}
		r.Clusters = append(r.Clusters, c)
	}
	return nil
}

// measureClient measures the client library.
func (b *bench) measureClient(ctx context.Context, r *report) error {
	var err error
	if slices.Contains(b.parts, partCalls) {
		if r.Calls, err = b.measureCalls(ctx); err != nil {
			return fmt.Errorf("client calls: %w", err)
		}
	}
	if slices.Contains(b.parts, partKeep) {
		if r.Keep, err = b.measureKeep(ctx); err != nil {
			return fmt.Errorf("permits kept by the client: %w", err)
		}
	}
	return nil
}

// each measures the same call for each number of callers.
func (b *bench) each(ctx context.Context, call load.Call) ([]load.Figure, error) {
	var figures []load.Figure
	for _, callers := range b.callers {
		f, err := b.windows.loop(ctx, callers, call)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// maxCallers returns the largest number of callers.
func (b *bench) maxCallers() int { return slices.Max(b.callers) }

func numbers(flag, list string) ([]int, error) {
	var all []int
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > 10_000 {
			return nil, fmt.Errorf("%s %q must be a comma-separated list of numbers between 1 and 10000", flag, list)
		}
		all = append(all, n)
	}
	return all, nil
}
