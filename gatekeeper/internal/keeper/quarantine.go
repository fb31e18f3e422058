package keeper

import "time"

// Recovering reports whether nothing is granted yet after a recovery, and how much longer this lasts. A server that
// does not lead returns the whole time, which starts over with each leader.
func (k *Keeper) Recovering() (left time.Duration, recovering bool) {
	full := k.cfg.Machine.State().Quarantine()
	if full == 0 {
		return 0, false
	}
	return k.timers.QuarantineLeft(full), true
}

// recovering returns the error for a grant during that time.
func (k *Keeper) recovering() error {
	if left, recovering := k.Recovering(); recovering {
		return &RecoveringError{left}
	}
	return ErrRecovering // the time has ended since; the next attempt is granted
}
