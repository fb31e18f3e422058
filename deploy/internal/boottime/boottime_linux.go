// Package boottime reads a clock that all processes of a machine share and that nobody can set: what several holders
// wrote down by it can be laid side by side.
package boottime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now is the time since the machine started, suspended time included.
func Now() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic("CLOCK_BOOTTIME cannot be read: " + err.Error()) // every Linux since 2.6.39 has it
	}
	return time.Duration(ts.Nano())
}
