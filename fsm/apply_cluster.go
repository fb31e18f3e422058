package fsm

import (
	"fmt"
	"slices"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// forget drops remembered firings that no permit holds. By raising the low-water mark it makes sure that what is forgotten
// by due time is refused, not run again.
func (d *draft) forget(c Forget) Result {
	g := d.gate(c.Semaphore)
	if !d.timely(c.Term) || (g.definition == nil && g.claims == 0) {
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
	for _, name := range c.Names {
		claim := d.Claim(c.Semaphore, semaphore.Firing{Name: name})
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
		if d.claimOf(claim.Token) != nil { // a name may stand twice in the command
			d.setClaim(claim, nil)
		}
	}
	return RevisionResult{Applied: true, Revision: revision}
}

// maxMaxDuration keeps sums of a few durations far from overflow.
const maxMaxDuration = semaphore.MaxSpan

func (s Settings) validate() error {
	switch {
	case s.MaxDuration < semaphore.MinDuration || s.MaxDuration > maxMaxDuration:
		return fmt.Errorf("max_duration %v is not within %v and %v", s.MaxDuration, semaphore.MinDuration, maxMaxDuration)
	case s.RememberedRequests == 0:
		return fmt.Errorf("remembered_requests is 0: no retry could be told that its request has ended")
	}
	return nil
}

// configure replaces the settings and brings what they bound within them.
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
		return invalid("retire member: it needs an id")
	}
	if d.Retired(c.ID) {
		return RevisionResult{}
	}
	d.retire(c.ID)
	return RevisionResult{Applied: true, Revision: d.advance()}
}

// retire remembers an id that is not remembered yet.
func (d *draft) retire(id string) {
	i, _ := search(d.retired, id, func(id string) string { return id })
	d.retired = slices.Insert(slices.Clone(d.retired), i, id) // the old slice belongs to published states
}

func (d *draft) raiseFeatureLevel(c RaiseFeatureLevel) Result {
	if c.Level <= d.featureLevel {
		return RevisionResult{}
	}
	d.featureLevel = c.Level
	return RevisionResult{Applied: true, Revision: d.advance()}
}
