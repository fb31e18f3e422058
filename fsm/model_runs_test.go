package fsm_test

import (
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// This file models the outcomes of firings. Feature level 4 added attempts and more claim states.

// attempt returns the attempt number of a new grant.
func (m *model) attempt(before *semaphore.Claim) uint32 {
	switch {
	case m.level < 4 && before == nil:
		return 0
	case m.level < 4:
		return before.Attempts
	case before == nil:
		return 1
	}
	return before.Attempts + 1
}

// completedState returns the claim state after a job that ran to completion, or 0 for other outcomes.
func completedState(job semaphore.JobEnd) semaphore.ClaimState {
	switch job {
	case semaphore.JobDone:
		return semaphore.ClaimDone
	case semaphore.JobFailed:
		return semaphore.ClaimFailed
	}
	return 0
}

// endClaim updates the claim of a permit that has ended.
func (m *model) endClaim(p *semaphore.Permit, how semaphore.End, job semaphore.JobEnd, cooling time.Duration) {
	released := how == semaphore.EndReleased
	for i := range m.claims {
		c := &m.claims[i]
		if c.Token != p.Token || c.State == semaphore.ClaimDone || c.State == semaphore.ClaimFailed {
			continue
		}
		def := m.definition(p.Semaphore)
		reopens := func() bool {
			if def == nil || def.Definition.FiringOnLoss == semaphore.FiringSpent && p.Stop != semaphore.StopTakenOver {
				return false
			}
			return def.Definition.MaxAttempts == 0 || max(c.Attempts, 1) < def.Definition.MaxAttempts
		}
		switch {
		case released && completedState(job) != 0:
			c.State, c.Revision = completedState(job), m.revision
		case how == semaphore.EndAbandoned, how == semaphore.EndCancelled, released && job == semaphore.JobNotRun:
			if c.Attempts > 0 {
				c.Attempts--
			}
			c.State = semaphore.ClaimHeld
			m.openClaim(p.Token)
		case reopens() && cooling > 0:
		case reopens():
			m.openClaim(p.Token)
		case released && m.level >= 4:
			c.State, c.Revision = semaphore.ClaimCutShort, m.revision
		default:
			c.State, c.Revision = semaphore.ClaimSpent, m.revision
		}
		return
	}
}

// openClaim reopens the claim held by a permit, or deletes it if it has no attempts.
func (m *model) openClaim(token uint64) {
	for i := range m.claims {
		switch c := &m.claims[i]; {
		case c.Token != token || c.State != semaphore.ClaimHeld:
		case m.level < 4 || c.Attempts == 0:
			m.claims = slices.Delete(m.claims, i, i+1)
			return
		default:
			c.State, c.Revision = semaphore.ClaimOpen, m.revision
		}
	}
}

func (m *model) takeOver(c fsm.TakeOver) fsm.Result {
	return m.onPermit(c.Token, func(p *semaphore.Permit) bool {
		def := m.definition(p.Semaphore)
		return p.State == semaphore.Live && def != nil && def.Definition.Takeover && (p.Stop == semaphore.NotStopping || p.StopOrder().Drain > 0)
	}, func(p *semaphore.Permit) {
		p.Stop, p.Order = semaphore.StopTakenOver, &semaphore.StopOrder{Reason: c.Reason, Revision: m.revision}
		stopped := *p
		author := c.By.Acquirer + " in group " + c.By.Group
		if c.By.Principal != "" {
			author = c.By.Principal + " (" + author + ")"
		}
		m.note(fsm.JournalEntry{Kind: fsm.StoppingEvent, Semaphore: p.Semaphore, Permit: &stopped, Author: author, Reason: c.Reason, At: c.At})
	})
}
