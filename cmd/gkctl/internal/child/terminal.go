//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package child

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminal is this process's controlling terminal. It is nil if there is none, as under cron.
//
// A terminal has one foreground group. Processes in other groups are stopped when they read from the terminal or change
// its settings. The command gets the foreground when it starts if it reads from the terminal and does not write to a
// pipe. In `wrapper command | less`, the foreground is shared with less, which must keep it until the command needs it.
// When the user stops the command (Ctrl-Z), this process and the rest of its pipeline stop too, so that the shell
// regains the foreground. When the shell continues this process, this process continues the command.
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

// begin lends the foreground to a command that has just started. If the command has already tried to use the
// terminal, it has been stopped; watch detects this and continues it.
func (t *terminal) begin(pid int) {
	if t == nil {
		return
	}
	if _, err := unix.IoctlGetInt(0, unix.TIOCGPGRP); err != nil {
		return // standard input is not the terminal
	}
	if out, err := os.Stdout.Stat(); err == nil && out.Mode()&os.ModeNamedPipe != 0 {
		return
	}
	t.lend(pid)
}

// lend gives the foreground to the command if this process has it, and reports whether the command has it now.
func (t *terminal) lend(pid int) bool {
	if t == nil {
		return false
	}
	switch id, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP); {
	case err != nil:
		return false
	case id == pid:
		return true
	case id != t.own:
		return false
	}
	return t.setForeground(pid) == nil
}

// setForeground moves a group to the foreground. If this process is in the background, SIGTTOU stops it first, and the
// call completes after it is continued.
func (t *terminal) setForeground(group int) error {
	return ignoringEINTR(func() error { return unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, group) })
}

// lendInForeground gives the foreground to a command that was stopped because it needed the terminal. If this process
// is in the background, it stops with the rest of its pipeline until the shell brings them to the foreground. It
// returns false if no shell can do that.
func (t *terminal) lendInForeground(pid int) bool {
	switch {
	case t.lend(pid):
		return true
	case sigttouStops && !signal.Ignored(syscall.SIGTTOU):
		// The kernel checks for the foreground and stops this process in one step. A shell that now brings this process
		// to the foreground finds it either stopped or already there.
		return t.setForeground(pid) == nil
	}
	for hasShell(t.own) {
		suspend()
		if t.lend(pid) {
			return true
		}
	}
	return false
}

// takeBack takes the foreground from the command if the command has it.
func (t *terminal) takeBack(pid int) {
	if t == nil {
		return
	}
	if id, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP); err == nil && id == pid {
		withoutSIGTTOU(func() { _ = t.setForeground(t.own) }) // fails if the terminal was hung up in the meantime
	}
}

// end takes the foreground back from a command that has exited, and closes the terminal.
func (t *terminal) end(pid int) {
	t.takeBack(pid)
	t.close()
}

func (t *terminal) close() {
	if t != nil {
		_ = unix.Close(t.fd) // no data is buffered
	}
}

// suspend stops this process and the rest of its pipeline, and returns when it is continued. It does not use SIGTSTP,
// because Go's runtime keeps catching that signal after the first signal.Notify.
func suspend() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	_ = syscall.Kill(0, syscall.SIGSTOP) // 0: our own group
	<-continued                          // the stop takes effect shortly after the call
}

// hasShell reports whether another process can continue this process's group, own, after it has been stopped. That
// process must be the parent of one of the group's processes, and in a different group of the same session. Without
// such a parent, the kernel ignores stops from a terminal (POSIX calls this an orphaned process group), and so must
// this package, for example under `ssh -t`.
func hasShell(own int) bool {
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	for pid := os.Getppid(); pid > 1; pid = parentOf(pid) {
		if id, err := unix.Getsid(pid); err != nil || id != session {
			return false
		}
		if group, err := unix.Getpgid(pid); err != nil || group != own {
			return err == nil
		}
	}
	return false
}
