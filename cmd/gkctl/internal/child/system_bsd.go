//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package child

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// dieWithParent does nothing: where Pdeathsig exists, it applies to the process, not to a thread.
func dieWithParent() {}

// Now reads a clock that all processes on the machine share and that cannot be set.
func Now() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(monotonic, &ts) // never fails
	return time.Duration(ts.Nano())
}

// adoptOrphans does nothing: init reaps orphans.
func adoptOrphans() {}

func reapGroup(int) {}

func reapOrphans() {}

// waitOptions are the wait options for a process that may exit or stop.
const waitOptions = syscall.WUNTRACED

// hasExited returns false: this system cannot detect an exit without reaping the process.
func hasExited(int) bool { return false }

// parentOf returns 0, which means unknown: finding the parent would require reading the kernel's process table.
func parentOf(int) int { return 0 }

// alive returns known == false: listing the processes would require reading the kernel's process table.
func alive(int) (pids []int, known bool) { return nil, false }

// systemSignals returns the signals that this system has in addition to the common ones.
func systemSignals() []os.Signal { return []os.Signal{syscall.SIGINFO} }

// sigttouStops reports whether SIGTTOU keeps its default action. It does not here, because withoutSIGTTOU ignores it.
const sigttouStops = false

// withoutSIGTTOU calls f, which may use the terminal from the background without being stopped by SIGTTOU. The signal
// remains ignored afterwards.
func withoutSIGTTOU(f func()) {
	signal.Ignore(syscall.SIGTTOU)
	f()
}
