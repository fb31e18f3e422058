package preview

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/phrase"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Patterns matches names as the leader does.
type Patterns interface {
	// Match reports whether a pattern matches the whole of a name. One that cannot be compiled matches nothing.
	Match(pattern, name string) bool
	// Catches reports whether a cordon of these patterns catches a caller. Either may be empty, and then catches
	// nobody; one that cannot be compiled catches everybody.
	Catches(groupPattern, acquirerPattern string, id semaphore.Identity) bool
}

// Leader is what a preview asks the leader.
type Leader interface {
	Patterns
	// StopLeft returns how long the holder of the live permit p may still go on although s stops it: 0 without drains.
	StopLeft(p *semaphore.Permit, s semaphore.Stop) time.Duration
}

// Change is what a preview judges; one of Edits, Pause, Resume, Cordon and Undo is set.
type Change struct {
	Edits  []fsm.Change
	Pause  *fsm.Pause
	Resume *fsm.Resume
	Cordon *fsm.SetCordon
	Undo   *fsm.Undo
	// Drain is that of Edits; the others have their own.
	Drain time.Duration
	// Now is the leader's time, from which Recently counts back. Zero: every sighting is recent.
	Now time.Time
}

// Effect is what a change would do to one semaphore.
type Effect struct {
	Semaphore string
	// Before and After are its definition; nil when there is none. Equal for a pause and for a cordon.
	Before, After *semaphore.Definition
	// Stopped are live permits whose holders would have to stop, by token. Those that must stop already count only when
	// the change leaves them less time.
	Stopped []Stopped
	// Held are permits that expired and are held for an operator, by token: their slots stay taken, whatever changes.
	Held []*semaphore.Permit
	// Unaffected counts the live permits that go on.
	Unaffected int
	// Admitted are known callers that the patterns let in after the edit and not before it; ShutOut the reverse. At
	// most MaxCallers each, by group and acquirer; the counts count all.
	Admitted, ShutOut           []fsm.Sighting
	AdmittedCount, ShutOutCount int
	// Eligible counts the known callers whom the patterns let in after the edit.
	Eligible int
	// TasksRun says which workers may take the tasks that wait after the change, or that none may. Empty when none
	// waits.
	TasksRun string
	// Warnings are for a person.
	Warnings []string

	// deserted: the rule let in callers who asked recently, and would let in none of them, and nobody else who asked
	// recently.
	deserted bool
}

// Stopped is a holder that would have to stop.
type Stopped struct {
	Permit *semaphore.Permit
	// FreeWithin is when its slot is free at the latest, unless the cluster changes its leader or on_expiry holds the
	// permit: its drain, then what it may still count on, then what its slot cools.
	FreeWithin time.Duration
	// DrainLeft is above 0 when the holder must stop already: for how long it could go on still, without the change.
	DrainLeft time.Duration
}

const (
	// MaxCallers is how many callers an effect names.
	MaxCallers = 100
	// maxNamed is how many callers all effects of a preview name, and maxStopped how many holders: a person reads no
	// more.
	maxNamed   = 20_000
	maxStopped = 100_000
	// maxHeld is how many held permits an effect names.
	maxHeld = 100
)

// Conflict says which of a batch of edits is not made from what is there, and why the batch would be refused; nil when
// it would not be.
func Conflict(state *fsm.State, edits []fsm.Change) *fsm.Conflict {
	for i, edit := range edits {
		current := state.Definition(edit.Name)
		var kind fsm.ConflictKind
		switch {
		case edit.Kind == fsm.Declare, edit.Kind == fsm.Create && current == nil:
			continue
		case edit.Kind == fsm.Create:
			kind = fsm.ConflictExists
		case current == nil:
			kind = fsm.ConflictAbsent
		case current.Version == edit.ExpectedVersion:
			continue
		default:
			kind = fsm.ConflictStale
		}
		return &fsm.Conflict{Index: i, Kind: kind, Name: edit.Name, Current: current}
	}
	return nil
}

// Effects says what a change would do: to each semaphore for which anything would change, in the order of their names,
// and for a person to the whole.
func Effects(state *fsm.State, leader Leader, c Change) (effects []Effect, warnings []string) {
	now := newWorld(state, leader)
	now.known.since = c.since()
	switch {
	case c.Pause != nil:
		effects, warnings = now.previewPause(c.Pause)
	case c.Resume != nil:
		effects = now.previewResume(c.Resume)
	case c.Cordon != nil:
		effects, warnings = now.previewCordon(c.Cordon)
		if was := state.Cordon(c.Cordon.ID); was != nil {
			warnings = append(warnings, fmt.Sprintf("Cordon %q is in force already, %s. The new one takes its place, also when it ends; undo brings that one back.",
				was.ID, phrase.Closed(was.Author, was.Reason, was.Until)))
		}
	case c.Undo != nil:
		effects, warnings = now.previewUndo(c.Undo)
	default:
		effects, warnings = now.previewEdits(c.Edits, c.Drain)
	}
	if now.unnamed > 0 {
		warnings = append(warnings, fmt.Sprintf("%d more holders would have to stop than are named here.", now.unnamed))
	}
	return effects, warnings
}

