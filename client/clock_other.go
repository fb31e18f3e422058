//go:build !linux

package client

import "time"

// systemClock returns Go's monotonic clock. On most systems it stops while the machine is suspended. Then only fencing
// with Token protects a resource from writes by a job that was suspended.
func systemClock() Clock { return processClock{time.Now()} }
