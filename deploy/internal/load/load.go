// Package load contains the measurement code for the benchmarks: closed loops of callers, the connections they
// share, and an echo server that measures the speed of grpc-go on this machine as a baseline.
package load

import (
	"context"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/loop"
)

// Figure is the result of one closed loop of callers.
type Figure struct {
	Callers    int     `json:"callers"`
	Operations int     `json:"operations"`
	PerSecond  float64 `json:"per_second"`
	P50        float64 `json:"p50_us"`
	P99        float64 `json:"p99_us"`
}

// Call does a piece of work for a caller and returns the number of operations in it. Callers are numbered from 0.
type Call func(ctx context.Context, caller int) (int, error)

// Measure runs a closed loop of concurrent callers for the given time. Each caller makes at least one call. Measure
// stops at the first error and returns it.
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
		return Figure{}, fmt.Errorf("no calls succeeded in %v", length)
	}
	return Figure{
		Callers: callers, Operations: r.Operations, PerSecond: r.PerSecond(), P50: Micros(r.Latency.P50), P99: Micros(r.Latency.P99),
	}, nil
}

// Micros returns d in µs, with a fractional part.
func Micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
