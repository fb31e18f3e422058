//go:build !linux

// Package boottime reads a clock that all processes on a machine share, so that the records of different holders can be
// compared.
package boottime

import "time"

// Now returns the wall clock time, which is good enough as long as the clock is not adjusted.
func Now() time.Duration { return time.Duration(time.Now().UnixNano()) }
