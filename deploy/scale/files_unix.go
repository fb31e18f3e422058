//go:build unix

package main

import "syscall"

// openFiles returns the maximum number of open files for this process and the servers it starts.
func openFiles() (int, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, err
	}
	return int(min(limit.Cur, 1<<20)), nil //nolint:gosec // the limit is at most 1 << 20
}
