package undo

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/phrase"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// takePause ends a pause, or restores the one it replaced.
func (p *planner) takePause(entry *fsm.JournalEntry) {
	name := entry.Semaphore
	current := p.definition(name)
	switch {
	case current == nil:
		p.noteOf(name, "it has since been deleted.")
	case current.Pause == nil:
		p.noteOf(name, "that pause has already ended.")
	case current.Pause.Revision != entry.Revision && current.Pause.Origin() != entry.Revision:
		p.noteOf(name, "it has since been paused again by %s with change %d, and remains paused.", current.Pause.Author, current.Pause.Revision)
	default:
		p.pause(name, p.pauseBack(name, p.pauseUnder(name, entry)))
	}
}

// pauseUnder returns the pause that the entry's pause replaced. If that one has been undone, it returns the one before
// it, and so on.
func (p *planner) pauseUnder(name string, entry *fsm.JournalEntry) *semaphore.Pause {
	under := entry.Details().PauseBefore
	for under != nil && p.gone(under.Origin(), about{name: name}) {
		origin := under.Origin()
		under = nil
		for set := range p.state.Journal(name, origin) {
			if set.Revision == origin && set.Kind == fsm.PausedEvent {
				under = set.Details().PauseBefore
			}
			break
		}
	}
	return under
}

// pauseBack returns the pause to restore, or nil if there was none or it would have expired by now.
func (p *planner) pauseBack(name string, was *semaphore.Pause) *semaphore.Pause {
	if was == nil {
		return nil
	}
	if p.over(was.Until) {
		p.noteOf(name, "its earlier pause would have expired by now.")
		return nil
	}
	again := *was
	again.Change, again.Revision = was.Origin(), 0
	if again.Stop && p.drain > 0 {
		again.Drain = p.drain
	}
	return &again
}

func (p *planner) over(until time.Time) bool { return !until.IsZero() && !until.After(p.now) }

// takeResume restores the pause that was resumed.
func (p *planner) takeResume(entry *fsm.JournalEntry) {
	name, was := entry.Semaphore, entry.Pause
	current := p.definition(name)
	switch {
	case current == nil || p.recreated(name):
		p.deletedSince(name)
	case current.Pause != nil && samePause(current.Pause, was):
		p.noteOf(name, "its pause has already been restored.")
	case current.Pause != nil:
		p.conflict("%s: it has since been paused again by %s", name, current.Pause.Author)
	default:
		if back := p.pauseBack(name, was); back != nil {
			p.pause(name, back)
		}
	}
}

func samePause(a, b *semaphore.Pause) bool {
	return a.Reason == b.Reason && a.Until.Equal(b.Until) && a.Stop == b.Stop
}

// pause sets a semaphore's pause, or ends it if the argument is nil.
func (p *planner) pause(name string, back *semaphore.Pause) {
	now := *p.definition(name)
	now.Pause = back
	p.set(name, undoSemaphore{&now, p.ends(name)})
}

// appendPause adds the change to a semaphore's pause. Names with equal pauses share one element.
func appendPause(list []fsm.UndoPause, at map[semaphore.Pause]int, name string, was, now *semaphore.Pause) []fsm.UndoPause {
	key, expected := semaphore.Pause{}, uint64(0)
	if now != nil {
		key = *now
	}
	if was != nil {
		expected = was.Revision
	}
	i, there := at[key]
	if !there {
		i = len(list)
		at[key] = i
		list = append(list, fsm.UndoPause{Pause: now})
	}
	list[i].Of = append(list[i].Of, fsm.ExpectedPause{Name: name, Revision: expected})
	return list
}

// addPauseNotes adds a note for each change to pauses.
func (p *planner) addPauseNotes() {
	if p.out.Command == nil {
		return
	}
	for _, x := range p.out.Command.Pauses {
		names := make([]string, len(x.Of))
		for i, of := range x.Of {
			names[i] = of.Name
		}
		if x.Pause == nil {
			p.note("Resumed: %s.", phrase.Names(names))
		} else {
			p.note("Pause restored: %s: %s.", phrase.Names(names), phrase.Pause(x.Pause))
		}
	}
}

// takeCordon ends a cordon, or restores the one it replaced.
func (p *planner) takeCordon(entry *fsm.JournalEntry) {
	id := entry.Cordon.ID
	current := p.cordonNow(id)
	switch {
	case current == nil:
		p.note("cordon %q: it has already ended.", id)
	case current.Revision != entry.Revision && current.Origin() != entry.Revision:
		p.note("cordon %q: it has since been set again by %s with change %d, and remains.", id, current.Author, current.Revision)
	default:
		p.cordon(id, p.cordonBack(p.cordonUnder(entry)))
	}
}

// cordonUnder is like pauseUnder, for a cordon.
func (p *planner) cordonUnder(entry *fsm.JournalEntry) *fsm.Cordon {
	under := entry.Details().CordonBefore
	for under != nil && p.gone(under.Origin(), about{cordon: under.ID}) {
		origin, id := under.Origin(), under.ID
		under = nil
		for set := range p.state.Journal("", origin) {
			if set.Revision != origin {
				break
			}
			if set.Kind == fsm.CordonedEvent && set.Cordon.ID == id {
				under = set.Details().CordonBefore
			}
		}
	}
	return under
}

// cordonBack is like pauseBack, for a cordon.
func (p *planner) cordonBack(was *fsm.Cordon) *fsm.Cordon {
	if was == nil {
		return nil
	}
	if p.over(was.Until) {
		p.note("cordon %q: the earlier one would have expired by now.", was.ID)
		return nil
	}
	again := *was
	again.Change, again.Revision = was.Origin(), 0
	if p.drain > 0 {
		again.Drain = p.drain
	}
	return &again
}

func (p *planner) takeUncordon(entry *fsm.JournalEntry) {
	was := entry.Cordon
	switch current := p.cordonNow(was.ID); {
	case current != nil && sameCordon(current, was):
		p.note("cordon %q: it has already been restored.", was.ID)
	case current != nil:
		p.conflict("cordon %q: it has since been set again by %s", was.ID, current.Author)
	default:
		if back := p.cordonBack(was); back != nil {
			p.cordon(was.ID, back)
		}
	}
}

func (p *planner) cordon(id string, back *fsm.Cordon) {
	if back == nil {
		p.note("Cordon %q is lifted.", id)
	} else {
		p.note("Cordon %q is restored: %s.", id, phrase.Closed(back.Author, back.Reason, back.Until))
	}
	if _, planned := p.cordons[id]; !planned {
		p.cordonOrder = append(p.cordonOrder, id)
	}
	p.cordons[id] = back
}

func sameCordon(a, b *fsm.Cordon) bool {
	return a.GroupPattern == b.GroupPattern && a.AcquirerPattern == b.AcquirerPattern && a.Until.Equal(b.Until) && a.Reason == b.Reason
}
