package keeper

import (
	"cmp"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// TimeToStop returns how much longer the holder of the live permit p may continue even though s stops it.
func (k *Keeper) TimeToStop(p *semaphore.Permit, s semaphore.Stop) (left time.Duration) {
	for _, d := range s.Drains {
		switch s.Cause {
		case semaphore.StopNoLongerAdmitted, semaphore.StopPaused:
			left = max(left, k.timers.SemaphoreDrain(p.Semaphore, d.Revision, d.Duration))
		case semaphore.StopCordoned:
			left = max(left, k.timers.CordonDrain(s.Cordon, d.Revision, d.Duration))
		default:
			left = max(left, k.timers.PermitDrain(p.Token, d.Revision, d.Duration))
		}
	}
	return left
}

// drainLeft returns how much longer a permit's refreshes will succeed even though its holder must stop. If several
// causes stop the holder, the one that leaves it the least time applies.
func (k *Keeper) drainLeft(state *fsm.State, p *semaphore.Permit) (left time.Duration) {
	facts := k.holderFacts(state, p)
	for i, s := range semaphore.Stops(p, &facts) {
		if l := k.TimeToStop(p, s); i == 0 || l < left {
			left = l
		}
	}
	return left
}

// noReason is shown if no reason was given for a stop.
const noReason = "no reason was given"

// StopCause returns why the holder of a permit must stop, and the reason given for it, which may be empty. It returns
// the cause even while a drain lets the holder continue, and NotStopping if the holder need not stop.
func (k *Keeper) StopCause(state *fsm.State, p *semaphore.Permit) (cause semaphore.StopCause, reason string) {
	if p.State != semaphore.Live {
		return p.Stop, p.StopOrder().Reason
	}
	d := k.admit(state, p, k.lessor.Overheld(p))
	switch d.Stop {
	case p.Stop:
		return p.Stop, p.StopOrder().Reason
	case semaphore.NotStopping:
		return semaphore.NotStopping, ""
	}
	if reason = k.stopMessage(state, p, d.Stop); reason == noReason {
		reason = ""
	}
	return d.Stop, reason
}

// stopMessage returns the message sent along with the cause to a holder that must stop: the reason given by the person
// who caused the stop.
func (k *Keeper) stopMessage(state *fsm.State, p *semaphore.Permit, cause semaphore.StopCause) string {
	reason := "" // the message omits the cause, because clients describe it themselves
	switch sd := state.Definition(p.Semaphore); {
	case cause == semaphore.StopCordoned:
		return k.cordonStopMessage(state, p)
	case cause == semaphore.StopPaused && sd != nil && sd.Pause != nil:
		reason = sd.Pause.Reason
	case cause == semaphore.StopNoLongerAdmitted && sd != nil:
		reason = sd.Reason
	case cause == semaphore.StopHeldTooLong:
		return "max_hold has elapsed"
	case cause == p.Stop:
		reason = p.StopOrder().Reason
	}
	return cmp.Or(reason, noReason)
}

// cordonStopMessage returns the reason given for the cordon that stops the holder of a permit. If several cordons do,
// the one that leaves the holder the least time applies. If no reason was given, the message names the cordon, so that
// the reader can look it up.
func (k *Keeper) cordonStopMessage(state *fsm.State, p *semaphore.Permit) string {
	var first *fsm.Cordon
	var least time.Duration
	facts := k.holderFacts(state, p)
	for _, s := range semaphore.Stops(p, &facts) {
		if s.Cause != semaphore.StopCordoned {
			continue
		}
		c, left := state.Cordon(s.Cordon), k.TimeToStop(p, s)
		if first == nil || left < least || left == least && first.Reason == "" && c.Reason != "" {
			first, least = c, left
		}
	}
	switch {
	case first == nil: // the cordon has since ended
		return noReason
	case first.Reason == "":
		return fmt.Sprintf("%s (cordon %q)", noReason, first.ID)
	}
	return first.Reason
}
