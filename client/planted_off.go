//go:build !planted

package client

import "time"

// sentAt is the reading from which an answer counts: that before its attempt. See planted_on.go.
func sentAt(sent, _ time.Duration) time.Duration { return sent }
