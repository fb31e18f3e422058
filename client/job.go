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
	// DefaultOutageLimit is the default of WithOutageLimit. An election takes less.
	DefaultOutageLimit = 10 * time.Second
	// DefaultLoopDelay is the default of WithLoopDelay.
	DefaultLoopDelay = time.Second

	// maxRetry bounds the pause before a denied run is tried again.
	maxRetry = 15 * time.Second
	// maxClaimedRetry is maxRetry for a run whose firing another has claimed. That ends sooner than what a person must
	// change, and schedulers hold their timetable up until the run has heard of it.
	maxClaimedRetry = 3 * time.Second
)

// JobOption is an option of Wrap and NewRunner. Of an option that is given twice the last one counts.
type JobOption func(*Runner)

// WithDenialPolicy says what a run does when it is denied a permit. Default: DenialSkip; in a Loop: DenialWait.
func WithDenialPolicy(p DenialPolicy) JobOption { return func(r *Runner) { r.denial = &p } }

// WithOutagePolicy says what a run does when no server answers for the WithOutageLimit. Default: OutageSkip. A run that
// is already in the queue waits for the servers under every policy.
func WithOutagePolicy(p OutagePolicy) JobOption { return func(r *Runner) { r.outage = p } }

// WithOutageLimit says for how long a run tries to reach a server before its OutagePolicy decides; OutageWait has no
// limit. Default, and 0: DefaultOutageLimit.
func WithOutageLimit(d time.Duration) JobOption {
	return func(r *Runner) { r.outageLimit = cmp.Or(max(d, 0), DefaultOutageLimit) }
}

// WithWaitLimit bounds how long a run waits under DenialWait and DenialRunLate. A run that gives up returns its last
// *DeniedError. Default, and 0: as long as the job's context lasts.
func WithWaitLimit(d time.Duration) JobOption { return func(r *Runner) { r.waitLimit = d } }

// WithOneWaiter lets one run of an acquirer wait in the queue. Under DenialWait or DenialRunLate, a run is denied
// instead of queued while another acquisition of the same semaphore, group and acquirer waits. So a timetable does not
// pile up runs while the semaphore is paused or held. Runs with a firing always wait.
func WithOneWaiter() JobOption { return func(r *Runner) { r.oneWaiter = true } }

// WithReleaseLimit bounds how long the end of a run tries to release its permit while no server answers. The caller of
// the run waits for that. A release that does not get through leaves the firing to end as if the job had been cut
// short. Default, and 0: as Permit.Release does it, for as long as a server may hold the permit; with
// OutageRunUnguarded the WithOutageLimit. In any case the release ends 5 s after the context of the run.
func WithReleaseLimit(d time.Duration) JobOption { return func(r *Runner) { r.releaseLimit = d } }

// WithFiringName names the firings of a job with due times. Default: the semaphore's name. Two timetables that share a
// semaphore need two names.
func WithFiringName(name string) JobOption { return func(r *Runner) { r.firing = name } }

// WithLoopDelay says how long Loop waits after a run before it asks for the next one, with a random part so that
// processes do not ask in step. Default: DefaultLoopDelay. With 0 it asks at once.
func WithLoopDelay(d time.Duration) JobOption { return func(r *Runner) { r.loopDelay = max(d, 0) } }

// WithHooks adds hooks, which are called as the job's runs go on. If it is given several times, all are called, in that
// order.
func WithHooks(h Hooks) JobOption { return func(r *Runner) { r.hooks = append(r.hooks, h) } }

// Runner runs a job only while it holds a permit. It may be used from many goroutines; each run has its own permit.
//
// A run asks for a permit, and by its policies skips, waits or runs late. The job's context ends with the caller's, and
// with the permit's, with its cause; PermitOf reads the permit from it. The permit is released only after the job has
// returned, with a separate context, so that also a job that was stopped gives its slot back immediately; its firing
// then goes by the definition's firing_on_loss. A run that got a permit and never started its job gives the firing back
// too. A job that continues after its context has ended is reported to the hooks and logged as an error, and keeps its
// permit for as long as it lasts. A panic of the job releases the permit and goes on.
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

// NewRunner returns a Runner of job under permits of sem. Leave out WithHolderID unless a restarted process must take
// over its own permit: under one holder id only one run at a time gets a permit, and another one fails with an
// *InUseError.
func NewRunner(sem *Semaphore, job func(context.Context) error, opts ...JobOption) *Runner {
	r := &Runner{sem: sem, job: job, outageLimit: DefaultOutageLimit, loopDelay: DefaultLoopDelay, firing: sem.name}
	for _, o := range opts {
		o(r)
	}
	return r
}

