package client

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Begin acquires a permit for one run according to the Runner's policies. It is for schedulers that call the job
// themselves; all other callers should use Run. The caller must end the Run that Begin returns. If due is the zero
// time, Begin claims no firing.
func (r *Runner) Begin(ctx context.Context, due time.Time) (*Run, error) {
	var opts []AcquireOption
	if !due.IsZero() {
		opts = append(opts, WithFiring(r.firing, due))
	}
	p, err := r.acquirePermit(ctx, opts)
	if err == nil {
		return r.newRun(ctx, due, p), nil
	}
	if d, ok := errors.AsType[*DeniedError](err); ok {
		r.log().Debug("gatekeeper: the job was denied a permit", "due", due, "reason", d.Reason, "message", d.Message)
		r.callHooks(func(h *Hooks) { hook(ctx, h.Denied, d) })
		return nil, err
	}
	if !errors.Is(err, ErrUnavailable) || ctx.Err() != nil {
		return nil, err
	}
	unguarded := r.outage == OutageRunUnguarded
	if unguarded {
		r.log().Error("gatekeeper: no server responded: running the job WITHOUT A PERMIT; another holder may run it at the same time", "error", err)
	} else {
		r.log().Warn("gatekeeper: no server responded: the job will not run", "error", err)
	}
	r.callHooks(func(h *Hooks) { hook(ctx, h.Unavailable, Outage{Err: err, Unguarded: unguarded}) })
	if !unguarded {
		return nil, err
	}
	return r.newRun(ctx, due, nil), nil
}

// acquirePermit requests a permit repeatedly until it gets one or a policy ends the attempts.
func (r *Runner) acquirePermit(ctx context.Context, opts []AcquireOption) (*Permit, error) {
	policy := DenialSkip
	if r.denial != nil {
		policy = *r.denial
	}
	limited := ctx
	if r.waitLimit > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, r.waitLimit)
		defer cancel()
	}
	for n := 0; ; n++ {
		if err := r.yield(limited, policy); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			r.report(opts, err)
			return nil, err
		}
		p, err := r.acquireOnce(limited, opts)
		d, denied := errors.AsType[*DeniedError](err)
		if denied && d.canQueue() && policy != DenialSkip {
			r.report(opts, err) // reported before queueing, because a wait for an operator may never end
			r.callHooks(func(h *Hooks) { hook(ctx, h.Waiting, d) })
			p, err = r.queue(ctx, limited, opts)
			d, denied = errors.AsType[*DeniedError](err)
		}
		r.report(opts, err)
		if !denied || policy != DenialRunLate || d.firingIsOver() || limited.Err() != nil {
			return p, err
		}
		r.callHooks(func(h *Hooks) { hook(ctx, h.Waiting, d) })
		wait := retryWait(err, n)
		if d.Reason == ReasonFiringClaimed && !r.awaitClaim(limited, d, maxRetry, wait) || d.Reason != ReasonFiringClaimed && !sleep(limited, wait) {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, err // the limit was reached; the last denial gives the reason
		}
	}
}

// acquireOnce requests a permit without waiting in the queue. If no server responds, it keeps trying until the outage
// limit.
func (r *Runner) acquireOnce(ctx context.Context, opts []AcquireOption) (*Permit, error) {
	if r.outage != OutageWait {
		bounded, cancel := context.WithTimeout(ctx, r.outageLimit)
		defer cancel()
		ctx = bounded
	}
	return r.sem.TryAcquire(ctx, opts...)
}

// queue waits in the queue, but no longer than the wait limit, if one is set.
func (r *Runner) queue(ctx, limited context.Context, opts []AcquireOption) (*Permit, error) {
	if r.oneWaiter {
		opts = append(slices.Clip(opts), acquireOption(func(a *acquisition) { a.onePerAcquirer = true }))
	}
	if deadline, ok := limited.Deadline(); ok && r.waitLimit > 0 {
		return r.sem.TryAcquireFor(ctx, time.Until(deadline), opts...)
	}
	return r.sem.Acquire(ctx, opts...)
}
