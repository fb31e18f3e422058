package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/child"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
)

// running is a command that runs under a permit.
type running struct {
	*runOptions
	file   *permitFile
	spec   child.Spec
	permit *client.Permit
	proc   *child.Process
	killed bool  // by enforce, and read when it has ended
	ended  bool  // by forward: the command got a signal that ends processes; read when it has ended
	failed error // the command did not exit with 0; client.ErrCutShort, or what stopped it, when it did not come to its end
}

// under runs the command, and returns when its group is gone and the permit released.
func (r *running) under(run *client.Run, i *interruption) error {
	acquired := time.Now()
	r.status.Token, r.status.Acquired = strconv.FormatUint(r.permit.Token(), 10), &acquired
	r.narrate("acquired %s, token %d, safe for %s", r.semaphore, r.permit.Token(), words.Brief(time.Until(r.permit.SafeUntil())))
	err := run.Do(func(ctx context.Context) error {
		if s := i.over(); s != nil {
			return r.notRun(ctx, &ui.CodeError{Code: signalled(s)})
		}
		return r.command(ctx)
	})
	if s := i.by(); s != nil { // it came before the command
		err = &ui.CodeError{Code: signalled(s)}
	}
	_ = run.End(r.failed) // err says how the command ended, and the hook how the release did
	return err
}

// notRun gives the permit back with its firing, and returns err.
func (r *running) notRun(ctx context.Context, err error) error {
	ctx, cancel := r.f.Bounded(context.WithoutCancel(ctx))
	defer cancel()
	if failed := r.permit.ReleaseNotRun(ctx); failed != nil {
		r.narrate("the permit was not given back: %s", failed)
	}
	return err
}

func (r *running) command(ctx context.Context) error {
	r.spec.Env = r.environment(os.Environ())
	self, err := os.Executable()
	if err == nil {
		err = r.file.update(r.permit, r.weight, r.status.Firing)
	}
	if err != nil {
		return r.notRun(ctx, err)
	}
	r.spec.Guard = []string{self, guardCommand}
	r.spec.MayGoOn = r.permit.Held
	r.spec.Waits = func(pids []int) {
		r.narrate("waiting for processes that were killed and do not end%s: the permit is kept until then", list(pids))
	}
	if r.spec.Until, err = r.guardUntil(); err != nil {
		return r.notRun(ctx, err)
	}
	if r.proc, err = child.Start(r.spec); err != nil {
		if p, ok := errors.AsType[*os.PathError](err); ok && p.Path == r.spec.Path {
			err = notExecutable(r.spec.Path, p.Err)
		}
		return r.notRun(ctx, err)
	}
	started := time.Now()
	r.narrate("started %s as process %d", r.spec.Path, r.proc.PID())
	stopped := r.guarded()
	state, left := r.end()
	r.narrate("%s ended with exit code %d%s", r.spec.Path, state.Code, by(state))
	r.status.Outcome = outcomeRan
	r.status.Command = &commandStatus{PID: r.proc.PID(), ExitCode: state.Code, Signal: child.SignalName(state.Signal), Started: started, Ended: time.Now()}
	if left != nil {
		r.f.Say("gkctl: processes of group %d still run, or cannot be killed, although their permit is over", r.proc.PID())
	}
	if stopped != nil {
		err := r.stopped(stopped, state)
		if state.Code != 0 {
			r.failed = err
		}
		return err
	}
	if state.Code == 0 {
		return nil
	}
	r.failed = fmt.Errorf("exit code %d%s", state.Code, by(state))
	if r.ended {
		r.failed = client.ErrCutShort // a reboot hands the firing over, as a crash does
	}
	return &ui.CodeError{Code: state.Code}
}

