package semaphore

import (
	"strconv"
	"time"
)

// Sentence describes the decision in one sentence. The facts may be newer than the decision. The sentence omits
// anything that the facts no longer show.
func (d Decision) Sentence(req *Request, f *Facts) string {
	switch d.Outcome {
	case Granted:
		return "Granted: " + fitDetails(req, f) + "."
	case Refreshed:
		s := "Refreshed: the caller already holds " + ownPermit(f)
		if d.Stop != NotStopping {
			s += ", which must stop (" + d.Stop.String() + "); it may be refreshed until its drain is over"
		}
		return s + "."
	case Reacquired:
		return "Reacquired: the caller keeps " + ownPermit(f) + " under a new token."
	case Denied:
		s := d.denial(req, f)
		if d.Stop != NotStopping && d.Reason != Stopping && f.Own != nil {
			s += ", so " + ownPermit(f) + " must stop"
		}
		if d.Stop != NotStopping && f.Own != nil && Admit(f.Own, f).Outcome == Refreshed {
			s += "; it may be refreshed until its drain is over"
		}
		return s + "."
	}
	return "No decision was made."
}

func (d Decision) denial(req *Request, f *Facts) string {
	name := semaphoreName(req)
	switch d.Reason {
	case NoSuchSemaphore:
		return "There is no " + name
	case GroupMismatch:
		s := "Group " + quote(req.Identity.Group) + " does not match the group pattern"
		if f.Definition != nil {
			s += " " + quote(f.Definition.GroupPattern)
		}
		return s + " of " + name
	case AcquirerMismatch:
		s := "Acquirer " + quote(req.Identity.Acquirer) + " does not match the acquirer pattern"
		if f.Definition != nil {
			s += " " + quote(f.Definition.AcquirerPattern)
		}
		return s + " of " + name
	case Cordoned:
		return "Group " + quote(req.Identity.Group) + " or acquirer " + quote(req.Identity.Acquirer) + " is cordoned"
	case Paused:
		return "The " + name + " is paused" + pauseDetails(f.Pause)
	case Stopping:
		return stoppingSentence(d.Stop, f)
	case HeldForOperator:
		return callersPermit(f) + " expired and is held until an operator clears it"
	case AlreadyHeld:
		return alreadyHeldSentence(req, f)
	case WeightExceedsPermits:
		return weightExceedsSentence(req, f)
	case FiringClaimed, FiringDone:
		return firingSentence(d, req)
	case FiringTooFarAhead:
		return tooFarAheadSentence(req, f)
	case FiringForgotten:
		return forgottenSentence(req, f)
	case NoFreePermit:
		return noRoom(req, f)
	case NoTask:
		return "No tasks are waiting for a worker of " + name
	case NoReason:
	}
	return "The request was denied"
}

func pauseDetails(p *Pause) string {
	if p == nil {
		return ""
	}
	var s string
	if !p.Until.IsZero() {
		s += " until " + p.Until.UTC().Format(time.RFC3339)
	}
	if p.Reason != "" {
		s += " (" + show(p.Reason) + ")"
	}
	return s
}

func stoppingSentence(cause StopCause, f *Facts) string {
	s := callersPermit(f) + " is being stopped: " + cause.String()
	if f.Own != nil && f.Own.Stop == cause && f.Own.StopOrder().Reason != "" {
		s += " (" + show(f.Own.StopOrder().Reason) + ")"
	}
	return s
}

func alreadyHeldSentence(req *Request, f *Facts) string {
	s := "This caller already holds " + ownPermit(f)
	switch {
	case f.Own == nil:
		return s
	case f.Own.Weight != req.Weight:
		return s + " with weight " + count(uint64(f.Own.Weight)) + ", and cannot also have weight " + count(uint64(req.Weight))
	case f.OwnTask:
		return s + " with a task, and cannot have another one"
	case req.Worker:
		return s + " without a task, and cannot also have one with a task"
	case req.Firing == nil:
		return s + " for firing " + f.Own.Firing.text() + ", and cannot also have one without a firing"
	case f.Own.Firing == nil:
		return s + " without a firing, and cannot also have firing " + req.Firing.text()
	}
	return s + " for firing " + f.Own.Firing.text() + ", and cannot also have firing " + req.Firing.text()
}

func weightExceedsSentence(req *Request, f *Facts) string {
	name, weight := semaphoreName(req), count(uint64(req.Weight))
	switch {
	case f.Definition == nil:
		return "Weight " + weight + " exceeds the permits of " + name
	case f.Definition.Permits == 0:
		return "The " + name + " has 0 permits and admits no callers"
	}
	return "Weight " + weight + " exceeds " + permits(f.Definition) + " of " + name + ", so it can never be granted"
}

