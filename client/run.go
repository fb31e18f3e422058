package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// releaseAfterEnd bounds how long the release of a run goes on after the run's caller has ended it: somebody wants to
// be gone.
const releaseAfterEnd = 5 * time.Second

// Run is one run of a job, from its permit to the release: Do, or Start, once, and then End.
type Run struct {
	runner *Runner
	permit *Permit // nil: unguarded
	due    time.Time

	caller   context.Context //nolint:containedctx // that of Begin
	ctx      context.Context //nolint:containedctx // the job's
	cancel   context.CancelCauseFunc
	unfollow func() bool // stops following the permit's context
	started  time.Time
	began    bool

	finished chan struct{}
	watcher  sync.WaitGroup
	end1     sync.Once
	err      error
}

type permitKey struct{}

// PermitOf returns the permit under which a job runs, by the context that it was given: for its Token, Ensure and
// Progress. It is nil in a job that runs unguarded, and outside of jobs.
func PermitOf(ctx context.Context) *Permit {
	p, _ := ctx.Value(permitKey{}).(*Permit)
	return p
}

// TokenOf returns the fencing token of PermitOf; 0 when there is no permit.
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

// Permit is the run's permit; nil when it runs unguarded.
func (r *Run) Permit() *Permit { return r.permit }

// Context is what the job is to respect: it ends with the context of Begin and with the permit's, with its cause.
func (r *Run) Context() context.Context { return r.ctx }

// Do runs job and returns its error: Start, and then job with the run's context.
func (r *Run) Do(job func(context.Context) error) error {
	if err := r.Start(); err != nil {
		return err
	}
	return job(r.ctx)
}

// Start says that the job starts now. When the run's context has ended already the error is its cause, and the job must
// not start.
func (r *Run) Start() error {
	if r.permit != nil {
		r.runner.tell(func(h *Hooks) { hook(r.ctx, h.Granted, r.permit) })
	}
	if !r.alive() {
		return context.Cause(r.ctx)
	}
	r.began = true
	r.watcher.Go(r.watch)
	return nil
}

// alive says whether the job may start. It looks at the permit itself too, whose context the run's follows a moment
// later.
func (r *Run) alive() bool {
	if cause := r.stopped(); cause != nil {
		r.cancel(cause)
	}
	return r.ctx.Err() == nil
}

// stopped is why the permit's context has ended, or is about to: after the machine was suspended the clock knows it
// first.
func (r *Run) stopped() error {
	switch {
	case r.permit == nil:
		return nil
	case r.permit.Context().Err() == nil && !r.permit.Held():
		return lostAtDeadline()
	}
	return context.Cause(r.permit.Context())
}

// End ends the run after the job has returned, with the job's error, and releases the permit. The firing is done if the
// error is nil, and has failed otherwise, with two exceptions. It was cut short if the job returned an error after the
// run's context had ended, or an error that is ErrCutShort. It is given back if the job was not started. End returns
// what Runner.Run returns.
func (r *Run) End(jobErr error) error { return r.end(jobErr, false) }

func (r *Run) end(jobErr error, panicked bool) error {
	r.end1.Do(func() {
		cutShort := r.began && (jobErr != nil || panicked) && r.interrupted(jobErr)
		close(r.finished)
		r.watcher.Wait()
		report := Report{
			Semaphore: r.runner.sem.name, Due: r.due, Ran: r.began, Panicked: panicked, CutShort: cutShort,
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
		r.runner.tell(func(h *Hooks) { hook(r.ctx, h.Finished, report) })
	})
	return r.err
}

// interrupted reports whether the job was stopped before its end, by what it says, by its permit, or by its caller.
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

// outcome is the error of a run whose job returned jobErr. stopped is why its permit's context had ended; nil if it had
// not.
func outcome(jobErr, stopped error, held bool) error {
	switch {
	case !held && stopped == nil: // the clock says so before the timer does
		stopped = lostAtDeadline()
	case !held && !errors.Is(stopped, ErrLost) && !errors.Is(stopped, ErrClosed):
		stopped = fmt.Errorf("%w while the job ran: %w", ErrLost, stopped)
	case held && (jobErr == nil || stopped == nil || !errors.Is(jobErr, context.Canceled)):
		return jobErr
	}
	if jobErr == nil || errors.Is(jobErr, stopped) {
		return stopped
	}
	return fmt.Errorf("%w: %w", jobErr, stopped)
}

// release gives the permit back, on a separate context: the job's may have ended.
func (r *Run) release(jobErr error, panicked, cutShort bool) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.ctx))
	defer cancel()
	if limit := r.runner.releasesFor(); limit > 0 {
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
	case !r.began:
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

// watch reports when the job must stop, and when it does not.
func (r *Run) watch() {
	select {
	case <-r.finished:
		return
	case <-r.ctx.Done():
	}
	over := Overrun{Permit: r.permit, Cause: context.Cause(r.ctx), Since: time.Now()}
	wait := maxStopTime
	var gone <-chan struct{} // never, without a permit
	if p := r.permit; p != nil {
		wait, gone = stopTime(p.stopTime, p.Duration()), p.Done()
		if cause := context.Cause(p.Context()); cause != nil {
			r.runner.log().Warn("gatekeeper: the job is to stop", "token", p.Token(), "cause", cause)
			r.runner.tell(func(h *Hooks) { hook(r.ctx, h.Lost, Loss{Permit: p, Cause: cause}) })
		}
	}
	timer := time.NewTimer(wait + wait/10) // when the context ended for want of an answer, the end of the permit comes first
	defer timer.Stop()
	for late := timer.C; ; {
		select {
		case <-r.finished:
			return
		case <-late:
			if left := r.drainLeft(); left > 0 { // it may go on
				timer.Reset(left)
				continue
			}
			late = nil // once
		case <-gone:
			if r.returnsSoon(over.Since.Add(min(wait/10, maxPromptness))) {
				return
			}
			over.Gone = true
		}
		r.overrun(over)
		if over.Gone {
			return
		}
	}
}

// maxPromptness bounds how long after the end of its context a job that returns at once is waited for before it is
// reported.
const maxPromptness = time.Second

// returnsSoon says whether the job returns by then, or has: who looks at its context and its end at once sees them in
// any order.
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

// drainLeft is for how long a job that must stop may still finish what it has begun.
func (r *Run) drainLeft() time.Duration {
	if r.permit == nil || r.permit.DrainUntil().IsZero() {
		return 0
	}
	return time.Until(r.permit.DrainUntil())
}

// overrun reports a job that ignores its context.
func (r *Run) overrun(o Overrun) {
	text := "gatekeeper: the job still runs although its context has ended"
	if o.Gone {
		text = "gatekeeper: the job still runs although ITS PERMIT IS GONE, another holder may run it at the same time"
	}
	token := uint64(0)
	if o.Permit != nil {
		token = o.Permit.Token()
	}
	r.runner.log().Error(text, "token", token, "cause", o.Cause, "since", o.Since)
	r.runner.tell(func(h *Hooks) { hook(r.ctx, h.Overrun, o) })
}
