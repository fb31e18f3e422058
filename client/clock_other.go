//go:build !linux

package client

import "time"

// systemClock is Go's monotonic clock. On most systems it stops while the machine is suspended; then only fencing by
// Token protects what a suspended job writes after it wakes.
func systemClock() Clock { return processClock{time.Now()} }
