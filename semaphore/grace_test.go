package semaphore

import (
	"math"
	"testing"
	"time"
)

func TestGrace_OnePercentWithMinimum(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{
		100 * time.Millisecond: 20 * time.Millisecond,
		2 * time.Second:        20 * time.Millisecond,
		3 * time.Second:        30 * time.Millisecond,
		time.Minute:            600 * time.Millisecond,
		time.Hour:              36 * time.Second,
		0:                      20 * time.Millisecond,
		math.MaxInt64:          math.MaxInt64 / 100,
	} {
		if got := Grace(d); got != want {
			t.Errorf("Grace(%v) = %v, want %v", d, got, want)
		}
	}
}
