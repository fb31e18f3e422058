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

// Spec is a command to start.
type Spec struct {
	// Path is the executable, Args are its arguments with its name first, Env is its whole environment.
	Path      string
	Args, Env []string
	// Files are the command's standard files: input, output, errors. Without them it has those of this process, and its
	// terminal. With them it has a separate session without a terminal, so that many such commands can run at the same
	// time.
	Files []*os.File
	// Guard is the command line of a process that calls Guard. Begin is that of one that calls Begin with the arguments
	// that follow.
	Guard, Begin []string
	// Rubbish is a folder that the guard removes if this process dies without removing it; empty for none.
	Rubbish string
	// Until is the time until which the group may run, in readings of Now, unless the guard receives another one.
	Until time.Duration
	// Waits is called once when End has waited for a second for processes of the group to die, with their ids if they
	// are known. May be nil.
	Waits func(pids []int)
	// MayContinue is called after the whole job was stopped at its terminal and continued. If it returns false, the
	// command stays stopped until Kill.
	MayContinue func() bool
}

// Process is a started command with its group. Its methods may be called from any goroutine until End has returned.
type Process struct {
	spec     Spec
	pid      int // and the group's id
	guard    *guard
	terminal *terminal
	exited   chan struct{}
	// Set before exited is closed. Where the system allows it, the command is left as a zombie until End. That keeps
	// its id, which is the group's id, from being reused before the group was killed.
	reaped bool
	status syscall.WaitStatus
}

// Start starts a command.
func Start(spec Spec) (*Process, error) {
	g, err := startGuard(spec.Guard, spec.Rubbish)
	if err != nil {
		return nil, err
	}
	g.until(spec.Until) // before there is a group: this process may be stopped or suspended between any two steps
	adoptOrphans()
	p := &Process{spec: spec, guard: g, exited: make(chan struct{})}
	if spec.Files == nil {
		p.terminal = openTerminal()
	}
	started := make(chan error)
	go func() {
		// The kernel looks for the death of the parent thread, not of the process (go.dev/issue/27505). So this thread
		// is kept until the command ends, and ends with this goroutine.
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
		attr.Sys.Setpgid, attr.Sys.Setsid = false, true // a session leader also leads a group
	}
	attr.Files = append(attr.Files, gate.theirOpen.Fd(), gate.theirFailed.Fd())
	err = ours.add(func() (_ int, err error) {
		p.pid, err = syscall.ForkExec(p.spec.Begin[0], slices.Concat(p.spec.Begin, []string{p.spec.Path}, p.spec.Args), attr)
		return p.pid, err
	})
	runtime.KeepAlive(p.spec.Files)
	if err != nil {
		return err
	}
	p.guard.group(p.pid)
	if err := gate.pass(); err != nil {
		_ = ignoringEINTR(func() error { _, err := syscall.Wait4(p.pid, nil, 0, nil); return err }) // it ends soon
		ours.remove(p.pid)
		return err
	}
	p.terminal.begin(p.pid) // not earlier: Ctrl-Z would stop it at the gate, where it is not watched yet
	return nil
}

// PID is the process id of the command, and the id of its group.
func (p *Process) PID() int { return p.pid }

// Until sends the guard the time until which the group may run, in readings of Now.
func (p *Process) Until(at time.Duration) { p.guard.until(at) }

// Signal sends a signal to all processes of the group. It continues a stopped group that must end, because otherwise
// the signal would stay pending.
func (p *Process) Signal(sig syscall.Signal) error {
	err := syscall.Kill(-p.pid, sig)
	if sig == syscall.SIGTERM {
		err = errors.Join(err, syscall.Kill(-p.pid, syscall.SIGCONT))
	}
	return err
}

// Kill kills all processes of the group, including those that are just being started.
func (p *Process) Kill() error { return syscall.Kill(-p.pid, syscall.SIGKILL) }

