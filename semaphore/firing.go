package semaphore

import "time"

// Equal reports whether both firings have the same name and due time. Two nil firings are equal.
func (f *Firing) Equal(o *Firing) bool {
	if f == nil || o == nil {
		return f == o
	}
	return f.Name == o.Name && f.Due.Equal(o.Due)
}

// Forgotten reports whether the firing is due at or before a semaphore's low-water mark. It is no longer known whether
// such a firing ran, so it must not run now. The zero mark is before every due time. A firing without a due time is
// never forgotten.
func (f *Firing) Forgotten(lowWater time.Time) bool {
	return !f.Due.IsZero() && !f.Due.After(lowWater)
}

// A JobEnd says how the job that ran under a permit ended, as reported by the release.
type JobEnd uint8

const (
	JobDone     JobEnd = iota // it ran to completion, regardless of its result
	JobNotRun                 // it never started
	JobCutShort               // it was stopped early
	JobFailed                 // it ran to completion and returned an error
)

// A Run describes how a firing's run ended. The permit that claimed the firing has ended.
type Run struct {
	End  End
	Job  JobEnd    // as reported by a release
	Stop StopCause // why its holder had to stop (the first cause)
	// Attempts counts the holders that claimed the firing, including this one. 0 counts as 1.
	Attempts uint32
}

// CutShort reports whether the job did not run to completion, as far as is known. Either the permit was lost (it
// expired, an operator cleared it after that, or an unsafe revoke freed its slot), or its holder reported this when it
// released the permit.
func (r Run) CutShort() bool {
	switch r.End {
	case EndExpired, EndCleared, EndFreedUnsafely:
		return true
	case EndReleased:
		return r.Job == JobCutShort
	case NotEnded, EndAbandoned, EndCancelled, EndSuperseded:
	}
	return false
}

// Began reports whether the job may have started. A run that never started does not count as an attempt.
func (r Run) Began() bool {
	return r.End != EndAbandoned && r.End != EndCancelled && (r.End != EndReleased || r.Job != JobNotRun)
}

// Claim returns the new state of the claim, which is ClaimOpen if the firing may be claimed again. d is the definition
// at the time the permit ended, or nil if it had been deleted.
//
// The new state applies immediately, with one exception: if a job was cut short, the claim remains held until the slot
// is free, that is, until any cooling ends.
func (r Run) Claim(d *Definition) ClaimState {
	switch {
	case r.End == NotEnded, r.End == EndSuperseded:
		return ClaimHeld
	case !r.Began(), r.CutShort() && r.mayHandOver(d):
		return ClaimOpen
	case r.CutShort() && r.End == EndReleased:
		return ClaimCutShort
	case r.CutShort():
		return ClaimSpent
	case r.Job == JobFailed:
		return ClaimFailed
	}
	return ClaimDone
}

// mayHandOver reports whether a firing whose job was cut short can go to another holder. A takeover requests that the
// firing run elsewhere, so it frees the firing regardless of firing_on_loss.
func (r Run) mayHandOver(d *Definition) bool {
	return d != nil && (d.FiringOnLoss == FiringFree || r.Stop == StopTakenOver) && d.MayAttempt(max(1, r.Attempts))
}
