//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package child

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// dieWithParent has nothing to do: where Pdeathsig is there, it is the process's.
func dieWithParent() {}

// Now is a clock that all processes of the machine share and nobody sets.
func Now() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(monotonic, &ts) // there is always this one
	return time.Duration(ts.Nano())
}

// adoptOrphans does nothing: init reaps them.
func adoptOrphans() {}

func reapGroup(int) {}

func reapOrphans() {}

// waitOptions are those of the wait for an exit or a stop.
const waitOptions = syscall.WUNTRACED

// hasExited cannot look at an exit without reaping it here.
func hasExited(int) bool { return false }

// parentOf is not known without reading the kernel's tables.
func parentOf(int) int { return 0 }

// alive is not known without reading the kernel's tables.
func alive(int) (pids []int, known bool) { return nil, false }

// systemSignals are those that this system has beside the common ones.
func systemSignals() []os.Signal { return []os.Signal{syscall.SIGINFO} }

// kernelStops says that SIGTTOU keeps its meaning.
const kernelStops = false

// unstopped calls f, in which the background may do what it would be stopped for by SIGTTOU, and may do so from then on.
func unstopped(f func()) {
	signal.Ignore(syscall.SIGTTOU)
	f()
}
