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

// JobEnd is what a release says of the job that ran under the permit.
type JobEnd uint8

const (
	JobDone     JobEnd = iota // it ran to its end, whatever came of it
	JobNotRun                 // it never began
	JobCutShort               // it was stopped before its end
)

// CutShort reports whether the job under a permit that ended so did not come to its end, as far as anybody knows: the permit was
// lost (an expiry, the clearing of an expired permit, an unsafe revoke), or its holder said so at the release.
func CutShort(end End, job JobEnd) bool {
	switch end {
	case EndExpired, EndCleared, EndFreedUnsafely:
		return true
	case EndReleased:
		return job == JobCutShort
	case NotEnded, EndAbandoned, EndCancelled, EndSuperseded:
	}
	return false
}

// ClaimAfter says what becomes of a claim whose permit ended so: its new state, or zero when the claim goes and the
// firing may be claimed again. job is what a release said, and counts for a release only. d is the definition as it is
// at that end, nil when it was deleted.
//
// It takes effect at once, but when a job that was cut short lets the claim go: that waits until the slot is free, so until after
// any cooling, and the claim stays held so long. An acquire that was abandoned or cancelled never ran.
func ClaimAfter(d *Definition, end End, job JobEnd) ClaimState {
	switch {
	case CutShort(end, job) && d != nil && d.FiringOnLoss == FiringFree:
		return 0
	case CutShort(end, job):
		return ClaimSpent
	case end == EndAbandoned, end == EndCancelled, end == EndReleased && job == JobNotRun:
		return 0
	case end == EndReleased:
		return ClaimDone
	}
	return ClaimHeld
}