// guarded returns when the command has ended. It sees to everything that must happen meanwhile, each on a separate goroutine: nothing that can
// block, as a file or a terminal, stands before a signal that must be sent. The error is why the permit's context had ended by then.
func (r *running) guarded() error {
	stop := make(chan struct{})
	var signalling, telling sync.WaitGroup
	signalling.Go(func() { r.forward(stop) })
	signalling.Go(func() { r.enforce(stop) })
	signalling.Go(func() { r.updateGuard(stop) })
	telling.Go(func() { r.keepFile(stop) })
	telling.Go(func() { r.narrateStop(stop) })
	<-r.proc.Exited()
	stopped := r.stopCause()
	close(stop)
	signalling.Wait()
	telling.Wait()
	return stopped
}

// stopCause is why the permit's context has ended, or is about to; nil when the permit is well. After this process was suspended the
// clock knows it before the client has looked.
func (r *running) stopCause() error {
	switch cause := context.Cause(r.permit.Context()); {
	case cause != nil:
		return cause
	case !r.permit.Held():
		return client.ErrLost
	case time.Until(r.permit.SafeUntil()) < r.killAfter+killReserve:
		return client.ErrExpiring
	}
	return nil
}

// end ends what is left of the group. It waits for processes that do not die, and keeps the permit meanwhile, as long as that can be kept.
func (r *running) end() (child.State, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-r.permit.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	return r.proc.End(ctx)
}

// forward passes signals on to the group.
func (r *running) forward(stop <-chan struct{}) {
	for {
		select {
		case s := <-r.signals:
			// A group that was stopped for longer than its permit lasts must not go on, not even for a moment.
			r.ended = r.ended || ends(s)
			if n, ok := s.(syscall.Signal); ok && (!child.Continues(n) || r.permit.Held()) {
				_ = r.proc.Signal(n) // it may have ended, which the wait sees
			}
		case <-stop:
			return
		}
	}
}

// enforce ends the group when the permit's context has ended: SIGTERM at once, SIGKILL after --kill-after, or at the end of a drain that is later,
// and in any case while the permit still lasts. The client ends the context --kill-after and killReserve before the local deadline. A permit of which the
// servers say that it is lost leaves no time to be polite.
func (r *running) enforce(stop <-chan struct{}) {
	select {
	case <-r.permit.Context().Done():
	case <-stop:
		return
	}
	since := time.Now()
	if wait := r.patience(since); wait > 0 {
		_ = r.proc.Signal(syscall.SIGTERM) // SIGKILL follows in any case
		for ; wait > 0; wait = r.patience(since) {
			timer := time.NewTimer(min(wait, 100*time.Millisecond)) // refreshes move what it depends on
			select {
			case <-timer.C:
			case <-r.permit.Done():
			case <-stop:
				timer.Stop()
				return
			}
			timer.Stop()
		}
	}
	r.killed = true
	_ = r.proc.Kill() // it may have ended, which the wait sees
}

// patience is for how long a command that got SIGTERM then may continue: --kill-after, or longer while a drain lasts, and never beyond what
// the permit can be counted on for.
func (r *running) patience(since time.Time) time.Duration {
	if !r.permit.Held() {
		return 0
	}
	until := since.Add(r.killAfter)
	if drain := r.permit.DrainUntil(); drain.After(until) {
		until = drain
	}
	return min(time.Until(until), time.Until(r.permit.SafeUntil())-killReserve)
}

// updateGuard sends the guard until when the group may run.
func (r *running) updateGuard(stop <-chan struct{}) {
	r.often(stop, func() {
		if until, err := r.guardUntil(); err == nil {
			r.proc.Until(until)
		}
	})
}

// guardUntil is until when the group may run by what is known now. The error is why the permit has ended.
func (r *running) guardUntil() (time.Duration, error) {
	now := child.Now() // before the deadline is read, so that a pause in between makes it earlier, not later
	until := r.permit.SafeUntil()
	if until.IsZero() {
		return 0, context.Cause(r.permit.Context())
	}
	return now + time.Until(until) - killReserve/4, nil
}

func list(pids []int) string {
	text := ""
	for _, pid := range pids {
		text += " " + strconv.Itoa(pid)
	}
	return text
}

