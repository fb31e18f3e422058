package api

import (
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/selector"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// AwaitFiring streams a firing's state. It reads the state that this server has applied, without a Confirm. Everything
// it sends was correct at some point, and a caller that receives an outdated OPEN is denied when it claims the firing.
func (s *permitService) AwaitFiring(m *gatekeeperv1.AwaitFiringRequest, stream grpc.ServerStreamingServer[gatekeeperv1.AwaitFiringResponse]) error {
	if err := semaphore.ValidSemaphoreName(m.GetSemaphore()); err != nil {
		return err
	}
	firing, err := firingFrom(m.GetFiring())
	switch {
	case err != nil:
		return err
	case firing == nil:
		return invalid("firing", "", "must be set")
	}
	if err := firing.Validate(); err != nil {
		return err
	}
	if !s.visible(stream.Context(), s.cfg.Machine.State(), m.GetSemaphore()) {
		return &selector.NoDefinitionError{Name: m.GetSemaphore()}
	}
	ctx, done := s.whileAllowed(stream.Context(), mayView(m.GetSemaphore()))
	defer done()
	subscription := s.cfg.Hub.Subscribe(s.cfg.Machine.State().Revision())
	defer subscription.Close()
	var sent *gatekeeperv1.FiringClaim
	for {
		claim, ended := awaitedClaim(s.cfg.Machine.State(), m.GetSemaphore(), firing, m.GetToken())
		if sent == nil || !proto.Equal(sent, claim) {
			if err := stream.Send(&gatekeeperv1.AwaitFiringResponse{Claim: claim}); err != nil {
				return err
			}
			sent = claim
		}
		if ended {
			return nil
		}
		for relevant := false; !relevant; {
			batch, err := subscription.Next(ctx)
			if err != nil {
				return cancellationError(ctx, err)
			}
			relevant = batch.Missed
			for i := range batch.Events {
				relevant = relevant || batch.Events[i].Semaphore == m.GetSemaphore()
			}
		}
	}
}

// awaitedClaim returns a firing's state and reports whether the caller can stop waiting. If token is 0, the firing
// must have ended. Otherwise the claim with that token must have ended or been taken over. A claim with an older token
// counts as OPEN, because the leader has since granted the awaited token and this server has yet to apply the grant.
func awaitedClaim(state *fsm.State, name string, firing *semaphore.Firing, token uint64) (claim *gatekeeperv1.FiringClaim, ended bool) {
	c := state.Claim(name, *firing)
	switch {
	case c == nil && firing.Forgotten(state.LowWater(name)):
		return &gatekeeperv1.FiringClaim{Firing: toFiring(firing), State: gatekeeperv1.FiringState_FIRING_STATE_FORGOTTEN}, true
	case c == nil, c.Token < token:
		return &gatekeeperv1.FiringClaim{Firing: toFiring(firing), State: gatekeeperv1.FiringState_FIRING_STATE_OPEN}, false
	}
	claim = toFiringClaim(c)
	if token != 0 && c.Token > token {
		claim.State = gatekeeperv1.FiringState_FIRING_STATE_TAKEN_OVER
		return claim, true
	}
	return claim, c.Ended()
}
