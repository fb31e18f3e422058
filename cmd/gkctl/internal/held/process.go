package held

import (
	"context"
	"errors"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/child"
)

const (
	// DefaultKillAfter is the default time that a command may take to exit after SIGTERM.
	DefaultKillAfter = 5 * time.Second
	// killReserve is the time between SIGKILL and the end of the permit. It gives the kernel time to terminate the
	// processes, even on a busy machine.
	killReserve = 500 * time.Millisecond
	// GuardCommand is the hidden gkctl command that calls child.Guard.
	GuardCommand = "run-guard"
	// BeginCommand is the hidden gkctl command that calls child.Begin.
	BeginCommand = "run-begin"
)

// StopTime returns the time that a command needs to stop before its permit ends; see client.WithStopTime.
func StopTime(killAfter time.Duration) time.Duration { return killAfter + killReserve }

// Spec describes a command to start.
type Spec struct {
	Command
	// Child holds additional settings for package child, such as the standard files. Start fills in the rest.
	Child child.Spec
	// Permit is the permit under which the command runs.
	Permit *client.Permit
	// Context stops the command when it is done. It is the permit's context or one that ends no later.
	Context context.Context //nolint:containedctx // it has the lifetime of the command
	// KillAfter is how long the command may continue after SIGTERM if the permit lasts that long.
	KillAfter time.Duration
	// File is kept up to date. The guard removes its directory if gkctl dies.
	File   *File
	Weight uint32
	Firing *Firing
	// Env lists additional environment variables. The command also gets gkctl's environment and the permit's variables.
	Env []string
	// Printf prints a line for the user. Verbosef does so only with --verbose.
	Printf, Verbosef func(format string, args ...any)
}

// Process is a started command.
type Process struct {
	*child.Process
	Spec
	killed bool // written by enforce; read after enforce has returned
}

// Start starts a command. If it returns an error, no command was started.
func Start(s Spec) (*Process, error) {
	self, err := os.Executable()
	if err == nil {
		err = s.File.update(s.Permit, s.Weight, s.Firing)
	}
	if err != nil {
		return nil, err
	}
	p := &Process{Spec: s}
	c := s.Child
	c.Path, c.Args, c.Env, c.CleanupDir = s.Path, s.Args, s.environment(os.Environ()), s.File.dir
	c.Guard, c.Begin = []string{self, GuardCommand}, []string{self, BeginCommand}
	c.MayContinue = s.Permit.Held
	c.OnWait = func(pids []int) {
		s.Verbosef("waiting for killed processes to exit:%s; the permit is held until they do", pidList(pids))
	}
	if c.Until, err = p.guardUntil(); err != nil {
		return nil, err
	}
	if p.Process, err = child.Start(c); err != nil {
		if e, ok := errors.AsType[*os.PathError](err); ok && e.Path == s.Path {
			err = notExecutable(s.Path, e.Err)
		}
		return nil, err
	}
	s.Verbosef("started %s as process %d", s.Path, p.PID())
	return p, nil
}

func pidList(pids []int) string {
	text := ""
	for _, pid := range pids {
		text += " " + strconv.Itoa(pid)
	}
	return text
}

// Killed reports whether the command had to be killed. It must only be called after Wait has returned.
func (p *Process) Killed() bool { return p.killed }

// Wait waits for the command to exit and makes sure that it stops in time. Each operation that can block, such as
// writing to a file or a terminal, runs in a separate goroutine, so that it cannot delay a signal. Wait returns the
// reason why the command had to stop, or nil.
func (p *Process) Wait() error {
	stop := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() { p.enforce(stop) })
	work.Go(func() { p.updateGuard(stop) })
	work.Go(func() { p.keepFile(stop) })
	work.Go(func() { p.reportStop(stop) })
	<-p.Exited()
	stopped := p.stopCause()
	close(stop)
	work.Wait()
	return stopped
}

