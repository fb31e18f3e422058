package client

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"
)

const (
	// DefaultOutageLimit is the default for WithOutageLimit. It is longer than an election takes.
	DefaultOutageLimit = 10 * time.Second
	// DefaultLoopDelay is the default for WithLoopDelay.
	DefaultLoopDelay = time.Second

	// maxRetry bounds the wait before a denied run is retried.
	maxRetry = 15 * time.Second
	// maxClaimedRetry replaces maxRetry for a run whose firing another holder has claimed. A claim usually ends sooner
	// than a condition that a person must fix, and the run blocks its scheduler until it notices.
	maxClaimedRetry = 3 * time.Second
)

// JobOption is an option for Wrap and NewRunner. If an option is given twice, the last one wins.
type JobOption func(*Runner)

// WithDenialPolicy sets what a run does when it is denied a permit. The default is DenialSkip, or DenialWait in Loop.
func WithDenialPolicy(p DenialPolicy) JobOption { return func(r *Runner) { r.denial = &p } }

// WithOutagePolicy sets what a run does when no server has responded within the limit set by WithOutageLimit. The
// default is OutageSkip. A run that is already in the queue waits for the servers, whatever the policy.
func WithOutagePolicy(p OutagePolicy) JobOption { return func(r *Runner) { r.outage = p } }

// WithOutageLimit sets how long a run tries to reach a server before its OutagePolicy applies. OutageWait has no limit.
// By default, or with 0, the limit is DefaultOutageLimit.
func WithOutageLimit(d time.Duration) JobOption {
	return func(r *Runner) { r.outageLimit = cmp.Or(max(d, 0), DefaultOutageLimit) }
}

// WithWaitLimit bounds how long a run waits under DenialWait and DenialRunLate. A run that gives up returns its last
// *DeniedError. By default, or with 0, the run waits until its context ends.
func WithWaitLimit(d time.Duration) JobOption { return func(r *Runner) { r.waitLimit = d } }

// WithOneWaiter allows each acquirer only one run in the queue. Under DenialWait or DenialRunLate, a run is denied
// instead of queued while another acquisition for the same semaphore, group and acquirer is waiting. This keeps a
// schedule from piling up runs while the semaphore is paused or held. Runs with a firing always wait.
func WithOneWaiter() JobOption { return func(r *Runner) { r.oneWaiter = true } }

// WithReleaseLimit bounds how long a run tries to release its permit when no server is responding. The run's caller is
// blocked in the meantime. If the release does not get through, the firing ends as if the job had been cut short. By
// default, or with 0, the run keeps trying for as long as a server may hold the permit, as Permit.Release does; with
// OutageRunUnguarded, it tries for as long as WithOutageLimit allows. Regardless of the limit, it gives up 5 s after
// the caller's context has ended.
func WithReleaseLimit(d time.Duration) JobOption { return func(r *Runner) { r.releaseLimit = d } }

// WithFiringName sets the name of the job's firings. The default is the semaphore's name. Two schedules that share a
// semaphore need different names.
func WithFiringName(name string) JobOption { return func(r *Runner) { r.firing = name } }

// WithLoopDelay sets how long Loop waits between runs. The delay is jittered so that processes do not send their
// requests at the same moment. The default is DefaultLoopDelay. With 0, Loop requests the permit again immediately.
func WithLoopDelay(d time.Duration) JobOption { return func(r *Runner) { r.loopDelay = max(d, 0) } }

// WithHooks adds hooks to the job's runs. If the option is given several times, all hooks are called, in the order
// given.
func WithHooks(h Hooks) JobOption { return func(r *Runner) { r.hooks = append(r.hooks, h) } }

// Runner runs a job only while it holds a permit. It is safe for concurrent use; each run has its own permit.
//
// A run requests a permit and, depending on its policies, skips, waits or runs late. The job's context ends when the
// caller's context or the permit's ends, and has the same cause. PermitOf returns the permit of a context. The permit
// is released only after the job has returned, with a separate context, so that a stopped job also frees its slot
// immediately. The definition's firing_on_loss decides what happens to the firing of a stopped job. If a run got a
// permit but did not start its job, the firing can be claimed again. A job that continues after its context has ended
// keeps its permit until the permit expires; the job is reported to the hooks and logged as an error. If the job
// panics, the permit is released and the panic continues.
type Runner struct {
	sem *Semaphore
	job func(context.Context) error

	denial      *DenialPolicy // nil: the default
	outage      OutagePolicy
	outageLimit time.Duration
	waitLimit   time.Duration
	oneWaiter   bool
	loopDelay   time.Duration
	firing      string
	hooks       []Hooks
	// releaseLimit is 0 for the default.
	releaseLimit time.Duration
}

// NewRunner returns a Runner that runs job under permits of sem. Use WithHolderID only if a restarted process must take
// over its own permit: with a fixed holder id, only one run at a time gets a permit, and other runs fail with an
// *InUseError.
func NewRunner(sem *Semaphore, job func(context.Context) error, opts ...JobOption) *Runner {
	r := &Runner{sem: sem, job: job, outageLimit: DefaultOutageLimit, loopDelay: DefaultLoopDelay, firing: sem.name}
	for _, o := range opts {
		o(r)
	}
	return r
}

// Wrap returns a function that runs job only while it holds a permit of sem. It is short for NewRunner(sem, job,
// opts...).Run.
func Wrap(sem *Semaphore, job func(context.Context) error, opts ...JobOption) func(context.Context) error {
	return NewRunner(sem, job, opts...).Run
}

