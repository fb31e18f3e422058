package client

import (
	"context"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// TakeOver stops the holder of a token because the caller presumes it dead, and returns the current state of the
// permit. The caller is identified by the group and the acquirer of this Semaphore. reason is written to the journal,
// for operators.
//
// TakeOver does not free the slot. The holder's further refreshes are refused, and its permit's context ends with
// ErrTakenOver. The slot is freed when the holder releases its permit, or at the permit's deadline. Call Acquire next
// to wait in the queue. If the caller was wrong, the holder loses its run, but two holders never run at the same time.
// If the holder is then lost, its firing may be claimed again, even if firing_on_loss is spent.
//
// If the holder must already stop for another cause, that cause is kept, and the call succeeds. Calling TakeOver again
// has no further effect. The error is a *NoSuchPermitError if no live permit has this token, and also wraps
// ErrOutcomeUnknown if the permit may have ended after an earlier attempt was carried out. It is a *StatusError with
// the code FailedPrecondition and the reason REFUSED if the definition does not allow takeovers or does not admit the
// caller, or with the reason FEATURE_LEVEL below feature level 4. Otherwise it is an error that any call can return.
func (s *Semaphore) TakeOver(ctx context.Context, token uint64, reason string) (*gatekeeperv1.Permit, error) {
	r, err := s.client.Permits().TakeOver(ctx, &gatekeeperv1.TakeOverRequest{Token: token, Identity: s.identity(), Reason: reason})
	return r.GetPermit(), err
}

// identity returns the caller's identity for calls that acquire nothing. It has no holder id unless the application set
// one.
func (s *Semaphore) identity() *gatekeeperv1.Identity {
	a := s.request(nil)
	id := &gatekeeperv1.Identity{Group: a.group, Acquirer: a.acquirer}
	if a.holderIDSet {
		id.HolderId = *a.holderID
	}
	return id
}
