package keeper

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// drainLeft is for how long the refreshes of a permit whose holder is to stop will go on being granted. Of several drains of
// a semaphore the last one counts; of several cordons the first, for each has to let it go on.
func (k *Keeper) drainLeft(state *fsm.State, p *semaphore.Permit, cause semaphore.StopCause) time.Duration {
	left := time.Duration(0)
	switch cause {
	case semaphore.StopNoLongerAdmitted:
		for _, d := range state.Drains(p.Semaphore) {
			if p.GrantedRevision < d.Revision {
				left = max(left, k.agenda.SemaphoreDrain(p.Semaphore, d.Revision, d.Duration))
			}
		}
	case semaphore.StopPaused:
		if sd := state.Definition(p.Semaphore); sd != nil && sd.Pause != nil && sd.Pause.Drain > 0 {
			left = k.agenda.SemaphoreDrain(p.Semaphore, sd.Pause.Revision, sd.Pause.Drain)
		}
	case semaphore.StopCordoned:
		left = semaphore.MaxSpan
		for _, c := range k.patterns.catching(state, p.Identity) {
			left = min(left, k.agenda.CordonDrain(c.ID, c.Revision, c.Drain))
		}
	default:
		if p.StopDrain > 0 {
			left = k.agenda.PermitDrain(p.Token, p.StopRevision, p.StopDrain)
		}
	}
	return left
}

// stopReason is what the person who caused a stop gave as its reason; empty when nobody did.
func (k *Keeper) stopReason(state *fsm.State, p *semaphore.Permit, cause semaphore.StopCause) string {
	sd := state.Definition(p.Semaphore)
	switch {
	case cause == semaphore.StopCordoned:
		for _, c := range k.patterns.catching(state, p.Identity) {
			return c.Reason
		}
	case cause == semaphore.StopPaused && sd != nil && sd.Pause != nil:
		return sd.Pause.Reason
	case cause == semaphore.StopNoLongerAdmitted && sd != nil:
		return sd.Reason
	}
	return p.StopReason
}
