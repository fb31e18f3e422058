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

// Now is a clock that all processes of the machine share, which nobody sets and which goes on while it is suspended.
func Now() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil { // a sandbox that refuses it, as the client's clock knows it
		_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // there is always this one
	}
	return time.Duration(ts.Nano())
}

// adoptOrphans makes this process the parent of what the command's processes leave behind, so that it can wait for them: the
// first process of a container often does not.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } // without it their end is seen when init has reaped them

// dieWithParent asks again for what Pdeathsig asked for: the kernel keeps it for each thread, and the thread that calls
// exec need not be the first one.
func dieWithParent() { _ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0) } // without it the guard is left

// reapGroup reaps what has ended of a group.
func reapGroup(group int) {
	for {
		pid, err := syscall.Wait4(-group, nil, syscall.WNOHANG, nil)
		if pid <= 0 && err != unix.EINTR { //nolint:errorlint // a system call's own number
			return
		}
	}
}

// waitOptions are those of the wait after hasExited: for a stop that is there.
const waitOptions = syscall.WUNTRACED | syscall.WNOHANG

// hasExited waits until a process has exited, and leaves it as a zombie, or has stopped.
func hasExited(pid int) bool {
	var info unix.Siginfo
	err := ignoringEINTR(func() error {
		return unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT, nil)
	})
	const killed, dumped, exited = 2, 3, 1 // CLD_KILLED, CLD_DUMPED, CLD_EXITED
	return err == nil && (info.Code == exited || info.Code == killed || info.Code == dumped)
}

// kernelStops says that SIGTTOU keeps its meaning.
const kernelStops = true

// unstopped calls f, in which the background may do what it would be stopped for by SIGTTOU. The signal is not ignored instead: that
// could not be undone, and is needed.
func unstopped(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var ttou, old unix.Sigset_t
	const bits = 8 * int(unsafe.Sizeof(ttou.Val[0]))
	ttou.Val[(int(unix.SIGTTOU)-1)/bits] |= 1 << ((int(unix.SIGTTOU) - 1) % bits)
	if unix.PthreadSigmask(unix.SIG_BLOCK, &ttou, &old) == nil { // its errors are those of wrong arguments
		defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil) }()
	}
	f()
}

// parentOf is the parent of a process; 0 when it is not known.
func parentOf(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(stat, []byte(") ")) // after the name, which may hold anything else
	if fields := bytes.Fields(rest); len(fields) > 1 {
		n, _ := strconv.Atoi(string(fields[1])) // 0 is the answer to nonsense too
		return n
	}
	return 0
}

// reapEvery is the least time between two looks for orphans that have ended: each reads /proc.
const reapEvery = time.Second

// reapOrphans waits for processes that commands have left behind, that have left their groups, and that have ended since. Without it a
// wrapper of many commands would collect them as zombies: adoptOrphans makes it their parent, and so does being the first process of a container.
func reapOrphans() {
	ours.mu.Lock()
	defer ours.mu.Unlock()
	if time.Since(ours.reaped) < reapEvery {
		return
	}
	ours.reaped = time.Now()
	self := os.Getpid()
	_ = eachProcess(func(p stat) {
		if _, known := ours.pids[p.pid]; p.dead && p.parent == self && !known {
			_, _ = syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil) // it is our zombie
		}
	})
}

// stat is what the kernel says of a process.
type stat struct {
	pid, parent, group int
	dead               bool
}

// eachProcess calls f with each process that is seen in /proc. It returns an error if that cannot be read.
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
			continue // it is gone
		}
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // state, parent, group
		if len(fields) < 3 {
			continue
		}
		p := stat{pid: pid, dead: bytes.ContainsAny(fields[0], "ZX")}
		p.parent, _ = strconv.Atoi(string(fields[1])) // numbers, or 0
		p.group, _ = strconv.Atoi(string(fields[2]))
		f(p)
	}
	return nil
}

// alive is who is left in a group and is not dead, or is ours to reap; false if that is not known.
func alive(group int) (pids []int, known bool) {
	self, first := false, false
	err := eachProcess(func(p stat) {
		self, first = self || p.pid == os.Getpid(), first || p.pid == 1
		if p.group == group && (!p.dead || p.parent == os.Getpid()) { // ours are reaped next
			pids = append(pids, p.pid)
		}
	})
	return pids, err == nil && self && first // otherwise it is of another namespace, or hides what is not ours
}

// systemSignals are those that this system has beside the common ones: SIGPWR and the real-time signals.
func systemSignals() []os.Signal {
	all := []os.Signal{syscall.SIGPWR}
	const first, last = 34, 64 // the C library keeps 32 and 33 for itself
	for n := first; n <= last; n++ {
		all = append(all, syscall.Signal(n))
	}
	return all
}
