//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package child

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Supported reports whether Start works on this system.
const Supported = true

// Spec describes a command to start.
type Spec struct {
	// Path is the executable, Args are its arguments starting with its name, and Env is its entire environment.
	Path      string
	Args, Env []string
	// Files are the command's standard input, output and error. If nil, the command shares this process's files and
	// terminal. Otherwise it runs in a separate session without a terminal, so that many such commands can run at the
	// same time.
	Files []*os.File
	// Guard is the command line of a process that calls Guard. Begin is the command line of a process that calls Begin
	// with its remaining arguments.
	Guard, Begin []string
	// CleanupDir is a directory that the guard removes if this process dies without removing it. Empty means none.
	CleanupDir string
	// Until is the time, as returned by Now, until which the group may run. Process.Until can change it later.
	Until time.Duration
	// OnWait is called once if any of the group's processes are still alive after End has waited a second. It receives
	// their ids, if known. It may be nil.
	OnWait func(pids []int)
	// MayContinue is called after the whole job has been stopped from its terminal and then continued. If it returns
	// false, the command remains stopped until Kill. It may be nil.
	MayContinue func() bool
}

// Process is a started command and its group. Its methods may be called from any goroutine until End has returned.
type Process struct {
	spec     Spec
	pid      int // also the group's id
	guard    *guard
	terminal *terminal
	exited   chan struct{}
	// reaped and status are set before exited is closed. Where the system allows it, the command is left as a zombie
	// until End. That prevents its id, which is also the group's id, from being reused before the group has been
	// killed.
	reaped bool
	status syscall.WaitStatus
}

// Start starts a command. It returns ErrUnsupported on systems without process groups, and an *os.PathError if the
// command cannot be executed.
func Start(spec Spec) (*Process, error) {
	g, err := startGuard(spec.Guard, spec.CleanupDir)
	if err != nil {
		return nil, err
	}
	g.sendUntil(spec.Until) // sent before the group exists, because this process may be suspended between any two steps
	adoptOrphans()
	p := &Process{spec: spec, guard: g, exited: make(chan struct{})}
	if spec.Files == nil {
		p.terminal = openTerminal()
	}
	started := make(chan error)
	go func() {
		// The kernel watches for the death of the parent thread, not of the process (go.dev/issue/27505). This
		// goroutine therefore keeps its thread until the command has exited.
		runtime.LockOSThread()
		err := p.start()
		started <- err
		if err == nil {
			p.watch()
		}
	}()
	if err := <-started; err != nil {
		g.dismiss()
		p.terminal.close()
		return nil, &os.PathError{Op: "start", Path: spec.Path, Err: err}
	}
	return p, nil
}

func (p *Process) start() error {
	gate, err := newGate()
	if err != nil {
		return err
	}
	defer gate.close()
	attr := &syscall.ProcAttr{Env: p.spec.Env, Files: []uintptr{0, 1, 2}, Sys: attributes()}
	if p.spec.Files != nil {
		attr.Files = nil
		for _, f := range p.spec.Files {
			attr.Files = append(attr.Files, f.Fd())
		}
		attr.Sys.Setpgid, attr.Sys.Setsid = false, true // a session leader also leads a process group
	}
	attr.Files = append(attr.Files, gate.childOpen.Fd(), gate.childFailed.Fd())
	err = children.add(func() (_ int, err error) {
		p.pid, err = syscall.ForkExec(p.spec.Begin[0], slices.Concat(p.spec.Begin, []string{p.spec.Path}, p.spec.Args), attr)
		return p.pid, err
	})
	runtime.KeepAlive(p.spec.Files)
	if err != nil {
		return err
	}
	p.guard.sendGroup(p.pid)
	if err := gate.pass(); err != nil {
		_ = ignoringEINTR(func() error { _, err := syscall.Wait4(p.pid, nil, 0, nil); return err }) // it exits soon
		children.remove(p.pid)
		return err
	}
	p.terminal.begin(p.pid) // after the gate: before that, no goroutine would notice that Ctrl-Z stopped the process
	return nil
}

// PID returns the process id of the command, which is also the id of its group.
func (p *Process) PID() int { return p.pid }

// Until sends the guard the time, as returned by Now, until which the group may run.
func (p *Process) Until(at time.Duration) { p.guard.sendUntil(at) }

// Signal sends a signal to all processes in the group. After SIGTERM it also continues a stopped group, because
// otherwise the signal would remain pending.
func (p *Process) Signal(sig syscall.Signal) error {
	err := syscall.Kill(-p.pid, sig)
	if sig == syscall.SIGTERM {
		err = errors.Join(err, syscall.Kill(-p.pid, syscall.SIGCONT))
	}
	return err
}

// Kill kills all processes in the group, including processes that are still being started.
func (p *Process) Kill() error { return syscall.Kill(-p.pid, syscall.SIGKILL) }

// Exited returns a channel that is closed when the command itself has exited. Other processes in its group may still
// be running.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// State describes how a command ended.
type State struct {
	// Code is the exit code, or 128 plus the signal number.
	Code int
	// Signal is the signal that killed the command, or 0 if it exited.
	Signal syscall.Signal
}

