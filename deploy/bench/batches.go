package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// batched compares batched and separate calls from one client's goroutines, for one number of callers.
type batched struct {
	Callers int `json:"callers"`
	// Unary is the result with the generated stub, which makes one call per request. Batches is the result with a
	// single library client. The two were measured in alternating windows.
	Unary   load.Figure `json:"unary"`
	Batches load.Figure `json:"batches"`
	// Ratio is the median of the ratios of adjacent windows.
	Ratio float64 `json:"ratio"`
}

// batchedTarget is the required ratio of batched to unary throughput at batchedMinCallers or more callers.
const (
	batchedTarget     = 1.8
	batchedMinCallers = 64
)

// denial requests a permit that another caller holds.
func denial(ctx context.Context, stub gatekeeperv1.PermitServiceClient, caller int) (int, error) {
	resp, err := stub.TryAcquire(ctx, &gatekeeperv1.TryAcquireRequest{Semaphore: "held", Identity: identity(caller, "")})
	if err != nil {
		return 0, err
	}
	if reason := resp.GetDenial().GetReason(); reason != gatekeeperv1.Reason_REASON_NO_FREE_PERMIT {
		return 0, fmt.Errorf("got %v, want a denial because no permit is free", resp)
	}
	return 1, nil
}

// measureBatched requests a permit that another caller holds, alternating between windows with separate calls and
// windows with the client, which batches requests. The leader has already recorded the callers.
func (b *bench) measureBatched(ctx context.Context, leader *servers.Server, conns load.Conns) ([]batched, error) {
	c, err := client.Dial(ctx, []string{leader.API})
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }() // it holds no permits
	stubs := make([]gatekeeperv1.PermitServiceClient, len(conns))
	for i := range conns {
		stubs[i] = gatekeeperv1.NewPermitServiceClient(conns.ForCaller(i))
	}
	unary := func(ctx context.Context, caller int) (int, error) {
		return denial(ctx, stubs[caller%len(stubs)], caller)
	}
	batches := func(ctx context.Context, caller int) (int, error) { return denial(ctx, c.Permits(), caller) }
	var all []batched
	err = withoutWrites(ctx, leader, func() error {
		for _, callers := range b.callers {
			s, err := b.windows.alternate(ctx, callers, unary, batches)
			if err != nil {
				return err
			}
			all = append(all, s)
		}
		return nil
	})
	return all, err
}

// alternate measures the same work with unary calls and with batches, in alternating windows.
func (w windows) alternate(ctx context.Context, callers int, unary, batches load.Call) (batched, error) {
	s := batched{Callers: callers}
	var figures [2][]load.Figure
	for n := range w.count + 1 {
		length := w.window
		if n == 0 {
			length = max(w.warmUp, 1)
		}
		for i, call := range []load.Call{unary, batches} {
			f, err := load.Measure(ctx, length, callers, call)
			if err != nil {
				return s, err
			}
			if n > 0 {
				figures[i] = append(figures[i], f)
			}
		}
	}
	ratios := make([]float64, w.count)
	for i := range ratios {
		ratios[i] = figures[1][i].PerSecond / figures[0][i].PerSecond
	}
	slices.Sort(ratios)
	for i := range figures {
		slices.SortFunc(figures[i], func(a, b load.Figure) int { return int(a.PerSecond - b.PerSecond) })
	}
	s.Unary, s.Batches, s.Ratio = figures[0][w.count/2], figures[1][w.count/2], ratios[w.count/2]
	return s, nil
}

// printBatched prints the client's batched denials next to the stub's.
func printBatched(out io.Writer, clusters []*core) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "denials/s, alternating\tcallers\tunary\tclient's batches\tratio\t\t")
	for _, c := range clusters {
		for _, s := range c.Batched {
			miss := ""
			if s.Callers >= batchedMinCallers {
				miss = missed(-s.Ratio, -batchedTarget)
			}
			fmt.Fprintf(w, "%d servers\t%d\t%.0f\t%.0f\t%.2f\t%s\t\n", c.Servers, s.Callers, s.Unary.PerSecond, s.Batches.PerSecond, s.Ratio, miss)
		}
	}
	_ = w.Flush()
	fmt.Fprintf(out, "With %d or more callers, batches must exceed %.1f times the unary throughput.\n", batchedMinCallers, batchedTarget)
}
