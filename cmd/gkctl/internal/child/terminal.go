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
// A terminal has one foreground group; others that read from it, or change how it works, are stopped. The command is lent the
// foreground at its start when it reads from the terminal and does not write into a pipe: in `wrapper command | less` the
// foreground is shared with less, which must keep it until the command asks. When a person stops the command (Ctrl-Z), this process
// and the rest of its pipeline stop too, so that the shell comes back; and when the shell continues it, it continues the command.
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

// begin lends the foreground to a command that has just started. One that was faster than this is stopped, which watch sees, and continued.
func (t *terminal) begin(pid int) {
	if t == nil {
		return
	}
	if _, err := unix.IoctlGetInt(0, unix.TIOCGPGRP); err != nil {
		return // it reads from elsewhere
	}
	if out, err := os.Stdout.Stat(); err == nil && out.Mode()&os.ModeNamedPipe != 0 {
		return
	}
	t.lend(pid)
}

// lend gives the foreground to the command, when it is ours or already the command's.
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

// give gives the foreground to a group. In the background it stops this process with SIGTTOU, and goes on when that is continued.
func (t *terminal) give(group int) error {
	return ignoringEINTR(func() error { return unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, group) })
}

// lendWhenOurs gives the foreground to a command that was stopped for want of it. In the background this process is stopped, with the
// rest of its pipeline, until its shell brings it to the front. It returns false where no shell can do so.
func (t *terminal) lendWhenOurs(pid int) bool {
	switch {
	case t.lend(pid):
		return true
	case kernelStops && !signal.Ignored(syscall.SIGTTOU):
		// It is the kernel that looks and stops, in one step: a shell that brings this process to the front at this moment finds it
		// either stopped or there.
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
		unstopped(func() { _ = t.give(t.own) }) // a terminal that was hung up meanwhile has no foreground
	}
}

// end takes the foreground back from wherever a command that has ended left it.
func (t *terminal) end(pid int) {
	t.takeBack(pid)
	t.close()
}

func (t *terminal) close() {
	if t != nil {
		_ = unix.Close(t.fd) // nothing was written
	}
}

// suspend stops this process and the rest of its pipeline, and returns when it is continued. Not by SIGTSTP, which Go's runtime goes on
// catching once it was asked to.
func suspend() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	_ = syscall.Kill(0, syscall.SIGSTOP) // the group is our own
	<-continued                          // the stop comes some moment after the call
}

// hasShell says whether somebody can continue this process's group, own, once it was stopped: a parent of one of it, in another group of the
// same session. Without one the kernel ignores a terminal's stops (POSIX: an orphaned group), and so must we, as under `ssh -t`.
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
