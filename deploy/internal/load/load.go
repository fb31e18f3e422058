// Package load is what the benches measure by: callers in a closed loop, the connections that they share, and grpc-go's
// own speed on this machine.
package load

import (
	"context"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/loop"
)

// Figure is what one closed loop of callers reached.
type Figure struct {
	Callers    int     `json:"callers"`
	Operations int     `json:"operations"`
	PerSecond  float64 `json:"per_second"`
	P50        float64 `json:"p50_us"`
	P99        float64 `json:"p99_us"`
}

// Call does a piece of work for one of the callers, from 0, and returns how many operations it was.
type Call func(ctx context.Context, caller int) (int, error)

// Measure makes callers call one after the other for that long, each on its own and at least once. The first error ends
// it and is returned.
func Measure(ctx context.Context, length time.Duration, callers int, call Call) (Figure, error) {
	r := loop.Window{Callers: callers, Length: length, FailFast: true}.Run(ctx, func(ctx context.Context, turn loop.Turn) (int, error) {
		return call(ctx, turn.Caller)
	})
	switch {
	case r.Err != nil:
		return Figure{}, r.Err
	case ctx.Err() != nil:
		return Figure{}, context.Cause(ctx)
	case r.Calls == 0:
		return Figure{}, fmt.Errorf("nothing was called in %v", length)
	}
	return Figure{
		Callers: callers, Operations: r.Operations, PerSecond: r.PerSecond(), P50: Micros(r.Latency.P50), P99: Micros(r.Latency.P99),
	}, nil
}

// Micros is d in µs, with a fraction.
func Micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
