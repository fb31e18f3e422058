package client

import (
	"context"
	"fmt"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Verification is the state of a token at some point between the call to Verify and its return.
type Verification struct {
	// Permit is the leader's view of the permit; its ExpiresIn is the time left without another refresh.
	Permit *gatekeeperv1.Permit
	// Stopping is set if the holder must stop; see Permit.Stop. The token is still valid, because the holder keeps its
	// slot until it releases the permit or the permit expires. A resource may be stricter.
	Stopping bool
	// Message is the reason the holder must stop, or empty if it need not stop.
	Message string
	// Revision is the cluster revision at which the permit was read.
	Revision uint64
}

// NotValidError is the error that Verify returns if no live permit has the token, or if the permit belongs to another
// semaphore. This is an error so that callers do not mistake an invalid token for a valid one. It does not indicate a
// problem with the servers.
type NotValidError struct {
	// Semaphore is the name passed to Verify; it may be empty.
	Semaphore string
	Token     uint64
	// Permit is set if the permit still occupies its slot without a holder, because it is held for an operator or
	// cooling.
	Permit *gatekeeperv1.Permit
	// Message describes how the permit ended, for display.
	Message  string
	Revision uint64
}

func (e *NotValidError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("token %d is not valid", e.Token)
	}
	return e.Message
}

// Verify checks, on behalf of a resource, whether a token is still valid: whether its permit is live, and belongs to
// the given semaphore. With an empty name the semaphore is not checked. Verify takes into account every request that
// was answered before the call, and does not extend the permit. If the token is not valid, the error is a
// *NotValidError. Any other error means that the state of the token is unknown, and the resource must decide what to
// do.
//
// The result may be outdated by the time it arrives: before the write that follows, the permit may end and another
// holder may be granted a permit. No check before the write can prevent this. If the resource can compare tokens as
// part of the write, do that instead of calling Verify; see package fence.
func (c *Client) Verify(ctx context.Context, semaphore string, token uint64) (*Verification, error) {
	r, err := c.Permits().Verify(ctx, &gatekeeperv1.VerifyRequest{Semaphore: semaphore, Token: token})
	switch {
	case err != nil:
		return nil, err
	case !r.GetValid():
		return nil, &NotValidError{
			Semaphore: semaphore, Token: token, Permit: r.GetPermit(), Message: r.GetMessage(), Revision: r.GetRevision(),
		}
	}
	return &Verification{
		Permit:   r.GetPermit(),
		Stopping: r.GetPermit().GetStop() != gatekeeperv1.StopCause_STOP_CAUSE_UNSPECIFIED,
		Message:  r.GetMessage(),
		Revision: r.GetRevision(),
	}, nil
}
