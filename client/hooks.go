package client

import (
	"context"
	"time"
)

// Hooks are called as the runs of a job go on. Each may be nil. They are called on the goroutines of the run, which
// waits for them: they must be brief, and must not end the run. Each gets the context of the run, for its values: it
// may have ended.
type Hooks struct {
	// Granted: the job is about to start under this permit.
	Granted func(context.Context, *Permit)
	// Waiting: denied for now; the run waits, by its DenialPolicy.
	Waiting func(context.Context, *DeniedError)
	// Denied: the job does not run.
	Denied func(context.Context, *DeniedError)
	// Unavailable: no server answered, and the OutagePolicy has decided.
	Unavailable func(context.Context, Outage)
	// Lost: the permit's context has ended while the job runs, and the job's with it.
	Lost func(context.Context, Loss)
	// Overrun: the job still runs, although its context has ended.
	Overrun func(context.Context, Overrun)
	// Finished: the run is over, and its permit released.
	Finished func(context.Context, Report)
}

// Outage says that no server answered a run.
type Outage struct {
	// Err is ErrUnavailable.
	Err error
	// Unguarded: the job runs without a permit, by OutageRunUnguarded. Otherwise it does not run.
	Unguarded bool
}

// Loss says that a running job must stop.
type Loss struct {
	// Permit is the job's. Until its SafeUntil no other holder is let in.
	Permit *Permit
	// Cause is one of ErrStopped, ErrExpiring, ErrStalled, ErrLost or ErrClosed.
	Cause error
}

// Overrun says that a job continues after its context has ended. It is reported when the stop time is over, or the
// drain if that takes longer, and again when the permit is gone: from then on another holder may run at the same time.
type Overrun struct {
	Permit *Permit // nil for an unguarded run
	// Cause is why the context ended.
	Cause error
	// Since is when.
	Since time.Time
	// Gone: the permit may be counted on no more.
	Gone bool
}

// Report is how a run ended.
type Report struct {
	Semaphore string
	// Due is that of the firing; zero without one.
	Due time.Time
	// Token of the permit; 0 for an unguarded run.
	Token uint64
	// Ran: the job was started. A permit can be lost before that; its firing is given back.
	Ran bool
	// CutShort: the run's context had ended before the job returned an error, or that error is ErrCutShort. Its firing
	// goes by firing_on_loss.
	CutShort bool
	// Panicked: the job panicked, or ended its goroutine by runtime.Goexit; Err is nil then.
	Panicked bool
	Started  time.Time
	Took     time.Duration
	// Stopped is why the permit's context ended before the job; nil when it did not.
	Stopped error
	// Err is what Run returns.
	Err error
	// Release is the error of the release: the slot is free when the permit expires.
	Release error
}

// tell calls a hook of each Hooks.
func (r *Runner) tell(call func(*Hooks)) {
	for i := range r.hooks {
		call(&r.hooks[i])
	}
}

// hook calls one, if it is there.
func hook[T any](ctx context.Context, f func(context.Context, T), v T) {
	if f != nil {
		f(ctx, v)
	}
}
