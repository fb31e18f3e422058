package main

import (
	"context"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
)

// windows configures measurements. The warm-up is not measured. The result is the median of the windows.
type windows struct {
	warmUp, window time.Duration
	count          int
}

// loop runs a closed loop of callers and measures their total throughput. The first error stops the loop and is
// returned.
func (w windows) loop(ctx context.Context, callers int, call load.Call) (load.Figure, error) {
	if w.warmUp > 0 {
		if _, err := load.Measure(ctx, w.warmUp, callers, call); err != nil {
			return load.Figure{}, err
		}
	}
	var figures []load.Figure
	for range w.count {
		f, err := load.Measure(ctx, w.window, callers, call)
		if err != nil {
			return load.Figure{}, err
		}
		figures = append(figures, f)
	}
	slices.SortFunc(figures, func(a, b load.Figure) int { return int(a.PerSecond - b.PerSecond) })
	return figures[len(figures)/2], nil
}
