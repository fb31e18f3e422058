// Package child runs a command in a separate process group. It makes sure that the group outlives neither the process
// that started it nor the time that it was given.
//
// Three mechanisms stop a command whose wrapper is gone:
//
// - Start, Signal, Kill and End act on the whole group. End returns when no process of it is left.
// - A guard, which is a second process in its own group, holds the read end of a pipe. When the wrapper dies, for
// whatever reason, the pipe closes and the guard kills the group. The wrapper also sends it the time until which the
// group may run (Until). A wrapper that is suspended or hangs sends no update, and the guard kills the group at that
// time. The command starts only after the guard has received its group: until then its process waits in Begin.
// - On Linux and FreeBSD the kernel kills the command itself when the wrapper dies (PR_SET_PDEATHSIG), even if the
// guard is dead too.
//
// A process that leaves the group, by setsid or by job control, is not covered: a daemon, for example. Processes of
// another user may refuse the signals: run the wrapper as that user.
//
// At a terminal the command gets the foreground, as it would without a wrapper: see terminal.go. Commands with separate
// files have no terminal, and any number of them can run at the same time.
package child

import "errors"

// ErrUnsupported: the system has no process groups.
var ErrUnsupported = errors.New("this system has no process groups: a command could not be stopped together with what it starts")