// stopCause returns the reason why the command's context has ended or is about to end, or nil if the command may
// continue. It also checks the clock: after this process has been suspended, the deadline may have passed before the
// client notices.
func (p *Process) stopCause() error {
	switch cause := context.Cause(p.Context); {
	case cause != nil:
		return cause
	case !p.Permit.Held():
		return client.ErrLost
	case time.Until(p.Permit.SafeUntil()) < StopTime(p.KillAfter):
		return client.ErrExpiring
	}
	return nil
}

// End kills the remaining processes in the command's group and waits for them to exit. Meanwhile, the permit is held
// for as long as possible.
func (p *Process) End() child.State {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-p.Permit.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	state, left := p.Process.End(ctx)
	p.Verbosef("%s ended with exit code %d%s", p.Path, state.Code, SignalText(state))
	if left != nil {
		p.Printf("processes in group %d are still running or cannot be killed, even though their permit has ended", p.PID())
	}
	return state
}

// enforce stops the group when the context has ended. It sends SIGTERM immediately, and SIGKILL after KillAfter or at
// the end of a drain if that is later, but always before the permit ends. The client ends the context StopTime before
// the local deadline. If the servers report the permit as lost, enforce sends SIGKILL immediately.
func (p *Process) enforce(stop <-chan struct{}) {
	select {
	case <-p.Context.Done():
	case <-stop:
		return
	}
	since := time.Now()
	if wait := p.killDelay(since); wait > 0 {
		_ = p.Signal(syscall.SIGTERM) // an error does not matter, because SIGKILL follows
		for ; wait > 0; wait = p.killDelay(since) {
			timer := time.NewTimer(min(wait, 100*time.Millisecond)) // short, because refreshes move the deadline
			select {
			case <-timer.C:
			case <-p.Permit.Done():
			case <-stop:
				timer.Stop()
				return
			}
			timer.Stop()
		}
	}
	p.killed = true
	_ = p.Kill() // fails if the group has exited, which Wait notices
}

// killDelay returns how long a command may continue after SIGTERM: KillAfter, or longer during a drain, but never past
// the time until which the permit is safe.
func (p *Process) killDelay(since time.Time) time.Duration {
	if !p.Permit.Held() {
		return 0
	}
	until := since.Add(p.KillAfter)
	if drain := p.Permit.DrainUntil(); drain.After(until) {
		until = drain
	}
	return min(time.Until(until), time.Until(p.Permit.SafeUntil())-killReserve)
}

// updateGuard keeps the guard informed of how long the group may run.
func (p *Process) updateGuard(stop <-chan struct{}) {
	p.periodically(stop, func() {
		if until, err := p.guardUntil(); err == nil {
			p.Until(until)
		}
	})
}

// guardUntil returns the latest known time until which the group may run. If the permit has ended, it returns the
// reason as an error.
func (p *Process) guardUntil() (time.Duration, error) {
	now := child.Now() // read before the deadline, so that a delay in between makes the result earlier, not later
	until := p.Permit.SafeUntil()
	if until.IsZero() {
		return 0, context.Cause(p.Permit.Context())
	}
	return now + time.Until(until) - killReserve/4, nil
}

// keepFile keeps the permit file up to date.
func (p *Process) keepFile(stop <-chan struct{}) {
	reported := false
	p.periodically(stop, func() {
		if err := p.File.update(p.Permit, p.Weight, p.Firing); err != nil && !reported {
			reported = true
			p.Printf("%s", err)
		}
	})
}

// periodically calls f immediately, then at intervals and when the permit's context ends, until stop is closed.
func (p *Process) periodically(stop <-chan struct{}, f func()) {
	ended := p.Permit.Context().Done()
	for {
		f()
		timer := time.NewTimer(min(max(p.Permit.Duration()/20, 10*time.Millisecond), time.Second))
		select {
		case <-timer.C:
		case <-ended:
			ended = nil // only once
		case <-stop:
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

func (p *Process) reportStop(stop <-chan struct{}) {
	select {
	case <-p.Context.Done():
		_, text := StopReason(context.Cause(p.Context))
		p.Verbosef("stopping: %s: SIGTERM now, SIGKILL after %s or at the end of a drain", text, p.KillAfter)
	case <-stop:
	}
}
