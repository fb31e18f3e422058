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

// maxMissed is how many due times the servers take at once.
const maxMissed = 1000

// CatchUp runs the firings that were missed, for example because no host was up when they were due. Call it when a
// schedule starts, and after the host was suspended. next is the schedule: it returns the first due time after a time,
// or zero. The definition decides what is run, by misfire and misfire_window: nothing by default, the last firing, or
// each in order. Nothing runs that another process has claimed, or that was due before the definition said so. Of more
// than 1000 missed firings only the newest are run.
//
// Each is run by RunDue, one after the other, and waits for its permit unless WithDenialPolicy says otherwise. A firing
// that fails, or is denied, does not keep the later ones from running. CatchUp waits for a server for as long as ctx
// lasts, logs as Fire does, and returns what its runs returned, joined. Servers that do not know the call have nothing
// to run.
func (r *Runner) CatchUp(ctx context.Context, next func(time.Time) time.Time) error {
	missed, err := r.Missed(ctx, next)
	if err != nil {
		return err
	}
	if r.denial == nil {
		// Processes that catch up at the same time take turns, and so keep the order.
		waiting := *r
		WithDenialPolicy(DenialWait)(&waiting)
		r = &waiting
	}
	var failed []error
	for _, due := range missed {
		if ctx.Err() != nil {
			return errors.Join(append(failed, context.Cause(ctx))...)
		}
		r.log().Info("gatekeeper: a missed firing runs now, unless another process runs it", "firing", r.firing, "due", due)
		if err := r.RunDue(ctx, due); err != nil {
			r.logFailure(due, err)
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// Missed returns when the firings were due that CatchUp would run now, in their order, for a scheduler that begins runs
// in its own way. It calls next only if the definition wants missed firings to be run.
func (r *Runner) Missed(ctx context.Context, next func(time.Time) time.Time) (run []time.Time, err error) {
	// The first question is for how far back to look: most definitions run none.
	req := &gatekeeperv1.CatchUpRequest{Semaphore: r.sem.name, Identity: r.sem.identity(), Name: r.firing}
	permits := r.sem.client.Permits()
	answer, err := permits.CatchUp(ctx, req)
	switch {
	case status.Code(err) == codes.Unimplemented, err == nil && answer.GetSince() == nil:
		return nil, nil
	case err != nil:
		return nil, err
	}
	for _, due := range passed(next, answer.GetSince().AsTime(), time.Now()) {
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

// passed returns the newest due times of a schedule after since that are not after now. Schedules know only their next
// due time, so it looks for them further and further back.
func passed(next func(time.Time) time.Time, since, now time.Time) []time.Time {
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
				break // or the schedule stands still
			}
			at = after
		}
		if len(all) >= maxMissed || from.Equal(since) {
			return slices.Clone(all[max(0, len(all)-maxMissed):])
		}
	}
}
