//go:build unix

package main

import (
	"syscall"
	"time"
)

// cpuTime is the CPU time that this process has taken, in user and in system mode.
func cpuTime() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
