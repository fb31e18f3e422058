package keeper

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Denial says why not, and who has it.
type Denial struct {
	Decision semaphore.Decision
	// Message is one sentence for a person.
	Message string
	// Holders are the first holders, at most MaxHolders; HolderCount counts all.
	Holders     []*semaphore.Permit
	HolderCount int
	QueueLength int
	// RetryAfter is the earliest time at which a retry can help; negative when waiting alone cannot.
	RetryAfter     time.Duration
	Pause          *semaphore.Pause
	PermitRevision uint64
	// LeaderClock and CallerClock are those of semaphore.Facts, of a firing that is due too far ahead; else zero.
	LeaderClock, CallerClock time.Time
}

// MaxHolders is how many holders a denial names.
const MaxHolders = 16

// denial says why not, who has it, and when it can help to ask again.
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
	case timeHelps(d.Reason):
		n.RetryAfter = k.soonest(n.Holders)
	case d.Reason == semaphore.FiringClaimed:
		n.RetryAfter = k.unclaimed(state, d.Claim)
	}
	return n
}

// sentence says the decision for a person. It names a cordon and its author, so that the reader knows whom to ask.
func (k *Keeper) sentence(state *fsm.State, req *semaphore.Request, facts *semaphore.Facts, d semaphore.Decision) string {
	s := d.Sentence(req, facts)
	if d.Reason == semaphore.Cordoned {
		if which := k.patterns.whyCordoned(state, req.Identity); which != "" {
			s += " " + which
		}
	}
	return s
}

// timeHelps reports whether the same request can be granted later without an edit.
func timeHelps(r semaphore.Reason) bool {
	switch r {
	case semaphore.NoFreePermit, semaphore.Stopping:
		return true
	default:
		return false
	}
}

// unclaimed is when the permit of a claim ends unless it is refreshed: the loss of its holder may free the firing, and
// in any case says what became of it. Negative when nothing but a person ends it, and when it has ended.
func (k *Keeper) unclaimed(state *fsm.State, c *semaphore.Claim) time.Duration {
	if c == nil || c.State != semaphore.ClaimHeld {
		return -1
	}
	p := state.Permit(c.Token)
	if p == nil {
		return -1
	}
	return k.soonest([]*semaphore.Permit{p})
}

// soonest is when the first of these permits ends unless it is refreshed; negative when none of them does.
func (k *Keeper) soonest(holders []*semaphore.Permit) time.Duration {
	soonest := time.Duration(-1)
	for _, p := range holders {
		if d, ok := k.lessor.Remaining(p); ok && (soonest < 0 || d < soonest) {
			soonest = d
		}
	}
	return soonest
}
