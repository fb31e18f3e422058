package client

import "time"

// Clock is what permits are counted by: the time since some fixed moment, on a clock that nobody sets and that goes on
// while the machine is suspended. Now is called from many goroutines.
type Clock interface {
	Now() time.Duration
}

// processClock counts from the start of the process on Go's monotonic clock.
type processClock struct{ start time.Time }

func (c processClock) Now() time.Duration { return time.Since(c.start) }
