//go:build !linux

package main

import "time"

// ownTime and cpuTime work only on Linux. A zero time is not shown.
func ownTime() (time.Duration, error) { return 0, nil }

func cpuTime([]int) (time.Duration, error) { return 0, nil }
