package keeper

import (
	"cmp"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Stops tells of each thing that shuts out the holder of a live permit for how long it lets the holder go on still: its cause, the id of the
// cordon that it is, and the time, 0 without a drain. What has no drain ever, max_hold, is not told of.
func (k *Keeper) Stops(state *fsm.State, p *semaphore.Permit, tell func(cause semaphore.StopCause, cordon string, left time.Duration)) {
	sd := state.Definition(p.Semaphore)
	if a := k.patterns.admission(state, sd, p.Identity); sd == nil || !a.Group || !a.Acquirer {
		tell(semaphore.StopNoLongerAdmitted, "", k.EditDrain(state, p))
	}
	for _, c := range k.patterns.catching(state, p.Identity) {
		tell(semaphore.StopCordoned, c.ID, k.cordonLeft(c, p))
	}
	if sd != nil && sd.Pause != nil && sd.Pause.Stop {
		left := time.Duration(0)
		if sd.Pause.Drain > 0 && p.GrantedRevision < sd.Pause.Revision {
			left = k.timers.SemaphoreDrain(p.Semaphore, sd.Pause.Revision, sd.Pause.Drain)
		}
		tell(semaphore.StopPaused, "", left)
	}
	if p.Stop != semaphore.NotStopping {
		left := time.Duration(0)
		if p.StopOrder().Drain > 0 {
			left = k.timers.PermitDrain(p.Token, p.StopOrder().Revision, p.StopOrder().Drain)
		}
		tell(p.Stop, "", left)
	}
}

// EditDrain is for how long a permit may be refreshed still whatever its definition says by now: of several drains of a semaphore's edits
// the last one counts.
func (k *Keeper) EditDrain(state *fsm.State, p *semaphore.Permit) (left time.Duration) {
	for _, d := range state.Drains(p.Semaphore) {
		if p.GrantedRevision < d.Revision {
			left = max(left, k.timers.SemaphoreDrain(p.Semaphore, d.Revision, d.Duration))
		}
	}
	return left
}

func (k *Keeper) cordonLeft(c *fsm.Cordon, p *semaphore.Permit) time.Duration {
	if c.Drain == 0 || p.GrantedRevision >= c.Revision {
		return 0
	}
	return k.timers.CordonDrain(c.ID, c.Revision, c.Drain)
}

// drainLeft is for how long the refreshes of a permit whose holder is to stop will go on being granted: all that shuts it out has to let it
// go on.
func (k *Keeper) drainLeft(state *fsm.State, p *semaphore.Permit) time.Duration {
	least := time.Duration(-1)
	k.Stops(state, p, func(_ semaphore.StopCause, _ string, left time.Duration) {
		if least < 0 || left < least {
			least = left
		}
	})
	return max(least, 0)
}

// noReason stands for the reason that nobody gave.
const noReason = "no reason was given"

// ToldToStop is why the holder of a permit is told to stop, be it that a drain lets it go on for now, and the reason that was given, which
// may be empty. NotStopping when it is not told so.
func (k *Keeper) ToldToStop(state *fsm.State, p *semaphore.Permit) (cause semaphore.StopCause, reason string) {
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
	if reason = k.whyStop(state, p, d.Stop); reason == noReason {
		reason = ""
	}
	return d.Stop, reason
}

// whyStop is what the holder of a permit is told that must stop, beside the cause: the reason of the person who caused it, if one was given.
func (k *Keeper) whyStop(state *fsm.State, p *semaphore.Permit, cause semaphore.StopCause) string {
	reason := "" // it does not repeat the cause, which whoever shows it says in words of his own
	switch sd := state.Definition(p.Semaphore); {
	case cause == semaphore.StopCordoned:
		return k.whyCordonStops(state, p)
	case cause == semaphore.StopPaused && sd != nil && sd.Pause != nil:
		reason = sd.Pause.Reason
	case cause == semaphore.StopNoLongerAdmitted && sd != nil:
		reason = sd.Reason
	case cause == semaphore.StopHeldTooLong:
		return "max_hold is over"
	case cause == p.Stop:
		reason = p.StopOrder().Reason
	}
	return cmp.Or(reason, noReason)
}

// whyCordonStops is the reason of the cordon that stops the holder of a permit, or does so first: of several the one that leaves it the
// least time. One without a reason is named, so that whoever reads it knows where to ask.
func (k *Keeper) whyCordonStops(state *fsm.State, p *semaphore.Permit) string {
	var first *fsm.Cordon
	var least time.Duration
	for _, c := range k.patterns.catching(state, p.Identity) {
		if left := k.cordonLeft(c, p); first == nil || left < least || left == least && first.Reason == "" && c.Reason != "" {
			first, least = c, left
		}
	}
	switch {
	case first == nil: // it was ended since
		return noReason
	case first.Reason == "":
		return fmt.Sprintf("%s (cordon %q)", noReason, first.ID)
	}
	return first.Reason
}
