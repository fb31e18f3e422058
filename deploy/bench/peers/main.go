// Command peers compares Gatekeeper with etcd, Redis and PostgreSQL on this machine, in one run. It is a separate
// module, so that Gatekeeper does not depend on their libraries. It has three parts:
//
//   - work: acquire/release pairs, denials, and refreshes, with the same numbers of callers, on one server and on
//     three. Every server is a separate process, with its data on the same disk, and syncs before it responds. All
//     servers run the whole time and are measured alternately, with one window each in every round, so that other load
//     on the machine affects them about equally. Systems with the same number of servers are compared window by window.
//   - tasks: the time from submitting empty tasks, one at a time or by the thousand, to recording their results, with
//     16 workers. Gatekeeper is compared with River on PostgreSQL, asynq on Redis, and its own acquire/release pairs.
//   - failover: the time from killing the leader with kill -9 to the next grant, for Gatekeeper with two timings and
//     etcd with three, measured alternately.
//
// The etcd servers are instances of this program that run etcd's embedded server with its defaults. Redis and
// PostgreSQL must be installed. A peer that is not installed is skipped with a message.
//
// A failed operation fails the run. A missed performance target is only reported.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/etcd/api/v3/version"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/program"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

type bench struct {
	bin     string
	dir     string
	parts   []string
	systems []string
	stores  []string
	sizes   []int
	tls     bool
	plan    plan
	runs    int // number of leader kills per cluster
}

// Parts and systems of a run.
const (
	partWork     = "work"
	partTasks    = "tasks"
	partFailover = "failover"

	gatekeeperName = "gatekeeper"

	etcdName   = "etcd"
	redisName  = "redis"
	postgresql = "postgresql"
	echo       = "grpc echo"
	ownPairs   = "acquire+release pairs"
)