// tooFarAheadSentence does not say which time is wrong: it may be the firing's due time, the caller's clock or the
// leader's clock.
func tooFarAheadSentence(req *Request, f *Facts) string {
	s := "Firing " + req.Firing.text() + " is too far ahead"
	if f.LeaderClock.IsZero() || req.Firing == nil {
		return s
	}
	s = "Firing " + req.Firing.text() + " is due " + FormatDuration(req.Firing.Due.Sub(f.LeaderClock).Round(time.Second)) +
		" ahead of the leader's clock, which shows " + instant(f.LeaderClock.Truncate(time.Millisecond))
	if !f.CallerClock.IsZero() {
		s += "; the caller's clock shows " + instant(f.CallerClock.Truncate(time.Millisecond))
	}
	if f.Definition != nil {
		if ahead, bounded := f.Definition.MaxAhead(); bounded {
			s += "; " + semaphoreName(req) + " accepts at most " + FormatDuration(ahead) + " (firing_max_ahead)"
		}
	}
	return s
}

func forgottenSentence(req *Request, f *Facts) string {
	s := "Firing " + req.Firing.text() + " is no longer remembered"
	if !f.LowWater.IsZero() {
		s += ", nor is any firing due up to " + instant(f.LowWater)
	}
	return s + ": it is unknown whether it ran, so it will not run now"
}

func firingSentence(d Decision, req *Request) string {
	firing := "Firing " + req.Firing.text()
	if d.Claim == nil {
		return firing + " is claimed"
	}
	winner := d.Claim.Winner.text() + " (token " + count(d.Claim.Token) + ")"
	switch d.Claim.State {
	case ClaimDone:
		return firing + " was run by " + winner
	case ClaimFailed:
		return firing + " was run by " + winner + " and failed" + failureSuffix(d.Claim)
	case ClaimCutShort:
		return firing + " was cut short by " + winner + ", and will not run again"
	case ClaimSpent:
		return firing + " was cut short when " + winner + " lost its permit, and will not run again" + attemptsSuffix(d.Claim)
	case ClaimOpen:
		return firing + " was cut short when " + winner + " lost its permit, and has used all " + count(uint64(d.Claim.Attempts)) +
			" attempts allowed by max_attempts"
	case ClaimHeld, ClaimForgotten, ClaimTakenOver:
	}
	s := firing + " is claimed by " + winner
	if d.Claim.Winner == req.Identity {
		s += ", which is this caller with a different request id"
	}
	return s
}

func failureSuffix(c *Claim) string {
	if c.Failure == "" {
		return ""
	}
	return ": " + c.Failure
}

// attemptsSuffix says how many holders tried to run a firing that will not be handed over again.
func attemptsSuffix(c *Claim) string {
	if c.Attempts < 2 {
		return ""
	}
	return ": it was the last of " + count(uint64(c.Attempts)) + " attempts"
}

// noRoom says why a request did not fit.
func noRoom(req *Request, f *Facts) string {
	name := semaphoreName(req)
	if f.Definition == nil {
		return "No permit of " + name + " is free"
	}
	all := uint64(f.Definition.Permits)
	switch {
	case f.Used > all:
		return "The " + name + " has " + permitCount(all) + ", but weight " + count(f.Used) + " is still taken"
	case f.Used == all && all == 1:
		return "The only permit of " + name + " is taken"
	case f.Used == all:
		return "All " + permitCount(all) + " of " + name + " are taken"
	case f.Used+uint64(req.Weight) > all:
		return "The " + name + " has only " + count(all-f.Used) + " of " + permitCount(all) + " free, and weight " +
			count(uint64(req.Weight)) + " does not fit"
	case f.WaitsAhead:
		return "Other callers are ahead in the queue for " + name
	}
	return "No permit of " + name + " was free"
}

// fitDetails says why a request fits.
func fitDetails(req *Request, f *Facts) string {
	if f.Definition == nil {
		return "weight " + count(uint64(req.Weight)) + " fits"
	}
	name := " of " + semaphoreName(req)
	used := count(f.Used) + " of " + permitCount(uint64(f.Definition.Permits)) + name + " are in use"
	switch f.Used {
	case 0:
		used = "no permits" + name + " are in use"
	case 1:
		used = "1 of " + permitCount(uint64(f.Definition.Permits)) + name + " is in use"
	}
	return "weight " + count(uint64(req.Weight)) + " fits: " + used + ", and no other caller is ahead in the queue"
}

func semaphoreName(req *Request) string { return "semaphore " + quote(req.Semaphore) }

func permits(d *Definition) string { return "the " + permitCount(uint64(d.Permits)) }

func permitCount(n uint64) string {
	if n == 1 {
		return "1 permit"
	}
	return count(n) + " permits"
}

func ownPermit(f *Facts) string {
	if f.Own == nil {
		return "its permit"
	}
	return "permit " + count(f.Own.Token)
}

// callersPermit is ownPermit for the beginning of a sentence.
func callersPermit(f *Facts) string {
	if f.Own == nil {
		return "This caller's permit"
	}
	return "This caller's permit " + count(f.Own.Token)
}

func (id Identity) text() string {
	s := quote(id.Acquirer) + " in group " + quote(id.Group)
	if id.HolderID != "" {
		s += " as " + quote(id.HolderID)
	}
	return s
}

func (f *Firing) text() string {
	if f == nil {
		return "none"
	}
	if f.Due.IsZero() {
		return quote(f.Name)
	}
	return quote(f.Name) + " due " + instant(f.Due)
}

func count(n uint64) string { return strconv.FormatUint(n, 10) }

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
