package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Undoing is what takes a change back. Either Edits are to be made, in one batch, or the commands in their order; never both.
type Undoing struct {
	Edits    []fsm.Change
	Commands []fsm.Command
	// Notes say for a person what Commands do, and what needs no undoing any more.
	Notes []string
	// Conflicts say what was changed since and stands in the way; with any of them nothing is to be done.
	Conflicts []string
}

// NoSuchChangeError says that the journal does not hold a change.
type NoSuchChangeError struct {
	Change uint64
	// Oldest is the oldest change that it holds; 0 when it holds none.
	Oldest uint64
}

func (e *NoSuchChangeError) Error() string {
	if e.Oldest == 0 {
		return fmt.Sprintf("there is no change %d in the journal: it is empty", e.Change)
	}
	return fmt.Sprintf("there is no change %d in the journal, which begins with %d: gkctl history lists what can be undone", e.Change, e.Oldest)
}

// Undo plans to take one change back as of now: an edit field by field, where nothing else has set the field since; a pause, a
// resume, a cordon or its end whole, where it still is what the change made it. The error is a *NoSuchChangeError.
func Undo(state *fsm.State, change uint64, now time.Time) (*Undoing, error) {
	var u Undoing
	found := false
	for entry := range state.Journal("", change) {
		if entry.Revision != change {
			break
		}
		found = true
		u.take(state, entry, now)
	}
	if !found {
		e := &NoSuchChangeError{Change: change}
		for entry := range state.Journal("", 0) {
			e.Oldest = entry.Revision
			break
		}
		return nil, e
	}
	return &u, nil
}

// take adds what takes one entry back.
func (u *Undoing) take(state *fsm.State, entry *fsm.JournalEntry, now time.Time) {
	switch entry.Kind {
	case fsm.Created, fsm.Replaced, fsm.RevertedEvent, fsm.Deleted:
		u.takeEdit(state.Definition(entry.Semaphore), entry)
	case fsm.PausedEvent:
		if sd := state.Definition(entry.Semaphore); sd != nil && sd.Pause != nil && sd.Pause.Revision == entry.Revision {
			u.resume(entry)
		} else {
			u.note("%s: that pause is over already", entry.Semaphore)
		}
	case fsm.ResumedEvent:
		u.takeResume(state.Definition(entry.Semaphore), entry, now)
	case fsm.CordonedEvent, fsm.UncordonedEvent:
		u.takeCordon(state, entry, now)
	default:
		u.conflict("change %d ended or stopped a permit, or is a setting: that cannot be undone", entry.Revision)
	}
}

func (u *Undoing) takeEdit(current *fsm.StoredDefinition, entry *fsm.JournalEntry) {
	name := entry.Semaphore
	switch {
	case entry.Kind == fsm.Deleted && current != nil:
		u.conflict("%s: it was created anew since, at version %d", name, current.Version)
	case entry.Kind == fsm.Deleted:
		u.Edits = append(u.Edits, fsm.Change{Kind: fsm.Create, Definition: entry.Before, Name: name})
	case current == nil && entry.Kind == fsm.Created:
		u.note("%s: it was deleted since", name)
	case current == nil:
		u.conflict("%s: it was deleted since", name)
	case entry.Kind == fsm.Created:
		if changed := semaphore.Changed(entry.After, current.Definition); len(changed) > 0 {
			u.conflict("%s: %s since it was created, at version %d by %s", name, setSince(changed), current.Version, current.UpdatedBy)
			return
		}
		u.Edits = append(u.Edits, fsm.Change{Kind: fsm.Delete, Name: name, ExpectedVersion: current.Version})
	case entry.Before != nil && entry.After != nil:
		restored, kept := semaphore.Revert(current.Definition, entry.Before, entry.After)
		switch {
		case len(kept) > 0:
			u.conflict("%s: %s since, at version %d by %s", name, setSince(kept), current.Version, current.UpdatedBy)
		case len(semaphore.Changed(current.Definition, restored)) == 0:
			u.note("%s: nothing of it is left", name)
		default:
			u.Edits = append(u.Edits, fsm.Change{Kind: fsm.Replace, Definition: restored, Name: name, ExpectedVersion: current.Version})
		}
	default:
		u.note("%s: nothing was changed", name) // an edit that ended, and of which everything had been set since
	}
}

