// Package child runs a command in a separate process group. It ensures that the group neither outlives the wrapper, the
// process that started it, nor runs past its deadline.
//
// Three mechanisms ensure this:
//
//   - Start, Signal, Kill and End act on the whole group. End returns when all of the group's processes have exited.
//   - A guard, a second process in its own group, holds the read end of a pipe. When the wrapper dies for any reason,
//     the pipe closes and the guard kills the group. The wrapper also sends the guard the time until which the group
//     may run (Until). If the wrapper is suspended or hangs, it sends no update, so the guard kills the group when
//     that time is reached. The command starts only after the guard has received the group's id. Until then it waits
//     in Begin.
//   - On Linux and FreeBSD the kernel kills the command itself when the wrapper dies (PR_SET_PDEATHSIG), even if the
//     guard is dead too.
//
// A process that leaves the group through setsid or job control, as daemons do, is not covered. Signals to processes
// running as another user may be refused; to avoid that, run the wrapper as that user.
//
// At a terminal, the command runs in the foreground, as it would without a wrapper; see terminal.go. Commands with
// their own standard streams (Spec.Files) have no terminal, and any number of them can run at the same time.
package child

import "errors"

// ErrUnsupported is returned on systems without process groups.
var ErrUnsupported = errors.New("this system has no process groups: a command could not be stopped together with the processes it starts")
