// Package child runs a command in a process group of its own, and sees to it that the group does not outlive the process that
// started it, nor the time that it was given.
//
// Three things stand between a lost wrapper and a command that goes on:
//
//   - Start, Signal, Kill and End act on the whole group. End returns when no process of it is left.
//   - A guard, which is a second process in a group of its own, holds the read end of a pipe. When the wrapper is gone, however it
//     went, the pipe ends and the guard kills the group. The wrapper also tells it until when the group may run (Until); a wrapper
//     that is suspended or hangs tells it nothing new, and the guard kills the group at that time. The command begins when the guard has
//     been told its group: until then its process waits in Begin.
//   - On Linux and FreeBSD the kernel kills the command itself when the wrapper dies (PR_SET_PDEATHSIG), even if the guard is
//     dead too.
//
// What leaves the group, by setsid or by job control, leaves all of this: a daemon. What runs as another user may refuse the
// signals: run the wrapper as that user.
//
// At a terminal the command is the foreground, as it would be without a wrapper: see terminal.go. Commands with files of their own have no
// terminal, and any number of them can run at a time.
package child

import "errors"

// ErrUnsupported: the system has no process groups.
var ErrUnsupported = errors.New("this system has no process groups: a command could not be stopped together with what it starts")
