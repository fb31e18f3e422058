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

// streamed is what the stream is good for that the goroutines of one client share, at one number of them.
type streamed struct {
	Callers int `json:"callers"`
	// Unary is by the generated stub, each call one of its own, and Stream by one client of the library. Both were measured by turns.
	Unary  load.Figure `json:"unary"`
	Stream load.Figure `json:"stream"`
	// Ratio is the median of the ratios of two windows in a row.
	Ratio float64 `json:"ratio"`
}

// streamTarget is how many times the unary figure the stream is to reach from streamFrom callers on.
const (
	streamTarget = 2.0
	streamFrom   = 64
)

// denial asks for the semaphore that somebody else holds.
func denial(ctx context.Context, stub gatekeeperv1.PermitServiceClient, caller int) (int, error) {
	answer, err := stub.TryAcquire(ctx, &gatekeeperv1.TryAcquireRequest{Semaphore: "held", Identity: identity(caller, "")})
	if err != nil {
		return 0, err
	}
	if reason := answer.GetDenial().GetReason(); reason != gatekeeperv1.Reason_REASON_NO_FREE_PERMIT {
		return 0, fmt.Errorf("answered %v, want a denial for want of a free permit", answer)
	}
	return 1, nil
}

// measureStreamed asks for what somebody else holds, by calls of their own and by the client's stream, window by window in turn. The
// callers are known to the servers.
func (b *bench) measureStreamed(ctx context.Context, leader *servers.Server, conns load.Conns) ([]streamed, error) {
	c, err := client.Dial(ctx, []string{leader.API})
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }() // it holds nothing
	stubs := make([]gatekeeperv1.PermitServiceClient, len(conns))
	for i := range conns {
		stubs[i] = gatekeeperv1.NewPermitServiceClient(conns.Of(i))
	}
	unary := func(ctx context.Context, caller int) (int, error) {
		return denial(ctx, stubs[caller%len(stubs)], caller)
	}
	stream := func(ctx context.Context, caller int) (int, error) { return denial(ctx, c.Permits(), caller) }
	var all []streamed
	err = unwritten(ctx, leader, func() error {
		for _, callers := range b.callers {
			s, err := b.windows.byTurns(ctx, callers, unary, stream)
			if err != nil {
				return err
			}
			all = append(all, s)
		}
		return nil
	})
	return all, err
}

// byTurns measures two ways to do the same, a window of one right after one of the other.
func (w windows) byTurns(ctx context.Context, callers int, unary, stream load.Call) (streamed, error) {
	s := streamed{Callers: callers}
	var figures [2][]load.Figure
	for n := range w.count + 1 {
		length := w.window
		if n == 0 {
			length = max(w.warmUp, 1)
		}
		for i, call := range []load.Call{unary, stream} {
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
	s.Unary, s.Stream, s.Ratio = figures[0][w.count/2], figures[1][w.count/2], ratios[w.count/2]
	return s, nil
}

// printStreamed: denials by the client's stream beside those of the stub.
func printStreamed(out io.Writer, clusters []*core) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "denials a second, by turns\tcallers\tunary\tclient's stream\tratio\t\t")
	for _, c := range clusters {
		for _, s := range c.Streamed {
			miss := ""
			if s.Callers >= streamFrom {
				miss = missed(-s.Ratio, -streamTarget)
			}
			fmt.Fprintf(w, "%d servers\t%d\t%.0f\t%.0f\t%.2f\t%s\t\n", c.Servers, s.Callers, s.Unary.PerSecond, s.Stream.PerSecond, s.Ratio, miss)
		}
	}
	_ = w.Flush()
	fmt.Fprintf(out, "From %d callers on the stream is to reach more than %.0f times the unary figure.\n", streamFrom, streamTarget)
}
