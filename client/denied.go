package client

import (
	"fmt"
	"strings"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Reason says why a request was denied. Its values are the API's frozen words; a newer server may send others, which
// mean a denial too.
type Reason string

// The reasons, in the order in which a decision looks for them.
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
	// ReasonFiringTooFarAhead: the firing is due further ahead of the leader's clock than the definition allows.
	ReasonFiringTooFarAhead Reason = "FIRING_TOO_FAR_AHEAD"
	// ReasonFiringForgotten: the firing is no longer remembered, so whether it ran is not known. It does not run now.
	ReasonFiringForgotten Reason = "FIRING_FORGOTTEN"
	// ReasonNoTask: no task waits for a worker.
	ReasonNoTask Reason = "NO_TASK"
)

// DeniedError is a denial: the servers decided, and the answer is no. Its sentinel is ErrDenied. It is an error so that
// a denial is not mistaken for a permit; nothing is wrong with the servers.
type DeniedError struct {
	Semaphore string
	// Group and Acquirer are those that asked.
	Group, Acquirer string
	Reason          Reason
	// Message is one sentence for a person.
	Message string
	// Holders take the slots: at most 16 of HolderCount.
	Holders     []*gatekeeperv1.Permit
	HolderCount int
	// QueueLength is how many wait.
	QueueLength int
	// RetryAfter is the earliest time at which a retry can help, counted from the answer, when Retry is set; otherwise
	// waiting alone cannot help.
	RetryAfter time.Duration
	Retry      bool
	// Firing says who has, or had, the firing; nil when it was not about one.
	Firing *gatekeeperv1.FiringClaim
	// Pause is set when the semaphore is paused.
	Pause *gatekeeperv1.Pause
	// Stop is why the caller's own permit is being stopped, when it is.
	Stop gatekeeperv1.StopCause
	// PermitRevision is the semaphore's: the expected revision of an optimistic replace.
	PermitRevision uint64
	// LeaderClock is what the leader's wall clock showed, of ReasonFiringTooFarAhead, and CallerClock what this host's
	// showed then. One of them, or the due time, is wrong. Else zero.
	LeaderClock, CallerClock time.Time

	asked *acquisition // nil: made by somebody else
}

func newDenied(a *acquisition, d *gatekeeperv1.Denial) *DeniedError {
	denied := &DeniedError{
		Semaphore:      a.semaphore,
		Group:          a.group,
		Acquirer:       a.acquirer,
		asked:          a,
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

// canQueue reports whether Acquire waits out what this denial says.
func (d *DeniedError) canQueue() bool {
	return d.Reason == ReasonNoFreePermit || d.Reason == ReasonPaused
}

// firingIsOver says that nobody runs the firing any more: it has ended, or is not remembered, or is open and its
// attempts are over.
func (d *DeniedError) firingIsOver() bool {
	open := d.Reason == ReasonFiringClaimed && d.Firing.GetState() == gatekeeperv1.FiringState_FIRING_STATE_OPEN
	return d.Reason == ReasonFiringDone || d.Reason == ReasonFiringForgotten || firingEnded(d.Firing) || open
}

// runsElsewhere says that there is nothing to do: another holder runs the firing or has run it, or nobody runs it any
// more.
func (d *DeniedError) runsElsewhere() bool {
	return d.Reason == ReasonFiringDone || d.Reason == ReasonFiringClaimed && !d.ownClaim()
}

// Error is the Message, and, when a slot is missing, who takes them: the first few, for how long, and what frees a slot
// that nobody holds any more.
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
		who[i] = slot(p, time.Now())
	}
	if more := d.HolderCount - len(named); more > 0 {
		who = append(who, fmt.Sprintf("and %d more", more))
	}
	return text + " Holders: " + strings.Join(who, "; ") + "."
}

// namedHolders is how many holders DeniedError.Error names.
const namedHolders = 3

// slot says who takes a slot, and how it stands with it.
func slot(p *gatekeeperv1.Permit, now time.Time) string {
	var state string
	switch p.GetState() {
	case gatekeeperv1.PermitState_PERMIT_STATE_HELD:
		state = fmt.Sprintf("expired, held for an operator until `gkctl clear %d`", p.GetToken())
	case gatekeeperv1.PermitState_PERMIT_STATE_COOLING:
		state = "gone, the slot cools"
	case gatekeeperv1.PermitState_PERMIT_STATE_LIVE, gatekeeperv1.PermitState_PERMIT_STATE_UNSPECIFIED:
		state = "holds it"
		if p.GetGrantedAt() != nil {
			state = "for " + seconds(now.Sub(p.GetGrantedAt().AsTime()))
		}
		if p.GetStop() != gatekeeperv1.StopCause_STOP_CAUSE_UNSPECIFIED {
			state += ", told to stop"
		}
	}
	return fmt.Sprintf("%s in %s (%s)", p.GetIdentity().GetAcquirer(), p.GetIdentity().GetGroup(), state)
}

// seconds is a time in whole seconds, as people write it: 1h5m, not 1h5m0s.
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
