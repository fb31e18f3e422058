package client

import (
	"context"
	"time"
)

// Hooks are functions called during a job's runs. Each may be nil. They are called on the run's goroutines, and the run
// waits for them, so they must return quickly and must not end the run. They receive the run's context for its values;
// it may have ended.
type Hooks struct {
	// Granted is called before the job starts with this permit.
	Granted func(context.Context, *Permit)
	// Waiting is called when the run is denied a permit but waits, as its DenialPolicy requires.
	Waiting func(context.Context, *DeniedError)
	// Denied is called when the job does not run because it was denied a permit.
	Denied func(context.Context, *DeniedError)
	// Unavailable is called when no server responded, after the OutagePolicy has been applied.
	Unavailable func(context.Context, Outage)
	// Lost is called when the contexts of the permit and the job have ended while the job is still running.
	Lost func(context.Context, Loss)
	// Overrun is called when the job is still running even though its context has ended.
	Overrun func(context.Context, Overrun)
	// Finished is called when the run has ended and its permit has been released.
	Finished func(context.Context, Report)
}

// Outage describes a run for which no server responded.
type Outage struct {
	// Err matches ErrUnavailable.
	Err error
	// Unguarded is set if the job runs without a permit, because of OutageRunUnguarded. Otherwise the job does not run.
	Unguarded bool
}

// Loss describes why a running job must stop.
type Loss struct {
	// Permit is the job's permit. No other holder is granted its slots before its SafeUntil.
	Permit *Permit
	// Cause is one of ErrStopped, ErrExpiring, ErrStalled, ErrLost or ErrClosed.
	Cause error
}

// Overrun describes a job that continues after its context has ended. It is reported when the stop time has passed, or
// when the drain ends if that is later, and again when the permit has ended. After that, another holder may run at the
// same time.
type Overrun struct {
	Permit *Permit // nil for an unguarded run
	// Cause is the reason the context ended.
	Cause error
	// Since is the time at which the context ended.
	Since time.Time
	// Gone is set if the permit can no longer be relied on.
	Gone bool
}

// Report describes how a run ended.
type Report struct {
	Semaphore string
	// Due is the firing's due time. It is zero if there is none.
	Due time.Time
	// Token is the token of the permit, or 0 for an unguarded run.
	Token uint64
	// Ran is set if the job was started. If the permit was lost before that, the firing can be claimed again.
	Ran bool
	// CutShort is set if the run's context had ended before the job returned an error, or if that error is ErrCutShort.
	// The definition's firing_on_loss decides what happens to the firing.
	CutShort bool
	// Panicked is set if the job panicked or called runtime.Goexit. The panic itself is not reported in Err.
	Panicked bool
	Started  time.Time
	Took     time.Duration
	// Stopped is the reason the permit's context ended before the job did, or nil if it did not.
	Stopped error
	// Err is the error that Run returns.
	Err error
	// Release is the error from releasing the permit. If it is set, the slot becomes free only when the permit expires.
	Release error
}

// callHooks applies call to each of the Runner's Hooks.
func (r *Runner) callHooks(call func(*Hooks)) {
	for i := range r.hooks {
		call(&r.hooks[i])
	}
}

// hook calls f unless it is nil.
func hook[T any](ctx context.Context, f func(context.Context, T), v T) {
	if f != nil {
		f(ctx, v)
	}
}
