package keeper

import "time"

// Recovering reports whether a recovery still prevents all grants, and for how much longer. A server that is not the
// leader returns the full wait, which restarts with each new leader.
func (k *Keeper) Recovering() (left time.Duration, recovering bool) {
	full := k.cfg.Machine.State().Quarantine()
	if full == 0 {
		return 0, false
	}
	return k.timers.QuarantineLeft(full), true
}

// recoveringError returns the error for an acquire while a recovery prevents all grants.
func (k *Keeper) recoveringError() error {
	if left, recovering := k.Recovering(); recovering {
		return &RecoveringError{left}
	}
	return ErrRecovering // the wait has just ended, so a retry can succeed
}
