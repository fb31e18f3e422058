package run

import (
	"context"
	"errors"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/held"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
)

// waits reports whether the run waits in the queue if it is denied.
func (o *runOptions) waits() bool { return o.queues() || o.timeout > 0 }

func (o *runOptions) queues() bool { return o.onDenied.is("wait") || o.onDenied.is("queue") }

// begin acquires the permit.
func (o *runOptions) begin(ctx context.Context, c *client.Client, command held.Command, firing firingClaim) (*client.Run, error) {
	sem := c.Semaphore(o.semaphore, append(firing.options(),
		client.WithWeight(o.weight),
		client.WithStopTime(held.StopTime(o.killAfter)),
		client.WithMetadata(map[string]string{"command": command.Name(), "pid": strconv.Itoa(os.Getpid())}),
		client.WithPlace(o.showPlace()),
	)...)
	opts := []client.JobOption{client.WithOutageLimit(o.patience), client.WithReleaseLimit(o.patience), client.WithHooks(client.Hooks{
		Waiting:  o.showWaiting,
		Finished: func(_ context.Context, r client.Report) { o.released(r) },
	})}
	if o.waits() {
		opts = append(opts, client.WithDenialPolicy(client.DenialWait), client.WithWaitLimit(o.timeout))
	}
	if o.onDenied.is("wait") {
		opts = append(opts, client.WithOneWaiter())
	}
	if o.onUnavailable.is("wait") {
		opts = append(opts, client.WithOutagePolicy(client.OutageWait))
	}
	return client.NewRunner(sem, nil, opts...).Begin(ctx, time.Time{})
}

// showWaiting reports a wait. Without --verbose, it only reports waits that need an operator.
func (o *runOptions) showWaiting(_ context.Context, d *client.DeniedError) {
	if d.NeedsAction() {
		o.f.Logf("gkctl: waiting: %s\n`%s` shows how this was decided.", d, d.ExplainCommand())
		return
	}
	o.verbosef("waiting: %s", d)
}

// showPlace returns a function that reports the place in the queue. Without --verbose, the function only reports that
// the semaphore was paused, and only to a terminal.
func (o *runOptions) showPlace() func(client.Place) {
	paused := ""
	return func(at client.Place) {
		prev := paused
		paused = pausedText(at)
		if o.verbose || o.f.ErrTTY && paused != prev && paused != "" {
			o.f.Logf("gkctl: waiting: place %d of %d%s", at.Place, at.QueueLength, paused)
		}
	}
}

// beginError adds the exit code and a hint to the error from a run that got no permit.
func (o *runOptions) beginError(err error, firing firingClaim) error {
	if d, ok := errors.AsType[*client.DeniedError](err); ok {
		o.status.denied(d)
		return o.denied(d, firing)
	}
	if e, ok := errors.AsType[*client.StopTimeError](err); ok {
		o.status.Reason = "TOO_BRIEF"
		return held.TooShort(o.semaphore, e.Duration, o.killAfter)
	}
	if errors.Is(err, client.ErrUnavailable) {
		o.status.Outcome = outcomeUnreachable
	}
	return err
}

// denied returns the error for a denial, or nil if gkctl exits with 0.
func (o *runOptions) denied(d *client.DeniedError, firing firingClaim) error {
	show := o.verbose || o.f.ErrTTY
	switch d.Reason {
	case client.ReasonFiringClaimed, client.ReasonFiringDone:
		systemLog(d.Error())
		if show || !firing.fromClock { // expected if the firing has a schedule: cron would mail this line from every host but one
			o.f.Logf("gkctl: %s The command was not run. `gkctl firings show %s %s` shows when the firing was claimed.",
				d, words.ShellWord(o.semaphore), words.ShellWord(firing.String()))
		}
		return nil
	}
	explain := "`" + d.ExplainCommand() + "` shows how this was decided."
	if d.Reason == client.ReasonNoSuchSemaphore {
		return &ui.CodeError{Code: ui.ExitNoSuch, Err: d, Hint: explain + " `gkctl get` lists the definitions."}
	}
	if d.Reason == client.ReasonFiringTooFarAhead || d.Reason == client.ReasonFiringForgotten {
		// The firing may not have run, and now it never will. That is not a success, even with --on-denied skip, which
		// is meant for jobs that run elsewhere.
		if d.Reason == client.ReasonFiringForgotten {
			explain += " `gkctl firings list " + words.ShellWord(o.semaphore) + "` shows which firings are remembered."
		}
		return &ui.CodeError{Code: ui.ExitNotAcquired, Err: d, Hint: explain}
	}
	if o.onDenied.is("skip") {
		if d.NeedsAction() { // otherwise the job would be silently skipped forever
			o.f.Logf("gkctl: skipped: %s\n%s", d, explain)
		} else if show {
			o.f.Logf("gkctl: skipped: %s", d)
		}
		return nil
	}
	e := &ui.CodeError{Code: o.conflictCode, Err: d, Hint: explain}
	switch d.Reason {
	case client.ReasonGroupMismatch, client.ReasonAcquirerMismatch, client.ReasonCordoned, client.ReasonWeightExceedsPermits:
		e.Code = ui.ExitNotAllowed // waiting does not help
	case client.ReasonNoFreePermit:
		if d.NeedsAction() {
			break // the hint names the slots that an operator must clear
		}
		e.Hint = "`gkctl holders " + o.semaphore + "` shows the holders."
		if !o.waits() {
			e.Hint += " Use --timeout or --on-denied wait to wait in the queue."
		}
	}
	return e
}

// interruption cancels a context at the first signal that would terminate gkctl, while there is no command to receive
// the signal.
type interruption struct {
	cancel context.CancelFunc
	stop   chan struct{}
	once   sync.Once
	work   sync.WaitGroup

	mu     sync.Mutex // guards signal
	signal os.Signal
}

func interruptible(ctx context.Context, signals <-chan os.Signal) (context.Context, *interruption) {
	i := &interruption{stop: make(chan struct{})}
	ctx, i.cancel = context.WithCancel(ctx)
	i.work.Go(func() {
		for {
			select {
			case s := <-signals:
				if held.Terminates(s) {
					i.mu.Lock()
					i.signal = s
					i.mu.Unlock()
					i.cancel()
					return
				}
			case <-i.stop:
				return
			}
		}
	})
	return ctx, i
}

// received returns the signal that arrived, or nil.
func (i *interruption) received() os.Signal {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.signal
}

// finish stops watching for signals and returns the signal that arrived, or nil. It does not cancel the context.
func (i *interruption) finish() os.Signal {
	i.once.Do(func() { close(i.stop) })
	i.work.Wait()
	return i.received()
}

func (i *interruption) end() {
	i.finish()
	i.cancel()
}
