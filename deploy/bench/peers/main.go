// Command peers measures Gatekeeper beside what a user would pick instead, on this machine and in one run: etcd, Redis
// and PostgreSQL. It is a separate module, because no user of Gatekeeper needs theirs. It has three parts:
//
//   - work: pairs of acquire and release, denials, and refreshes, by the same numbers of callers, on one and on three
//     servers. Every server is a separate process with its data on the same disk, and syncs before it answers. All run
//     all the time, and are asked by turns, one window each in every round: what else the machine does is about the
//     same to all. Compared are systems with equally many servers, window by window.
//   - tasks: empty tasks from their submission until their results are recorded, one by one and by thousands, worked by
//     16 workers, next to River on PostgreSQL and asynq on Redis, and to Gatekeeper's own pairs.
//   - failover: from a kill -9 of the leader to the next grant, of Gatekeeper and of etcd with two timings each, by
//     turns.
//
// Servers of etcd are this very program, started again with etcd's server in it and etcd's own defaults. Redis and
// PostgreSQL are those that are installed; one that is not is left out, with a word.
//
// A failed operation fails the run. A target that was missed is shown and does not.
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
	runs    int // of the part failover
}

// The parts of a run, and the systems.
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
	echo := flag.Bool("echo", false, "serve the echo; for the bench's own use")
	member := flag.String("etcd", "", "be a server of etcd; for the bench's own use")
	flag.StringVar(&b.bin, "bin", "bin", "folder of gatekeeperd, beside which the data is kept")
	parts := flag.String("parts", "work,tasks,failover", "what to measure")
	systems := flag.String("systems", "etcd,redis,postgresql", "peers to measure in the part work")
	stores := flag.String("log-stores", bolt, "log stores of Gatekeeper to measure in the part work")
	sizes := flag.String("servers", "1,3", "sizes of the clusters in the part work")
	callers := flag.String("callers", "1,16,64,256", "how many callers call at once")
	flag.BoolVar(&b.tls, "tls", false, "measure Gatekeeper with TLS, roles and an audit log too in the part work, beside itself without")
	flag.IntVar(&b.plan.Rounds, "rounds", 5, "how many windows each way of asking has; the median counts")
	flag.DurationVar(&b.plan.Window, "window", 500*time.Millisecond, "length of a window")
	flag.DurationVar(&b.plan.WarmUp, "warm-up", 300*time.Millisecond, "what is run before the first window and not counted")
	flag.IntVar(&b.runs, "runs", 20, "how often the part failover kills the leader of each cluster")
	file := flag.String("json", "bin/peers.json", "file for the figures; empty for none")
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
	// Beside the binaries, so that it is a disk: temporary folders often are memory.
	if b.dir, err = os.MkdirTemp(b.bin, "peers-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if err := os.Chmod(b.dir, 0o711); err != nil { // PostgreSQL runs as somebody else
		return err
	}

	r := &report{Go: runtime.Version(), CPUs: runtime.NumCPU()}
	if b.does(partWork) || b.does(partTasks) {
		if err := b.measureWork(ctx, r); err != nil {
			return err
		}
	}
	if b.does(partFailover) {
		if r.Failover, err = b.measureFailover(ctx); err != nil {
			return fmt.Errorf("fail-over: %w", err)
		}
		r.measured("etcd " + version.Version)
	}
	r.print(out)
	return program.SaveJSON(file, r)
}

// check takes the flags that are lists, and refuses what cannot be measured.
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
				return fmt.Errorf("%s %q must be of %s, each once, with commas between", list.flag, strings.Join(list.words, ","), strings.Join(list.all, ", "))
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
		return fmt.Errorf("-rounds %d, -window %v and -runs %d must be above 0", b.plan.Rounds, b.plan.Window, b.runs)
	}
	return nil
}

// numbers takes a list of numbers, of those that are allowed, or else from 1 to 10000.
func numbers(flag, list string, allowed ...int) ([]int, error) {
	var all []int
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > 10_000 || len(allowed) > 0 && !slices.Contains(allowed, n) || slices.Contains(all, n) {
			which := "from 1 to 10000"
			if len(allowed) > 0 {
				which = fmt.Sprintf("of %v", allowed)
			}
			return nil, fmt.Errorf("%s %q must be numbers %s, each once, with commas between", flag, list, which)
		}
		all = append(all, n)
	}
	return all, nil
}

// measureWork starts every system and gives each kind of work to all of them.
func (b *bench) measureWork(ctx context.Context, r *report) error {
	var ways []way
	for _, start := range b.starts() {
		s, err := start(ctx)
		if absent, ok := errors.AsType[*errAbsent](err); ok {
			r.LeftOut = append(r.LeftOut, absent.why)
			continue
		}
		if err != nil {
			return err
		}
		defer s.stop()
		r.measured(s.version)
		for _, w := range s.ways {
			w.processes = s.processes
			ways = append(ways, w)
		}
	}
	r.Plan = &b.plan
	var wanted []work
	if b.does(partWork) {
		wanted = append(wanted, pairs, denials, refreshes, tokens)
	}
	if b.does(partTasks) {
		wanted = append(wanted, tasks, jobs)
	}
	for _, w := range wanted {
		cells, err := b.plan.measure(ctx, slices.DeleteFunc(slices.Clone(ways), func(of way) bool { return of.Work != w }))
		if err != nil {
			return err
		}
		r.Cells = append(r.Cells, cells...)
	}
	r.Ratios = ratios(r.Cells)
	r.Targets = judge(r.Cells, r.Ratios)
	return nil
}

func (b *bench) does(part string) bool { return slices.Contains(b.parts, part) }

// starts are how the systems of this run are started.
func (b *bench) starts() []func(context.Context) (*system, error) {
	most := slices.Max(b.plan.Callers)
	all := []func(context.Context) (*system, error){newEcho}
	for _, count := range b.sizes {
		for i, store := range b.stores {
			all = append(all, func(ctx context.Context) (*system, error) {
				opts := servers.Options{Binary: filepath.Join(b.bin, "gatekeeperd"), Dir: filepath.Join(b.dir, fmt.Sprintf("gatekeeper%d-%s", count, store)), Count: count}
				if store != bolt { // which is how a new folder keeps its log by default
					opts.Args = []string{"--log-store", store}
				}
				return newGatekeeper(ctx, opts, store, most, i == 0)
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
				}, b.stores[0], most, true)
			})
		}
		if slices.Contains(b.systems, etcdName) && b.does(partWork) {
			all = append(all, func(ctx context.Context) (*system, error) {
				return newEtcdSystem(ctx, filepath.Join(b.dir, fmt.Sprintf("etcd%d", count)), count, most)
			})
		}
	}
	if slices.Contains(b.systems, redisName) {
		all = append(all, func(ctx context.Context) (*system, error) { return newRedis(ctx, b.dir, most, b.does(partTasks)) })
	}
	if slices.Contains(b.systems, postgresql) {
		all = append(all, func(ctx context.Context) (*system, error) { return newPostgres(ctx, b.dir, most, b.does(partTasks)) })
	}
	return all
}

// newEcho is grpc-go's own speed: what no call that is answered by gRPC can exceed.
func newEcho(ctx context.Context) (*system, error) {
	e, err := load.StartEcho(ctx, "-echo")
	if err != nil {
		return nil, err
	}
	return &system{processes: []int{e.PID()}, stop: e.Close, ways: []way{
		{Work: denials, System: echo, open: ready(e.Call)},
		{Work: refreshes, System: echo, open: ready(e.Call)},
	}}, nil
}
