package client

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// yield delays a run whose identity lost its last permit to another process. If both processes acquired again
// immediately, they would keep taking the permit from each other. So a run waits for the permit's duration, and then
// until the other process no longer holds the permit.
func (r *Runner) yield(ctx context.Context, policy DenialPolicy) error {
	a := r.sem.request(nil)
	if !a.holderIDSet {
		return nil // each request uses a new holder id, so it cannot supersede another process
	}
	k, key := r.sem.client.renewer, a.claimKey()
	for {
		lost, wait := k.lastLoss(key)
		switch {
		case lost == nil:
			return nil
		case wait <= 0 && r.holds(ctx, lost.by):
			k.updateWait(key, lost, true)
			continue
		case wait <= 0:
			k.updateWait(key, lost, false)
			return nil
		}
		if policy == DenialSkip || !sleep(ctx, wait) {
			return fmt.Errorf("semaphore %q, holder id %q (acquirer %q, group %q): %w; the job will not try again for %s, to keep the two processes from repeatedly taking the permit from each other. Give each process a different holder id",
				a.semaphore, *a.holderID, a.acquirer, a.group, ErrSuperseded, seconds(max(wait, time.Second)))
		}
	}
}

// holds reports whether a token is live. If no server responds, it returns false, and the acquisition that follows
// reports the problem.
func (r *Runner) holds(ctx context.Context, token uint64) bool {
	ctx, cancel := context.WithTimeout(ctx, r.outageLimit)
	defer cancel()
	_, err := r.sem.client.Verify(ctx, r.sem.name, token)
	return err == nil
}

// isRefused reports whether a run did not start because of its holder id.
func isRefused(err error) bool {
	_, inUse := errors.AsType[*InUseError](err)
	return inUse || errors.Is(err, ErrSuperseded) && !errors.Is(err, ErrLost)
}
