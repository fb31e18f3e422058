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

// Forgotten says whether the firing lies at or below a semaphore's low-water mark. Nobody knows any more whether it
// ran, so it must not run now. The zero mark lies before every due time, and no mark says anything of a firing without
// one.
func (f *Firing) Forgotten(lowWater time.Time) bool {
	return !f.Due.IsZero() && !f.Due.After(lowWater)
}

// JobEnd is what a release says of the job that ran under the permit.
type JobEnd uint8

const (
	JobDone     JobEnd = iota // it ran to its end, whatever came of it
	JobNotRun                 // it never began
	JobCutShort               // it was stopped before its end
	JobFailed                 // it ran to its end, and that was an error
)

// Run is what is known of the run of a firing when the permit that claimed it has ended.
type Run struct {
	End  End
	Job  JobEnd    // of a release
	Stop StopCause // why its holder had to stop; the first cause
	// Attempts counts the holders that claimed the firing, this one included. 0 is 1.
	Attempts uint32
}

// CutShort reports whether the job did not come to its end, as far as anybody knows: the permit was lost (an expiry,
// the clearing of an expired permit, an unsafe revoke), or its holder said so at the release.
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

// Began reports whether the job may have begun. A run that never began is not an attempt.
func (r Run) Began() bool {
	return r.End != EndAbandoned && r.End != EndCancelled && (r.End != EndReleased || r.Job != JobNotRun)
}

// Claim returns the new state of the claim: ClaimOpen when the firing may be claimed again. d is the definition at that
// end, nil when it was deleted.
//
// It takes effect at once, with one exception: a job that was cut short opens the claim only when the slot is free, so
// after any cooling. Until then the claim stays held.
func (r Run) Claim(d *Definition) ClaimState {
	switch {
	case r.End == NotEnded, r.End == EndSuperseded:
		return ClaimHeld
	case !r.Began(), r.CutShort() && r.handedOver(d):
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

// handedOver says whether the firing of a job that was cut short goes to another holder. A takeover is a request to run
// it, so that its firing is free whatever firing_on_loss says.
func (r Run) handedOver(d *Definition) bool {
	return d != nil && (d.FiringOnLoss == FiringFree || r.Stop == StopTakenOver) && d.MayAttempt(max(1, r.Attempts))
}
