package semaphore

import "time"

// Equal says whether both are the same firing: the same name, due at the same instant. Two nil firings are equal: no
// firing is asked for.
func (f *Firing) Equal(o *Firing) bool {
	if f == nil || o == nil {
		return f == o
	}
	return f.Name == o.Name && f.Due.Equal(o.Due)
}

// Forgotten says whether the firing lies at or below a semaphore's low-water mark. Nobody knows any more whether it ran,
// so it must not run now. The zero mark lies before every due time, and no mark says anything of a firing without one.
func (f *Firing) Forgotten(lowWater time.Time) bool {
	return !f.Due.IsZero() && !f.Due.After(lowWater)
}

// ClaimAfter says what becomes of a claim whose permit ended so: its new state, or zero when the claim goes and the
// firing may be claimed again. notRun is what a release said, and counts for a release only. d is the definition as it is
// at that end, nil when it was deleted.
//
// It takes effect at once, but for a loss (an expiry, the clearing of an expired permit, or an unsafe revoke) that lets the
// claim go: that waits until the slot is free, so until after any cooling, and the claim stays held so long. An acquire that was
// abandoned or cancelled never ran.
func ClaimAfter(d *Definition, end End, notRun bool) ClaimState {
	switch end {
	case EndReleased:
		if notRun {
			return 0
		}
		return ClaimDone
	case EndAbandoned, EndCancelled:
		return 0
	case EndExpired, EndCleared, EndFreedUnsafely:
		if d != nil && d.FiringOnLoss == FiringFree {
			return 0
		}
		return ClaimSpent
	case NotEnded:
	}
	return ClaimHeld
}
