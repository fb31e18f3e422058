//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package child

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminal is the controlling terminal of this process; nil when it has none, as under cron.
//
// A terminal has one foreground group. Other groups that read from it, or change its settings, are stopped. The command
// gets the foreground at its start if it reads from the terminal and does not write into a pipe. In `wrapper command |
// less` the foreground is shared with less, which must keep it until the command asks for it. When a person stops the
// command (Ctrl-Z), this process and the rest of its pipeline stop too, so that the shell comes back. When the shell
// continues it, it continues the command.
type terminal struct {
	fd  int
	own int // our process group
}

func openTerminal() *terminal {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil
	}
	return &terminal{fd: fd, own: unix.Getpgrp()}
}

// begin lends the foreground to a command that has just started. A command that was faster is stopped, which watch
// sees, and then continued.
func (t *terminal) begin(pid int) {
	if t == nil {
		return
	}
	if _, err := unix.IoctlGetInt(0, unix.TIOCGPGRP); err != nil {
		return // it does not read from the terminal
	}
	if out, err := os.Stdout.Stat(); err == nil && out.Mode()&os.ModeNamedPipe != 0 {
		return
	}
	t.lend(pid)
}

// lend gives the foreground to the command if it is ours or already the command's.
func (t *terminal) lend(pid int) bool {
	if t == nil {
		return false
	}
	switch at, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP); {
	case err != nil:
		return false
	case at == pid:
		return true
	case at != t.own:
		return false
	}
	return t.give(pid) == nil
}

// give gives the foreground to a group. In the background it stops this process with SIGTTOU, and continues when the
// process is continued.
func (t *terminal) give(group int) error {
	return ignoringEINTR(func() error { return unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, group) })
}

// lendWhenOurs gives the foreground to a command that was stopped because it lacked it. In the background, this process
// and the rest of its pipeline stop until the shell brings them to the front. It returns false if no shell can do so.
func (t *terminal) lendWhenOurs(pid int) bool {
	switch {
	case t.lend(pid):
		return true
	case kernelStops && !signal.Ignored(syscall.SIGTTOU):
		// The kernel checks and stops in one step. A shell that brings this process to the front at this moment finds
		// it either stopped or in the foreground.
		return t.give(pid) == nil
	}
	for hasShell(t.own) {
		suspend()
		if t.lend(pid) {
			return true
		}
	}
	return false
}

// takeBack takes the foreground from the command, if it has it.
func (t *terminal) takeBack(pid int) {
	if t == nil {
		return
	}
	if at, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP); err == nil && at == pid {
		unstopped(func() { _ = t.give(t.own) }) // fails if the terminal was hung up meanwhile
	}
}

// end takes the foreground back after the command has ended, wherever it left it.
func (t *terminal) end(pid int) {
	t.takeBack(pid)
	t.close()
}

func (t *terminal) close() {
	if t != nil {
		_ = unix.Close(t.fd) // nothing was written
	}
}

// suspend stops this process and the rest of its pipeline, and returns when it is continued. It does not use SIGTSTP,
// which Go's runtime keeps catching after the first signal.Notify.
func suspend() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	_ = syscall.Kill(0, syscall.SIGSTOP) // 0: our own group
	<-continued                          // the stop comes shortly after the call
}

// hasShell reports whether something can continue this process's group, own, after it was stopped: a parent of one of
// its processes, in another group of the same session. Without one the kernel ignores a terminal's stops (POSIX: an
// orphaned process group), and so must this package, for example under `ssh -t`.
func hasShell(own int) bool {
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	for pid := os.Getppid(); pid > 1; pid = parentOf(pid) {
		if at, err := unix.Getsid(pid); err != nil || at != session {
			return false
		}
		if group, err := unix.Getpgid(pid); err != nil || group != own {
			return err == nil
		}
	}
	return false
}
