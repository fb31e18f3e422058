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
	pauses   map[pauseAgain]int // of indexes into Commands
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

// pauseAgain is what the pauses that one command sets have in common.
type pauseAgain struct {
	reason string
	until  int64 // Unix nanoseconds
	stop   bool
}

// Undo plans to take one change back as of now: an edit field by field, where nothing else has set the field since; a pause, a
// resume, a cordon or its end whole, where it still is what the change made it. What is as before the change already needs
// nothing, so that an undoing that is repeated does nothing: it never undoes itself. The error is a *NoSuchChangeError.
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
		u.takeEdit(state, entry)
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
		u.conflict("change %d is no edit, pause, resume or cordon: what it did cannot be undone", entry.Revision)
	}
}

func (u *Undoing) takeEdit(state *fsm.State, entry *fsm.JournalEntry) {
	name := entry.Semaphore
	current := state.Definition(name)
	switch {
	case entry.Kind == fsm.Deleted && current != nil && len(semaphore.Changed(current.Definition, entry.Before)) == 0:
		u.note("%s: it is there again, as it was", name)
	case entry.Kind == fsm.Deleted && current != nil:
		u.conflict("%s: it was created anew since, at version %d", name, current.Version)
	case entry.Kind == fsm.Deleted:
		if was := pauseBefore(state, entry); was != nil {
			u.note("%s: it was paused when it was deleted, and comes back without its pause.", name)
		}
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

// pauseBefore is the pause of a definition at the change that deleted it, as far as the journal remembers.
func pauseBefore(state *fsm.State, deleted *fsm.JournalEntry) *semaphore.Pause {
	for entry := range state.JournalBackward(deleted.Semaphore, deleted.Revision) {
		switch entry.Kind {
		case fsm.PausedEvent:
			return entry.Pause
		case fsm.ResumedEvent, fsm.Created, fsm.Deleted:
			return nil
		default:
		}
	}
	return nil
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
	case was == nil:
		u.note("%s: nothing was paused", entry.Semaphore)
	case current.Pause != nil && againOf(current.Pause) == againOf(was):
		u.note("%s: its pause is back already", entry.Semaphore)
	case current.Pause != nil:
		u.conflict("%s: it was paused again since, by %s", entry.Semaphore, current.Pause.Author)
	case !was.Until.IsZero() && !was.Until.After(now):
		u.note("%s: its pause would be over by now", entry.Semaphore)
	default:
		u.pauseAgain(entry.Semaphore, was)
	}
}

func againOf(p *semaphore.Pause) pauseAgain {
	return pauseAgain{reason: p.Reason, until: p.Until.UnixNano(), stop: p.Stop}
}

// pauseAgain sets a pause as it was; equal pauses share a command.
func (u *Undoing) pauseAgain(name string, was *semaphore.Pause) {
	i, ok := u.pauses[againOf(was)]
	if !ok {
		if u.pauses == nil {
			u.note("The pause is back.")
			u.pauses = make(map[pauseAgain]int)
		}
		i = len(u.Commands)
		u.pauses[againOf(was)] = i
		u.Commands = append(u.Commands, fsm.Pause{Reason: was.Reason, Until: was.Until, Stop: was.Stop})
	}
	c, _ := u.Commands[i].(fsm.Pause)
	c.Names = append(c.Names, name)
	u.Commands[i] = c
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
	case i >= 0 && sameCordon(state.Cordons()[i], was):
		u.note("cordon %s: it is back already", was.ID)
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

func sameCordon(a, b *fsm.Cordon) bool {
	return a.GroupPattern == b.GroupPattern && a.AcquirerPattern == b.AcquirerPattern && a.Until.Equal(b.Until) && a.Reason == b.Reason
}

func (u *Undoing) note(format string, args ...any) {
	u.Notes = append(u.Notes, fmt.Sprintf(format, args...))
}

func (u *Undoing) conflict(format string, args ...any) {
	u.Conflicts = append(u.Conflicts, fmt.Sprintf(format, args...))
}
