// Package boottime reads a clock that all processes on a machine share and that cannot be set, so that the records of
// different holders can be compared.
package boottime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now returns the time since boot, including any time during which the machine was suspended.
func Now() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic("CLOCK_BOOTTIME cannot be read: " + err.Error()) // available since Linux 2.6.39
	}
	return time.Duration(ts.Nano())
}
