package api

import (
	"time"

	"google.golang.org/grpc"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Acquire streams the caller's place in the queue as the keeper reports it, followed by the outcome.
func (s *permitService) Acquire(m *gatekeeperv1.AcquireRequest, stream grpc.ServerStreamingServer[gatekeeperv1.AcquireResponse]) error {
	received := time.Now() // taken first, because the client starts measuring before it makes the call
	call, err := acquireFrom(m, received)
	if err != nil {
		return err
	}
	answer, err := s.keeper.Acquire(stream.Context(), call, func(p keeper.Place) error {
		return stream.Send(&gatekeeperv1.AcquireResponse{Progress: &gatekeeperv1.AcquireResponse_Place{Place: toPlace(p, false)}})
	})
	if err != nil {
		return err
	}
	// The outcome is now final, even if the caller has disconnected: it may already hold the permit.
	last := new(gatekeeperv1.AcquireResponse)
	switch {
	case answer.Repeat != nil:
		place := toPlace(*answer.Repeat, true)
		place.Revision = answer.RepeatRevision
		last.Progress = &gatekeeperv1.AcquireResponse_Place{Place: place}
	case answer.Outcome == semaphore.Denied:
		last.Progress = &gatekeeperv1.AcquireResponse_Denial{Denial: toDenial(answer.Denial, call.Firing)}
	default:
		last.Progress = &gatekeeperv1.AcquireResponse_Grant{Grant: toGrant(&answer)}
	}
	return stream.Send(last)
}
