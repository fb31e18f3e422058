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

// added is what the client library adds to the generated stub, for one piece of work by one caller.
type added struct {
	What string `json:"what"`
	// RPCs is how many calls one piece of work is.
	RPCs int `json:"rpcs"`
	// Raw and Client are the medians of one piece of work, in µs.
	Raw    float64 `json:"raw_p50_us"`
	Client float64 `json:"client_p50_us"`
	// PerRPC is the median difference of two pieces that were done one right after the other, for one call, and Error
	// about how far chance may have moved it, both in µs.
	PerRPC float64 `json:"added_us_per_rpc"`
	Error  float64 `json:"error_us_per_rpc"`
	// What one piece of work cost the calling process. Its CPU time depends less than the medians on what else the
	// machine does.
	RawCost    cost `json:"raw"`
	ClientCost cost `json:"client"`
}

// cost is what one piece of work costs the process that calls.
type cost struct {
	CPU    float64 `json:"cpu_us"`
	Allocs float64 `json:"allocs"`
}

// addedTarget is the promise, in µs a call.
const addedTarget = 20.0

// work is one piece of work.
type work func(context.Context) error

// measureCalls measures the same work through the generated stub and through the client, by turns, against one server
// whose folder is in memory, where there is such: the waits for a disk and for other members spread by more than what
// is looked for.
func (b *bench) measureCalls(ctx context.Context) ([]added, error) {
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
	// As long as the identity by which the stub's caller asks, so that both send as much.
	c, err := client.Dial(ctx, []string{leader.API}, client.WithGroup("bench"), client.WithAcquirer("caller-0"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }() // every permit was released, or the run has failed
	if err := define(ctx, raw.Of(0), 1); err != nil {
		return nil, err
	}
	stub := gatekeeperv1.NewPermitServiceClient(raw.Of(0))
	if _, err := acquire(ctx, raw.Of(0), "held", &gatekeeperv1.Identity{Group: "bench", Acquirer: "holder"}); err != nil {
		return nil, err
	}
	var turn int
	var all []added
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

// tryAcquire asks as the client does, with a new request id; but a cheap one, since making good ones is the client's
// work.
func tryAcquire(ctx context.Context, stub gatekeeperv1.PermitServiceClient, semaphore string, turn *int) (*gatekeeperv1.TryAcquireResponse, error) {
	*turn++
	id := fmt.Sprintf("%026d", *turn) // as long as the client's
	return stub.TryAcquire(ctx, &gatekeeperv1.TryAcquireRequest{Semaphore: semaphore, Identity: identity(0, id), RequestId: id})
}

func rawDenial(stub gatekeeperv1.PermitServiceClient, turn *int) work {
	return func(ctx context.Context) error {
		r, err := tryAcquire(ctx, stub, "held", turn)
		if err == nil && r.GetDenial() == nil {
			err = errors.New("the held semaphore was granted")
		}
		return err
	}
}

func clientDenial(c *client.Client) work {
	return func(ctx context.Context) error {
		_, err := c.Semaphore("held").TryAcquire(ctx)
		if err == nil {
			return errors.New("the held semaphore was granted")
		}
		if d, ok := errors.AsType[*client.DeniedError](err); ok && d.Reason == client.ReasonNoFreePermit {
			return nil
		}
		return fmt.Errorf("not denied for want of a free permit: %w", err)
	}
}

func rawPair(stub gatekeeperv1.PermitServiceClient, turn *int) work {
	return func(ctx context.Context) error {
		r, err := tryAcquire(ctx, stub, "own/0", turn)
		if err != nil {
			return err
		}
		if r.GetGrant() == nil {
			return fmt.Errorf("own/0 was denied: %s", r.GetDenial().GetMessage())
		}
		answer, err := stub.Release(ctx, &gatekeeperv1.ReleaseRequest{
			Token: r.GetGrant().GetPermit().GetToken(), Outcome: gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_DONE,
		})
		if err == nil && !answer.GetReleased() {
			err = fmt.Errorf("not released: %s", answer.GetMessage())
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

// compare does both works by turns, and takes the difference of each two that follow each other: whatever else the
// machine does is about the same to both. It returns that for whole pieces of work.
func (w windows) compare(ctx context.Context, raw, client work) (added, error) {
	works := [2]work{raw, client}
	var took [2][]time.Duration
	var more []time.Duration
	begin := time.Now()
	warm := begin.Add(w.warmUp)
	end := warm.Add(time.Duration(w.count) * w.window)
	for turn := 0; ; turn++ {
		first := time.Now()
		var now [2]time.Duration
		for i := range works {
			which := (turn + i) % 2 // neither is always the one that comes after the other
			start := time.Now()
			if err := works[which](ctx); err != nil {
				return added{}, err
			}
			now[which] = time.Since(start)
		}
		if first.After(warm) {
			for which := range works {
				took[which] = append(took[which], now[which])
			}
			more = append(more, now[1]-now[0])
		}
		if time.Now().After(end) && len(more) > 0 {
			break
		}
	}
	var a added
	a.Raw, _ = median(took[0])
	a.Client, _ = median(took[1])
	a.PerRPC, a.Error = median(more)
	return a, a.measureCosts(ctx, works)
}

// median returns the median and two standard errors of it, in µs: 1.25 times that of a mean, with the standard
// deviation read off the quartiles, so that a few slow calls do not count.
func median(took []time.Duration) (mid, twoErrors float64) {
	slices.Sort(took)
	n := len(took)
	deviation := load.Micros(took[n*3/4]-took[n/4]) / 1.35
	return load.Micros(took[n/2]), 2 * 1.25 * deviation / math.Sqrt(float64(n))
}

// measureCosts takes blocks of both works by turns: CPU time and allocations cannot be read often enough for each
// piece.
func (a *added) measureCosts(ctx context.Context, works [2]work) error {
	const blocks, pieces = 10, 100
	costs := [2]*cost{&a.RawCost, &a.ClientCost}
	for range blocks {
		for which, do := range works {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began, err := cpuTime()
			if err != nil {
				return err
			}
			for range pieces {
				if err := do(ctx); err != nil {
					return err
				}
			}
			ended, err := cpuTime()
			if err != nil {
				return err
			}
			runtime.ReadMemStats(&after)
			costs[which].CPU += load.Micros(ended-began) / (blocks * pieces)
			costs[which].Allocs += float64(after.Mallocs-before.Mallocs) / (blocks * pieces)
		}
	}
	return nil
}
