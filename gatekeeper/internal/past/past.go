// Package past reconstructs from the journal who held permits at a past instant.
package past

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Holding is a permit that occupied a slot. EndedAt and End are zero if it still does.
type Holding struct {
	*semaphore.Permit
	EndedAt time.Time
	End     semaphore.End
}

// Holders returns the permits that occupied slots at a given time, whether or not they have ended since. It yields them
// ordered by semaphore and token, starting with the semaphore named from. Times are according to the leaders' clocks.
func Holders(state *fsm.State, match func(name string) bool, at time.Time, from string) iter.Seq[Holding] {
	return func(yield func(Holding) bool) {
		for name := range state.Names() {
			if name < from || !match(name) {
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

// KnownSince returns the earliest instant for which Holders is certain to return all of the matching semaphores'
// permits.
func KnownSince(state *fsm.State, match func(name string) bool) time.Time {
	since := state.HistoryBegins() // a recovery may have lost permits of semaphores that left no other trace
	for name := range state.Names() {
		if match(name) {
			since = later(since, journalSince(state, name))
		}
	}
	return since
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Ended returns a semaphore's permits that have ended according to the journal, by token.
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
		// A cooling permit has already ended, and its end is in the journal.
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

// endsPermit reports whether a journal entry ends a permit. An abandoned permit was never held by anyone.
func endsPermit(entry *fsm.JournalEntry) bool {
	end := entry.Kind.End()
	return entry.Permit != nil && end != semaphore.NotEnded && end != semaphore.EndAbandoned
}

// journalSince returns the instant from which a semaphore's journal is complete, except for entries lost in a recovery.
// It is zero if the journal is complete from the beginning.
func journalSince(state *fsm.State, name string) time.Time {
	if forgotten := state.EndsForgotten(name); !forgotten.IsZero() {
		return forgotten
	}
	for entry := range state.Journal(name, 0) {
		if entry.Kind == fsm.Created {
			return time.Time{} // there are no earlier entries
		}
		return entry.At
	}
	// The semaphore has no entries. Its creation was journaled, but has been evicted by entries for other semaphores.
	for entry := range state.Journal("", 0) {
		return entry.At
	}
	return time.Time{}
}
