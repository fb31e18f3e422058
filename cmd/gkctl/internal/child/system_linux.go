package child

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Now reads a clock that all processes on the machine share, that cannot be set, and that keeps running while the
// machine is suspended.
func Now() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil { // denied by a sandbox; the client's clock falls back too
		_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // never fails
	}
	return time.Duration(ts.Nano())
}

// adoptOrphans makes this process the parent of processes left behind by the command's processes, so that it can
// wait for them. The first process in a container often does not reap them.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// dieWithParent repeats the request made by Pdeathsig. The kernel stores it per thread, and exec may be called on a
// different thread.
func dieWithParent() { _ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0) }

// reapGroup reaps the dead processes of a group.
func reapGroup(group int) {
	for {
		pid, err := syscall.Wait4(-group, nil, syscall.WNOHANG, nil)
		if pid <= 0 && err != unix.EINTR { //nolint:errorlint // a system call returns a plain Errno
			return
		}
	}
}

// waitOptions are the wait options for use after hasExited, when the process has already stopped or exited.
const waitOptions = syscall.WUNTRACED | syscall.WNOHANG

// hasExited waits until a process has exited or stopped, and reports whether it has exited. It leaves an exited process
// as a zombie.
func hasExited(pid int) bool {
	var info unix.Siginfo
	err := ignoringEINTR(func() error {
		return unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT, nil)
	})
	const killed, dumped, exited = 2, 3, 1 // CLD_KILLED, CLD_DUMPED, CLD_EXITED
	return err == nil && (info.Code == exited || info.Code == killed || info.Code == dumped)
}

// sigttouStops reports whether SIGTTOU keeps its default action.
const sigttouStops = true

// withoutSIGTTOU calls f, which may use the terminal from the background without being stopped by SIGTTOU. It blocks
// the signal rather than ignoring it, because ignoring it cannot be undone and the signal is needed later.
func withoutSIGTTOU(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var ttou, old unix.Sigset_t
	const bits = 8 * int(unsafe.Sizeof(ttou.Val[0]))
	ttou.Val[(int(unix.SIGTTOU)-1)/bits] |= 1 << ((int(unix.SIGTTOU) - 1) % bits)
	if unix.PthreadSigmask(unix.SIG_BLOCK, &ttou, &old) == nil { // fails only for invalid arguments
		defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil) }()
	}
	f()
}

// parentOf returns the parent of a process, or 0 if it is unknown.
func parentOf(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(stat, []byte(") ")) // skips the name, which may contain anything else
	if fields := bytes.Fields(rest); len(fields) > 1 {
		n, _ := strconv.Atoi(string(fields[1])) // 0 if malformed
		return n
	}
	return 0
}

// reapInterval is the minimum time between searches for dead orphans. Each search reads /proc.
const reapInterval = time.Second

// reapOrphans reaps dead processes that commands left behind outside their groups. Without it, a wrapper that runs many
// commands would accumulate zombies, because it becomes the parent of orphans through adoptOrphans or as the first
// process in a container.
func reapOrphans() {
	children.mu.Lock()
	defer children.mu.Unlock()
	if time.Since(children.reaped) < reapInterval {
		return
	}
	children.reaped = time.Now()
	self := os.Getpid()
	_ = eachProcess(func(p stat) {
		if _, known := children.pids[p.pid]; p.dead && p.parent == self && !known {
			_, _ = syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil) // our zombie
		}
	})
}

// stat describes a process, as read from /proc.
type stat struct {
	pid, parent, group int
	dead               bool
}

// eachProcess calls f for each process in /proc. It returns an error if /proc cannot be read.
func eachProcess(f func(stat)) error {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue // the process has exited
		}
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // state, parent, group
		if len(fields) < 3 {
			continue
		}
		p := stat{pid: pid, dead: bytes.ContainsAny(fields[0], "ZX")}
		p.parent, _ = strconv.Atoi(string(fields[1])) // 0 if malformed
		p.group, _ = strconv.Atoi(string(fields[2]))
		f(p)
	}
	return nil
}

// alive returns the processes in a group that are alive or that this process must reap. known is false if /proc does
// not show all processes.
func alive(group int) (pids []int, known bool) {
	self, first := false, false
	err := eachProcess(func(p stat) {
		self, first = self || p.pid == os.Getpid(), first || p.pid == 1
		if p.group == group && (!p.dead || p.parent == os.Getpid()) { // our own zombies are reaped next
			pids = append(pids, p.pid)
		}
	})
	return pids, err == nil && self && first // otherwise /proc belongs to another namespace, or hides other users' processes
}

// systemSignals returns the signals that this system has in addition to the common ones: SIGPWR and the real-time
// signals.
func systemSignals() []os.Signal {
	all := []os.Signal{syscall.SIGPWR}
	const first, last = 34, 64 // the C library reserves 32 and 33
	for n := first; n <= last; n++ {
		all = append(all, syscall.Signal(n))
	}
	return all
}
