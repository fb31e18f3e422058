package gktest_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// This example implements the scenario from the Oddjob article "Distributing Work": docs/articles/oddjob.md.

// timer calls job with the due time at every multiple of period. Due times that pass while job is running are skipped.
func timer(ctx context.Context, period time.Duration, job func(due time.Time)) {
	for ctx.Err() == nil {
		due := time.Now().Truncate(period).Add(period)
		select {
		case <-time.After(time.Until(due)):
			job(due)
		case <-ctx.Done():
		}
	}
}

// board records which workers ran each firing and which were denied it.
type board struct {
	mu          sync.Mutex
	ran, losers map[time.Time][]string
}

func (b *board) put(on map[time.Time][]string, due time.Time, worker string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	on[due] = append(on[due], worker)
}

// between returns the number of entries for each firing that is due after from and no later than to, in order.
func (b *board) between(on map[time.Time][]string, from, to time.Time) (counts []int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for due := from.Truncate(10 * time.Second).Add(10 * time.Second); !due.After(to); due = due.Add(10 * time.Second) {
		counts = append(counts, len(on[due]))
	}
	return counts
}

func repeats(counts []int, want ...int) bool {
	for i, n := range counts {
		if n != want[i%len(want)] {
			return false
		}
	}
	return len(counts) > 3
}

// worker runs one Oddjob process from the article. All workers use the same timer.
func worker(ctx context.Context, c *client.Client, name string, b *board) {
	var due time.Time
	runner := client.NewRunner(c.Semaphore("work"), func(ctx context.Context) error {
		b.put(b.ran, due, name)
		select {
		case <-time.After(15 * time.Second): // the work takes 15 seconds
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}, client.WithHooks(client.Hooks{
		Denied: func(context.Context, *client.DeniedError) { b.put(b.losers, due, name) }, // the article's state INCOMPLETE
	}))
	timer(ctx, 10*time.Second, func(at time.Time) { // every 10 seconds
		due = at
		_ = runner.RunDue(ctx, due) // the hooks record the outcome
	})
}

func TestOddjob_ThreeWorkers_ShareTheSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t)
		srv.Define(t, &gatekeeperv1.Definition{Name: "work", Permits: new(uint32(3))})
		b := &board{ran: map[time.Time][]string{}, losers: map[time.Time][]string{}}
		var oddjobs []*client.Client
		var stops []context.CancelFunc
		var running sync.WaitGroup
		defer running.Wait()
		for _, name := range []string{"oddjob-1", "oddjob-2", "oddjob-3"} {
			c := srv.Dial(t, name)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			oddjobs, stops = append(oddjobs, c), append(stops, stop)
			running.Go(func() { worker(ctx, c, name, b) })
		}
		during := func() (ran, losers []int) { // counts over two minutes, excluding the first firing
			srv.Advance(t, 20*time.Second)
			from := time.Now()
			srv.Advance(t, 2*time.Minute)
			return b.between(b.ran, from, time.Now()), b.between(b.losers, from, time.Now())
		}
		if ran, losers := during(); !repeats(ran, 1) || !repeats(losers, 1) {
			t.Errorf("with three workers: runs per firing = %v, idle workers = %v, want one run and one idle worker", ran, losers)
		}
		crash := func(i int) {
			srv.Crash(t, oddjobs[i]) // a killed process does not release its permit
			stops[i]()
		}
		crash(0)
		if ran, losers := during(); !repeats(ran, 1) || !repeats(losers, 0) {
			t.Errorf("with two workers: runs per firing = %v, idle workers = %v, want one run and none idle", ran, losers)
		}
		crash(1)
		if ran, losers := during(); !repeats(ran, 1, 0) && !repeats(ran, 0, 1) || !repeats(losers, 0) {
			t.Errorf("with one worker: runs per firing = %v, idle workers = %v, want every other firing to run and none idle", ran, losers)
		}
	})
}
