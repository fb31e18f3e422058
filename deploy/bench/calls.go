package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// overhead is the cost that the client library adds to the generated stub, for one unit of work by one caller.
type overhead struct {
	What string `json:"what"`
	// RPCs is the number of calls in a unit of work.
	RPCs int `json:"rpcs"`
	// Raw and Client are the median times of a unit of work, in µs.
	Raw    float64 `json:"raw_p50_us"`
	Client float64 `json:"client_p50_us"`
	// PerRPC is the median difference between two adjacent units, per call. Error is roughly its statistical error.
	// Both are in µs.
	PerRPC float64 `json:"added_us_per_rpc"`
	Error  float64 `json:"error_us_per_rpc"`
	// RawCost and ClientCost are what a unit of work costs the calling process. CPU time depends less on other load on
	// the machine than the medians do.
	RawCost    cost `json:"raw"`
	ClientCost cost `json:"client"`
}

// cost is the CPU time and the allocations that the calling process needs for a unit of work.
type cost struct {
	CPU    float64 `json:"cpu_us"`
	Allocs float64 `json:"allocs"`
}

// overheadTarget is the target for the overhead, in µs per call.
const overheadTarget = 20.0

// work is one unit of work.
type work func(context.Context) error

// measureCalls measures the same work through the generated stub and through the client, alternately, against one
// server. If possible, the server's data is in memory, because variations in disk and network latency would exceed the
// overhead.
func (b *bench) measureCalls(ctx context.Context) ([]overhead, error) {
	dir, err := os.MkdirTemp("/dev/shm", "gatekeeper-bench-")
	if err != nil {
		dir = filepath.Join(b.dir, "calls")
	}
	defer os.RemoveAll(dir)
	cluster, leader, err := b.startIn(ctx, dir, 1)
	if err != nil {
		return nil, err
	}
	defer cluster.Kill()
	raw, err := load.Dial(leader.API)
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	// The acquirer's name is as long as the stub's, so that both send requests of the same size.
	c, err := client.Dial(ctx, []string{leader.API}, client.WithGroup("bench"), client.WithAcquirer("caller-0"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }() // every permit was released, or the run has failed
	if err := define(ctx, raw.ForCaller(0), 1); err != nil {
		return nil, err
	}
	stub := gatekeeperv1.NewPermitServiceClient(raw.ForCaller(0))
	if _, err := acquire(ctx, raw.ForCaller(0), "held", &gatekeeperv1.Identity{Group: "bench", Acquirer: "holder"}); err != nil {
		return nil, err
	}
	var turn int
	var all []overhead
	for _, a := range []struct {
		what        string
		rpcs        int
		raw, client work
	}{
		{"denial", 1, rawDenial(stub, &turn), clientDenial(c)},
		{"acquire and release", 2, rawPair(stub, &turn), clientPair(c)},
	} {
		got, err := b.windows.compare(ctx, a.raw, a.client)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.what, err)
		}
		got.What, got.RPCs = a.what, a.rpcs
		got.PerRPC /= float64(a.rpcs)
		got.Error /= float64(a.rpcs)
		all = append(all, got)
	}
	return all, nil
}

// tryAcquire makes the same call as the client, with a new request id. The id is cheap to generate, because generating
// good ids is part of the client's overhead.
func tryAcquire(ctx context.Context, stub gatekeeperv1.PermitServiceClient, semaphore string, turn *int) (*gatekeeperv1.TryAcquireResponse, error) {
	*turn++
	id := fmt.Sprintf("%026d", *turn) // as long as the client's ids
	return stub.TryAcquire(ctx, &gatekeeperv1.TryAcquireRequest{Semaphore: semaphore, Identity: identity(0, id), RequestId: id})
}

func rawDenial(stub gatekeeperv1.PermitServiceClient, turn *int) work {
	return func(ctx context.Context) error {
		r, err := tryAcquire(ctx, stub, "held", turn)
		if err == nil && r.GetDenial() == nil {
			err = errors.New("the held permit was granted again")
		}
		return err
	}
}

