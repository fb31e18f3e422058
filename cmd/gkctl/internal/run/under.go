package run

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/child"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/held"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
)

// running is a command that runs under a permit.
type running struct {
	*runOptions
	command    held.Command
	file       *held.File
	permit     *client.Permit
	proc       *held.Process
	terminated bool  // forward has passed on a signal that terminates processes; read after forward has returned
	failed     error // why the command did not exit with 0; client.ErrCutShort or the cause if it was stopped
}

// runCommand runs the command. It returns when the command's group is gone and the permit has been released.
func (r *running) runCommand(run *client.Run, i *interruption) error {
	acquired := time.Now()
	r.status.Token, r.status.Acquired = strconv.FormatUint(r.permit.Token(), 10), &acquired
	r.verbosef("acquired %s, token %d, safe for %s", r.semaphore, r.permit.Token(), words.Brief(time.Until(r.permit.SafeUntil())))
	err := run.Do(func(ctx context.Context) error {
		if s := i.finish(); s != nil {
			return r.notRun(ctx, &ui.CodeError{Code: held.ExitCode(s)})
		}
		return r.start(ctx)
	})
	if s := i.received(); s != nil { // the signal arrived before the command started
		err = &ui.CodeError{Code: held.ExitCode(s)}
	}
	_ = run.End(r.failed) // err holds the outcome, and the Finished hook reports the release
	return err
}

// notRun releases the permit and its firing. It returns err.
func (r *running) notRun(ctx context.Context, err error) error {
	ctx, cancel := r.f.Bounded(context.WithoutCancel(ctx))
	defer cancel()
	if failed := r.permit.ReleaseNotRun(ctx); failed != nil {
		r.verbosef("the permit was not released: %s", failed)
	}
	return err
}

// start starts the command and waits for it to end.
func (r *running) start(ctx context.Context) (err error) {
	spec := held.Spec{
		Command: r.command, Permit: r.permit, Context: r.permit.Context(), KillAfter: r.killAfter, File: r.file, Weight: r.weight,
		Firing: r.status.Firing, Verbosef: r.verbosef, Printf: func(format string, args ...any) { r.f.Logf("gkctl: "+format, args...) },
	}
	if f := r.status.Firing; f != nil {
		c := firingClaim{name: f.Name}
		if f.Due != nil {
			c.due = *f.Due
		}
		spec.Env = []string{"GK_FIRING=" + c.String()}
	}
	if r.proc, err = held.Start(spec); err != nil {
		return r.notRun(ctx, err)
	}
	started := time.Now()
	stopped := r.wait()
	state := r.proc.End()
	r.status.Outcome = outcomeRan
	r.status.Command = &commandStatus{PID: r.proc.PID(), ExitCode: state.Code, Signal: child.SignalName(state.Signal), Started: started, Ended: time.Now()}
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
	r.failed = fmt.Errorf("exit code %d%s", state.Code, held.SignalText(state))
	if r.terminated {
		r.failed = client.ErrCutShort // probably a reboot; another host may run the firing, as it may after a crash
	}
	return &ui.CodeError{Code: state.Code}
}

// wait waits for the command to exit and forwards signals to it. It returns the reason why the command had to stop, or
// nil.
func (r *running) wait() error {
	stop := make(chan struct{})
	var signalling sync.WaitGroup
	signalling.Go(func() { r.forward(stop) })
	stopped := r.proc.Wait()
	close(stop)
	signalling.Wait()
	return stopped
}

// forward passes signals on to the command's group.
func (r *running) forward(stop <-chan struct{}) {
	for {
		select {
		case s := <-r.signals:
			// A group that is suspended when its permit ends must not be resumed, even for a moment.
			r.terminated = r.terminated || held.Terminates(s)
			if n, ok := s.(syscall.Signal); ok && (!child.Continues(n) || r.permit.Held()) {
				_ = r.proc.Signal(n) // fails if the group has exited, which Wait notices
			}
		case <-stop:
			return
		}
	}
}

// stopped returns the error for a command that was stopped because of its permit.
func (r *running) stopped(cause error, state child.State) error {
	word, text := held.StopReason(cause)
	how := "ended after SIGTERM" + exitDetail(state)
	switch {
	case r.proc.Killed():
		how = "had to be killed" + exitDetail(state)
	case state.Signal == syscall.SIGTERM: // its exit code adds no information
		how = "ended by SIGTERM"
	}
	r.status.Outcome, r.status.Reason = outcomeLost, word
	return &ui.CodeError{Code: ui.ExitLost, Err: fmt.Errorf("%s: %s: the command %s", r.semaphore, text, how),
		Hint: "`gkctl explain " + r.semaphore + "` shows the current state."}
}

// released records and reports the outcome of the release.
func (o *runOptions) released(r client.Report) {
	o.status.Released = r.Release == nil
	if r.Release != nil {
		o.verbosef("not released; the permit will expire: %s", r.Release)
		return
	}
	o.verbosef("released %s", o.semaphore)
}

func exitDetail(s child.State) string {
	return fmt.Sprintf(", with exit code %d%s", s.Code, held.SignalText(s))
}
