package undo

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/phrase"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Plan describes how to undo changes.
type Plan struct {
	// Command carries out the undo as one change, and includes the versions that it expects. The caller adds the
	// author, reason and time. Command is nil if there is nothing to undo.
	Command *fsm.Undo
	// UndoneBy is the change that has already undone all of the changes, or 0.
	UndoneBy uint64
	// Notes describe, for the operator, the command's effects other than edits, and the parts that no longer need to be
	// undone.
	Notes []string
	// Conflicts describe later changes that prevent the undo. A plan with conflicts must not be carried out.
	Conflicts []string
	// Skipped lists the conflicts that are skipped. The objects they name remain unchanged.
	Skipped []string
	// Missing lists the parts of the changes that are no longer in the journal. A plan with missing parts must not be
	// carried out unless a partial undo was requested.
	Missing []*Missing

	request Request
}

// Request specifies which changes to undo, and how.
type Request struct {
	// Changes lists at least one change.
	Changes []uint64
	// Drain, if positive, replaces the drains of restored pauses and cordons.
	Drain time.Duration
	// Partial undoes the parts of the changes that are still in the journal. SkipConflicts skips the parts that have
	// been changed since.
	Partial, SkipConflicts bool
}

// NoSuchChangeError means that the journal does not contain a change.
type NoSuchChangeError struct {
	Change uint64
	// Oldest is the oldest change in the journal, or 0 if the journal is empty.
	Oldest uint64
}

func (e *NoSuchChangeError) Error() string {
	if e.Oldest == 0 {
		return fmt.Sprintf("change %d is not in the journal, which is empty", e.Change)
	}
	return fmt.Sprintf("change %d is not in the journal, which starts at change %d: gkctl history lists the changes that can be undone", e.Change, e.Oldest)
}

// NewPlan plans how to undo changes as of now: newest first, but all in a single change. An edit is undone field by
// field, unless a field has been set again since. A pause, a resume, a cordon or the end of a cordon is undone as a
// whole if it is still in effect. The earlier state is restored, except for anything that would have expired by now.
// This includes any pause or cordon that was replaced and, for a deletion, the definition's pause and temporary edits.
// Changes that have already been undone are left alone, so a retried undo has no effect and never undoes itself. Any
// error is a *NoSuchChangeError.
func NewPlan(state *fsm.State, what Request, now time.Time) (*Plan, error) {
	p := planner{
		out:   Plan{request: what},
		state: state, drain: what.Drain, now: now, undos: undosOf(state), handled: make(map[effect]bool),
		semaphores: make(map[string]*undoSemaphore), cordons: make(map[string]*fsm.Cordon), firings: make(map[string]*undoFirings),
	}
	changes := slices.Compact(slices.Sorted(slices.Values(what.Changes)))
	found := 0
	var by *undo
	for _, change := range slices.Backward(changes) {
		p.change = change
		entries := entriesOf(state, change)
		missing := p.missing()
		if missing != nil {
			p.out.Missing = append(p.out.Missing, missing)
		}
		if len(entries) == 0 && missing == nil {
			by = p.findUndo(change, subject{})
			p.noteUndone(by)
			found++
			continue
		}
		if len(entries) == 0 {
			if !what.Partial || len(changes) == 1 {
				return nil, noSuchChange(state, change)
			}
			continue
		}
		found++
		done := p.undoAll(entries)
		if done != nil && missing == nil {
			p.noteUndone(done)
			by = done
		}
	}
	if found == 0 {
		return nil, noSuchChange(state, changes[0])
	}
	p.build(changes)
	if what.SkipConflicts && (p.out.Command != nil || len(p.out.Conflicts) == 0) {
		p.out.Skipped, p.out.Conflicts = p.out.Conflicts, nil
	}
	if c := p.out.Command; c != nil {
		c.Partial = len(p.out.Missing)+len(p.out.Skipped) > 0
	} else if by != nil && len(p.handled) == 0 && len(p.out.Conflicts)+len(p.out.Missing) == 0 {
		p.out.UndoneBy = by.entry.Revision
	}
	p.addNameNotes()
	p.addPauseNotes()
	return &p.out, nil
}

