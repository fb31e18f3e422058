// Command bench measures Gatekeeper on servers that run as processes of their own on this machine, in six parts:
//
//   - core: denials, refreshes, and pairs of acquire and release, on one and on three servers, beside two limits
//     measured in the same run: grpc-go's unary echo and append with fdatasync.
//   - calls: what the client library adds to a call of the generated stub, both by turns against one server with its
//     data in memory.
//   - control: what operators wait for on three servers: an edit at every watcher, a batch of 1 000 edits, the
//     hand-over from a release to the next in the queue, and what 1 000 watchers cost.
//   - keep: what it costs one client, in a separate process, to keep 10 000 permits of 30 s alive on three servers.
//   - profile: where the CPU time of a leader of three servers goes while it denies, refreshes and grants. It runs only
//     when it is named.
//   - failover: from a kill -9 of the leader to the next grant, with both profiles. It takes minutes, and runs only
//     when it is named.
//
// Package peers, a separate module, measures all that next to other systems. Only ratios and differences taken in one
// run mean anything; absolute figures drift from run to run and machine to machine.
//
// It also holds the servers to two promises by their own counters: denials and refreshes of known callers write no log
// entry, and acquires that come together share entries; and the client to two: no permit is lost, and one stream is
// enough. A failed call or a broken promise fails the run. A target in time that was missed is shown and does not, for
// it depends on the machine and on what else it does.
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
	permits int           // to keep
	keepFor time.Duration // how long
	runs    int           // of the part failover
}

// report is everything that one run measured.
type report struct {
	Go       string        `json:"go"`
	CPUs     int           `json:"cpus"`
	Echo     []load.Figure `json:"echo,omitempty"`
	Sync     *load.Figure  `json:"append_fdatasync,omitempty"`
	Clusters []*core       `json:"clusters,omitempty"`
	Calls    []added       `json:"client_calls,omitempty"`
	Keep     *kept         `json:"client_keeps,omitempty"`
	Control  *control      `json:"control,omitempty"`

	Failover []failover.Result `json:"failover,omitempty"`
	Profiles []profiled        `json:"profiles,omitempty"`
}

// The parts of a run.
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
	echo := flag.Bool("echo", false, "serve the echo; for the bench's own use")
	keeper := flag.String("keeper", "", "keep permits on the servers at these addresses; for the bench's own use")
	parts := flag.String("parts", "core,calls,control,keep", "what to measure; profile and failover run only when they are named")
	flag.StringVar(&b.bin, "bin", "bin", "folder of gatekeeperd")
	sizes := flag.String("servers", "1,3", "sizes of the clusters to measure")
	callers := flag.String("callers", "1,16,64,256", "how many callers call at once")
	flag.DurationVar(&b.windows.warmUp, "warm-up", 500*time.Millisecond, "what is run before each measurement and not counted")
	flag.DurationVar(&b.windows.window, "window", time.Second, "length of a window")
	flag.StringVar(&b.store, "log-store", "", "how the servers of the part core keep their logs, bolt or wal; empty: their default")
	flag.IntVar(&b.permits, "permits", 10_000, "how many permits the part keep keeps")
	flag.DurationVar(&b.keepFor, "keep-for", 24*time.Second, "how long the part keep measures, after as long as it takes to spread the permits")
	flag.IntVar(&b.runs, "runs", 20, "how often the part failover kills the leader of each cluster")
	flag.IntVar(&b.windows.count, "windows", 3, "how many windows; the median counts")
	file := flag.String("json", "bin/bench.json", "file for the figures; empty for none")
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
	// Beside the binaries, so that it is a disk: temporary folders often are memory.
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
			return fmt.Errorf("fail-over: %w", err)
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

// check takes the flags that are lists, and refuses what cannot be measured.
func (b *bench) check(parts, sizes, callers string) (err error) {
	b.parts = strings.Split(parts, ",")
	for _, part := range b.parts {
		if known := []string{partCore, partCalls, partControl, partKeep, partProfile, partFailover}; !slices.Contains(known, part) {
			return fmt.Errorf("-parts %q must be of %s, with commas between", parts, strings.Join(known, ", "))
		}
	}
	if b.sizes, err = numbers("-servers", sizes); err != nil {
		return err
	}
	if b.callers, err = numbers("-callers", callers); err != nil {
		return err
	}
	if b.windows.count < 1 || b.windows.window <= 0 {
		return fmt.Errorf("-windows %d and -window %v must be above 0", b.windows.count, b.windows.window)
	}
	if b.permits < 1 || b.permits > 1_000_000 {
		return fmt.Errorf("-permits %d must be from 1 to 1000000", b.permits)
	}
	if b.runs < 1 {
		return fmt.Errorf("-runs %d must be above 0", b.runs)
	}
	if b.keepFor < keepTwice {
		return fmt.Errorf("-keep-for %v must be at least %v, for every permit to be refreshed twice", b.keepFor, keepTwice)
	}
	return nil
}

// measureCores measures the limits of the machine, and clusters of each size beside them.
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
			return fmt.Errorf("calls of the client: %w", err)
		}
	}
	if slices.Contains(b.parts, partKeep) {
		if r.Keep, err = b.measureKeep(ctx); err != nil {
			return fmt.Errorf("permits kept by the client: %w", err)
		}
	}
	return nil
}

// each measures the same call at each number of callers.
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

// most is the highest number of callers.
func (b *bench) most() int { return slices.Max(b.callers) }

func numbers(flag, list string) ([]int, error) {
	var all []int
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > 10_000 {
			return nil, fmt.Errorf("%s %q must be numbers from 1 to 10000 with commas between", flag, list)
		}
		all = append(all, n)
	}
	return all, nil
}
