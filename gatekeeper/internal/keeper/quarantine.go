package keeper

import "time"

// Recovering reports whether nothing is granted yet after a recovery, and for how long still. A server that does not
// lead names the whole time, which starts over with each leader.
func (k *Keeper) Recovering() (left time.Duration, recovering bool) {
	full := k.cfg.Machine.State().Quarantine()
	if full == 0 {
		return 0, false
	}
	return k.timers.QuarantineLeft(full), true
}

// recovering refuses a grant for as long as that lasts.
func (k *Keeper) recovering() error {
	if left, recovering := k.Recovering(); recovering {
		return &RecoveringError{left}
	}
	return ErrRecovering // it has ended since; the next attempt is granted
}