func (p *planner) noteUndone(by *undo) {
	p.note("Change %d has already been undone by change %d, made by %s.", p.change, by.entry.Revision, cmp.Or(by.entry.Author, "an unknown author"))
}

func noSuchChange(state *fsm.State, change uint64) error {
	e := &NoSuchChangeError{Change: change}
	for entry := range state.Journal("", 0) {
		e.Oldest = entry.Revision
		break
	}
	return e
}

// planner holds the state of an undo while it is being planned.
type planner struct {
	state   *fsm.State
	change  uint64 // being undone
	drain   time.Duration
	now     time.Time
	undos   undos
	handled map[effect]bool // effects undone by the plan so far
	// semaphores and cordons hold the objects modified by the plan so far. order and cordonOrder list them in the order
	// in which they were first modified.
	semaphores         map[string]*undoSemaphore
	cordons            map[string]*fsm.Cordon
	order, cordonOrder []string
	firings            map[string]*undoFirings // by semaphore
	firingOrder        []string
	texts              []string            // notes about individual names, in order
	namesByText        map[string][]string // the names to which each note applies
	out                Plan
}

// effect is the effect of one change on one semaphore or cordon.
type effect struct {
	change uint64
	what   subject
}

// undoSemaphore is a semaphore as modified by the plan so far. definition is nil if it is deleted.
type undoSemaphore struct {
	definition *fsm.StoredDefinition
	ends       []*fsm.EditEnd
}

// findUndo returns the undo of a change's effect on a semaphore or cordon, or nil if there is none.
func (p *planner) findUndo(change uint64, what subject) *undo {
	return p.undos.find(change, what, func(change uint64, what subject) bool {
		return change == p.change || p.handled[effect{change, what}]
	})
}

// isUndone reports whether a change's effect on a semaphore or cordon has been undone, or is undone by this plan.
func (p *planner) isUndone(change uint64, what subject) bool {
	return p.handled[effect{change, what}] || p.findUndo(change, what) != nil
}

// missing is like MissingOf for the current change, but omits the parts that have already been undone.
func (p *planner) missing() *Missing {
	m := MissingOf(p.state, p.change)
	if m == nil {
		return nil
	}
	if slices.ContainsFunc(p.undos[p.change], func(u *undo) bool { return !u.partial }) && p.findUndo(p.change, subject{}) != nil {
		return nil
	}
	m.Names = slices.DeleteFunc(m.Names, func(name string) bool { return p.findUndo(p.change, subject{name: name}) != nil })
	if len(m.Names) == 0 && m.Cordons == 0 && !m.Unknown {
		return nil
	}
	return m
}

// undoAll undoes the entries of one change, except those that have already been undone. If all of them have been, it
// returns the undo that did so.
func (p *planner) undoAll(entries []*fsm.JournalEntry) *undo {
	var by *undo
	var names []string
	for _, entry := range entries {
		if done := p.findUndo(p.change, subjectOf(entry)); done != nil {
			by, names = done, append(names, entry.Semaphore)
			continue
		}
		before := len(p.out.Conflicts)
		p.undoEntry(entry)
		if len(p.out.Conflicts) == before {
			p.handled[effect{p.change, subjectOf(entry)}] = true
		}
	}
	if len(names) == len(entries) {
		return by
	}
	for _, name := range names {
		if name != "" {
			p.noteFor(name, "it has already been undone by change %d, made by %s.", by.entry.Revision, cmp.Or(by.entry.Author, "an unknown author"))
		}
	}
	return nil
}

// definition, ends and currentCordon return a semaphore's definition, the ends of its temporary edits, and a cordon, as
// modified by the plan so far.
func (p *planner) definition(name string) *fsm.StoredDefinition {
	if s := p.semaphores[name]; s != nil {
		return s.definition
	}
	return p.state.Definition(name)
}

func (p *planner) ends(name string) []*fsm.EditEnd {
	if s := p.semaphores[name]; s != nil {
		return s.ends
	}
	return p.state.Ends(name)
}

func (p *planner) currentCordon(id string) *fsm.Cordon {
	if c, planned := p.cordons[id]; planned {
		return c
	}
	return p.state.Cordon(id)
}