// keepFile keeps the permit file up to date.
func (r *running) keepFile(stop <-chan struct{}) {
	said := false
	r.often(stop, func() {
		if err := r.file.update(r.permit, r.weight, r.status.Firing); err != nil && !said {
			said = true
			r.f.Say("gkctl: %s", err)
		}
	})
}

// often calls f now, again and again, and when the permit's context ends, until stop is closed.
func (r *running) often(stop <-chan struct{}, f func()) {
	ended := r.permit.Context().Done()
	for {
		f()
		timer := time.NewTimer(min(max(r.permit.Duration()/20, 10*time.Millisecond), time.Second))
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

func (r *running) narrateStop(stop <-chan struct{}) {
	select {
	case <-r.permit.Context().Done():
		_, text := stopReason(context.Cause(r.permit.Context()))
		r.narrate("to stop: %s: SIGTERM now, SIGKILL in %s at the latest", text, r.killAfter)
	case <-stop:
	}
}

// stopped is the error of a command that was stopped because of its permit.
func (r *running) stopped(cause error, state child.State) error {
	word, text := stopReason(cause)
	how := "ended after SIGTERM" + with(state)
	switch {
	case r.killed:
		how = "had to be killed" + with(state)
	case state.Signal == syscall.SIGTERM: // and not also what its exit code says
		how = "ended by SIGTERM"
	}
	r.status.Outcome, r.status.Reason = outcomeLost, word
	return &ui.CodeError{Code: ui.ExitLost, Err: fmt.Errorf("%s: %s: the command %s", r.semaphore, text, how),
		Hint: "`gkctl explain " + r.semaphore + "` shows what holds now."}
}

// stopReason is why a permit's context ended: a word for programs, and a text.
func stopReason(cause error) (word, text string) {
	for _, s := range []struct {
		err  error
		word string
	}{
		{client.ErrRevoked, "REVOKED"}, {client.ErrMoved, "MOVED"}, {client.ErrTakenOver, "TAKEN_OVER"}, {client.ErrHeldTooLong, "HELD_TOO_LONG"},
		{client.ErrPaused, "PAUSED"}, {client.ErrCordoned, "CORDONED"}, {client.ErrExpiring, "NO_ANSWER"}, {client.ErrSuperseded, "SUPERSEDED"}, {client.ErrLost, "LOST"},
	} {
		if errors.Is(cause, s.err) {
			word, text = s.word, s.err.Error()
			break
		}
	}
	if e, ok := errors.AsType[*client.StopError](cause); ok && text != "" {
		if e.Message != "" {
			text += ": " + e.Message
		}
		return word, text
	}
	return cmp.Or(word, "STOPPED"), cause.Error()
}

// released notes how the release went.
func (o *runOptions) released(r client.Report) {
	o.status.Released = r.Release == nil
	if r.Release != nil {
		o.narrate("not released, the permit expires by itself: %s", r.Release)
		return
	}
	o.narrate("released %s", o.semaphore)
}

// environment is the command's: that of gkctl, with the permit's variables instead of those of a run around this one.
func (r *running) environment(env []string) []string {
	own := []string{
		"GK_SEMAPHORE=" + r.permit.Semaphore(), "GK_TOKEN=" + strconv.FormatUint(r.permit.Token(), 10),
		"GK_GROUP=" + r.permit.Group(), "GK_ACQUIRER=" + r.permit.Acquirer(), "GK_PERMIT_FILE=" + r.file.path(),
	}
	if f := r.status.Firing; f != nil {
		c := firingClaim{name: f.Name}
		if f.Due != nil {
			c.due = *f.Due
		}
		own = append(own, "GK_FIRING="+c.String())
	}
	names := []string{"GK_SEMAPHORE", "GK_TOKEN", "GK_GROUP", "GK_ACQUIRER", "GK_PERMIT_FILE", "GK_FIRING"}
	kept := slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(names, name)
	})
	return append(kept, own...)
}

func by(s child.State) string {
	if s.Signal == 0 {
		return ""
	}
	return ", by " + child.SignalName(s.Signal)
}

func with(s child.State) string { return fmt.Sprintf(", with exit code %d%s", s.Code, by(s)) }
