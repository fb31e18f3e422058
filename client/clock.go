package client

import "time"

// Clock measures how long permits last: it returns the time since some fixed point in time. It must not be adjustable,
// and it must advance while the machine is suspended. Now is called from many goroutines.
type Clock interface {
	Now() time.Duration
}

// processClock returns the time since the start of the process on Go's monotonic clock.
type processClock struct{ start time.Time }

func (c processClock) Now() time.Duration { return time.Since(c.start) }
