package client

import (
	"time"

	"golang.org/x/sys/unix"
)

// systemClock returns a clock that reads CLOCK_BOOTTIME, because Go's monotonic clock stops while the machine is
// suspended (go.dev/issue/24595).
func systemClock() Clock {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil { // a kernel older than 2.6.39, or a sandbox that forbids the call
		return processClock{time.Now()}
	}
	return bootClock{}
}

type bootClock struct{}

func (bootClock) Now() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic("client: CLOCK_BOOTTIME can no longer be read: " + err.Error()) // it was readable when the Client was created
	}
	return time.Duration(ts.Nano())
}
