package preview

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// takePause lifts a pause, or brings back the one that it had replaced.
func (p *undoPlan) takePause(entry *fsm.JournalEntry) {
	name := entry.Semaphore
	current := p.definition(name)
	switch {
	case current == nil:
		p.noteOf(name, "it was deleted since.")
	case current.Pause == nil:
		p.noteOf(name, "that pause is over already.")
	case current.Pause.Revision != entry.Revision && current.Pause.Origin() != entry.Revision:
		p.noteOf(name, "it was paused again since, by %s with change %d, and stays so.", current.Pause.Author, current.Pause.Revision)
	default:
		p.pause(name, p.pauseBack(name, p.pauseUnder(name, entry)))
	}
}

// pauseUnder is the pause that one had replaced, unless that one was undone: then the one that it had replaced.
func (p *undoPlan) pauseUnder(name string, entry *fsm.JournalEntry) *semaphore.Pause {
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

// pauseBack is a pause as it comes back; nil when there was none, or it would be over by now.
func (p *undoPlan) pauseBack(name string, was *semaphore.Pause) *semaphore.Pause {
	if was == nil {
		return nil
	}
	if p.over(was.Until) {
		p.noteOf(name, "its pause of before would be over by now.")
		return nil
	}
	again := *was
	again.Change, again.Revision = was.Origin(), 0
	if again.Stop && p.drain > 0 {
		again.Drain = p.drain
	}
	return &again
}

func (p *undoPlan) over(until time.Time) bool { return !until.IsZero() && !until.After(p.now) }

// takeResume pauses again what was resumed.
func (p *undoPlan) takeResume(entry *fsm.JournalEntry) {
	name, was := entry.Semaphore, entry.Pause
	current := p.definition(name)
	switch {
	case current == nil || p.recreated(name):
		p.deletedSince(name)
	case current.Pause != nil && samePause(current.Pause, was):
		p.noteOf(name, "its pause is back already.")
	case current.Pause != nil:
		p.conflict("%s: it was paused again since, by %s", name, current.Pause.Author)
	default:
		if back := p.pauseBack(name, was); back != nil {
			p.pause(name, back)
		}
	}
}

func samePause(a, b *semaphore.Pause) bool {
	return a.Reason == b.Reason && a.Until.Equal(b.Until) && a.Stop == b.Stop
}

// pause sets or, with nil, lifts the pause of a name.
func (p *undoPlan) pause(name string, back *semaphore.Pause) {
	now := *p.definition(name)
	now.Pause = back
	p.set(name, undoSemaphore{&now, p.ends(name)})
}

// appendPause adds that the pause of a name becomes another one, or none; equal ones stand together.
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

// tellPauses says what becomes of pauses, once for all that have the same.
func (p *undoPlan) tellPauses() {
	if p.out.Command == nil {
		return
	}
	for _, x := range p.out.Command.Pauses {
		names := make([]string, len(x.Of))
		for i, of := range x.Of {
			names[i] = of.Name
		}
		if x.Pause == nil {
			p.note("Resumed: %s.", someNames(names))
		} else {
			p.note("Paused as before: %s: %s.", someNames(names), pauseWords(x.Pause))
		}
	}
}

// someNames lists the first names and counts the others.
func someNames(names []string) string {
	const shown = 3
	text := strings.Join(names[:min(shown, len(names))], ", ")
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// pauseWords says what a pause is.
func pauseWords(p *semaphore.Pause) string {
	words := closedWords(p.Author, p.Reason, p.Until)
	switch {
	case p.Stop && p.Drain > 0:
		words += ", holders are to stop within " + p.Drain.String()
	case p.Stop:
		words += ", holders are to stop"
	}
	return words
}

// closedWords says who closed something, why and until when.
func closedWords(author, reason string, until time.Time) string {
	words := "by " + cmp.Or(author, "somebody")
	if reason != "" {
		words += fmt.Sprintf(", %q", reason)
	}
	if until.IsZero() {
		return words + ", without an end"
	}
	return words + ", until " + instant(until)
}

// takeCordon lifts a cordon, or brings back the one that it had replaced.
func (p *undoPlan) takeCordon(entry *fsm.JournalEntry) {
	id := entry.Cordon.ID
	current := p.cordonNow(id)
	switch {
	case current == nil:
		p.note("cordon %q: it is over already.", id)
	case current.Revision != entry.Revision && current.Origin() != entry.Revision:
		p.note("cordon %q: it was set anew since, by %s with change %d, and stays so.", id, current.Author, current.Revision)
	default:
		p.cordon(id, p.cordonBack(p.cordonUnder(entry)))
	}
}

// cordonUnder is pauseUnder for a cordon.
func (p *undoPlan) cordonUnder(entry *fsm.JournalEntry) *fsm.Cordon {
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

// cordonBack is pauseBack for a cordon.
func (p *undoPlan) cordonBack(was *fsm.Cordon) *fsm.Cordon {
	if was == nil {
		return nil
	}
	if p.over(was.Until) {
		p.note("cordon %q: that of before would be over by now.", was.ID)
		return nil
	}
	again := *was
	again.Change, again.Revision = was.Origin(), 0
	if p.drain > 0 {
		again.Drain = p.drain
	}
	return &again
}

func (p *undoPlan) takeUncordon(entry *fsm.JournalEntry) {
	was := entry.Cordon
	switch current := p.cordonNow(was.ID); {
	case current != nil && sameCordon(current, was):
		p.note("cordon %q: it is back already.", was.ID)
	case current != nil:
		p.conflict("cordon %q: it was set anew since, by %s", was.ID, current.Author)
	default:
		if back := p.cordonBack(was); back != nil {
			p.cordon(was.ID, back)
		}
	}
}

func (p *undoPlan) cordon(id string, back *fsm.Cordon) {
	if back == nil {
		p.note("Cordon %q is ended.", id)
	} else {
		p.note("Cordon %q is as before: %s.", id, closedWords(back.Author, back.Reason, back.Until))
	}
	if _, planned := p.cordons[id]; !planned {
		p.cordonOrder = append(p.cordonOrder, id)
	}
	p.cordons[id] = back
}

func sameCordon(a, b *fsm.Cordon) bool {
	return a.GroupPattern == b.GroupPattern && a.AcquirerPattern == b.AcquirerPattern && a.Until.Equal(b.Until) && a.Reason == b.Reason
}
