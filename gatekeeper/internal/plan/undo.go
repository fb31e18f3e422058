package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Undoing is what takes a change back.
type Undoing struct {
	// Command does it, as one change, with what it expects to find; who asks, why and when is to be added. It is nil when there is
	// nothing to do.
	Command *fsm.Undo
	// UndoneBy is the change that took it back already; 0: none did.
	UndoneBy uint64
	// Notes say for a person what the command does that is no edit, and what needs no undoing any more.
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
// resume, a cordon or its end whole, where it still is what the change made it. What came before comes back as it stood, or would
// stand by now: a pause or a cordon that was replaced, the pause and the edits that end of what was deleted. A drain above 0 takes
// the place of those that pauses and cordons come back with. What was undone already needs nothing, so that an undoing that is repeated
// does nothing: it never undoes itself. The error is a *NoSuchChangeError.
func Undo(state *fsm.State, change uint64, drain time.Duration, now time.Time) (*Undoing, error) {
	p := undoPlan{state: state, change: change, drain: drain, now: now, command: fsm.Undo{Change: change, Drain: drain}}
	if by := undone(state, change, 0)[change]; by != nil {
		p.out.UndoneBy = by.Revision
		p.note("It was undone already, by change %d of %s.", by.Revision, cmp.Or(by.Author, "somebody"))
		return &p.out, nil
	}
	p.undone = undone(state, 0, change)
	found := false
	for entry := range state.Journal("", change) {
		if entry.Revision != change {
			break
		}
		found = true
		p.take(entry)
	}
	if !found {
		e := &NoSuchChangeError{Change: change}
		for entry := range state.Journal("", 0) {
			e.Oldest = entry.Revision
			break
		}
		return nil, e
	}
	p.tellNames()
	p.tellPauses()
	if len(p.command.Edits)+len(p.command.Pauses)+len(p.command.Cordons) > 0 {
		p.out.Command = &p.command
	}
	return &p.out, nil
}

// undone tells which changes after from are undone, and by which entry of the journal: an undo that was undone itself does not count.
// without is a change that is taken for one that there is not.
func undone(state *fsm.State, from, without uint64) map[uint64]*fsm.JournalEntry {
	var undos []*fsm.JournalEntry
	for entry := range state.Journal("", from+1) {
		if entry.Details().Undoes != 0 && entry.Revision != without {
			undos = append(undos, entry)
		}
	}
	by := make(map[uint64]*fsm.JournalEntry)
	for _, entry := range slices.Backward(undos) {
		if by[entry.Revision] == nil {
			by[entry.Details().Undoes] = entry
		}
	}
	return by
}

// undoPlan is an undoing that is being planned.
type undoPlan struct {
	state   *fsm.State
	change  uint64
	drain   time.Duration
	now     time.Time
	undone  map[uint64]*fsm.JournalEntry
	command fsm.Undo
	pauses  map[semaphore.Pause]int // of indexes into command.Pauses; the zero pause stands for none
	said    []string                // of single names, in order
	about   map[string][]string     // the names of which it is said
	out     Undoing
}

// take adds what takes one entry back.
func (p *undoPlan) take(entry *fsm.JournalEntry) {
	switch entry.Kind {
	case fsm.Created:
		p.takeCreation(entry)
	case fsm.Replaced, fsm.RevertedEvent:
		p.takeEdit(entry)
	case fsm.Deleted:
		p.takeDeletion(entry)
	case fsm.PausedEvent:
		p.takePause(entry)
	case fsm.ResumedEvent:
		p.takeResume(entry)
	case fsm.CordonedEvent:
		p.takeCordon(entry)
	case fsm.UncordonedEvent:
		p.takeUncordon(entry)
	default:
		p.conflict("change %d is no edit, pause, resume or cordon: what it did cannot be undone", entry.Revision)
	}
}

func (p *undoPlan) takeCreation(entry *fsm.JournalEntry) {
	name := entry.Semaphore
	current := p.state.Definition(name)
	if current == nil {
		p.noteOf(name, "it was deleted since.")
		return
	}
	if p.anew(name) {
		p.noteOf(name, "it was deleted since; what is there was created by change %d, and stays.", current.CreatedRevision)
		return
	}
	if changed := semaphore.Changed(entry.After, current.Definition); len(changed) > 0 {
		p.conflict("%s: %s since it was created, at version %d by %s", name, setSince(changed), current.Version, current.UpdatedBy)
		return
	}
	p.edit(fsm.UndoEdit{Change: fsm.Change{Kind: fsm.Delete, Name: name, ExpectedVersion: current.Version}})
}

// anew reports whether what is there of a name is no longer what the change was made to: that was deleted since, and somebody created
// another one, which may be the same by chance. A definition that an undo brought back is the one that was deleted.
func (p *undoPlan) anew(name string) bool {
	created := p.state.Definition(name).CreatedRevision
	for created > p.change {
		deleted := p.deletionUndone(name, created)
		if deleted <= p.change {
			return true
		}
		created = p.createdBefore(name, deleted)
	}
	return false
}

// deletionUndone is the change whose deletion of a name was undone when it was created; 0 when it was created by hand.
func (p *undoPlan) deletionUndone(name string, created uint64) uint64 {
	for entry := range p.state.Journal(name, created) {
		if entry.Revision == created && entry.Kind == fsm.Created {
			return entry.Details().Undoes
		}
		if entry.Revision > created {
			break
		}
	}
	return 0
}

// createdBefore is the change that created what was there of a name until that change; 0 when the journal does not go back so far.
func (p *undoPlan) createdBefore(name string, change uint64) uint64 {
	for entry := range p.state.JournalBackward(name, change) {
		if entry.Kind == fsm.Created {
			return entry.Revision
		}
	}
	return 0
}

// deletedSince says that what the change was made to is not there any more, and whose is there instead.
func (p *undoPlan) deletedSince(name string) {
	if current := p.state.Definition(name); current != nil {
		p.conflict("%s: it was deleted since; what is there was created by change %d", name, current.CreatedRevision)
	} else {
		p.conflict("%s: it was deleted since", name)
	}
}

// takeDeletion brings a definition back with what went with it, as it would be by now.
func (p *undoPlan) takeDeletion(entry *fsm.JournalEntry) {
	name := entry.Semaphore
	if current := p.state.Definition(name); current != nil {
		p.conflict("%s: it was created anew since, at version %d by %s", name, current.Version, current.UpdatedBy)
		return
	}
	e := fsm.UndoEdit{Change: fsm.Change{Kind: fsm.Create, Name: name}}
	e.Definition, e.EndsBack = p.byNow(name, entry.Before, entry.Details().EndsGone)
	if e.Pause = p.pauseBack(name, entry.Pause); e.Pause != nil {
		p.noteOf(name, "it comes back paused, as it was: %s.", pauseWords(e.Pause))
	}
	p.edit(e)
}

func (p *undoPlan) takeEdit(entry *fsm.JournalEntry) {
	name := entry.Semaphore
	current := p.state.Definition(name)
	if current == nil || p.anew(name) {
		p.deletedSince(name)
		return
	}
	more := entry.Details()
	restored, kept := semaphore.Revert(current.Definition, entry.Before, entry.After)
	if len(kept) > 0 {
		p.conflict("%s: %s since, at version %d by %s", name, setSince(kept), current.Version, current.UpdatedBy)
		return
	}
	if fields, by := p.setAgain(entry, semaphore.Changed(current.Definition, restored)); by != nil {
		p.conflict("%s: %s since, by change %d of %s", name, setSince(fields), by.Revision, cmp.Or(by.Author, "somebody"))
		return
	}
	e := fsm.UndoEdit{Change: fsm.Change{Kind: fsm.Replace, Name: name, ExpectedVersion: current.Version}}
	for _, end := range p.state.Ends(name) {
		own := end.Revision == entry.Revision
		if own || slices.ContainsFunc(more.EndsBack, func(b *fsm.EditEnd) bool { return b.Revision == end.Revision }) {
			e.EndsGone = append(e.EndsGone, end.Revision)
		}
	}
	e.Definition, e.EndsBack = p.byNow(name, restored, more.EndsGone)
	if len(semaphore.Changed(current.Definition, e.Definition)) == 0 && len(e.EndsGone)+len(e.EndsBack) == 0 {
		p.noteOf(name, "nothing of it is left.")
		return
	}
	if entry.Kind == fsm.RevertedEvent {
		p.noteOf(name, "what had been set for a time is back, and now stays.")
	}
	p.edit(e)
}

// setAgain names those of the fields that somebody has set after the change, and the first who did: also to a value that they had
// before, for that is somebody else's will. What was undone counts for nothing, nor does its undo, nor what was set for a time that is over.
func (p *undoPlan) setAgain(entry *fsm.JournalEntry, fields []string) (again []string, by *fsm.JournalEntry) {
	for later := range p.state.Journal(entry.Semaphore, entry.Revision+1) {
		more := later.Details()
		over := !more.Until.IsZero() && !slices.ContainsFunc(p.state.Ends(entry.Semaphore), func(e *fsm.EditEnd) bool { return e.Revision == later.Revision })
		if later.Kind != fsm.Replaced || p.undone[later.Revision] != nil || more.Undoes > p.change || over {
			continue
		}
		changed := semaphore.Changed(later.Before, later.After)
		again = slices.DeleteFunc(slices.Clone(fields), func(field string) bool { return !slices.Contains(changed, field) })
		if len(again) > 0 {
			return again, later
		}
	}
	return nil, nil
}

// byNow is a definition with edits that end, as both would be by now: of those whose time is over the values are back.
func (p *undoPlan) byNow(name string, d *semaphore.Definition, ends []*fsm.EditEnd) (*semaphore.Definition, []*fsm.EditEnd) {
	ends = slices.Clone(ends)
	for {
		over := -1
		for i, end := range ends {
			if !end.Until.After(p.now) && (over < 0 || end.Until.Before(ends[over].Until)) {
				over = i
			}
		}
		if over < 0 {
			break
		}
		ended := ends[over]
		ends = slices.Delete(ends, over, over+1)
		p.noteOf(name, "what change %d had set for a time is over by now, and does not come back.", ended.Revision)
		// As when it ends by itself: where the old values break a rule by now, those that are there stay.
		back, _ := semaphore.Revert(d, ended.Before, ended.After)
		if back.Validate(p.state.Settings().MaxDuration) != nil {
			continue
		}
		d = back
		for i := over; i < len(ends); i++ {
			ends[i] = ends[i].Without(ended)
		}
	}
	for _, end := range ends {
		p.noteOf(name, "what change %d set ends at %s, as it was to.", end.Revision, instant(end.Until))
	}
	return d, ends
}

func setSince(fields []string) string {
	if len(fields) == 1 {
		return fields[0] + " was set again"
	}
	return strings.Join(fields, ", ") + " were set again"
}

func (p *undoPlan) edit(e fsm.UndoEdit) { p.command.Edits = append(p.command.Edits, e) }

func (p *undoPlan) note(format string, args ...any) {
	p.out.Notes = append(p.out.Notes, fmt.Sprintf(format, args...))
}

// noteOf notes something of one name; what is said of several is said once.
func (p *undoPlan) noteOf(name, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.about == nil {
		p.about = make(map[string][]string)
	}
	if p.about[text] == nil {
		p.said = append(p.said, text)
	}
	p.about[text] = append(p.about[text], name)
}

func (p *undoPlan) tellNames() {
	for _, text := range p.said {
		p.note("%s: %s", someNames(p.about[text]), text)
	}
}

func (p *undoPlan) conflict(format string, args ...any) {
	p.out.Conflicts = append(p.out.Conflicts, fmt.Sprintf(format, args...))
}