// End waits until the command has exited, kills the rest of its group, and returns when the whole group is gone.
// If ctx ends first, End returns its error.
func (p *Process) End(ctx context.Context) (State, error) {
	<-p.exited
	_ = p.Kill() // fails if the group is empty or cannot be killed; waitUntilEmpty detects both
	if !p.reaped {
		_ = ignoringEINTR(func() error { _, err := syscall.Wait4(p.pid, &p.status, 0, nil); return err }) // our zombie
	}
	children.remove(p.pid)
	p.terminal.end(p.pid)
	err := p.waitUntilEmpty(ctx)
	p.guard.dismiss()
	reapOrphans()
	s := State{Code: p.status.ExitStatus()}
	if p.status.Signaled() {
		s.Signal = p.status.Signal()
		s.Code = 128 + int(s.Signal)
	}
	return s, err
}

// waitUntilEmpty waits until the group is empty. Where the system allows it, zombies with other parents are ignored.
func (p *Process) waitUntilEmpty(ctx context.Context) error {
	report := p.spec.OnWait
	start := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		reapGroup(p.pid)
		if errors.Is(syscall.Kill(-p.pid, 0), syscall.ESRCH) {
			return nil
		}
		pids, known := alive(p.pid)
		if known && len(pids) == 0 {
			return nil
		}
		if report != nil && time.Since(start) > time.Second {
			report(pids)
			report = nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// watch waits until the command exits, and calls stopped whenever the command is stopped before that.
func (p *Process) watch() {
	defer close(p.exited)
	for {
		if hasExited(p.pid) {
			return
		}
		var ws syscall.WaitStatus
		var pid int
		err := ignoringEINTR(func() (err error) { pid, err = syscall.Wait4(p.pid, &ws, waitOptions, nil); return err })
		switch {
		case err != nil: // something else reaped it, so its status is unknown and must not count as success
			p.reaped, p.status = true, unknownStatus
			return
		case pid == 0:
		case ws.Stopped():
			p.stopped(ws.StopSignal())
		default:
			p.reaped, p.status = true, ws
			return
		}
	}
}

// stopped is called when a signal has stopped the command. Without a terminal, the signal was sent on purpose, and its
// sender may continue the command.
func (p *Process) stopped(sig syscall.Signal) {
	if p.terminal == nil || sig == syscall.SIGSTOP {
		return
	}
	lent := true
	if sig == syscall.SIGTSTP {
		p.terminal.takeBack(p.pid)
		if hasShell(p.terminal.own) {
			suspend()
		}
		p.terminal.lend(p.pid) // does nothing if the job was continued in the background
	} else {
		lent = p.terminal.lendInForeground(p.pid)
	}
	switch {
	case p.spec.MayContinue != nil && !p.spec.MayContinue(): // the command remains stopped until Kill
	case lent:
		_ = syscall.Kill(-p.pid, syscall.SIGCONT) // the id is valid, because the command has not been reaped
	default: // the kernel does the same to a stopped group that no parent can continue
		_ = syscall.Kill(-p.pid, syscall.SIGHUP)
		_ = syscall.Kill(-p.pid, syscall.SIGCONT)
	}
}

// unknownStatus stands in for a wait status that could not be read. Its exit code is 255.
const unknownStatus syscall.WaitStatus = 255 << 8

// processes is the set of children that this process has started and will wait for.
type processes struct {
	mu   sync.Mutex // guards pids; held while a child starts, so that reapOrphans never sees a child that is not in pids
	pids map[int]struct{}
	// reaped is the time at which orphans were last reaped. It is guarded by mu.
	reaped time.Time
}

var children = processes{pids: make(map[int]struct{})} //nolint:gochecknoglobals // the children of this process are global

// add starts a process and adds it to the set.
func (c *processes) add(start func() (pid int, err error)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	pid, err := start()
	if err == nil {
		c.pids[pid] = struct{}{}
	}
	return err
}

// remove removes a process that has been reaped.
func (c *processes) remove(pid int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pids, pid)
}

func ignoringEINTR(f func() error) error {
	for {
		if err := f(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Forwarded returns the signals that a wrapper forwards. These are all signals that can be caught, except signals
// caused by the process itself (faults, SIGCHLD, SIGPIPE, resource limits), SIGURG, which Go's runtime uses, and the
// signals sent to a terminal's background processes. A signal that is ignored, such as SIGHUP under nohup, is not
// forwarded, and the command ignores it too.
func Forwarded() []os.Signal {
	all := []os.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM,
		syscall.SIGCONT, syscall.SIGTSTP, syscall.SIGWINCH,
	}
	return slices.DeleteFunc(append(all, systemSignals()...), signal.Ignored)
}

// Continues reports whether a signal continues a stopped process.
func Continues(s syscall.Signal) bool { return s == syscall.SIGCONT }

// SignalName returns the name of a signal, such as SIGTERM, or an empty string for 0.
func SignalName(s syscall.Signal) string {
	if s == 0 {
		return ""
	}
	return cmp.Or(unix.SignalName(s), s.String())
}
