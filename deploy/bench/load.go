package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// figure is what one closed loop of callers reached.
type figure struct {
	Callers   int     `json:"callers"`
	PerSecond float64 `json:"per_second"`
	P50       float64 `json:"p50_us"`
	P99       float64 `json:"p99_us"`
}

// windows says how long to measure: the warm-up is run and not counted; the figure is the median of the windows.
type windows struct {
	warmUp, window time.Duration
	count          int
}

// loop makes callers call one after the other, each on its own, and measures them together. call does a piece of work and returns how
// many operations it was. The first error ends the loop and is returned.
func (w windows) loop(ctx context.Context, callers int, call func(ctx context.Context, caller int) (int, error)) (figure, error) {
	if w.warmUp > 0 {
		if _, err := w.once(ctx, w.warmUp, callers, call); err != nil {
			return figure{}, err
		}
	}
	var figures []figure
	for range w.count {
		f, err := w.once(ctx, w.window, callers, call)
		if err != nil {
			return figure{}, err
		}
		figures = append(figures, f)
	}
	slices.SortFunc(figures, func(a, b figure) int { return int(a.PerSecond - b.PerSecond) })
	return figures[len(figures)/2], nil
}

func (w windows) once(ctx context.Context, length time.Duration, callers int, call func(context.Context, int) (int, error)) (figure, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var mu sync.Mutex // guards took and operations
	var took []time.Duration
	var operations int
	begin := time.Now()
	end := begin.Add(length)
	for caller := range callers {
		wg.Go(func() {
			var mine []time.Duration
			var done int
			for ctx.Err() == nil {
				start := time.Now()
				if !start.Before(end) {
					break
				}
				n, err := call(ctx, caller)
				if err != nil {
					cancel(fmt.Errorf("caller %d: %w", caller, err))
					break
				}
				done += n
				mine = append(mine, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
			operations += done
		})
	}
	wg.Wait()
	elapsed := time.Since(begin)
	if err := context.Cause(ctx); err != nil {
		return figure{}, err
	}
	if len(took) == 0 {
		return figure{}, fmt.Errorf("nothing was called in %v", length)
	}
	slices.Sort(took)
	return figure{
		Callers:   callers,
		PerSecond: float64(operations) / elapsed.Seconds(),
		P50:       micros(took[len(took)/2]),
		P99:       micros(took[len(took)*99/100]),
	}, nil
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
