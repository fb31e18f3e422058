package client

import (
	"time"
)

// Hooks are told what becomes of a job's runs. Each may be nil. They are called on the goroutines of the run, which waits for them:
// they must be brief, and must not end the run.
type Hooks struct {
	// Granted: the job is about to start under this permit.
	Granted func(*Permit)
	// Waiting: denied for now; the run waits, by its DenialPolicy.
	Waiting func(*DeniedError)
	// Denied: the job does not run.
	Denied func(*DeniedError)
	// Unavailable: no server answered; unguarded says that the job runs all the same, by its OutagePolicy.
	Unavailable func(err error, unguarded bool)
	// Lost: the permit's context has ended while the job runs, and the job's with it. The cause is one of ErrStopped, ErrExpiring,
	// ErrStalled, ErrLost or ErrClosed; until Permit.SafeUntil nobody else is let in.
	Lost func(p *Permit, cause error)
	// Overrun: the job still runs, although its context has ended.
	Overrun func(Overrun)
	// Finished: the run is over, and its permit released.
	Finished func(Report)
}

// Overrun is a job that goes on after its context has ended. It is told once when the stop time is over, or the drain when that
// takes longer, and once more when the permit is gone: from then on another holder may run at the same time.
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
	// CutShort: the run's context had ended before the job returned an error, or that error is ErrCutShort. Its firing goes by
	// firing_on_loss.
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

func call1[T any](f func(T), v T) {
	if f != nil {
		f(v)
	}
}
