package undo

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/phrase"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// undoPause ends a pause, or restores the one it replaced.
func (p *planner) undoPause(entry *fsm.JournalEntry) {
	name := entry.Semaphore
	current := p.definition(name)
	switch {
	case current == nil:
		p.noteFor(name, "it has since been deleted.")
	case current.Pause == nil:
		p.noteFor(name, "that pause has already ended.")
	case current.Pause.Revision != entry.Revision && current.Pause.Origin() != entry.Revision:
		p.noteFor(name, "it has since been paused again by %s in change %d and remains paused.", current.Pause.Author, current.Pause.Revision)
	default:
		p.setPause(name, p.restoredPause(name, p.replacedPause(name, entry)))
	}
}

// replacedPause returns the pause that the entry's pause replaced. If that pause has been undone, it returns the pause
// before it, and so on.
func (p *planner) replacedPause(name string, entry *fsm.JournalEntry) *semaphore.Pause {
	replaced := entry.Details().PauseBefore
	for replaced != nil && p.isUndone(replaced.Origin(), subject{name: name}) {
		origin := replaced.Origin()
		replaced = nil
		for set := range p.state.Journal(name, origin) {
			if set.Revision == origin && set.Kind == fsm.PausedEvent {
				replaced = set.Details().PauseBefore
			}
			break
		}
	}
	return replaced
}

// restoredPause returns the pause to restore, or nil if there was none or it would have expired by now.
func (p *planner) restoredPause(name string, old *semaphore.Pause) *semaphore.Pause {
	if old == nil {
		return nil
	}
	if p.expired(old.Until) {
		p.noteFor(name, "its earlier pause would have expired by now.")
		return nil
	}
	restored := *old
	restored.Change, restored.Revision = old.Origin(), 0
	if restored.Stop && p.drain > 0 {
		restored.Drain = p.drain
	}
	return &restored
}

func (p *planner) expired(until time.Time) bool { return !until.IsZero() && !until.After(p.now) }

// undoResume restores the pause that the resume ended.
func (p *planner) undoResume(entry *fsm.JournalEntry) {
	name, old := entry.Semaphore, entry.Pause
	current := p.definition(name)
	switch {
	case current == nil || p.recreated(name):
		p.addDeletedConflict(name)
	case current.Pause != nil && samePause(current.Pause, old):
		p.noteFor(name, "its pause has already been restored.")
	case current.Pause != nil:
		p.conflict("%s: it has since been paused again by %s", name, current.Pause.Author)
	default:
		if restored := p.restoredPause(name, old); restored != nil {
			p.setPause(name, restored)
		}
	}
}

func samePause(a, b *semaphore.Pause) bool {
	return a.Reason == b.Reason && a.Until.Equal(b.Until) && a.Stop == b.Stop
}

// setPause sets a semaphore's pause, or ends it if restored is nil.
func (p *planner) setPause(name string, restored *semaphore.Pause) {
	updated := *p.definition(name)
	updated.Pause = restored
	p.set(name, undoSemaphore{&updated, p.ends(name)})
}

// appendPause adds the change to a semaphore's pause. Names with the same planned pause share one element.
func appendPause(list []fsm.UndoPause, at map[semaphore.Pause]int, name string, old, updated *semaphore.Pause) []fsm.UndoPause {
	key, expected := semaphore.Pause{}, uint64(0)
	if updated != nil {
		key = *updated
	}
	if old != nil {
		expected = old.Revision
	}
	i, found := at[key]
	if !found {
		i = len(list)
		at[key] = i
		list = append(list, fsm.UndoPause{Pause: updated})
	}
	list[i].Expected = append(list[i].Expected, fsm.ExpectedPause{Name: name, Revision: expected})
	return list
}

// addPauseNotes adds a note about each pause that the plan ends or restores.
func (p *planner) addPauseNotes() {
	if p.out.Command == nil {
		return
	}
	for _, x := range p.out.Command.Pauses {
		names := make([]string, len(x.Expected))
		for i, expected := range x.Expected {
			names[i] = expected.Name
		}
		if x.Pause == nil {
			p.note("Resumed: %s.", phrase.Names(names))
		} else {
			p.note("Pause restored: %s: %s.", phrase.Names(names), phrase.Pause(x.Pause))
		}
	}
}

// undoCordon ends a cordon, or restores the one it replaced.
func (p *planner) undoCordon(entry *fsm.JournalEntry) {
	id := entry.Cordon.ID
	current := p.currentCordon(id)
	switch {
	case current == nil:
		p.note("cordon %q: it has already ended.", id)
	case current.Revision != entry.Revision && current.Origin() != entry.Revision:
		p.note("cordon %q: it has since been set again by %s in change %d and remains in effect.", id, current.Author, current.Revision)
	default:
		p.setCordon(id, p.restoredCordon(p.replacedCordon(entry)))
	}
}

// replacedCordon is like replacedPause, but for a cordon.
func (p *planner) replacedCordon(entry *fsm.JournalEntry) *fsm.Cordon {
	replaced := entry.Details().CordonBefore
	for replaced != nil && p.isUndone(replaced.Origin(), subject{cordon: replaced.ID}) {
		origin, id := replaced.Origin(), replaced.ID
		replaced = nil
		for set := range p.state.Journal("", origin) {
			if set.Revision != origin {
				break
			}
			if set.Kind == fsm.CordonedEvent && set.Cordon.ID == id {
				replaced = set.Details().CordonBefore
			}
		}
	}
	return replaced
}

// restoredCordon is like restoredPause, but for a cordon.
func (p *planner) restoredCordon(old *fsm.Cordon) *fsm.Cordon {
	if old == nil {
		return nil
	}
	if p.expired(old.Until) {
		p.note("cordon %q: the earlier one would have expired by now.", old.ID)
		return nil
	}
	restored := *old
	restored.Change, restored.Revision = old.Origin(), 0
	if p.drain > 0 {
		restored.Drain = p.drain
	}
	return &restored
}

func (p *planner) undoUncordon(entry *fsm.JournalEntry) {
	old := entry.Cordon
	switch current := p.currentCordon(old.ID); {
	case current != nil && sameCordon(current, old):
		p.note("cordon %q: it has already been restored.", old.ID)
	case current != nil:
		p.conflict("cordon %q: it has since been set again by %s", old.ID, current.Author)
	default:
		if restored := p.restoredCordon(old); restored != nil {
			p.setCordon(old.ID, restored)
		}
	}
}

func (p *planner) setCordon(id string, restored *fsm.Cordon) {
	if restored == nil {
		p.note("Cordon %q is lifted.", id)
	} else {
		p.note("Cordon %q is restored: %s.", id, phrase.Closed(restored.Author, restored.Reason, restored.Until))
	}
	if _, planned := p.cordons[id]; !planned {
		p.cordonOrder = append(p.cordonOrder, id)
	}
	p.cordons[id] = restored
}

func sameCordon(a, b *fsm.Cordon) bool {
	return a.GroupPattern == b.GroupPattern && a.AcquirerPattern == b.AcquirerPattern && a.Until.Equal(b.Until) && a.Reason == b.Reason
}
