package client

import (
	"fmt"
	"strings"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Reason is why a request was denied, by the API's frozen word.
type Reason string

// The reasons, in the order in which a decision looks for them.
const (
	NoSuchSemaphore      Reason = "NO_SUCH_SEMAPHORE"
	GroupMismatch        Reason = "GROUP_MISMATCH"
	AcquirerMismatch     Reason = "ACQUIRER_MISMATCH"
	Cordoned             Reason = "CORDONED"
	Paused               Reason = "PAUSED"
	Stopping             Reason = "STOPPING"
	HeldForOperator      Reason = "HELD_FOR_OPERATOR"
	AlreadyHeld          Reason = "ALREADY_HELD"
	WeightExceedsPermits Reason = "WEIGHT_EXCEEDS_PERMITS"
	FiringClaimed        Reason = "FIRING_CLAIMED"
	FiringDone           Reason = "FIRING_DONE"
	NoFreePermit         Reason = "NO_FREE_PERMIT"
)

// Denied is the answer no. It is an error so that a denial is not mistaken for a permit; the servers are well.
type Denied struct {
	Semaphore string
	Reason    Reason
	// Message is one sentence for a person.
	Message string
	// Holders take the slots: at most 16 of HolderCount.
	Holders     []*gatekeeperv1.Permit
	HolderCount int
	// QueueLength is how many wait.
	QueueLength int
	// RetryAfter is the earliest time at which a retry can help, counted from the answer, when Retry is set; otherwise waiting
	// alone cannot help.
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
}

func newDenied(semaphore string, d *gatekeeperv1.Denial) *Denied {
	return &Denied{
		Semaphore:      semaphore,
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
}

// firingIsOver says that nobody runs the firing any more: it is done, or was cut short and stays claimed for ever.
func (d *Denied) firingIsOver() bool {
	return d.Reason == FiringDone || d.Firing.GetState() == gatekeeperv1.FiringState_FIRING_STATE_SPENT
}

func (d *Denied) Error() string {
	if d.Message == "" {
		return fmt.Sprintf("%s: denied: %s", d.Semaphore, d.Reason)
	}
	return d.Message
}
