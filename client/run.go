package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// releaseAfterEnd bounds how long a run's release may take after its caller's context has ended, because by then the
// caller wants to exit.
const releaseAfterEnd = 5 * time.Second

// Run is one run of a job, from the grant of its permit to its release. Call Do or Start once, and then End.
type Run struct {
	runner *Runner
	permit *Permit // nil: unguarded
	due    time.Time

	caller     context.Context //nolint:containedctx // the context passed to Begin
	ctx        context.Context //nolint:containedctx // the job's
	cancel     context.CancelCauseFunc
	unfollow   func() bool // stops following the permit's context
	started    time.Time
	jobStarted bool

	finished chan struct{}
	watcher  sync.WaitGroup
	endOnce  sync.Once
	err      error
}

type permitKey struct{}

// PermitOf returns the permit under which a job runs, so that the job can call its Token, Ensure and Progress. ctx is
// the context that was passed to the job. The result is nil in a job that runs unguarded, and outside of jobs.
func PermitOf(ctx context.Context) *Permit {
	p, _ := ctx.Value(permitKey{}).(*Permit)
	return p
}

// TokenOf returns the fencing token of PermitOf(ctx), or 0 if there is no permit.
func TokenOf(ctx context.Context) uint64 {
	if p := PermitOf(ctx); p != nil {
		return p.Token()
	}
	return 0
}

func (r *Runner) newRun(ctx context.Context, due time.Time, p *Permit) *Run {
	run := &Run{runner: r, permit: p, caller: ctx, due: due, started: time.Now(), finished: make(chan struct{}), unfollow: func() bool { return true }}
	run.ctx, run.cancel = context.WithCancelCause(context.WithValue(ctx, permitKey{}, p))
	if p != nil {
		run.unfollow = context.AfterFunc(p.Context(), func() { run.cancel(context.Cause(p.Context())) })
	}
	return run
}

// Permit returns the run's permit, or nil if the run is unguarded.
func (r *Run) Permit() *Permit { return r.permit }

// Context returns the job's context. It ends when the context passed to Begin or the permit's context ends, and has the
// same cause.
func (r *Run) Context() context.Context { return r.ctx }

// Do calls Start, runs job with the run's context, and returns its error.
func (r *Run) Do(job func(context.Context) error) error {
	if err := r.Start(); err != nil {
		return err
	}
	return job(r.ctx)
}

// Start marks the job as started. If the run's context has already ended, Start returns its cause, and the job must not
// start.
func (r *Run) Start() error {
	if r.permit != nil {
		r.runner.callHooks(func(h *Hooks) { hook(r.ctx, h.Granted, r.permit) })
	}
	if !r.alive() {
		return context.Cause(r.ctx)
	}
	r.jobStarted = true
	r.watcher.Go(r.watch)
	return nil
}

// alive reports whether the job may start. It also checks the permit, because the run's context follows the permit's
// with a short delay.
func (r *Run) alive() bool {
	if cause := r.stopped(); cause != nil {
		r.cancel(cause)
	}
	return r.ctx.Err() == nil
}

// stopped returns why the permit's context has ended, or is about to end: after the machine was suspended, the clock
// shows this before the context does.
func (r *Run) stopped() error {
	switch {
	case r.permit == nil:
		return nil
	case r.permit.Context().Err() == nil && !r.permit.Held():
		return lostAtDeadline()
	}
	return context.Cause(r.permit.Context())
}

// End ends the run and releases the permit. Call it with the job's error after the job has returned. If the error is
// nil, the firing is done. Otherwise it has failed, with two exceptions. The firing was cut short if the job returned
// any error after the run's context had ended, or returned ErrCutShort. The firing can be claimed again if the job was
// not started. End returns what Runner.Run returns.
func (r *Run) End(jobErr error) error { return r.end(jobErr, false) }

func (r *Run) end(jobErr error, panicked bool) error {
	r.endOnce.Do(func() {
		cutShort := r.jobStarted && (jobErr != nil || panicked) && r.interrupted(jobErr)
		close(r.finished)
		r.watcher.Wait()
		report := Report{
			Semaphore: r.runner.sem.name, Due: r.due, Ran: r.jobStarted, Panicked: panicked, CutShort: cutShort,
			Started: r.started, Took: time.Since(r.started), Err: jobErr,
		}
		if p := r.permit; p != nil {
			report.Token = p.Token()
			report.Stopped = context.Cause(p.Context())
			report.Err = outcome(jobErr, report.Stopped, p.Held())
			r.unfollow()
			report.Release = r.release(jobErr, panicked, cutShort)
		}
		r.cancel(context.Canceled)
		r.err = report.Err
		r.runner.log().Debug("gatekeeper: the run has ended", "token", report.Token, "took", report.Took, "ran", report.Ran, "error", report.Err)
		r.runner.callHooks(func(h *Hooks) { hook(r.ctx, h.Finished, report) })
	})
	return r.err
}