func clientDenial(c *client.Client) work {
	return func(ctx context.Context) error {
		_, err := c.Semaphore("held").TryAcquire(ctx)
		if err == nil {
			return errors.New("the held permit was granted again")
		}
		if d, ok := errors.AsType[*client.DeniedError](err); ok && d.Reason == client.ReasonNoFreePermit {
			return nil
		}
		return fmt.Errorf("expected a denial because no permit is free: %w", err)
	}
}

func rawPair(stub gatekeeperv1.PermitServiceClient, turn *int) work {
	return func(ctx context.Context) error {
		r, err := tryAcquire(ctx, stub, "own/0", turn)
		if err != nil {
			return err
		}
		if r.GetGrant() == nil {
			return fmt.Errorf("a permit for own/0 was denied: %s", r.GetDenial().GetMessage())
		}
		resp, err := stub.Release(ctx, &gatekeeperv1.ReleaseRequest{
			Token: r.GetGrant().GetPermit().GetToken(), Outcome: gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_DONE,
		})
		if err == nil && !resp.GetReleased() {
			err = fmt.Errorf("not released: %s", resp.GetMessage())
		}
		return err
	}
}

func clientPair(c *client.Client) work {
	return func(ctx context.Context) error {
		p, err := c.Semaphore("own/0").TryAcquire(ctx)
		if err != nil {
			return err
		}
		return p.Release(ctx)
	}
}

// compare alternates between two kinds of work and computes the differences between adjacent units, which are affected
// about equally by other load on the machine. The result is per unit of work.
func (w windows) compare(ctx context.Context, raw, client work) (overhead, error) {
	works := [2]work{raw, client}
	var took [2][]time.Duration
	var differences []time.Duration
	begin := time.Now()
	warm := begin.Add(w.warmUp)
	end := warm.Add(time.Duration(w.count) * w.window)
	for turn := 0; ; turn++ {
		first := time.Now()
		var now [2]time.Duration
		for i := range works {
			which := (turn + i) % 2 // alternate the order, too
			start := time.Now()
			if err := works[which](ctx); err != nil {
				return overhead{}, err
			}
			now[which] = time.Since(start)
		}
		if first.After(warm) {
			for which := range works {
				took[which] = append(took[which], now[which])
			}
			differences = append(differences, now[1]-now[0])
		}
		if time.Now().After(end) && len(differences) > 0 {
			break
		}
	}
	var a overhead
	a.Raw, _ = median(took[0])
	a.Client, _ = median(took[1])
	a.PerRPC, a.Error = median(differences)
	return a, a.measureCosts(ctx, works)
}

// median returns the median and two standard errors of the median, in µs. The standard error is 1.25 times that of the
// mean, with the standard deviation estimated from the quartiles, so that a few slow calls have no effect.
func median(took []time.Duration) (mid, twoErrors float64) {
	slices.Sort(took)
	n := len(took)
	deviation := load.Micros(took[n*3/4]-took[n/4]) / 1.35
	return load.Micros(took[n/2]), 2 * 1.25 * deviation / math.Sqrt(float64(n))
}

// measureCosts alternates between blocks of both kinds of work, because CPU time and allocations cannot be measured for
// each unit.
func (a *overhead) measureCosts(ctx context.Context, works [2]work) error {
	const blocks, units = 10, 100
	costs := [2]*cost{&a.RawCost, &a.ClientCost}
	for range blocks {
		for which, do := range works {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began, err := cpuTime()
			if err != nil {
				return err
			}
			for range units {
				if err := do(ctx); err != nil {
					return err
				}
			}
			ended, err := cpuTime()
			if err != nil {
				return err
			}
			runtime.ReadMemStats(&after)
			costs[which].CPU += load.Micros(ended-began) / (blocks * units)
			costs[which].Allocs += float64(after.Mallocs-before.Mallocs) / (blocks * units)
		}
	}
	return nil
}
