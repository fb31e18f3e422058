package client

import (
	"context"
	"fmt"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Verification is what a token was worth at a moment between the call of Verify and its answer.
type Verification struct {
	// Permit is as the leader had it; ExpiresIn is what it had left without another refresh.
	Permit *gatekeeperv1.Permit
	// Stopping: the holder must stop, for Permit.Stop. It keeps its slot until it releases or its permit
	// expires, so that the token is valid; a resource may be stricter.
	Stopping bool
	// Message says why the holder is to stop; empty when it is not.
	Message string
	// Revision is the one that was read.
	Revision uint64
}

// NotValidError answers Verify: there is no live permit with that token, or it is of another semaphore. It is an error
// so that a token which is worth nothing is not mistaken for one that is; the servers are well.
type NotValidError struct {
	// Semaphore is the one that was asked for; may be empty.
	Semaphore string
	Token     uint64
	// Permit is set while it still takes its slot without a holder: held for an operator, or cooling.
	Permit *gatekeeperv1.Permit
	// Message says how the permit ended, for a person.
	Message  string
	Revision uint64
}

func (e *NotValidError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("token %d is not valid", e.Token)
	}
	return e.Message
}

// Verify asks for a resource whether a token may still act: whether its permit is live, and of this semaphore; an empty
// name asks about the token alone. It sees everything that was answered before it was called, and keeps nothing alive.
// The error is a *NotValidError when the servers say no, and one of those of all calls when they say nothing: then
// nothing is known of the token, and the resource must decide for itself.
//
// The answer is old when it arrives. Between it and the write that follows, the permit may end and another holder may
// be let in; nothing that is asked beforehand can help against that. Where the resource can compare tokens in the write
// itself, let it do so, and leave Verify out: see package fence.
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
