package semaphore

import "strconv"

// The strings in this file are a stable interface: users see them, and logs and metrics contain them. Reasons use their
// API names; all other strings are lowercase words.

// String returns the reason's name in the API, for example "NO_FREE_PERMIT".
func (r Reason) String() string {
	switch r {
	case NoReason:
		return "NO_REASON"
	case NoSuchSemaphore:
		return "NO_SUCH_SEMAPHORE"
	case GroupMismatch:
		return "GROUP_MISMATCH"
	case AcquirerMismatch:
		return "ACQUIRER_MISMATCH"
	case Cordoned:
		return "CORDONED"
	case Paused:
		return "PAUSED"
	case Stopping:
		return "STOPPING"
	case HeldForOperator:
		return "HELD_FOR_OPERATOR"
	case AlreadyHeld:
		return "ALREADY_HELD"
	case WeightExceedsPermits:
		return "WEIGHT_EXCEEDS_PERMITS"
	case FiringClaimed:
		return "FIRING_CLAIMED"
	case FiringDone:
		return "FIRING_DONE"
	case NoFreePermit:
		return "NO_FREE_PERMIT"
	case FiringTooFarAhead:
		return "FIRING_TOO_FAR_AHEAD"
	case FiringForgotten:
		return "FIRING_FORGOTTEN"
	case NoTask:
		return "NO_TASK"
	}
	return unknown("REASON_", uint8(r))
}

// String returns "granted", "refreshed", "reacquired" or "denied".
func (o Outcome) String() string {
	switch o {
	case 0:
		return "undecided"
	case Denied:
		return "denied"
	case Granted:
		return "granted"
	case Refreshed:
		return "refreshed"
	case Reacquired:
		return "reacquired"
	}
	return unknown("outcome ", uint8(o))
}

// String returns the cause in words, for example "held too long".
func (c StopCause) String() string {
	switch c {
	case NotStopping:
		return "not stopping"
	case StopRevoked:
		return "revoked"
	case StopDrained:
		return "drained"
	case StopTakenOver:
		return "taken over"
	case StopHeldTooLong:
		return "held too long"
	case StopNoLongerAdmitted:
		return "no longer admitted"
	case StopPaused:
		return "paused"
	case StopCordoned:
		return "cordoned"
	case StopTaskCancelled:
		return "task cancelled"
	}
	return unknown("stop cause ", uint8(c))
}

// String returns the end in one or two words, for example "expired".
func (e End) String() string {
	switch e {
	case NotEnded:
		return "not ended"
	case EndReleased:
		return "released"
	case EndExpired:
		return "expired"
	case EndAbandoned:
		return "abandoned"
	case EndCancelled:
		return "cancelled"
	case EndCleared:
		return "cleared"
	case EndFreedUnsafely:
		return "freed unsafely"
	case EndSuperseded:
		return "superseded"
	}
	return unknown("end ", uint8(e))
}

// String returns "live", "held" or "cooling".
func (s PermitState) String() string {
	switch s {
	case Live:
		return "live"
	case Held:
		return "held"
	case Cooling:
		return "cooling"
	}
	return unknown("permit state ", uint8(s))
}

// String returns the state in one or two words, for example "cut short".
func (s ClaimState) String() string {
	switch s {
	case ClaimHeld:
		return "claimed"
	case ClaimDone:
		return "done"
	case ClaimSpent:
		return "spent"
	case ClaimForgotten:
		return "forgotten"
	case ClaimFailed:
		return "failed"
	case ClaimCutShort:
		return "cut short"
	case ClaimTakenOver:
		return "taken over"
	case ClaimOpen:
		return "open"
	}
	return unknown("claim state ", uint8(s))
}

// String returns the value in definition files: "free" or "hold".
func (o OnExpiry) String() string {
	switch o {
	case OnExpiryFree:
		return "free"
	case OnExpiryHold:
		return "hold"
	}
	return unknown("on_expiry ", uint8(o))
}

// String returns the value in definition files: "spent" or "free".
func (f FiringOnLoss) String() string {
	switch f {
	case FiringSpent:
		return "spent"
	case FiringFree:
		return "free"
	}
	return unknown("firing_on_loss ", uint8(f))
}

// String returns the value in definition files: "skip", "once" or "each".
func (m Misfire) String() string {
	switch m {
	case MisfireSkip:
		return "skip"
	case MisfireOnce:
		return "once"
	case MisfireEach:
		return "each"
	}
	return unknown("misfire ", uint8(m))
}

func unknown(kind string, n uint8) string { return kind + strconv.Itoa(int(n)) }