// Exited is closed when the command itself has ended. Other processes of its group may still run.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// State is how a command ended.
type State struct {
	// Code is its exit code, or 128 plus the number of the signal.
	Code int
	// Signal is the signal that ended it; 0 when it exited.
	Signal syscall.Signal
}

// End waits until the command has ended, kills the rest of its group, and returns when no process of it is left. If ctx
// ends first, it returns the error of ctx.
func (p *Process) End(ctx context.Context) (State, error) {
	<-p.exited
	_ = p.Kill() // it fails if the group is empty or may not be killed, which the wait below shows
	if !p.reaped {
		_ = ignoringEINTR(func() error { _, err := syscall.Wait4(p.pid, &p.status, 0, nil); return err }) // it is our zombie
	}
	ours.remove(p.pid)
	p.terminal.end(p.pid)
	err := p.empty(ctx)
	p.guard.dismiss()
	reapOrphans()
	s := State{Code: p.status.ExitStatus()}
	if p.status.Signaled() {
		s.Signal = p.status.Signal()
		s.Code = 128 + int(s.Signal)
	}
	return s, err
}

// empty waits until the group has no process. Where the system allows it, it ignores dead processes that their parents
// have not reaped.
func (p *Process) empty(ctx context.Context) error {
	report := p.spec.Waits
	begun := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		reapGroup(p.pid)
		if errors.Is(syscall.Kill(-p.pid, 0), syscall.ESRCH) {
			return nil
		}
		pids, known := alive(p.pid)
		if known && len(pids) == 0 {
			return nil
		}
		if report != nil && time.Since(begun) > time.Second {
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

// watch waits for the command to end, and handles its stops.
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
		case err != nil: // something else reaped it: how it ended is unknown, which is not a success
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

// stopped handles a command that was stopped. Without a terminal the stop was intended, and its sender may
// continue the command.
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
		p.terminal.lend(p.pid) // unless it continues in the background
	} else {
		lent = p.terminal.lendWhenOurs(p.pid)
	}
	switch {
	case p.spec.MayContinue != nil && !p.spec.MayContinue(): // it stays stopped until Kill
	case lent:
		_ = syscall.Kill(-p.pid, syscall.SIGCONT) // it exists: it is not reaped yet
	default: // as the kernel treats stopped processes that no parent can continue
		_ = syscall.Kill(-p.pid, syscall.SIGHUP)
		_ = syscall.Kill(-p.pid, syscall.SIGCONT)
	}
}

// unknownStatus is the status of exit code 255.
const unknownStatus syscall.WaitStatus = 255 << 8

// processes are the children that this process has started and will wait for.
type processes struct {
	mu   sync.Mutex // guards pids; held during a start, so that reapOrphans never sees a child that is not in pids
	pids map[int]struct{}
	// reaped is when orphans were last reaped; guarded by mu.
	reaped time.Time
}

var ours = processes{pids: make(map[int]struct{})} //nolint:gochecknoglobals // the children of this process are global

// add starts a process.
func (c *processes) add(start func() (pid int, err error)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	pid, err := start()
	if err == nil {
		c.pids[pid] = struct{}{}
	}
	return err
}

// remove removes a process that was reaped.
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

// Forwarded returns the signals that a wrapper passes on: all that can be caught, except those that a process causes
// itself (faults, SIGCHLD, SIGPIPE, its own limits), SIGURG, which Go's runtime uses, and those for background
// processes of a terminal. An ignored signal, such as SIGHUP under nohup, stays ignored for the command too.
func Forwarded() []os.Signal {
	all := []os.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM,
		syscall.SIGCONT, syscall.SIGTSTP, syscall.SIGWINCH,
	}
	return slices.DeleteFunc(append(all, systemSignals()...), signal.Ignored)
}

// Continues reports whether a signal continues a stopped process.
func Continues(s syscall.Signal) bool { return s == syscall.SIGCONT }

// SignalName returns a signal's name, such as SIGTERM; empty for none.
func SignalName(s syscall.Signal) string {
	if s == 0 {
		return ""
	}
	return cmp.Or(unix.SignalName(s), s.String())
}