func (w *world) previewEdits(edits []fsm.Change, drain time.Duration) (effects []Effect, warnings []string) {
	for _, edit := range edits {
		if edit.Kind == fsm.Declare && (w.state.Definition(edit.Name) != nil || w.state.WasDeleted(edit.Name)) {
			continue
		}
		e := w.previewEdit(fsm.UndoEdit{Change: edit}, drain)
		if e.Before == nil || e.After == nil || len(semaphore.Changed(e.Before, e.After)) > 0 || len(e.Stopped) > 0 {
			effects = append(effects, e)
		}
	}
	slices.SortFunc(effects, bySemaphore)
	if w.state.SightingCount() == 0 && len(effects) > 0 {
		warnings = append(warnings, "No caller has been seen yet, so it is unknown whom this admits and whom it shuts out.")
	}
	return effects, warnings
}

// previewEdit says what one edit would do; with a pause, when a definition comes back with one.
func (w *world) previewEdit(edit fsm.UndoEdit, drain time.Duration) Effect {
	e := Effect{Semaphore: edit.Name, After: edit.Definition}
	then := w.rule(edit.Name)
	if sd := w.state.Definition(edit.Name); sd != nil {
		e.Before = sd.Definition
	} else {
		then = then.under(edit.Pause)
	}
	if pause, too := w.paused[edit.Name]; too {
		then = then.under(pause)
	}
	w.stop(&e, then.edited(edit.Definition, drain))
	w.callers(&e)
	return e
}

func bySemaphore(a, b Effect) int { return cmp.Compare(a.Semaphore, b.Semaphore) }

func (w *world) previewPause(p *fsm.Pause) (effects []Effect, warnings []string) {
	var kept, goOn []string
	for _, name := range p.Names {
		sd := w.state.Definition(name)
		if sd == nil {
			continue
		}
		if sd.Pause != nil && p.Keep {
			kept = append(kept, name)
			if p.Stop && !sd.Pause.Stop && w.held(name) {
				goOn = append(goOn, name)
			}
			continue
		}
		e := w.underPause(sd, &semaphore.Pause{Stop: p.Stop, Drain: p.Drain})
		if was := sd.Pause; was != nil {
			e.Warnings = append(e.Warnings, fmt.Sprintf("It is paused already, %s. The new pause takes the place of that one, also when it ends; undo brings that one back.",
				phrase.Pause(was)))
		}
		effects = append(effects, e)
	}
	slices.SortFunc(effects, bySemaphore)
	if len(kept) > 0 {
		warnings = append(warnings, fmt.Sprintf("Paused already, and left as it is: %s.", phrase.Names(kept)))
	}
	if len(goOn) > 0 {
		warnings = append(warnings, fmt.Sprintf("Paused without stopping its holders, who go on: %s.", phrase.Names(goOn)))
	}
	return effects, warnings
}

// held reports whether a semaphore has a live permit.
func (w *world) held(name string) bool {
	for p := range w.state.Holders(name) {
		if p.State == semaphore.Live {
			return true
		}
	}
	return false
}

// previewResume lists what a resume would let in again. It stops nobody.
func (w *world) previewResume(r *fsm.Resume) (effects []Effect) {
	for _, name := range r.Names {
		if sd := w.state.Definition(name); sd != nil && sd.Pause != nil && (r.Revision == 0 || sd.Pause.Origin() == r.Revision) {
			effects = append(effects, w.underPause(sd, nil))
		}
	}
	slices.SortFunc(effects, bySemaphore)
	return effects
}

// underPause says what a pause, or with nil its lifting, would do to one semaphore.
func (w *world) underPause(sd *fsm.StoredDefinition, pause *semaphore.Pause) Effect {
	name := sd.Definition.Name
	e := Effect{Semaphore: name, Before: sd.Definition, After: sd.Definition}
	w.stop(&e, w.rule(name).under(pause))
	return e
}

// previewUndo says what an undo would do: like the edits, the pauses and the cordons that it makes.
func (w *world) previewUndo(u *fsm.Undo) (effects []Effect, warnings []string) {
	w.paused = make(map[string]*semaphore.Pause)
	edited := make(map[string]bool)
	for _, edit := range u.Edits {
		edited[edit.Name] = true
	}
	for _, p := range u.Pauses {
		for _, of := range p.Of {
			if edited[of.Name] {
				w.paused[of.Name] = p.Pause
			}
		}
	}
	for _, edit := range u.Edits {
		effects = append(effects, w.previewEdit(edit, u.Drain))
	}
	for _, p := range u.Pauses {
		for _, of := range p.Of {
			if sd := w.state.Definition(of.Name); sd != nil && !edited[of.Name] {
				effects = append(effects, w.underPause(sd, p.Pause))
			}
		}
	}
	for _, o := range u.Cordons {
		if c := o.Cordon; c != nil {
			more, warns := w.previewCordon(&fsm.SetCordon{ID: o.ID, GroupPattern: c.GroupPattern, AcquirerPattern: c.AcquirerPattern, Drain: c.Drain})
			effects, warnings = append(effects, more...), append(warnings, warns...)
		}
	}
	slices.SortFunc(effects, bySemaphore)
	return effects, warnings
}

