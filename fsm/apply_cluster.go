package fsm

import (
	"fmt"
	"slices"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// forget drops remembered firings that no permit holds. It raises the low-water mark, so that firings forgotten by due
// time are refused rather than run again. Firings that are forgotten individually may run again.
func (d *draft) forget(c Forget) Result {
	g := d.gate(c.Semaphore)
	if !d.inCurrentTerm(c.Term) || (g.definition == nil && g.claims == 0) {
		return RevisionResult{}
	}
	var drop []*semaphore.Claim
	if !c.UpTo.IsZero() {
		d.claims.Ascend(&semaphore.Claim{Semaphore: c.Semaphore, Firing: semaphore.Firing{Due: earliest}}, func(claim *semaphore.Claim) bool {
			if claim.Semaphore != c.Semaphore || claim.Firing.Due.After(c.UpTo) {
				return false
			}
			if claim.State != semaphore.ClaimHeld {
				drop = append(drop, claim)
			}
			return true
		})
	}
	firings := slices.Clone(c.Firings)
	for _, name := range c.Names {
		firings = append(firings, semaphore.Firing{Name: name})
	}
	for _, firing := range firings {
		claim := d.Claim(c.Semaphore, firing)
		if claim != nil && claim.State != semaphore.ClaimHeld {
			drop = append(drop, claim)
		}
	}
	raises := c.UpTo.After(d.LowWater(c.Semaphore))
	if len(drop) == 0 && !raises {
		return RevisionResult{}
	}
	revision := d.advance()
	d.raiseLowWater(c.Semaphore, c.UpTo)
	for _, claim := range drop {
		if d.claimOf(claim.Token) != nil { // the command may contain a name twice
			d.setClaim(claim, nil)
		}
	}
	d.claimsChanged(Event{Semaphore: c.Semaphore})
	return RevisionResult{Applied: true, Revision: revision}
}

// trimRequests forgets the requests that, by the leader's clock, have been remembered long enough.
func (d *draft) trimRequests(c Trim) Result {
	if !d.inCurrentTerm(c.Term) {
		return RevisionResult{}
	}
	left := MaxTrimmed
	for _, name := range c.Names {
		for kept := d.keptRequests(name); left > 0; left-- {
			requests := d.requestMemory(name).requests
			if requests.len() <= kept || requests.first().Revision > c.UpTo {
				break
			}
			d.forgetOldest(name)
		}
	}
	return RevisionResult{Applied: left < MaxTrimmed}
}

// keptRequests returns the number of requests that Trim keeps for a name, regardless of their age. Trim keeps none for
// a deleted semaphore; otherwise it would keep some for every name that has ever existed.
func (s *State) keptRequests(name string) int {
	if name != "" && s.Definition(name) == nil {
		return 0
	}
	return int(s.settings.Requests.OrDefault().Kept)
}

// maxDurationLimit keeps sums of a few durations far from overflow.
const maxDurationLimit = semaphore.MaxSpan

func (s Settings) validate() error {
	bounds := s.Requests.OrDefault()
	switch {
	case s.MaxDuration < semaphore.MinDuration || s.MaxDuration > maxDurationLimit:
		return fmt.Errorf("max_duration %v is not between %v and %v", s.MaxDuration, semaphore.MinDuration, maxDurationLimit)
	case s.RememberedRequests == 0:
		return fmt.Errorf("remembered_requests must not be 0: otherwise a retry of a request that has ended would not be recognized")
	case s.JournalLifetime < 0:
		return fmt.Errorf("journal lifetime %v must not be negative", s.JournalLifetime)
	case s.Requests.Lifetime < 0:
		return fmt.Errorf("request lifetime %v must not be negative", s.Requests.Lifetime)
	case bounds.RequestBytes < MinRequestBytes || bounds.EditBytes < MinRequestBytes:
		return fmt.Errorf("the memory limits are %d bytes for requests and %d bytes for edits, but each must be at least %d", bounds.RequestBytes, bounds.EditBytes, MinRequestBytes)
	}
	return s.Work.Validate()
}

// MinRequestBytes is the smallest allowed memory limit. It leaves room for a request with names of the maximum length.
const MinRequestBytes = 2048

// configure replaces the settings and trims stored data to the new limits.
func (d *draft) configure(c Configure) Result {
	if err := c.Settings.validate(); err != nil {
		return invalid("configure: %v", err)
	}
	if c.Settings == d.settings {
		return RevisionResult{}
	}
	revision := d.advance()
	d.settings = c.Settings
	d.largestDuration = max(d.largestDuration, c.Settings.MaxDuration)
	d.trim()
	d.emit(Event{Kind: Configured, Author: c.Author, Reason: c.Reason, At: c.At})
	d.note(JournalEntry{Kind: Configured, Author: c.Author, Reason: c.Reason, At: c.At})
	return RevisionResult{Applied: true, Revision: revision}
}

func (d *draft) retireMember(c RetireMember) Result {
	if c.ID == "" {
		return invalid("retire member: the id must not be empty")
	}
	if d.Retired(c.ID) {
		return RevisionResult{}
	}
	d.retire(c.ID)
	return RevisionResult{Applied: true, Revision: d.advance()}
}

// retire adds an id that has not been retired yet.
func (d *draft) retire(id string) {
	i, _ := search(d.retired, id, func(id string) string { return id })
	d.retired = slices.Insert(slices.Clone(d.retired), i, id) // the old slice belongs to published states
}

func (d *draft) raiseFeatureLevel(c RaiseFeatureLevel) Result {
	if c.Level <= d.featureLevel {
		return RevisionResult{}
	}
	before := d.featureLevel
	d.featureLevel = c.Level
	revision := d.advance()
	if before < 3 && c.Level >= 3 {
		d.markForgotten() // below level 3, forgetting a request left no record
		d.markChangesForgotten()
		d.boundRequests()
	}
	return RevisionResult{Applied: true, Revision: revision}
}
