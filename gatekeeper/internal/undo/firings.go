package undo

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/phrase"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// undoFirings holds a semaphore's remembered firings as modified by the plan so far.
type undoFirings struct {
	// claims maps each firing that the plan changes to its claim. A nil claim means that the firing is forgotten.
	claims map[semaphore.Firing]*semaphore.Claim
	order  []semaphore.Firing // the keys of claims, in order
	mark   time.Time
}

func (p *planner) firingsOf(name string) *undoFirings {
	f := p.firings[name]
	if f == nil {
		f = &undoFirings{claims: make(map[semaphore.Firing]*semaphore.Claim), mark: p.state.LowWater(name)}
		p.firings[name] = f
		p.firingOrder = append(p.firingOrder, name)
	}
	return f
}

func (p *planner) claim(name string, firing semaphore.Firing) *semaphore.Claim {
	if claim, planned := p.firingsOf(name).claims[firing]; planned {
		return claim
	}
	return p.state.Claim(name, firing)
}

// undoFiringChange restores forgotten firings, or forgets firings that an undo restored.
func (p *planner) undoFiringChange(entry *fsm.JournalEntry) {
	name, change := entry.Semaphore, entry.Details().Firings
	forgotten := entry.Kind == fsm.FiringsForgotten
	var set []*semaphore.Claim
	for _, before := range change.Claims {
		switch after := p.claim(name, before.Firing); {
		case after != nil && after.Token != before.Token:
			p.conflict("%s: firing %s has since been claimed again by %s in %s (token %d)",
				name, phrase.Firing(before.Firing), after.Winner.Acquirer, after.Winner.Group, after.Token)
			return // an entry is undone completely or not at all
		case (after == nil) == forgotten:
			set = append(set, before)
		}
	}
	f := p.firingsOf(name)
	for _, claim := range set {
		if _, planned := f.claims[claim.Firing]; !planned {
			f.order = append(f.order, claim.Firing)
		}
		f.claims[claim.Firing] = claim
		if !forgotten {
			f.claims[claim.Firing] = nil
		}
	}
	moved := false
	switch {
	case change.MarkBefore.Equal(change.MarkAfter):
	case forgotten && f.mark.Before(change.MarkBefore): // even if the mark has risen since, as it does every minute
		f.mark, moved = change.MarkBefore, true
	case !forgotten && f.mark.Equal(change.MarkAfter):
		f.mark, moved = change.MarkBefore, true
	default:
		p.noteFor(name, "firings up to %s have since been forgotten and remain forgotten.", phrase.Instant(f.mark))
	}
	switch {
	case len(set) == 0 && !moved:
		p.noteFor(name, "there is nothing left to undo.")
	case forgotten:
		p.noteFor(name, "%s remembered again.", phrase.Count(len(set), "firing is", "firings are"))
	default:
		p.noteFor(name, "%s forgotten again.", phrase.Count(len(set), "firing is", "firings are"))
	}
	if moved {
		p.noteFor(name, "firings due up to %s count as forgotten.", phrase.Instant(f.mark))
	}
}

// buildFirings returns the part of the command that turns the remembered firings into the planned ones.
func (p *planner) buildFirings() (list []fsm.UndoFirings) {
	for _, name := range p.firingOrder {
		f, u := p.firings[name], fsm.UndoFirings{Semaphore: name}
		for _, firing := range f.order {
			switch before, after := p.state.Claim(name, firing), f.claims[firing]; {
			case before == nil && after != nil:
				u.Restore = append(u.Restore, after)
			case before != nil && after == nil:
				u.Forget = append(u.Forget, fsm.ExpectedClaim{Firing: firing, Token: before.Token})
			}
		}
		if mark := p.state.LowWater(name); !f.mark.Equal(mark) {
			u.LowWater, u.ExpectedLowWater = f.mark, mark
		}
		if len(u.Restore)+len(u.Forget) > 0 || !u.LowWater.IsZero() {
			list = append(list, u)
		}
	}
	return list
}
