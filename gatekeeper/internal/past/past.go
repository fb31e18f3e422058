// Package past reads from the journal who held permits at an instant.
package past

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Holding is a permit that took a slot. A permit that still takes it has neither EndedAt nor End.
type Holding struct {
	*semaphore.Permit
	EndedAt time.Time
	End     semaphore.End
}

// Holders returns the permits that took slots at an instant, by semaphore and token, from the semaphore of that name
// on: those that still do, and those that ended later. Instants are those of the leaders' clocks.
func Holders(state *fsm.State, chosen func(name string) bool, at time.Time, from string) iter.Seq[Holding] {
	return func(yield func(Holding) bool) {
		for name := range state.Names() {
			if name < from || !chosen(name) {
				continue
			}
			for _, h := range held(state, name, at) {
				if !yield(h) {
					return
				}
			}
		}
	}
}

// Begins is from when on Holders knows all permits of the chosen semaphores.
func Begins(state *fsm.State, chosen func(name string) bool) time.Time {
	begins := state.HistoryBegins() // a recovery lost permits of names of which nothing else is left either
	for name := range state.Names() {
		if chosen(name) {
			begins = later(begins, journalBegins(state, name))
		}
	}
	return begins
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Ended are the permits of a semaphore that have ended, by token, as far as the journal knows.
func Ended(state *fsm.State, name string) map[uint64]Holding {
	ended := make(map[uint64]Holding)
	for e := range state.Journal(name, 0) {
		if end := e.Kind.End(); e.Permit != nil && end != semaphore.NotEnded {
			ended[e.Permit.Token] = Holding{e.Permit, e.At, end}
		}
	}
	return ended
}

func held(state *fsm.State, name string, at time.Time) (holdings []Holding) {
	for p := range state.Holders(name) {
		// A cooling permit's holder is gone: its end is in the journal.
		if p.State != semaphore.Cooling && !p.GrantedAt().After(at) {
			holdings = append(holdings, Holding{Permit: p})
		}
	}
	for entry := range state.Journal(name, 0) {
		if endsPermit(entry) && !entry.Permit.GrantedAt().After(at) && entry.At.After(at) {
			holdings = append(holdings, Holding{entry.Permit, entry.At, entry.Kind.End()})
		}
	}
	slices.SortFunc(holdings, func(a, b Holding) int { return cmp.Compare(a.Token, b.Token) })
	return holdings
}

// endsPermit reports whether a journal entry is the end of a permit. Nobody held a permit that was abandoned.
func endsPermit(entry *fsm.JournalEntry) bool {
	end := entry.Kind.End()
	return entry.Permit != nil && end != semaphore.NotEnded && end != semaphore.EndAbandoned
}

// journalBegins is from when on the journal of a semaphore is whole, apart from what a recovery lost; zero when it is
// whole from the beginning.
func journalBegins(state *fsm.State, name string) time.Time {
	if forgotten := state.EndsForgotten(name); !forgotten.IsZero() {
		return forgotten
	}
	for entry := range state.Journal(name, 0) {
		if entry.Kind == fsm.Created {
			return time.Time{} // nothing came before
		}
		return entry.At
	}
	// Of what is there the creation was noted once, and gave way to entries of others.
	for entry := range state.Journal("", 0) {
		return entry.At
	}
	return time.Time{}
}
