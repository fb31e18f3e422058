package undo

import (
	"slices"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// Missing describes the parts of a change that are no longer in the journal.
type Missing struct {
	Change uint64
	// Names lists the semaphores whose entries are missing. Cordons is the number of missing cordon entries.
	Names   []string
	Cordons int
	// Unknown means that entries are missing or may be missing, and the journal does not show which ones.
	Unknown bool
}

// MissingOf returns the parts of a change that are no longer in the journal, or nil if the journal contains all of it.
func MissingOf(state *fsm.State, change uint64) *Missing {
	entries := entriesOf(state, change)
	out := &Missing{Change: change}
	if len(entries) == 0 {
		out.Unknown = true
		return out
	}
	whole := entries[0].Change
	if whole == nil { // made before feature level 3
		last := entries[len(entries)-1]
		out.Unknown = int(last.Ordinal) >= len(entries) || change <= state.ChangesForgotten()
		if out.Unknown {
			return out
		}
		return nil
	}
	for i, name := range whole.Names {
		switch {
		case slices.ContainsFunc(entries, func(e *fsm.JournalEntry) bool { return int(e.Ordinal) == i }):
		case name == "":
			out.Cordons++
		default:
			out.Names = append(out.Names, name)
		}
	}
	if len(out.Names) == 0 && out.Cordons == 0 {
		return nil
	}
	return out
}

// entriesOf returns a change's journal entries.
func entriesOf(state *fsm.State, change uint64) (entries []*fsm.JournalEntry) {
	for entry := range state.Journal("", change) {
		if entry.Revision != change {
			break
		}
		entries = append(entries, entry)
	}
	return entries
}

// subject identifies what an entry is about: a semaphore or a cordon.
type subject struct{ name, cordon string }

func subjectOf(e *fsm.JournalEntry) subject {
	if e.Cordon != nil {
		return subject{cordon: e.Cordon.ID}
	}
	return subject{name: e.Semaphore}
}

// undo is a change in the journal that undid other changes.
type undo struct {
	entry   *fsm.JournalEntry // its first entry
	partial bool
	covers  map[subject]bool // only if partial
}

// undos maps changes to their undos, oldest first.
type undos map[uint64][]*undo

func undosOf(state *fsm.State) undos {
	all := make(undos)
	var last *undo
	for entry := range state.Journal("", 0) {
		change := entry.Details().Undoes
		if change == 0 {
			continue
		}
		if last == nil || last.entry.Revision != entry.Revision {
			last = &undo{entry: entry, covers: make(map[subject]bool)}
			changes := []uint64{change}
			if whole := entry.Change; whole != nil {
				last.partial = whole.Partial
				changes = append(changes, whole.AlsoUndoes...)
				for _, name := range whole.Names {
					last.covers[subject{name: name}] = name != ""
				}
			}
			for _, c := range changes {
				all[c] = append(all[c], last)
			}
		}
		last.covers[subjectOf(entry)] = true
	}
	return all
}

// UndoneBy indexes a state's journal. It returns a function that maps a journal entry to the change that undid it, or
// to 0 if there is none or that change has itself been undone.
func UndoneBy(state *fsm.State) func(*fsm.JournalEntry) uint64 {
	all := undosOf(state)
	return func(e *fsm.JournalEntry) uint64 {
		by := all.find(e.Revision, subjectOf(e), func(uint64, subject) bool { return false })
		if by == nil {
			return 0
		}
		return by.entry.Revision
	}
}

// find returns the undo of a change's effect on a semaphore or cordon, or nil if there is none or it has itself been
// undone. It skips undos for which skip returns true.
func (u undos) find(change uint64, what subject, skip func(change uint64, what subject) bool) *undo {
	for _, by := range slices.Backward(u[change]) {
		if by.partial && !by.covers[what] || skip(by.entry.Revision, what) || by.entry.Revision <= change {
			continue
		}
		if u.find(by.entry.Revision, what, skip) == nil {
			return by
		}
	}
	return nil
}