func main() {
	var b bench
	echo := flag.Bool("echo", false, "run the gRPC echo server; for internal use")
	member := flag.String("etcd", "", "run an etcd server; for internal use")
	flag.StringVar(&b.bin, "bin", "bin", "directory that contains gatekeeperd and where the data will be written")
	parts := flag.String("parts", "work,tasks,failover", "what to measure")
	systems := flag.String("systems", "etcd,redis,postgresql", "peers to measure with -parts work or tasks")
	stores := flag.String("log-stores", bolt, "Gatekeeper's log stores to measure")
	sizes := flag.String("servers", "1,3", "cluster sizes to measure")
	callers := flag.String("callers", "1,16,64,256", "numbers of concurrent callers")
	flag.BoolVar(&b.tls, "tls", false, "also measure Gatekeeper with TLS, roles and an audit log")
	flag.IntVar(&b.plan.Rounds, "rounds", 5, "number of windows per measurement; the result is their median")
	flag.DurationVar(&b.plan.Window, "window", 500*time.Millisecond, "length of a window")
	flag.DurationVar(&b.plan.WarmUp, "warm-up", 300*time.Millisecond, "warm-up time before the first window")
	flag.IntVar(&b.runs, "runs", 20, "how many times to kill each cluster's leader with -parts failover")
	file := flag.String("json", "bin/peers.json", "JSON file to write the results to; empty for none")
	flag.Parse()
	switch {
	case *echo:
		exit(load.ServeEcho())
		return
	case *member != "":
		exit(serveEtcd(*member))
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b.parts, b.systems, b.stores = strings.Split(*parts, ","), strings.Split(*systems, ","), strings.Split(*stores, ",")
	exit(b.run(ctx, os.Stdout, *sizes, *callers, *file))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func (b *bench) run(ctx context.Context, out io.Writer, sizes, callers, file string) error {
	if err := b.check(sizes, callers); err != nil {
		return err
	}
	bin, err := filepath.Abs(b.bin)
	if err != nil {
		return err
	}
	b.bin = bin
	// Keep the data next to the binaries, on a real disk. Temporary directories are often in memory.
	if b.dir, err = os.MkdirTemp(b.bin, "peers-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if err := os.Chmod(b.dir, 0o711); err != nil { // PostgreSQL runs as another user
		return err
	}

	r := &report{Go: runtime.Version(), CPUs: runtime.NumCPU()}
	if b.includes(partWork) || b.includes(partTasks) {
		if err := b.measureWork(ctx, r); err != nil {
			return err
		}
	}
	if b.includes(partFailover) {
		if r.Failover, err = b.measureFailover(ctx); err != nil {
			return fmt.Errorf("failover: %w", err)
		}
		r.addVersion("etcd " + version.Version)
	}
	r.print(out)
	return program.SaveJSON(file, r)
}

// check parses the list flags and validates all flags.
func (b *bench) check(sizes, callers string) error {
	for _, list := range []struct {
		flag       string
		words, all []string
	}{
		{"-parts", b.parts, []string{partWork, partTasks, partFailover}},
		{"-systems", b.systems, []string{etcdName, redisName, postgresql}},
		{"-log-stores", b.stores, []string{bolt, wal}},
	} {
		for i, word := range list.words {
			if !slices.Contains(list.all, word) || slices.Contains(list.words[:i], word) {
				return fmt.Errorf("%s %q must be a comma-separated list of %s, without duplicates", list.flag, strings.Join(list.words, ","), strings.Join(list.all, ", "))
			}
		}
	}
	var err error
	if b.sizes, err = numbers("-servers", sizes, 1, 3, 5); err != nil {
		return err
	}
	if b.plan.Callers, err = numbers("-callers", callers); err != nil {
		return err
	}
	if b.plan.Rounds < 1 || b.plan.Window <= 0 || b.runs < 1 {
		return fmt.Errorf("-rounds %d, -window %v and -runs %d must be greater than 0", b.plan.Rounds, b.plan.Window, b.runs)
	}
	return nil
}

// numbers parses a list of numbers. Each must be in allowed, or between 1 and 10000 if allowed is empty.
func numbers(flag, list string, allowed ...int) ([]int, error) {
	var all []int
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > 10_000 || len(allowed) > 0 && !slices.Contains(allowed, n) || slices.Contains(all, n) {
			which := "between 1 and 10000"
			if len(allowed) > 0 {
				which = fmt.Sprintf("from %v", allowed)
			}
			return nil, fmt.Errorf("%s %q must be a comma-separated list of numbers %s, without duplicates", flag, list, which)
		}
		all = append(all, n)
	}
	return all, nil
}

// measureWork starts every system and measures each kind of work on all of them.
func (b *bench) measureWork(ctx context.Context, r *report) error {
	var variants []variant
	for _, start := range b.starters() {
		s, err := start(ctx)
		if absent, ok := errors.AsType[*skipError](err); ok {
			r.Skipped = append(r.Skipped, absent.reason)
			continue
		}
		if err != nil {
			return err
		}
		defer s.stop()
		r.addVersion(s.version)
		for _, w := range s.variants {
			w.processes = s.processes
			variants = append(variants, w)
		}
	}
	r.Plan = &b.plan
	var wanted []work
	if b.includes(partWork) {
		wanted = append(wanted, pairs, denials, refreshes, tokens)
	}
	if b.includes(partTasks) {
		wanted = append(wanted, tasks, jobs)
	}
	for _, w := range wanted {
		cells, err := b.plan.measure(ctx, slices.DeleteFunc(slices.Clone(variants), func(v variant) bool { return v.Work != w }))
		if err != nil {
			return err
		}
		r.Cells = append(r.Cells, cells...)
	}
	r.Ratios = ratios(r.Cells)
	r.Targets = judge(r.Ratios)
	return nil
}

func (b *bench) includes(part string) bool { return slices.Contains(b.parts, part) }

// starters returns the functions that start the systems of this run.
func (b *bench) starters() []func(context.Context) (*system, error) {
	maxCallers := slices.Max(b.plan.Callers)
	all := []func(context.Context) (*system, error){newEcho}
	for _, count := range b.sizes {
		for i, store := range b.stores {
			all = append(all, func(ctx context.Context) (*system, error) {
				opts := servers.Options{Binary: filepath.Join(b.bin, "gatekeeperd"), Dir: filepath.Join(b.dir, fmt.Sprintf("gatekeeper%d-%s", count, store)), Count: count}
				if store != bolt { // bolt is the default store of a new directory
					opts.Args = []string{"--log-store", store}
				}
				return newGatekeeper(ctx, opts, store, maxCallers, i == 0)
			})
		}
		if b.tls {
			all = append(all, func(ctx context.Context) (*system, error) {
				dir := filepath.Join(b.dir, fmt.Sprintf("gatekeeper%d-tls", count))
				if err := os.MkdirAll(dir, 0o700); err != nil {
					return nil, err
				}
				secure, err := servers.NewSecure(dir)
				if err != nil {
					return nil, err
				}
				return newGatekeeper(ctx, servers.Options{
					Binary: filepath.Join(b.bin, "gatekeeperd"), Dir: dir, Count: count, LogStore: b.stores[0], Secure: secure,
				}, b.stores[0], maxCallers, true)
			})
		}
		if slices.Contains(b.systems, etcdName) && b.includes(partWork) {
			all = append(all, func(ctx context.Context) (*system, error) {
				return newEtcdSystem(ctx, filepath.Join(b.dir, fmt.Sprintf("etcd%d", count)), count, maxCallers)
			})
		}
	}
	if slices.Contains(b.systems, redisName) {
		all = append(all, func(ctx context.Context) (*system, error) {
			return newRedis(ctx, b.dir, maxCallers, b.includes(partTasks))
		})
	}
	if slices.Contains(b.systems, postgresql) {
		all = append(all, func(ctx context.Context) (*system, error) {
			return newPostgres(ctx, b.dir, maxCallers, b.includes(partTasks))
		})
	}
	return all
}

// newEcho starts an echo server, whose call rate is an upper bound for anything built on grpc-go.
func newEcho(ctx context.Context) (*system, error) {
	e, err := load.StartEcho(ctx, "-echo")
	if err != nil {
		return nil, err
	}
	return &system{processes: []int{e.PID()}, stop: e.Close, variants: []variant{
		{Work: denials, System: echo, open: ready(e.Call)},
		{Work: refreshes, System: echo, open: ready(e.Call)},
		{Work: tokens, System: echo, open: ready(e.Call), maxCallers: frameStreams},
	}}, nil
}
