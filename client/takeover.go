package client

import (
	"context"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// TakeOver stops the holder of a token because the caller judges it dead, and returns its permit as it is now. The
// caller is the group and the acquirer of this Semaphore; reason is journaled, for people.
//
// It frees nothing: the holder's refreshes are refused from now on, and its permit's context ends with ErrTakenOver.
// The slot is free when the holder releases it, or at its deadline. So acquire the permit next, in the queue. A wrong
// judgement costs the holder its run and never lets two run at once. The firing of a holder that is lost then may be
// claimed again, whatever firing_on_loss says.
//
// A holder that must stop already, for whatever cause, keeps that cause, and the call succeeds. A repeat does no more
// than the first call. The error is a *NoSuchPermitError if no live permit has this token; a *StatusError with the code
// FailedPrecondition and the reason REFUSED if the definition does not allow takeovers or does not admit the caller,
// and with the reason FEATURE_LEVEL below feature level 4; or one that every call has.
func (s *Semaphore) TakeOver(ctx context.Context, token uint64, reason string) (*gatekeeperv1.Permit, error) {
	r, err := s.client.Permits().TakeOver(ctx, &gatekeeperv1.TakeOverRequest{Token: token, Identity: s.identity(), Reason: reason})
	return r.GetPermit(), err
}

// identity is who asks, for calls that acquire nothing: without a holder id unless the application chose one.
func (s *Semaphore) identity() *gatekeeperv1.Identity {
	a := s.request(nil)
	id := &gatekeeperv1.Identity{Group: a.group, Acquirer: a.acquirer}
	if a.chosen {
		id.HolderId = *a.holderID
	}
	return id
}