// previewCordon looks at every permit, because a cordon stands in front of all semaphores, and at tasks that other
// workers would get. A cordon of the same id gives way.
func (w *world) previewCordon(c *fsm.SetCordon) (effects []Effect, warnings []string) {
	caught := func(id semaphore.Identity) bool { return w.patterns.Catches(c.GroupPattern, c.AcquirerPattern, id) }
	effect := func(name string) *Effect {
		e := &Effect{Semaphore: name}
		if sd := w.state.Definition(name); sd != nil {
			e.Before, e.After = sd.Definition, sd.Definition
		}
		w.stop(e, w.rule(name).behind(c.ID, c.Drain, caught))
		return e
	}
	bySemaphore := make(map[string]*Effect)
	catches := false
	for p := range w.state.Permits(0) {
		if !caught(p.Identity) {
			continue
		}
		catches = true
		if p.State != semaphore.Live || bySemaphore[p.Semaphore] != nil {
			continue
		}
		bySemaphore[p.Semaphore] = effect(p.Semaphore)
	}
	for name, sums := range w.state.WorkBySemaphore() {
		if sums.Waiting > 0 && bySemaphore[name] == nil {
			bySemaphore[name] = effect(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(bySemaphore)) {
		if e := bySemaphore[name]; len(e.Stopped) > 0 || e.TasksRun != w.tasksRun(name, w.rule(name)) {
			effects = append(effects, *e)
		}
	}
	if catches { // a holder was seen, also when the note of it is on its way
		return effects, nil
	}
	return effects, w.cordonWarnings(c, caught)
}

// stop finds the holders of a semaphore that go on now and would have to stop then, and those that would have less time
// for it.
func (w *world) stop(e *Effect, then rule) {
	now := w.rule(e.Semaphore)
	for p := range w.state.Holders(e.Semaphore) {
		if p.State == semaphore.Held && len(e.Held) < maxHeld {
			e.Held = append(e.Held, p)
		}
		if p.State != semaphore.Live {
			continue
		}
		before, stopping := w.left(p, now)
		after, stops := w.left(p, then)
		switch {
		case stopping && after >= before:
			continue // it must stop already, and nothing changes for it
		case !stopping && !stops:
			e.Unaffected++
			continue
		case !stopping:
			before = 0
		}
		if w.stopped == maxStopped {
			w.unnamed++
			continue
		}
		w.stopped++
		e.Stopped = append(e.Stopped, Stopped{Permit: p, FreeWithin: freeWithin(then.definition, p, after), DrainLeft: before})
	}
	if len(e.Stopped) > 0 && then.definition != nil && then.definition.OnExpiry == semaphore.OnExpiryHold {
		e.Warnings = append(e.Warnings,
			"A holder that does not release keeps its slot until an operator clears it: by on_expiry its permit is held when it expires.")
	}
	e.TasksRun = w.tasksRun(e.Semaphore, then)
}

// tasksRun says which workers may take the waiting tasks of a semaphore under a rule: those of the groups that were
// seen asking.
func (w *world) tasksRun(name string, then rule) string {
	if w.state.Work(name).Waiting == 0 {
		return ""
	}
	d := then.definition
	switch {
	case d == nil:
		return "no worker gets them before it is created again"
	case d.Permits == 0:
		return "no worker gets them before it has permits"
	case then.pause != nil:
		return "no worker gets them before the pause ends"
	}
	var groups []string // quoted
	last := ""
	for _, i := range w.known.admitted(d).callers {
		s := &w.known.all[i]
		if len(groups) > 0 && s.Group == last || len(then.cordons(semaphore.Identity{Group: s.Group, Acquirer: s.Acquirer})) > 0 {
			continue
		}
		groups, last = append(groups, strconv.Quote(s.Group)), s.Group
	}
	switch {
	case len(groups) == 1:
		return "only workers in group " + groups[0] + " may take them"
	case len(groups) > 1:
		return "workers in groups " + phrase.Names(groups) + " may take them"
	case len(w.known.all) == 0: // nobody was seen yet
		return fmt.Sprintf("only workers in groups that match %q may take them", d.GroupPattern)
	}
	return fmt.Sprintf("no worker that was ever seen may take them: a group must match the pattern %q, and must not be cordoned", d.GroupPattern)
}

// freeWithin is how long the holder of a permit that must stop can keep its slot. While it drains its refreshes take
// over a longer duration of the definition.
func freeWithin(d *semaphore.Definition, p *semaphore.Permit, drain time.Duration) time.Duration {
	counts := p.Duration
	if d != nil && drain > 0 {
		counts = max(counts, d.Duration)
	}
	lasts := drain + counts
	return lasts + semaphore.Grace(counts) + semaphore.LossCooling(d, lasts)
}