// interrupted reports whether the job stopped before it finished: because it returned ErrCutShort, or because its
// permit or its caller ended its context.
func (r *Run) interrupted(jobErr error) bool {
	if errors.Is(jobErr, ErrCutShort) {
		return true
	}
	stopped := r.stopped()
	if stopped == nil {
		stopped = context.Cause(r.ctx)
	}
	return stopped != nil && !errors.Is(stopped, ErrReleased)
}

// outcome returns the error of a run whose job returned jobErr. stopped is the reason its permit's context had ended,
// or nil if it had not.
func outcome(jobErr, stopped error, held bool) error {
	switch {
	case !held && stopped == nil: // the clock is ahead of the timer
		stopped = lostAtDeadline()
	case !held && !errors.Is(stopped, ErrLost) && !errors.Is(stopped, ErrClosed):
		stopped = fmt.Errorf("%w while the job was running: %w", ErrLost, stopped)
	case held && (jobErr == nil || stopped == nil || !errors.Is(jobErr, context.Canceled)):
		return jobErr
	}
	if jobErr == nil || errors.Is(jobErr, stopped) {
		return stopped
	}
	return fmt.Errorf("%w: %w", jobErr, stopped)
}

// release releases the permit with a separate context, because the job's may have ended.
func (r *Run) release(jobErr error, panicked, cutShort bool) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.ctx))
	defer cancel()
	if limit := r.runner.releaseTimeout(); limit > 0 {
		var done context.CancelFunc
		ctx, done = context.WithTimeout(ctx, limit)
		defer done()
	}
	defer context.AfterFunc(r.caller, func() {
		sleep(ctx, releaseAfterEnd)
		cancel()
	})()
	outcome, failure := gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_DONE, ""
	switch {
	case !r.jobStarted:
		outcome = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_NOT_RUN
	case cutShort:
		outcome = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT
	case panicked:
		outcome, failure = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED, "the job panicked"
	case jobErr != nil:
		outcome, failure = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED, jobErr.Error()
	}
	err := r.permit.release(ctx, outcome, failure)
	if err != nil {
		r.runner.log().Warn("gatekeeper: the release did not free the slot", "token", r.permit.Token(), "error", err)
	}
	return err
}

// watch reports when the job must stop, and when it fails to stop.
func (r *Run) watch() {
	select {
	case <-r.finished:
		return
	case <-r.ctx.Done():
	}
	overrun := Overrun{Permit: r.permit, Cause: context.Cause(r.ctx), Since: time.Now()}
	wait := maxStopTime
	var gone <-chan struct{} // nil without a permit, so that receiving from it blocks forever
	if p := r.permit; p != nil {
		wait, gone = stopTime(p.stopTime, p.Duration()), p.Done()
		if cause := context.Cause(p.Context()); cause != nil {
			r.runner.log().Warn("gatekeeper: the job must stop", "token", p.Token(), "cause", cause)
			r.runner.callHooks(func(h *Hooks) { hook(r.ctx, h.Lost, Loss{Permit: p, Cause: cause}) })
		}
	}
	timer := time.NewTimer(wait + wait/10) // longer than wait, so that the permit's end comes first if no refresh got through
	defer timer.Stop()
	for late := timer.C; ; {
		select {
		case <-r.finished:
			return
		case <-late:
			if left := r.drainLeft(); left > 0 { // the drain lets it continue
				timer.Reset(left)
				continue
			}
			late = nil // report it once
		case <-gone:
			if r.returnsSoon(overrun.Since.Add(min(wait/10, overrunGrace))) {
				return
			}
			overrun.Gone = true
		}
		r.overrun(overrun)
		if overrun.Gone {
			return
		}
	}
}

// overrunGrace bounds how long a job may take to return after its context has ended, before it is reported.
const overrunGrace = time.Second

// returnsSoon reports whether the job has returned, or returns before the given time. A job that checks its context and
// its permit at the same time may see them end in either order.
func (r *Run) returnsSoon(by time.Time) bool {
	timer := time.NewTimer(time.Until(by))
	defer timer.Stop()
	select {
	case <-r.finished:
		return true
	case <-timer.C:
	}
	select {
	case <-r.finished:
		return true
	default:
		return false
	}
}

// drainLeft returns how long a job that must stop may keep working.
func (r *Run) drainLeft() time.Duration {
	if r.permit == nil || r.permit.DrainUntil().IsZero() {
		return 0
	}
	return time.Until(r.permit.DrainUntil())
}

// overrun reports a job that ignores its context.
func (r *Run) overrun(o Overrun) {
	text := "gatekeeper: the job is still running although its context has ended"
	if o.Gone {
		text = "gatekeeper: the job is still running although ITS PERMIT IS GONE, and another holder may run it at the same time"
	}
	token := uint64(0)
	if o.Permit != nil {
		token = o.Permit.Token()
	}
	r.runner.log().Error(text, "token", token, "cause", o.Cause, "since", o.Since)
	r.runner.callHooks(func(h *Hooks) { hook(r.ctx, h.Overrun, o) })
}
