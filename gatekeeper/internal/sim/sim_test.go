package sim

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/gatekeeperd/gatekeeper/internal/check"
	"github.com/gatekeeperd/gatekeeper/internal/history"
)

func TestMain(m *testing.M) {
	flag.Int("seeds", 8, "number of seeds to run")
	flag.Uint64("from", 1, "first seed to run")
	flag.Int("repeat", 1, "how many times to run each seed and each scenario")
	flag.Duration("length", time.Minute, "virtual time per seed until all faults are healed")
	flag.Bool("all-paths", false, "fail if a path was never taken")
	flag.String("out", "", "directory for the histories of failed runs")
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction(blockedFuture))
}

// option returns the value of a flag defined in TestMain.
func option[T any](t *testing.T, name string) T {
	t.Helper()
	got, ok := flag.Lookup(name).Value.(flag.Getter).Get().(T)
	if !ok {
		t.Fatalf("flag -%s has a different type", name)
	}
	return got
}

// modelTime limits the model's search for each semaphore in a seed.
const modelTime = 5 * time.Second

// tally accumulates the results of many seeds.
type tally struct {
	mu                    sync.Mutex // guards the fields below
	paths                 map[path]int
	virtual               time.Duration
	operations, undecided int
	work                  map[string]int
	failed                map[uint64]int // by seed
}

// TestSeeds runs the seeds, and logs how to reproduce each failure.
func TestSeeds(t *testing.T) {
	from, seeds, repeat := option[uint64](t, "from"), option[int](t, "seeds"), option[int](t, "repeat")
	sum := tally{paths: make(map[path]int), failed: make(map[uint64]int), work: make(map[string]int)}
	t.Run("seed", func(t *testing.T) {
		for seed := from; seed < from+uint64(seeds); seed++ {
			for range repeat {
				t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
					t.Parallel()
					sum.runSeed(t, seed)
				})
			}
		}
	})
	for _, seed := range slices.Sorted(maps.Keys(sum.failed)) {
		t.Logf("seed %d violated a guarantee in %d of %d runs; to reproduce: make sim ARGS='-from %d -seeds 1 -repeat 20'", seed, sum.failed[seed], repeat, seed)
	}
	sum.report(t, from, seeds*repeat)
}

// runSeed runs and checks one seed, and saves its history if it violated a guarantee.
func (sum *tally) runSeed(t *testing.T, seed uint64) {
	w, violated, undecided := simulate(t, newPlan(seed, option[time.Duration](t, "length")))
	failed := len(violated) > 0 || t.Failed()
	sum.add(w, undecided, failed)
	if !failed {
		return
	}
	t.Errorf("seed %d failed; its history is in %s", seed, w.saveHistory(t, option[string](t, "out")))
	for i, b := range violated {
		if i == 20 {
			t.Errorf("and %d more", len(violated)-i)
			break
		}
		t.Error(b)
	}
}

func (sum *tally) add(w *world, undecided int, failed bool) {
	sum.mu.Lock()
	defer sum.mu.Unlock()
	for what, n := range w.paths.all() {
		sum.paths[what] += n
	}
	sum.virtual += w.elapsed
	sum.undecided += undecided
	if h, err := history.Gather(w.history.Entries()); err == nil {
		sum.operations += len(h.Operations)
		for what, n := range check.WorkTally(h) {
			sum.work[what] += n
		}
	}
	if failed {
		sum.failed[w.plan.seed]++
	}
}

// blockedFuture is the function in which a goroutine blocks if it called Raft just before Raft shut down. Some of
// Raft's futures never complete.
const blockedFuture = "github.com/hashicorp/raft.(*deferError).Error"

// inBubble is like synctest.Test, but tolerates goroutines that are blocked in blockedFuture.
func inBubble(t *testing.T, body func(t *testing.T)) {
	var bubble []byte // as it appears in stacks
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		stacks := make([]byte, 64<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		for stack := range bytes.SplitSeq(stacks, []byte("\n\n")) {
			if bytes.Contains(stack, bubble) && !bytes.Contains(stack, []byte(blockedFuture)) {
				panic(fmt.Sprintf("%v\n%s", r, stack))
			}
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		var ownStack [200]byte
		bubble = regexp.MustCompile(`synctest bubble \d+\]`).Find(ownStack[:runtime.Stack(ownStack[:], false)])
		body(t)
	})
}

// simulate runs a plan in a bubble, and returns the violated guarantees.
func simulate(t *testing.T, p *plan) (w *world, violated []string, undecided int) {
	inBubble(t, func(t *testing.T) {
		w = newWorld(p)
		w.execute()
	})
	violated, undecided = w.check()
	return w, violated, undecided
}

// check checks the recorded history and the members' logs.
func (w *world) check() (violated []string, undecided int) {
	h, err := history.Gather(w.history.Entries())
	if err != nil {
		return []string{err.Error()}, 0
	}
	violated = append(w.failed, w.replay(h)...)
	w.paths.countDisks(w)
	violations := slices.Concat(check.Beliefs(h), check.Tokens(h), check.Requests(h), check.Successors(h), check.Firings(h), check.Work(h), check.States(h))
	h.Operations = slices.DeleteFunc(h.Operations, func(o history.Operation) bool { return !modelled(o.Request.Semaphore) })
	h.HandedTasks = slices.DeleteFunc(h.HandedTasks, func(t history.HandedTask) bool { return !modelled(t.Semaphore) })
	linear := check.Linearizable(h, modelTime)
	for _, v := range append(violations, linear.Violations...) {
		violated = append(violated, v.String())
	}
	return violated, len(linear.Undecided)
}

// saveHistory writes the history and the logs to a directory, and returns its path.
func (w *world) saveHistory(t *testing.T, dir string) string {
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "gatekeeper-sim")
	}
	dir = filepath.Join(dir, fmt.Sprintf("seed-%d", w.plan.seed))
	var lines bytes.Buffer
	err := history.Encode(&lines, w.history.Entries())
	for _, each := range []func() error{
		func() error { return err },
		func() error { return os.MkdirAll(dir, 0o755) },
		func() error { return os.WriteFile(filepath.Join(dir, "history.jsonl"), lines.Bytes(), 0o644) },
		func() error { return os.WriteFile(filepath.Join(dir, "log.txt"), w.serverLog.bytes(), 0o644) },
	} {
		if err := each(); err != nil {
			t.Errorf("save history: %v", err)
		}
	}
	return dir
}

// report logs the results of all seeds. With -all-paths, it fails the test if a required path was never taken.
func (sum *tally) report(t *testing.T, from uint64, runs int) {
	t.Logf("seeds from %d, %d runs: %v of virtual time, %d operations, %d unfinished model searches, %d seeds with violated guarantees",
		from, runs, sum.virtual, sum.operations, sum.undecided, len(sum.failed))
	t.Logf("shared work: %d jobs, %d tasks, %d executions, %d handed out again (%d of them lost by their workers), %d results recorded",
		sum.work["jobs"], sum.work["tasks"], sum.work["executions"], sum.work["handed-out-again"], sum.work["lost"], sum.work["results"])
	for _, what := range slices.Sorted(maps.Keys(sum.paths)) {
		t.Logf("%8d  %s", sum.paths[what], what)
	}
	for _, what := range required() {
		if sum.paths[what] == 0 {
			t.Logf("   never  %s", what)
			if option[bool](t, "all-paths") {
				t.Errorf("path was never taken: %s", what)
			}
		}
	}
}
