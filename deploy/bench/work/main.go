// Command work measures how queued and stored tasks affect other work, on three real servers. It measures acquires on
// other semaphores while 100,000 tasks are waiting and while 64 MiB is being submitted. These measurements alternate
// with measurements without tasks. Each of their results is the median of the rounds' ratios. With 256 MiB stored, it
// measures a leadership transfer, a snapshot, killing and restarting the leader, and an empty server joining under
// load.
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
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const callers = 16

type bench struct {
	cluster *servers.Cluster
	conns   load.Conns
	window  time.Duration
	rounds  int
	jobs    atomic.Uint64
}

func main() {
	b := &bench{}
	bin := flag.String("bin", "bin", "directory that contains gatekeeperd and where the data will be written")
	flag.DurationVar(&b.window, "window", 2*time.Second, "length of a window")
	flag.IntVar(&b.rounds, "rounds", 5, "number of windows with and without tasks; the result is the median")
	stored := flag.Bool("stored", true, "also measure with 256 MiB stored")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := b.run(ctx, *bin, *stored); err != nil {
		fmt.Fprintln(os.Stderr, "work:", err)
		os.Exit(1)
	}
}

func (b *bench) run(ctx context.Context, bin string, stored bool) error {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(bin, "work-") // next to the binaries, to use a real disk
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if b.cluster, err = servers.Start(ctx, servers.Options{Binary: filepath.Join(bin, "gatekeeperd"), Dir: dir, Count: 3}); err != nil {
		return err
	}
	defer b.cluster.Kill()
	if err := b.dial(ctx); err != nil {
		return err
	}
	defer func() { b.conns.Close() }()
	if err := b.define(ctx); err != nil {
		return err
	}
	steps := []func(context.Context) error{b.queued, b.submitting}
	if stored {
		steps = append(steps, b.stored)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// dial connects to the leader.
func (b *bench) dial(ctx context.Context) error {
	leader, err := b.cluster.Leader(ctx)
	if err != nil {
		return err
	}
	b.conns.Close()
	b.conns, err = load.Dial(leader.API)
	return err
}

func (b *bench) workClient(i int) gatekeeperv1.WorkServiceClient {
	return gatekeeperv1.NewWorkServiceClient(b.conns.ForCaller(i))
}

func (b *bench) define(ctx context.Context) error {
	var edits []*gatekeeperv1.Edit
	names := []string{"tasks-0", "tasks-1", "tasks-2"}
	for i := range callers {
		names = append(names, fmt.Sprint("own-", i))
	}
	for _, name := range names {
		edits = append(edits, &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Create{Create: &gatekeeperv1.Definition{Name: name, Permits: new(uint32(1))}}})
	}
	_, err := gatekeeperv1.NewDefinitionServiceClient(b.conns.ForCaller(0)).BatchEdit(ctx, &gatekeeperv1.BatchEditRequest{Edits: edits, Author: "bench"})
	return err
}

// acquire acquires a permit from the caller's semaphore.
func (b *bench) acquire(ctx context.Context, caller int) (release func(context.Context) error, err error) {
	permits := gatekeeperv1.NewPermitServiceClient(b.conns.ForCaller(caller))
	r, err := permits.TryAcquire(ctx, &gatekeeperv1.TryAcquireRequest{
		Semaphore: fmt.Sprint("own-", caller), Identity: &gatekeeperv1.Identity{Group: "bench", Acquirer: "caller"},
	})
	if err != nil {
		return nil, err
	}
	if r.GetGrant() == nil {
		return nil, fmt.Errorf("denied: %s", r.GetDenial().GetMessage())
	}
	return func(ctx context.Context) error {
		_, err := permits.Release(ctx, &gatekeeperv1.ReleaseRequest{Token: r.GetGrant().GetPermit().GetToken()})
		return err
	}, nil
}

// pair acquires a permit and releases it.
func (b *bench) pair(ctx context.Context, caller int) (int, error) {
	release, err := b.acquire(ctx, caller)
	if err != nil {
		return 0, err
	}
	return 1, release(ctx)
}

// submit submits a job with the given number of tasks of the given size, and returns its id.
func (b *bench) submit(ctx context.Context, semaphore string, tasks, size int) (string, error) {
	id := fmt.Sprint("job-", b.jobs.Add(1))
	stream, err := b.workClient(1).SubmitJob(ctx)
	if err != nil {
		return "", err
	}
	spec := &gatekeeperv1.JobSpec{Id: id, Semaphore: semaphore, MaxResult: new(uint32(0))}
	inMessage := max(1, min(1000, (256<<10)/max(size, 1)))
	payload := make([]byte, size)
	for sent := 0; sent < tasks; {
		m := &gatekeeperv1.SubmitJobRequest{Job: spec}
		for range min(inMessage, tasks-sent) {
			m.Tasks = append(m.Tasks, payload)
		}
		sent += len(m.Tasks)
		m.Last, spec = sent == tasks, nil
		if err := stream.Send(m); err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
	}
	_, err = stream.CloseAndRecv()
	return id, err
}

// remove cancels a job and deletes it.
func (b *bench) remove(ctx context.Context, id string) error {
	if _, err := b.workClient(0).CancelJob(ctx, &gatekeeperv1.CancelJobRequest{Id: id, Author: "bench"}); err != nil {
		return err
	}
	_, err := b.workClient(0).DeleteJob(ctx, &gatekeeperv1.DeleteJobRequest{Id: id})
	return err
}

func median(all []float64) float64 {
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// queued compares pairs on other semaphores with and without 100,000 queued tasks.
func (b *bench) queued(ctx context.Context) error {
	var ratios []float64
	for range b.rounds {
		without, err := load.Measure(ctx, b.window, callers, b.pair)
		if err != nil {
			return err
		}
		id, err := b.submit(ctx, "tasks-0", 100_000, 0)
		if err != nil {
			return err
		}
		with, err := load.Measure(ctx, b.window, callers, b.pair)
		if err != nil {
			return err
		}
		if err := b.remove(ctx, id); err != nil {
			return err
		}
		ratios = append(ratios, with.PerSecond/without.PerSecond)
	}
	fmt.Printf("throughput on other semaphores while 100,000 tasks are waiting: %.3f times the throughput without tasks (median of %.3f); target: at least 0.95\n", median(ratios), ratios)
	return nil
}

// submitting compares the p99 of pairs with and without a 64 MiB job being submitted.
func (b *bench) submitting(ctx context.Context) error {
	var ratios, took []float64
	for range b.rounds {
		without, err := load.Measure(ctx, b.window, callers, b.pair)
		if err != nil {
			return err
		}
		submitting, cancel := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() {
			defer cancel()
			start := time.Now()
			id, err := b.submit(ctx, "tasks-0", 1000, 64<<10)
			took = append(took, time.Since(start).Seconds())
			if err == nil {
				err = b.remove(ctx, id)
			}
			ended <- err
		}()
		latency := &latencies{}
		for submitting.Err() == nil {
			f, err := load.Measure(ctx, b.window/4, callers, b.pair)
			if err != nil {
				return err
			}
			latency.add(f)
		}
		if err := <-ended; err != nil {
			return err
		}
		ratios = append(ratios, latency.p99()/without.P99)
	}
	fmt.Printf("p99 of pairs on other semaphores while 64 MiB is being submitted: %.2f times the p99 without it (median of %.2f); target: at most 2; the submission took %.1f s\n",
		median(ratios), ratios, median(took))
	return nil
}

// latencies holds the p99 of each short window.
type latencies struct{ each []float64 }

func (l *latencies) add(f load.Figure) { l.each = append(l.each, f.P99) }
func (l *latencies) p99() float64      { return median(l.each) }