func setSince(fields []string) string {
	if len(fields) == 1 {
		return fields[0] + " was set again"
	}
	return strings.Join(fields, ", ") + " were set again"
}

// resume ends the pause that the change made; the names of one change share a command.
func (u *Undoing) resume(entry *fsm.JournalEntry) {
	if n := len(u.Commands); n > 0 {
		if c, ok := u.Commands[n-1].(fsm.Resume); ok {
			c.Names = append(c.Names, entry.Semaphore)
			u.Commands[n-1] = c
			return
		}
	}
	u.note("The pause is ended.")
	u.Commands = append(u.Commands, fsm.Resume{Names: []string{entry.Semaphore}, Revision: entry.Revision})
}

// takeResume pauses again what was resumed, as it was, unless that pause would be over by now.
func (u *Undoing) takeResume(current *fsm.StoredDefinition, entry *fsm.JournalEntry, now time.Time) {
	was := entry.Pause
	switch {
	case current == nil:
		u.conflict("%s: it was deleted since", entry.Semaphore)
	case current.Pause != nil:
		u.conflict("%s: it was paused again since, by %s", entry.Semaphore, current.Pause.Author)
	case was == nil:
		u.note("%s: nothing was paused", entry.Semaphore)
	case !was.Until.IsZero() && !was.Until.After(now):
		u.note("%s: its pause would be over by now", entry.Semaphore)
	default:
		again := fsm.Pause{Names: []string{entry.Semaphore}, Reason: was.Reason, Until: was.Until, Stop: was.Stop}
		for i, cmd := range u.Commands {
			if c, ok := cmd.(fsm.Pause); ok && c.Reason == again.Reason && c.Until.Equal(again.Until) && c.Stop == again.Stop {
				c.Names = append(slices.Clip(c.Names), entry.Semaphore)
				u.Commands[i] = c
				return
			}
		}
		u.note("The pause is back.")
		u.Commands = append(u.Commands, again)
	}
}

func (u *Undoing) takeCordon(state *fsm.State, entry *fsm.JournalEntry, now time.Time) {
	was := entry.Cordon
	if was == nil {
		u.note("no cordon was changed")
		return
	}
	i := slices.IndexFunc(state.Cordons(), func(c *fsm.Cordon) bool { return c.ID == was.ID })
	switch {
	case entry.Kind == fsm.CordonedEvent && (i < 0 || state.Cordons()[i].Revision != entry.Revision):
		u.note("cordon %s: it is over or was set anew since", was.ID)
	case entry.Kind == fsm.CordonedEvent:
		u.note("Cordon %s is ended.", was.ID)
		u.Commands = append(u.Commands, fsm.Uncordon{ID: was.ID, Revision: entry.Revision})
	case i >= 0:
		u.conflict("cordon %s: it was set anew since, by %s", was.ID, state.Cordons()[i].Author)
	case !was.Until.IsZero() && !was.Until.After(now):
		u.note("cordon %s: it would be over by now", was.ID)
	default:
		u.note("Cordon %s is back.", was.ID)
		u.Commands = append(u.Commands, fsm.SetCordon{
			ID: was.ID, GroupPattern: was.GroupPattern, AcquirerPattern: was.AcquirerPattern, Until: was.Until, Reason: was.Reason,
		})
	}
}

func (u *Undoing) note(format string, args ...any) {
	u.Notes = append(u.Notes, fmt.Sprintf(format, args...))
}

func (u *Undoing) conflict(format string, args ...any) {
	u.Conflicts = append(u.Conflicts, fmt.Sprintf(format, args...))
}
