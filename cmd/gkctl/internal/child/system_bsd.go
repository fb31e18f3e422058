//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package child

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// dieWithParent does nothing: where Pdeathsig exists, it belongs to the process, not to a thread.
func dieWithParent() {}

// Now is a clock that all processes of the machine share and that cannot be set.
func Now() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(monotonic, &ts) // always available
	return time.Duration(ts.Nano())
}

// adoptOrphans does nothing: init reaps them.
func adoptOrphans() {}

func reapGroup(int) {}

func reapOrphans() {}

// waitOptions are the options for waiting for an exit or a stop.
const waitOptions = syscall.WUNTRACED

// hasExited cannot detect an exit without reaping it here.
func hasExited(int) bool { return false }

// parentOf is unknown without reading the kernel's tables.
func parentOf(int) int { return 0 }

// alive is unknown without reading the kernel's tables.
func alive(int) (pids []int, known bool) { return nil, false }

// systemSignals returns the signals that this system has in addition to the common ones.
func systemSignals() []os.Signal { return []os.Signal{syscall.SIGINFO} }

// kernelStops reports whether SIGTTOU keeps its meaning.
const kernelStops = false

// unstopped calls f, during which the background may do what SIGTTOU would stop it for. It may do so from then on.
func unstopped(f func()) {
	signal.Ignore(syscall.SIGTTOU)
	f()
}
