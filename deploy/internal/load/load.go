// Package load is what the benches measure by: callers in a closed loop, the connections that they share, and grpc-go's own speed on this
// machine.
package load

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Figure is what one closed loop of callers reached.
type Figure struct {
	Callers   int     `json:"callers"`
	PerSecond float64 `json:"per_second"`
	P50       float64 `json:"p50_us"`
	P99       float64 `json:"p99_us"`
}

// Call does a piece of work for one of the callers, from 0, and returns how many operations it was.
type Call func(ctx context.Context, caller int) (int, error)

// Measure makes callers call one after the other for that long, each on its own and at least once. The first error ends it and is
// returned.
func Measure(ctx context.Context, length time.Duration, callers int, call Call) (Figure, error) {
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
				if len(mine) > 0 && !start.Before(end) {
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
		return Figure{}, err
	}
	if len(took) == 0 {
		return Figure{}, fmt.Errorf("nothing was called in %v", length)
	}
	slices.Sort(took)
	return Figure{
		Callers:   callers,
		PerSecond: float64(operations) / elapsed.Seconds(),
		P50:       Micros(took[len(took)/2]),
		P99:       Micros(took[len(took)*99/100]),
	}, nil
}

// Micros is d in µs, with a fraction.
func Micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