// Wrap returns job so that it runs only while it holds a permit of sem: NewRunner(sem, job, opts...).Run.
func Wrap(sem *Semaphore, job func(context.Context) error, opts ...JobOption) func(context.Context) error {
	return NewRunner(sem, job, opts...).Run
}

// Run runs the job once, if it gets a permit. The error is the job's; a *DeniedError or an *UnavailableError when it
// did not run; and one that is ErrLost when the permit was lost before the job had returned, whatever the job itself
// returned.
func (r *Runner) Run(ctx context.Context) error { return r.RunDue(ctx, time.Time{}) }

// RunDue is Run for the firing that was due at that time: of all who run the same firing one runs it, once, however
// much their clocks differ. The error is nil when there is nothing to do: another runs it, has run it, or was cut short
// and the definition's firing_on_loss is spent. It is a *DeniedError when the firing was claimed under the Runner's own
// holder id, by a former life of the process for example: nobody else runs it. It is also a *DeniedError when the
// firing is due too far ahead, or is not remembered, so that whether it ran is not known. A zero due is Run.
//
// A firing is done when the job has returned nil, and has failed when it returned an error: neither is run again. A job
// that returns an error after its context has ended, because of its permit or of ctx, was cut short, and so was one
// that returns ErrCutShort. Its firing then goes by firing_on_loss, as after a loss: with free, another host may claim
// it now, but a host that was already denied it asks again only under DenialRunLate. A job that returns nil came to its
// end all the same.
func (r *Runner) RunDue(ctx context.Context, due time.Time) error {
	_, err := r.run(ctx, due)
	if d, ok := errors.AsType[*DeniedError](err); ok && d.runsElsewhere() {
		return nil
	}
	return err
}

// Fire is RunDue for schedulers that take no error: what Run returns is logged, as an error when it is the job's.
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
	panicked := true // or the job has called runtime.Goexit
	defer func() {
		err = run.end(err, panicked)
	}()
	err = run.Do(r.job)
	panicked = false
	return run.began, err
}

// Loop runs the job again and again, with a pause after each run, wherever it gets the permit: of several processes
// that loop over the same job one runs it, and when that one ends or is lost the next takes over. It logs errors and
// goes on. It returns when ctx ends, with its cause, when the Client is closed, or when the servers will never take the
// request as it is.
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
		if needsAPerson(err) {
			wait = max(wait, min(backoff(min(failures, 6))<<min(max(failures-6, 0), 6), maxHopeless))
		}
		switch {
		case err == nil:
			logged = ""
		case !ran && reported(err): // by Begin
		case ran || err.Error() != logged: // the same trouble again and again is logged once
			r.log().Warn("gatekeeper: a run of the loop failed", "error", err, "ran", ran)
			logged = err.Error()
		}
		sleep(ctx, wait)
	}
}

// maxHopeless bounds the pause before a run is tried again that will fail until somebody edits the definition.
const maxHopeless = time.Minute

// needsAPerson says whether a run failed for what no time heals.
func needsAPerson(err error) bool {
	_, brief := errors.AsType[*StopTimeError](err)
	d, denied := errors.AsType[*DeniedError](err)
	return brief || denied && d.Reason == ReasonNoSuchSemaphore
}

// reported reports whether Begin logs such an error as a warning.
func reported(err error) bool {
	d, denied := errors.AsType[*DeniedError](err)
	return denied && d.NeedsAction() || isRefused(err)
}

// retryWait is the pause before a run that was denied or failed to ask is tried again, for the n-th time.
func retryWait(err error, n int) time.Duration {
	wait := backoff(min(n, 6)) << max(min(n-6, 4), 0)
	d, denied := errors.AsType[*DeniedError](err)
	switch {
	case denied && d.Reason == ReasonFiringClaimed:
		// The hint is when the claim ends at the latest unless its holder refreshes. It may be done at any time before.
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

// releasesFor is how long the end of a run tries to release; 0 leaves that to the permit.
func (r *Runner) releasesFor() time.Duration {
	if r.releaseLimit == 0 && r.outage == OutageRunUnguarded {
		return r.outageLimit
	}
	return r.releaseLimit
}

func (r *Runner) log() *slog.Logger {
	return r.sem.client.settings.logger.With("semaphore", r.sem.name)
}
