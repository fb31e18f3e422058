//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package child

import (
	"cmp"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// Forwarded are the signals that a wrapper passes on: all that can be caught, but for those that a process gets for what it did
// itself (faults, SIGCHLD, SIGPIPE, its own limits), SIGURG, which Go's runtime uses, and those of a terminal's background.
// What is ignored, as SIGHUP under nohup, stays so for the command too.
func Forwarded() []os.Signal {
	all := []os.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM,
		syscall.SIGCONT, syscall.SIGTSTP, syscall.SIGWINCH,
	}
	all = append(all, systemSignals()...)
	kept := all[:0]
	for _, s := range all {
		if !signal.Ignored(s) {
			kept = append(kept, s)
		}
	}
	return kept
}

// Continues says whether a signal makes a stopped process go on.
func Continues(s syscall.Signal) bool { return s == syscall.SIGCONT }

// SignalName is a signal's name, as in SIGTERM; empty for none.
func SignalName(s syscall.Signal) string {
	if s == 0 {
		return ""
	}
	return cmp.Or(unix.SignalName(s), s.String())
}
