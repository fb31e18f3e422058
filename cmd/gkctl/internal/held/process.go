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
	// DefaultKillAfter is how long a command has to end after SIGTERM.
	DefaultKillAfter = 5 * time.Second
	// killReserve lies between SIGKILL and the end of the permit: for the kernel to end the processes, on a machine that is busy.
	killReserve = 500 * time.Millisecond
	// GuardCommand is the hidden command of gkctl that calls child.Guard.
	GuardCommand = "run-guard"
	// BeginCommand is the hidden command of gkctl that calls child.Begin.
	BeginCommand = "run-begin"
)

// StopTime is what a permit must leave for a command to stop; see client.WithStopTime.
func StopTime(killAfter time.Duration) time.Duration { return killAfter + killReserve }

// Spec is a command to start.
type Spec struct {
	Command
	// Child has what package child must know besides: the standard files, for example. Start adds the rest.
	Child child.Spec
	// Permit is the one under which the command runs.
	Permit *client.Permit
	// Context stops the command when it ends: the permit's, or one that ends with the permit's.
	Context context.Context //nolint:containedctx // it lives as long as the command
	// KillAfter is how long the command has to end after SIGTERM, while the permit lasts.
	KillAfter time.Duration
	// File is kept up to date. Its folder is removed with it.
	File   *File
	Weight uint32
	Firing *Firing
	// Env are the command's variables in addition to those of gkctl and of the permit.
	Env []string
	// Say prints a line for a person, Narrate one that only --verbose shows.
	Say, Narrate func(format string, args ...any)
}

// Process is a command that was started.
type Process struct {
	*child.Process
	Spec
	killed bool // by enforce; read when it has ended
}

// Start starts a command. An error means that nothing was started.
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
	c.Path, c.Args, c.Env, c.Rubbish = s.Path, s.Args, s.environment(os.Environ()), s.File.dir
	c.Guard, c.Begin = []string{self, GuardCommand}, []string{self, BeginCommand}
	c.MayGoOn = s.Permit.Held
	c.Waits = func(pids []int) {
		s.Narrate("waiting for processes that were killed and do not end%s: the permit is kept until then", list(pids))
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
	s.Narrate("started %s as process %d", s.Path, p.PID())
	return p, nil
}

func list(pids []int) string {
	text := ""
	for _, pid := range pids {
		text += " " + strconv.Itoa(pid)
	}
	return text
}

// Killed says whether the command had to be killed. Wait must have returned.
func (p *Process) Killed() bool { return p.killed }

// Wait returns when the command has ended. It sees to everything that must happen meanwhile, each on a separate goroutine: nothing that can
// block, as a file or a terminal, stands before a signal that must be sent. The error is why the command had to stop by then, or nil.
func (p *Process) Wait() error {
	stop := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() { p.enforce(stop) })
	work.Go(func() { p.updateGuard(stop) })
	work.Go(func() { p.keepFile(stop) })
	work.Go(func() { p.narrateStop(stop) })
	<-p.Exited()
	stopped := p.stopCause()
	close(stop)
	work.Wait()
	return stopped
}

// stopCause is why the command's context has ended, or is about to; nil if it may go on. After this process was suspended, the clock knows it
// before the client has looked.
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

// End ends what is left of the command's group. It waits for processes that do not die, and the permit is kept meanwhile, as long as that is
// possible.
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
	p.Narrate("%s ended with exit code %d%s", p.Path, state.Code, By(state))
	if left != nil {
		p.Say("processes of group %d still run, or cannot be killed, although their permit is over", p.PID())
	}
	return state
}

// enforce ends the group when the context has ended: SIGTERM at once, SIGKILL after KillAfter, or at the end of a drain that is later, and in
// any case while the permit still lasts. The client ends the context StopTime before the local deadline. A permit that the servers call
// lost leaves no time to be polite.
func (p *Process) enforce(stop <-chan struct{}) {
	select {
	case <-p.Context.Done():
	case <-stop:
		return
	}
	since := time.Now()
	if wait := p.patience(since); wait > 0 {
		_ = p.Signal(syscall.SIGTERM) // SIGKILL follows in any case
		for ; wait > 0; wait = p.patience(since) {
			timer := time.NewTimer(min(wait, 100*time.Millisecond)) // refreshes move what it depends on
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
	_ = p.Kill() // it may have ended, which the wait sees
}

// patience is for how long a command that got SIGTERM then may continue: KillAfter, or longer while a drain lasts, and never beyond what the
// permit can be counted on for.
func (p *Process) patience(since time.Time) time.Duration {
	if !p.Permit.Held() {
		return 0
	}
	until := since.Add(p.KillAfter)
	if drain := p.Permit.DrainUntil(); drain.After(until) {
		until = drain
	}
	return min(time.Until(until), time.Until(p.Permit.SafeUntil())-killReserve)
}

// updateGuard sends the guard until when the group may run.
func (p *Process) updateGuard(stop <-chan struct{}) {
	p.often(stop, func() {
		if until, err := p.guardUntil(); err == nil {
			p.Until(until)
		}
	})
}

// guardUntil is until when the group may run by what is known now. The error is why the permit has ended.
func (p *Process) guardUntil() (time.Duration, error) {
	now := child.Now() // before the deadline is read, so that a pause in between makes it earlier, not later
	until := p.Permit.SafeUntil()
	if until.IsZero() {
		return 0, context.Cause(p.Permit.Context())
	}
	return now + time.Until(until) - killReserve/4, nil
}

// keepFile keeps the permit file up to date.
func (p *Process) keepFile(stop <-chan struct{}) {
	said := false
	p.often(stop, func() {
		if err := p.File.update(p.Permit, p.Weight, p.Firing); err != nil && !said {
			said = true
			p.Say("%s", err)
		}
	})
}

// often calls f now, again and again, and when the permit's context ends, until stop is closed.
func (p *Process) often(stop <-chan struct{}, f func()) {
	ended := p.Permit.Context().Done()
	for {
		f()
		timer := time.NewTimer(min(max(p.Permit.Duration()/20, 10*time.Millisecond), time.Second))
		select {
		case <-timer.C:
		case <-ended:
			ended = nil // once
		case <-stop:
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

func (p *Process) narrateStop(stop <-chan struct{}) {
	select {
	case <-p.Context.Done():
		_, text := StopReason(context.Cause(p.Context))
		p.Narrate("to stop: %s: SIGTERM now, SIGKILL after %s, or in a drain at its end", text, p.KillAfter)
	case <-stop:
	}
}