// Run runs the job once, if it gets a permit, and returns the job's error. If the job did not run, the error is a
// *DeniedError or an *UnavailableError. If the permit was lost before the job returned, the error wraps ErrLost,
// whatever the job returned.
func (r *Runner) Run(ctx context.Context) error { return r.RunDue(ctx, time.Time{}) }

// RunDue runs the job for the firing that was due at the given time. If several processes call it for the same firing,
// one of them runs the job, once, however much their clocks differ. The error is nil if there is nothing to do: another
// process is running or has run the firing, or the firing was cut short and is spent according to the definition's
// firing_on_loss. The error is a *DeniedError if the firing was claimed under the Runner's own holder id, for example
// before the process was restarted, because then no other process is running it. It is also a *DeniedError if the
// firing is due too far in the future, or is no longer remembered, so that it is unknown whether it ran. If due is the
// zero time, RunDue does the same as Run.
//
// If the job returns nil, the firing is done. If it returns an error, the firing has failed. Either way, it is not run
// again. The job was cut short if it returns ErrCutShort, or if it returns any error after its context was ended by its
// permit or by ctx. firing_on_loss then decides what happens to the firing, as it does when a permit is lost. If the
// firing is free again, another host may claim it immediately, but a host that was already denied it retries only under
// DenialRunLate. A job that returns nil has finished, even if its context had ended.
func (r *Runner) RunDue(ctx context.Context, due time.Time) error {
	_, err := r.run(ctx, due)
	if d, ok := errors.AsType[*DeniedError](err); ok && d.runsElsewhere() {
		return nil
	}
	return err
}

// Fire calls RunDue for schedulers that do not accept an error. It logs the error instead, at level Error if it came
// from the job.
func (r *Runner) Fire(ctx context.Context, due time.Time) {
	r.logFailure(due, r.RunDue(ctx, due))
}

func (r *Runner) logFailure(due time.Time, err error) {
	if _, denied := errors.AsType[*DeniedError](err); err == nil || denied || errors.Is(err, ErrUnavailable) || isRefused(err) {
		return // Begin has logged it
	}
	r.log().Error("gatekeeper: the job failed", "due", due, "error", err)
}

func (r *Runner) run(ctx context.Context, due time.Time) (ran bool, err error) {
	run, err := r.Begin(ctx, due)
	if err != nil {
		return false, err
	}
	panicked := true // remains true if the job panics or calls runtime.Goexit
	defer func() {
		err = run.end(err, panicked)
	}()
	err = run.Do(r.job)
	panicked = false
	return run.jobStarted, err
}

// Loop runs the job repeatedly, with a delay after each run, whenever it gets the permit. If several processes loop
// over the same job, one of them runs it, and another takes over when that process exits or is lost. Loop logs errors
// and continues. It returns the cause of ctx when ctx ends. It returns earlier only if the Client is closed or the
// request is invalid.
func (r *Runner) Loop(ctx context.Context) error {
	if r.denial == nil {
		looping := *r
		WithDenialPolicy(DenialWait)(&looping)
		r = &looping
	}
	logged := ""
	for failures := 0; ; {
		ran, err := r.run(ctx, time.Time{})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if _, ok := errors.AsType[*InvalidFieldError](err); ok || errors.Is(err, ErrClosed) {
			return err
		}
		wait := jitter(r.loopDelay)
		if ran {
			failures = 0
		} else {
			wait = max(wait, retryWait(err, failures))
			failures++
		}
		if needsOperator(err) {
			wait = max(wait, min(backoff(min(failures, 6))<<min(max(failures-6, 0), 6), maxOperatorRetry))
		}
		switch {
		case err == nil:
			logged = ""
		case !ran && loggedByBegin(err): // Begin has logged it
		case ran || err.Error() != logged: // a repeated failure is logged once
			r.log().Warn("gatekeeper: a run of the loop failed", "error", err, "ran", ran)
			logged = err.Error()
		}
		sleep(ctx, wait)
	}
}

// maxOperatorRetry bounds the wait before retrying a run that will fail until someone edits the definition.
const maxOperatorRetry = time.Minute

// needsOperator reports whether a run failed for a reason that waiting does not fix.
func needsOperator(err error) bool {
	_, shortPermit := errors.AsType[*StopTimeError](err)
	d, denied := errors.AsType[*DeniedError](err)
	return shortPermit || denied && d.Reason == ReasonNoSuchSemaphore
}

// loggedByBegin reports whether Begin logs err as a warning.
func loggedByBegin(err error) bool {
	d, denied := errors.AsType[*DeniedError](err)
	return denied && d.NeedsAction() || isRefused(err)
}

// retryWait returns how long to wait before the n-th retry of a run that was denied or could not reach a server.
func retryWait(err error, n int) time.Duration {
	wait := backoff(min(n, 6)) << max(min(n-6, 4), 0)
	d, denied := errors.AsType[*DeniedError](err)
	switch {
	case denied && d.Reason == ReasonFiringClaimed:
		// The claim ends no later than RetryAfter from now unless its holder refreshes. The firing may be done earlier.
		if d.Retry {
			ends := max(d.RetryAfter, minBackoff)
			wait = min(wait, ends+rand.N(ends/20))
		}
		return min(wait, maxClaimedRetry)
	case denied && d.Retry:
		wait = max(wait, d.RetryAfter)
	}
	return min(wait, maxRetry)
}

// releaseTimeout returns how long a run tries to release its permit; 0 means that the permit's own limit applies.
func (r *Runner) releaseTimeout() time.Duration {
	if r.releaseLimit == 0 && r.outage == OutageRunUnguarded {
		return r.outageLimit
	}
	return r.releaseLimit
}

func (r *Runner) log() *slog.Logger {
	return r.sem.client.settings.logger.With("semaphore", r.sem.name)
}
