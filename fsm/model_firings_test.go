package fsm_test

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// This file models and draws the commands that repair remembered firings.

func (m *model) forgetFirings(c fsm.ForgetFirings) fsm.Result {
	request := modelEdit{fsm.EditForgetFirings, c.RequestID, c.RequestHash, c.RequestRevision}
	if r := m.repeated(request, func(r fsm.Remembered) fsm.Result {
		first := r.OriginalResponse()
		result := fsm.FiringsResult{Revision: r.Revision, Firings: first.Firings, Repeated: true}
		if first.NoOp {
			result.Revision = 0
		}
		return result
	}); r != nil {
		return r
	}
	for i, f := range c.Firings {
		isDuplicate := func(e fsm.ExpectedClaim) bool { return e.Firing.Equal(&f.Firing) }
		if slices.ContainsFunc(c.Firings[:i], isDuplicate) {
			return fsm.InvalidResult{}
		}
	}
	for i, f := range c.Firings {
		if !m.expected(c.Semaphore, f) {
			return fsm.FiringsResult{Conflict: &fsm.Conflict{Index: i, Kind: fsm.ConflictFirings, Name: c.Semaphore}}
		}
	}
	change := &fsm.FiringsChange{MarkBefore: m.lowWater[c.Semaphore], MarkAfter: m.lowWater[c.Semaphore]}
	if !c.LowerTo.IsZero() && c.LowerTo.Before(change.MarkBefore) {
		change.MarkAfter = c.LowerTo
	}
	if len(c.Firings) == 0 && change.MarkAfter.Equal(change.MarkBefore) {
		m.recordNoOp(request)
		return fsm.FiringsResult{}
	}
	m.revision++
	m.dropFirings(c.Semaphore, c.Firings, change, fsm.JournalEntry{Author: c.Author, Reason: c.Reason, At: c.At})
	m.rememberEdit(request, fsm.EditResponse{Firings: change})
	return fsm.FiringsResult{Revision: m.revision, Firings: change}
}

func (m *model) expected(name string, f fsm.ExpectedClaim) bool {
	c := m.claim(name, &f.Firing)
	return c != nil && c.Token == f.Token && c.State != semaphore.ClaimHeld
}

// dropFirings forgets firings, and records them in change and in the journal.
func (m *model) dropFirings(name string, firings []fsm.ExpectedClaim, change *fsm.FiringsChange, e fsm.JournalEntry) {
	for _, f := range firings {
		change.Claims = append(change.Claims, m.claim(name, &f.Firing))
	}
	m.noteFirings(fsm.FiringsForgotten, name, change, e)
	m.claims = slices.DeleteFunc(m.claims, func(c semaphore.Claim) bool {
		return c.Semaphore == name && slices.ContainsFunc(firings, func(f fsm.ExpectedClaim) bool { return f.Firing.Equal(&c.Firing) })
	})
	m.lowWater[name] = change.MarkAfter
	m.bound()
}

func (m *model) noteFirings(kind fsm.EventKind, name string, change *fsm.FiringsChange, e fsm.JournalEntry) {
	e.Kind, e.Semaphore = kind, name
	m.note(e.With(fsm.Details{Undoes: e.Details().Undoes, Firings: change}))
}

func (m *model) firingsMatch(u fsm.UndoFirings) bool {
	for _, f := range u.Forget {
		if !m.expected(u.Semaphore, f) {
			return false
		}
	}
	for _, b := range u.Restore {
		if slices.ContainsFunc(m.claims, func(c semaphore.Claim) bool {
			return c.Token == b.Token || c.Semaphore == b.Semaphore && c.Firing.Equal(&b.Firing)
		}) {
			return false
		}
	}
	return u.LowWater.IsZero() || u.ExpectedLowWater.Equal(m.lowWater[u.Semaphore])
}

func (m *model) undoFirings(u fsm.UndoFirings, e fsm.JournalEntry) {
	before := m.lowWater[u.Semaphore]
	after := before
	if !u.LowWater.IsZero() {
		after = u.LowWater
	}
	intermediate := before // after the first of two entries
	if after.Before(before) {
		intermediate = after
	}
	if len(u.Forget) > 0 || intermediate.Before(before) {
		m.dropFirings(u.Semaphore, u.Forget, &fsm.FiringsChange{MarkBefore: before, MarkAfter: intermediate}, e)
	}
	if len(u.Restore) > 0 || after.After(intermediate) {
		m.noteFirings(fsm.FiringsRemembered, u.Semaphore, &fsm.FiringsChange{Claims: u.Restore, MarkBefore: intermediate, MarkAfter: after}, e)
		for _, c := range u.Restore {
			m.claims = append(m.claims, *c)
		}
		m.lowWater[u.Semaphore] = after
		m.bound()
	}
}

// forgetFirings draws a command that forgets remembered firings and sometimes an unknown firing.
func (d draw) forgetFirings() fsm.ForgetFirings {
	c := fsm.ForgetFirings{
		Semaphore: d.name(), Author: d.text("author"), Reason: d.text("reason"), At: d.at(), RequestID: pick(d, "request", modelRequests...),
	}
	c.RequestHash, c.RequestRevision = d.requestHash()
	c.Firings = d.expectedClaims(c.Semaphore)
	if rapid.Bool().Draw(d.T, "lower the mark") {
		c.LowerTo = d.at()
	}
	return c
}

func (d draw) expectedClaims(name string) (firings []fsm.ExpectedClaim) {
	for _, c := range d.m.claims {
		if c.Semaphore == name && (c.State != semaphore.ClaimHeld || !d.likely("not held")) && rapid.Bool().Draw(d.T, "forgotten") {
			firings = append(firings, fsm.ExpectedClaim{Firing: c.Firing, Token: c.Token})
		}
	}
	if !d.likely("remembered") {
		firings = append(firings, fsm.ExpectedClaim{Firing: *modelFirings[2], Token: d.token()})
	}
	return firings
}

// undoFirings draws an undo of a journaled change, which may no longer be possible.
func (d draw) undoFirings() (c fsm.Undo) {
	var entries []fsm.JournalEntry
	for _, e := range d.m.journal {
		if e.Details().Firings != nil {
			entries = append(entries, e)
		}
	}
	if len(entries) == 0 {
		return c
	}
	e := entries[rapid.IntRange(0, len(entries)-1).Draw(d.T, "entry")]
	f := e.Details().Firings
	u := fsm.UndoFirings{Semaphore: e.Semaphore, Restore: f.Claims}
	if e.Kind == fsm.FiringsRemembered || !d.likely("matching kind") {
		u.Restore = nil
		for _, claim := range f.Claims {
			u.Forget = append(u.Forget, fsm.ExpectedClaim{Firing: claim.Firing, Token: claim.Token})
		}
	}
	if now := d.m.lowWater[e.Semaphore]; len(f.Claims) == 0 || rapid.Bool().Draw(d.T, "change the mark") {
		u.LowWater, u.ExpectedLowWater = d.at(), now
		if !d.likely("expect the current mark") {
			u.ExpectedLowWater = f.MarkAfter
		}
		if u.LowWater.Equal(u.ExpectedLowWater) {
			u.LowWater = u.LowWater.Add(1)
		}
	}
	c.Change, c.Firings = e.Revision, []fsm.UndoFirings{u}
	return c
}
