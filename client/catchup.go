package client

import (
	"context"
	"errors"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// maxMissed is the maximum number of due times in one call.
const maxMissed = 1000

// CatchUp runs the firings that were missed, for example because no host was up when they were due. Call it when a
// schedule starts, and after the host was suspended. next represents the schedule: it returns the first due time after
// a given time, or the zero time if there is none. The definition's misfire and misfire_window determine which firings
// run: none (the default), only the last one, or all of them in order. A firing does not run if another process has
// claimed it, or if it was due before the definition was set to run missed firings. If more than 1000 firings were
// missed, only the newest 1000 are run.
//
// Firings are run by RunDue, one at a time. Each waits for its permit unless WithDenialPolicy says otherwise. A firing
// that fails or is denied does not prevent the later ones from running. If no server responds, CatchUp keeps trying
// until ctx ends. It logs errors as Fire does, and returns the joined errors of its runs. It does nothing if the
// servers do not support catching up.
func (r *Runner) CatchUp(ctx context.Context, next func(time.Time) time.Time) error {
	missed, err := r.Missed(ctx, next)
	if err != nil {
		return err
	}
	if r.denial == nil {
		// Processes that catch up at the same time take turns, which preserves the order.
		waiting := *r
		WithDenialPolicy(DenialWait)(&waiting)
		r = &waiting
	}
	var failed []error
	for _, due := range missed {
		if ctx.Err() != nil {
			return errors.Join(append(failed, context.Cause(ctx))...)
		}
		r.log().Info("gatekeeper: running a missed firing now, unless another process runs it first", "firing", r.firing, "due", due)
		if err := r.RunDue(ctx, due); err != nil {
			r.logFailure(due, err)
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// Missed returns, in order, the due times of the firings that CatchUp would run now. It is for schedulers that start
// runs themselves. It calls next only if the definition is set to run missed firings.
func (r *Runner) Missed(ctx context.Context, next func(time.Time) time.Time) (run []time.Time, err error) {
	// The first call only asks how far to look back. It is usually the only call, because most definitions run no
	// missed firings.
	req := &gatekeeperv1.CatchUpRequest{Semaphore: r.sem.name, Identity: r.sem.identity(), Name: r.firing}
	permits := r.sem.client.Permits()
	answer, err := permits.CatchUp(ctx, req)
	switch {
	case status.Code(err) == codes.Unimplemented, err == nil && answer.GetSince() == nil:
		return nil, nil
	case err != nil:
		return nil, err
	}
	for _, due := range dueBetween(next, answer.GetSince().AsTime(), time.Now()) {
		req.Due = append(req.Due, timestamppb.New(due))
	}
	if len(req.GetDue()) == 0 {
		return nil, nil
	}
	if answer, err = permits.CatchUp(ctx, req); err != nil {
		return nil, err
	}
	for _, due := range answer.GetRun() {
		run = append(run, due.AsTime())
	}
	return run, nil
}

// dueBetween returns a schedule's newest due times that are after since and not after now. A schedule can compute only
// the next due time, so dueBetween looks back over increasingly long periods.
func dueBetween(next func(time.Time) time.Time, since, now time.Time) []time.Time {
	for back := time.Hour; ; back *= 4 {
		from := now.Add(-back)
		if !from.After(since) {
			from = since
		}
		var all []time.Time
		for at := next(from); !at.IsZero() && !at.After(now); {
			all = append(all, at.UTC())
			after := next(at)
			if !after.After(at) {
				break // the schedule does not advance
			}
			at = after
		}
		if len(all) >= maxMissed || from.Equal(since) {
			return slices.Clone(all[max(0, len(all)-maxMissed):])
		}
	}
}
