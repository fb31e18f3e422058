package keeper

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Denial explains why a call was denied, and lists who holds the permits.
type Denial struct {
	Decision semaphore.Decision
	// Message is one sentence for the user.
	Message string
	// Holders are the first holders, at most MaxHolders. HolderCount counts all of them.
	Holders     []*semaphore.Permit
	HolderCount int
	QueueLength int
	// RetryAfter is the shortest time after which a retry can help; negative if waiting alone cannot.
	RetryAfter     time.Duration
	Pause          *semaphore.Pause
	PermitRevision uint64
	// LeaderClock and CallerClock are the clocks from semaphore.Facts. They are set only for a firing that is due too
	// far ahead.
	LeaderClock, CallerClock time.Time
}

// MaxHolders is the maximum number of holders in a denial.
const MaxHolders = 16

// denial explains why the call is denied, who holds the permits, and when a retry can help.
func (k *Keeper) denial(state *fsm.State, call *AcquireCall, facts *semaphore.Facts, d semaphore.Decision) *Denial {
	n := &Denial{
		Decision:       d,
		Message:        k.sentence(state, &call.Request, facts, d),
		HolderCount:    state.HolderCount(call.Semaphore),
		QueueLength:    k.queue.Length(call.Semaphore, state.Work(call.Semaphore).Waiting),
		RetryAfter:     -1,
		Pause:          facts.Pause,
		PermitRevision: state.PermitRevision(call.Semaphore),
	}
	if facts.WaitsAhead {
		n.QueueLength = max(1, n.QueueLength) // the waiters may have left since the decision
	}
	for p := range state.Holders(call.Semaphore) {
		if len(n.Holders) == MaxHolders {
			break
		}
		n.Holders = append(n.Holders, p)
	}
	if d.Reason == semaphore.FiringTooFarAhead {
		n.LeaderClock, n.CallerClock = facts.LeaderClock, facts.CallerClock
	}
	switch {
	case retryMayHelp(d.Reason):
		n.RetryAfter = k.soonest(n.Holders)
	case d.Reason == semaphore.FiringClaimed:
		n.RetryAfter = k.claimRemaining(state, d.Claim)
	}
	return n
}

// sentence explains the decision to the user. It names a cordon and its author, so that the reader knows whom to ask.
func (k *Keeper) sentence(state *fsm.State, req *semaphore.Request, facts *semaphore.Facts, d semaphore.Decision) string {
	s := d.Sentence(req, facts)
	if d.Reason == semaphore.Cordoned {
		if which := k.patterns.describeCordons(state, req.Identity); which != "" {
			s += " " + which
		}
	}
	return s
}

// retryMayHelp reports whether the same request can be granted later without an edit.
func retryMayHelp(r semaphore.Reason) bool {
	switch r {
	case semaphore.NoFreePermit, semaphore.Stopping:
		return true
	default:
		return false
	}
}

// claimRemaining returns how long until a claim's permit ends unless it is refreshed. If the permit is lost, the firing
// may become free; either way, its outcome is settled. The result is negative if the permit has already ended, or if
// only an operator can end it.
func (k *Keeper) claimRemaining(state *fsm.State, c *semaphore.Claim) time.Duration {
	if c == nil || c.State != semaphore.ClaimHeld {
		return -1
	}
	p := state.Permit(c.Token)
	if p == nil {
		return -1
	}
	return k.soonest([]*semaphore.Permit{p})
}

// soonest returns how long until the first of these permits ends unless it is refreshed; negative if none of them has a
// deadline.
func (k *Keeper) soonest(holders []*semaphore.Permit) time.Duration {
	soonest := time.Duration(-1)
	for _, p := range holders {
		if d, ok := k.lessor.Remaining(p); ok && (soonest < 0 || d < soonest) {
			soonest = d
		}
	}
	return soonest
}
