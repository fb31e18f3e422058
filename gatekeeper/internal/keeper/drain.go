package keeper

import (
	"cmp"
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

// whyStop is what the holder of a permit is told that must stop, beside the cause: the reason of the person who caused it, if one was given.
func (k *Keeper) whyStop(state *fsm.State, p *semaphore.Permit, cause semaphore.StopCause) string {
	reason := "" // it does not repeat the cause, which whoever shows it says in words of his own
	switch sd := state.Definition(p.Semaphore); {
	case cause == semaphore.StopCordoned:
		for _, c := range k.patterns.catching(state, p.Identity) {
			reason = cmp.Or(reason, c.Reason)
		}
	case cause == semaphore.StopPaused && sd != nil && sd.Pause != nil:
		reason = sd.Pause.Reason
	case cause == semaphore.StopNoLongerAdmitted && sd != nil:
		reason = sd.Reason
	case cause == semaphore.StopHeldTooLong:
		return "max_hold is over"
	case cause == p.Stop:
		reason = p.StopReason
	}
	return cmp.Or(reason, "no reason was given")
}
