package client

import (
	"context"
	"iter"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// WatchFiring yields the current state of a firing, and then each change, until the firing ends. name and due are
// as in WithFiring. With a token, WatchFiring follows the claim made with that token and ends with
// FIRING_STATE_TAKEN_OVER if another holder has claimed the firing since then. With 0, it follows every claim. A firing
// that no process is running has the state FIRING_STATE_OPEN. That state does not end the sequence, because the firing
// can still be claimed.
//
// A broken stream is reopened, on another member if necessary, until ctx ends, so a state may be yielded twice. An
// error is yielded last, and only if a server refuses the request. Servers below feature level 4 refuse it with
// codes.Unimplemented.
func (s *Semaphore) WatchFiring(ctx context.Context, name string, due time.Time, token uint64) iter.Seq2[*gatekeeperv1.FiringClaim, error] {
	req := &gatekeeperv1.AwaitFiringRequest{Semaphore: s.name, Firing: &gatekeeperv1.Firing{Name: name}, Token: token}
	if !due.IsZero() {
		req.Firing.Due = timestamppb.New(due)
	}
	return func(yield func(*gatekeeperv1.FiringClaim, error) bool) {
		s.client.follow(ctx, func(ctx context.Context, conn *link) (over, received bool, err error) {
			stream, err := gatekeeperv1.NewPermitServiceClient(conn).AwaitFiring(ctx, req)
			for err == nil {
				var r *gatekeeperv1.AwaitFiringResponse
				if r, err = stream.Recv(); err != nil {
					break
				}
				received = true
				if !yield(r.GetClaim(), nil) || firingEnded(r.GetClaim()) {
					return true, true, nil
				}
			}
			return false, received, err
		}, func(err error) { yield(nil, err) })
	}
}

// firingEnded reports whether a claim's state is final.
func firingEnded(c *gatekeeperv1.FiringClaim) bool {
	switch c.GetState() {
	case gatekeeperv1.FiringState_FIRING_STATE_CLAIMED, gatekeeperv1.FiringState_FIRING_STATE_OPEN, gatekeeperv1.FiringState_FIRING_STATE_UNSPECIFIED:
		return false
	}
	return true
}

// awaitClaim waits until the firing in a denial can be claimed or has ended. The wait is bounded by maxWait. If the
// servers refuse the call, for example because they do not support it, awaitClaim sleeps for the duration poll. It
// returns false if ctx has ended.
func (r *Runner) awaitClaim(ctx context.Context, d *DeniedError, maxWait, poll time.Duration) bool {
	f := d.Firing.GetFiring()
	if f == nil {
		return sleep(ctx, poll)
	}
	due := time.Time{}
	if f.GetDue() != nil {
		due = f.GetDue().AsTime()
	}
	bounded, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	for claim, err := range r.sem.WatchFiring(bounded, f.GetName(), due, d.Firing.GetToken()) {
		if err != nil {
			return sleep(ctx, poll)
		}
		if claim.GetState() == gatekeeperv1.FiringState_FIRING_STATE_OPEN || firingEnded(claim) {
			return sleep(ctx, minBackoff) // prevents a busy loop if a server's watch and its denial contradict each other
		}
	}
	return ctx.Err() == nil
}
