package client

import (
	"fmt"
	"strings"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Reason says why a request was denied. The values are stable API names. A newer server may send other values, which
// also mean a denial.
type Reason string

// The reasons, in the order in which the servers check them.
const (
	ReasonNoSuchSemaphore      Reason = "NO_SUCH_SEMAPHORE"
	ReasonGroupMismatch        Reason = "GROUP_MISMATCH"
	ReasonAcquirerMismatch     Reason = "ACQUIRER_MISMATCH"
	ReasonCordoned             Reason = "CORDONED"
	ReasonPaused               Reason = "PAUSED"
	ReasonStopping             Reason = "STOPPING"
	ReasonHeldForOperator      Reason = "HELD_FOR_OPERATOR"
	ReasonAlreadyHeld          Reason = "ALREADY_HELD"
	ReasonWeightExceedsPermits Reason = "WEIGHT_EXCEEDS_PERMITS"
	ReasonFiringClaimed        Reason = "FIRING_CLAIMED"
	ReasonFiringDone           Reason = "FIRING_DONE"
	ReasonNoFreePermit         Reason = "NO_FREE_PERMIT"
	// ReasonFiringTooFarAhead means that the firing is due further in the future, by the leader's clock, than the
	// definition allows.
	ReasonFiringTooFarAhead Reason = "FIRING_TOO_FAR_AHEAD"
	// ReasonFiringForgotten means that the firing is no longer remembered, so it is unknown whether it ran. To be safe,
	// it is not run.
	ReasonFiringForgotten Reason = "FIRING_FORGOTTEN"
	// ReasonNoTask means that no task is waiting for a worker.
	ReasonNoTask Reason = "NO_TASK"
)

// DeniedError reports a denial: the servers decided not to grant a permit. It matches ErrDenied. A denial is an error
// so that callers do not mistake it for a permit. It does not mean that anything is wrong with the servers.
type DeniedError struct {
	Semaphore string
	// Group and Acquirer identify the caller, as in the request.
	Group, Acquirer string
	Reason          Reason
	// Message is a single sentence for display.
	Message string
	// Holders lists the permits that occupy the slots, at most 16 of HolderCount.
	Holders     []*gatekeeperv1.Permit
	HolderCount int
	// QueueLength is the number of waiters.
	QueueLength int
	// RetryAfter is how long to wait before a retry may succeed. It is valid only if Retry is set. If Retry is not set,
	// waiting does not help.
	RetryAfter time.Duration
	Retry      bool
	// Firing identifies the holder that has claimed the firing, or was the last to claim it. It is nil if the denial is
	// not about a firing.
	Firing *gatekeeperv1.FiringClaim
	// Pause is set if the semaphore is paused.
	Pause *gatekeeperv1.Pause
	// Stop says why the caller's own permit is being stopped, if it is.
	Stop gatekeeperv1.StopCause
	// PermitRevision is the permit revision of the semaphore, for WithExpectedRevision.
	PermitRevision uint64
	// For ReasonFiringTooFarAhead, LeaderClock is the leader's wall clock, and CallerClock is this host's wall clock at
	// that time. One of the clocks, or the due time, is wrong. For other reasons both are zero.
	LeaderClock, CallerClock time.Time

	request *acquisition // nil if this package did not create the error
}

func newDenied(a *acquisition, d *gatekeeperv1.Denial) *DeniedError {
	denied := &DeniedError{
		Semaphore:      a.semaphore,
		Group:          a.group,
		Acquirer:       a.acquirer,
		request:        a,
		Reason:         Reason(strings.TrimPrefix(d.GetReason().String(), "REASON_")),
		Message:        d.GetMessage(),
		Holders:        d.GetHolders(),
		HolderCount:    int(d.GetHolderCount()),
		QueueLength:    int(d.GetQueueLength()),
		RetryAfter:     d.GetRetryAfter().AsDuration(),
		Retry:          d.GetRetryAfter() != nil,
		Firing:         d.GetFiring(),
		Pause:          d.GetPause(),
		Stop:           d.GetStop(),
		PermitRevision: d.GetPermitRevision(),
	}
	if d.GetLeaderClock() != nil {
		denied.LeaderClock = d.GetLeaderClock().AsTime()
	}
	if d.GetCallerClock() != nil {
		denied.CallerClock = d.GetCallerClock().AsTime()
	}
	return denied
}

// Is reports whether target is ErrDenied.
func (d *DeniedError) Is(target error) bool { return target == ErrDenied }

// canQueue reports whether Acquire waits in the queue after this denial.
func (d *DeniedError) canQueue() bool {
	return d.Reason == ReasonNoFreePermit || d.Reason == ReasonPaused
}

// firingIsOver reports whether the firing will not run anymore: it has ended, is no longer remembered, or is open but
// has no attempts left.
func (d *DeniedError) firingIsOver() bool {
	open := d.Reason == ReasonFiringClaimed && d.Firing.GetState() == gatekeeperv1.FiringState_FIRING_STATE_OPEN
	return d.Reason == ReasonFiringDone || d.Reason == ReasonFiringForgotten || firingEnded(d.Firing) || open
}

// runsElsewhere reports whether the caller has nothing to do: another holder is running or has run the firing, or the
// firing will not run again.
func (d *DeniedError) runsElsewhere() bool {
	return d.Reason == ReasonFiringDone || d.Reason == ReasonFiringClaimed && !d.ownClaim()
}

// Error returns the Message. If no slot is free, it also names the first few holders, how long they have held their
// permits, and how to free a slot that no longer has a holder.
func (d *DeniedError) Error() string {
	text := d.Message
	if text == "" {
		text = fmt.Sprintf("%s: denied: %s", d.Semaphore, d.Reason)
	}
	if d.Reason != ReasonNoFreePermit && d.Reason != ReasonHeldForOperator || len(d.Holders) == 0 {
		return text
	}
	named := d.Holders[:min(len(d.Holders), namedHolders)]
	who := make([]string, len(named), len(named)+1)
	for i, p := range named {
		who[i] = describeHolder(p, time.Now())
	}
	if more := d.HolderCount - len(named); more > 0 {
		who = append(who, fmt.Sprintf("and %d more", more))
	}
	return text + " Holders: " + strings.Join(who, "; ") + "."
}

// namedHolders is how many holders DeniedError.Error names.
const namedHolders = 3

// describeHolder describes a permit's holder and state.
func describeHolder(p *gatekeeperv1.Permit, now time.Time) string {
	var state string
	switch p.GetState() {
	case gatekeeperv1.PermitState_PERMIT_STATE_HELD:
		state = fmt.Sprintf("expired, held for an operator until `gkctl clear %d`", p.GetToken())
	case gatekeeperv1.PermitState_PERMIT_STATE_COOLING:
		state = "ended, slot cooling down"
	case gatekeeperv1.PermitState_PERMIT_STATE_LIVE, gatekeeperv1.PermitState_PERMIT_STATE_UNSPECIFIED:
		state = "holds it"
		if p.GetGrantedAt() != nil {
			state = "for " + seconds(now.Sub(p.GetGrantedAt().AsTime()))
		}
		if p.GetStop() != gatekeeperv1.StopCause_STOP_CAUSE_UNSPECIFIED {
			state += ", must stop"
		}
	}
	return fmt.Sprintf("%s in %s (%s)", p.GetIdentity().GetAcquirer(), p.GetIdentity().GetGroup(), state)
}

// seconds formats a duration in whole seconds, the way people write it: 1h5m, not 1h5m0s.
func seconds(d time.Duration) string {
	text := max(d, 0).Round(time.Second).String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}
