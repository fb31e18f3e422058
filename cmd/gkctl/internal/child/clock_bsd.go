//go:build darwin || freebsd || openbsd || dragonfly

package child

import "golang.org/x/sys/unix"

const monotonic = unix.CLOCK_MONOTONIC