// set records a semaphore's planned state.
func (p *planner) set(name string, now undoSemaphore) {
	if p.semaphores[name] == nil {
		p.order = append(p.order, name)
	}
	p.semaphores[name] = &now
}

// build creates the command that turns the current state into the planned one.
func (p *planner) build(changes []uint64) {
	newest := changes[len(changes)-1]
	command := fsm.Undo{Change: newest, OtherChanges: changes[:len(changes)-1], Drain: p.drain}
	pauses := make(map[semaphore.Pause]int) // indexes into command.Pauses; the zero Pause means none
	for _, name := range p.order {
		before, now := p.state.Definition(name), p.semaphores[name]
		after := now.definition
		e := fsm.UndoEdit{Change: fsm.Change{Name: name}}
		old := p.state.Ends(name)
		switch {
		case before == nil && after == nil:
			continue
		case before == nil:
			e.Kind, e.Definition, e.Pause, e.RestoredEnds = fsm.Create, after.Definition, after.Pause, now.ends
			command.Edits = append(command.Edits, e)
			continue
		case after == nil:
			e.Kind, e.ExpectedVersion = fsm.Delete, before.Version
			command.Edits = append(command.Edits, e)
			continue
		}
		e.Kind, e.Definition, e.ExpectedVersion = fsm.Replace, after.Definition, before.Version
		for _, end := range old {
			if !slices.Contains(now.ends, end) {
				e.RemovedEnds = append(e.RemovedEnds, end.Revision)
			}
		}
		for _, end := range now.ends {
			if !slices.Contains(old, end) {
				e.RestoredEnds = append(e.RestoredEnds, end)
			}
		}
		if len(semaphore.Changed(before.Definition, after.Definition)) > 0 || len(e.RemovedEnds)+len(e.RestoredEnds) > 0 {
			command.Edits = append(command.Edits, e)
		}
		if after.Pause != before.Pause {
			command.Pauses = appendPause(command.Pauses, pauses, name, before.Pause, after.Pause)
		}
	}
	for _, id := range p.cordonOrder {
		old, now := p.state.Cordon(id), p.cordons[id]
		if old == now {
			continue
		}
		o := fsm.UndoCordon{ID: id, Cordon: now}
		if old != nil {
			o.Expected = old.Revision
		}
		command.Cordons = append(command.Cordons, o)
	}
	command.Firings = p.buildFirings()
	if len(command.Edits)+len(command.Pauses)+len(command.Cordons)+len(command.Firings) > 0 {
		p.out.Command = &command
	}
}

// undoEntry plans the undo of one entry.
func (p *planner) undoEntry(entry *fsm.JournalEntry) {
	switch entry.Kind {
	case fsm.Created:
		p.undoCreation(entry)
	case fsm.Replaced, fsm.RevertedEvent:
		p.undoEdit(entry)
	case fsm.Deleted:
		p.undoDeletion(entry)
	case fsm.PausedEvent:
		p.undoPause(entry)
	case fsm.ResumedEvent:
		p.undoResume(entry)
	case fsm.CordonedEvent:
		p.undoCordon(entry)
	case fsm.UncordonedEvent:
		p.undoUncordon(entry)
	case fsm.FiringsForgotten, fsm.FiringsRemembered:
		p.undoFiringChange(entry)
	default:
		p.conflict("change %d is not an edit, pause, resume, cordon or forget-firings change, so it cannot be undone", entry.Revision)
	}
}

func (p *planner) note(format string, args ...any) {
	p.out.Notes = append(p.out.Notes, fmt.Sprintf(format, args...))
}

// noteFor adds a note about one name. Identical notes about different names are merged.
func (p *planner) noteFor(name, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.namesByText == nil {
		p.namesByText = make(map[string][]string)
	}
	if p.namesByText[text] == nil {
		p.texts = append(p.texts, text)
	}
	p.namesByText[text] = append(p.namesByText[text], name)
}

func (p *planner) addNameNotes() {
	for _, text := range p.texts {
		p.note("%s: %s", phrase.Names(p.namesByText[text]), text)
	}
}

func (p *planner) conflict(format string, args ...any) {
	p.out.Conflicts = append(p.out.Conflicts, fmt.Sprintf(format, args...))
}
