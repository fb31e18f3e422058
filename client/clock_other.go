//go:build !linux

package client

import "time"

// systemClock returns Go's monotonic clock. On most systems it stops while the machine is suspended, so only fencing
// with Token protects a resource from a suspended job's late writes.
func systemClock() Clock { return processClock{time.Now()} }
