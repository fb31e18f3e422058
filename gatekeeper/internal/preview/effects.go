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

// Patterns matches names with the leader's rules.
type Patterns interface {
	// Match reports whether a pattern matches an entire name. A pattern that cannot be compiled matches nothing.
	Match(pattern, name string) bool
	// Catches reports whether a cordon with these patterns applies to a caller. An empty pattern applies to nobody. A
	// pattern that cannot be compiled applies to everybody.
	Catches(groupPattern, acquirerPattern string, id semaphore.Identity) bool
}

// Leader provides the information for a preview that only the leader has.
type Leader interface {
	Patterns
	// TimeToStop returns how much longer the holder of the live permit p may continue even though s stops it: 0 if
	// there is no drain.
	TimeToStop(p *semaphore.Permit, s semaphore.Stop) time.Duration
}

// Change is the change to preview. Exactly one of Edits, Pause, Resume, Cordon and Undo is set.
type Change struct {
	Edits  []fsm.Change
	Pause  *fsm.Pause
	Resume *fsm.Resume
	Cordon *fsm.SetCordon
	Undo   *fsm.Undo
	// Drain is the drain of Edits. The other changes carry their own drains.
	Drain time.Duration
	// Now is the leader's time. Sightings in the RecentWindow before it count as recent. If Now is zero, all sightings
	// do.
	Now time.Time
}

// Effect is the effect of a change on one semaphore.
type Effect struct {
	Semaphore string
	// Before and After are its definition before and after the change; nil if there is none. They are the same for a
	// pause and for a cordon.
	Before, After *semaphore.Definition
	// Stopped are the live permits whose holders would have to stop, by token. A holder that already has to stop is
	// included only if the change leaves it less time.
	Stopped []Stopped
	// Held are permits that expired and are held until an operator clears them, by token. Their slots remain occupied
	// regardless of the change.
	Held []*semaphore.Permit
	// Unaffected counts the live permits whose holders continue.
	Unaffected int
	// Admitted are the known callers that the patterns admit after the edit but not before it. ShutOut is the reverse.
	// Each lists at most MaxCallers callers, ordered by group and acquirer. The counts include all of them.
	Admitted, ShutOut           []fsm.Sighting
	AdmittedCount, ShutOutCount int
	// Eligible counts the known callers that the patterns admit after the edit.
	Eligible int
	// TasksRun describes which workers may take the waiting tasks after the change, or why none may. It is empty if no
	// tasks are waiting.
	TasksRun string
	// Warnings are sentences for the operator.
	Warnings []string

	// shutsOutAll is set if the rule admitted recent callers before the change but would admit none after it.
	shutsOutAll bool
}

// Stopped is a holder that would have to stop.
type Stopped struct {
	Permit *semaphore.Permit
	// FreeWithin is the longest time until its slot is free, unless the leader changes or on_expiry holds the permit:
	// the drain, then the time for which the holder may still rely on the permit, then the cooling of its slot.
	FreeWithin time.Duration
	// DrainLeft is how much longer the holder could continue without the change. It is 0 unless the holder already has
	// to stop.
	DrainLeft time.Duration
}

const (
	// MaxCallers is the maximum number of callers that an effect lists.
	MaxCallers = 100
	// maxListed limits the total number of callers listed in a preview, and maxStopped the total number of holders.
	maxListed  = 20_000
	maxStopped = 100_000
	// maxHeld is the maximum number of held permits that an effect lists.
	maxHeld = 100
)

// Conflict returns the first edit in a batch that does not match the current definitions, and why the batch would be
// refused. It returns nil if the batch would not be refused.
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

// Effects computes the effect of a change on each semaphore for which anything would change, ordered by name, and the
// warnings for the operator about the change as a whole.
func Effects(state *fsm.State, leader Leader, c Change) (effects []Effect, warnings []string) {
	now := newWorld(state, leader)
	now.known.since = c.recentSince()
	switch {
	case c.Pause != nil:
		effects, warnings = now.previewPause(c.Pause)
	case c.Resume != nil:
		effects = now.previewResume(c.Resume)
	case c.Cordon != nil:
		effects, warnings = now.previewCordon(c.Cordon)
		if old := state.Cordon(c.Cordon.ID); old != nil {
			warnings = append(warnings, fmt.Sprintf("Cordon %q was already set %s. The new cordon replaces it, including its end time; undo restores the old one.",
				old.ID, phrase.Closed(old.Author, old.Reason, old.Until)))
		}
	case c.Undo != nil:
		effects, warnings = now.previewUndo(c.Undo)
	default:
		effects, warnings = now.previewEdits(c.Edits, c.Drain)
	}
	if now.unlisted > 0 {
		warnings = append(warnings, fmt.Sprintf("%d more holders, not listed here, would have to stop.", now.unlisted))
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

// previewEdit computes the effect of one edit. If the edit recreates a definition, the definition's pause is taken into
// account too.
func (w *world) previewEdit(edit fsm.UndoEdit, drain time.Duration) Effect {
	e := Effect{Semaphore: edit.Name, After: edit.Definition}
	then := w.rule(edit.Name)
	if sd := w.state.Definition(edit.Name); sd != nil {
		e.Before = sd.Definition
	} else {
		then = then.withPause(edit.Pause)
	}
	if pause, ok := w.paused[edit.Name]; ok {
		then = then.withPause(pause)
	}
	w.findStopped(&e, then.withDefinition(edit.Definition, drain))
	w.findCallers(&e)
	return e
}

func bySemaphore(a, b Effect) int { return cmp.Compare(a.Semaphore, b.Semaphore) }

func (w *world) previewPause(p *fsm.Pause) (effects []Effect, warnings []string) {
	var kept, continuing []string
	for _, name := range p.Names {
		sd := w.state.Definition(name)
		if sd == nil {
			continue
		}
		if sd.Pause != nil && p.Keep {
			kept = append(kept, name)
			if p.Stop && !sd.Pause.Stop && w.hasLivePermit(name) {
				continuing = append(continuing, name)
			}
			continue
		}
		e := w.underPause(sd, &semaphore.Pause{Stop: p.Stop, Drain: p.Drain})
		if old := sd.Pause; old != nil {
			e.Warnings = append(e.Warnings, fmt.Sprintf("It is already paused %s. The new pause replaces the old one, including its end time; undo restores the old one.",
				phrase.Pause(old)))
		}
		effects = append(effects, e)
	}
	slices.SortFunc(effects, bySemaphore)
	if len(kept) > 0 {
		warnings = append(warnings, fmt.Sprintf("Already paused, and left unchanged: %s.", phrase.Names(kept)))
	}
	if len(continuing) > 0 {
		warnings = append(warnings, fmt.Sprintf("Already paused without stopping the holders, which continue: %s.", phrase.Names(continuing)))
	}
	return effects, warnings
}

// hasLivePermit reports whether a semaphore has a live permit.
func (w *world) hasLivePermit(name string) bool {
	for p := range w.state.Holders(name) {
		if p.State == semaphore.Live {
			return true
		}
	}
	return false
}

// previewResume lists the semaphores that a resume would reopen. No holder has to stop.
func (w *world) previewResume(r *fsm.Resume) (effects []Effect) {
	for _, name := range r.Names {
		if sd := w.state.Definition(name); sd != nil && sd.Pause != nil && (r.Revision == 0 || sd.Pause.Origin() == r.Revision) {
			effects = append(effects, w.underPause(sd, nil))
		}
	}
	slices.SortFunc(effects, bySemaphore)
	return effects
}

// underPause computes the effect of a pause on one semaphore or, if pause is nil, the effect of a resume.
func (w *world) underPause(sd *fsm.StoredDefinition, pause *semaphore.Pause) Effect {
	name := sd.Definition.Name
	e := Effect{Semaphore: name, Before: sd.Definition, After: sd.Definition}
	w.findStopped(&e, w.rule(name).withPause(pause))
	return e
}

// previewUndo computes the effects of the edits, pauses and cordons that an undo makes.
func (w *world) previewUndo(u *fsm.Undo) (effects []Effect, warnings []string) {
	w.paused = make(map[string]*semaphore.Pause)
	edited := make(map[string]bool)
	for _, edit := range u.Edits {
		edited[edit.Name] = true
	}
	for _, p := range u.Pauses {
		for _, target := range p.Expected {
			if edited[target.Name] {
				w.paused[target.Name] = p.Pause
			}
		}
	}
	for _, edit := range u.Edits {
		effects = append(effects, w.previewEdit(edit, u.Drain))
	}
	for _, p := range u.Pauses {
		for _, target := range p.Expected {
			if sd := w.state.Definition(target.Name); sd != nil && !edited[target.Name] {
				effects = append(effects, w.underPause(sd, p.Pause))
			}
		}
	}
	for _, o := range u.Cordons {
		if c := o.Cordon; c != nil {
			cordonEffects, warns := w.previewCordon(&fsm.SetCordon{ID: o.ID, GroupPattern: c.GroupPattern, AcquirerPattern: c.AcquirerPattern, Drain: c.Drain})
			effects, warnings = append(effects, cordonEffects...), append(warnings, warns...)
		}
	}
	slices.SortFunc(effects, bySemaphore)
	return effects, warnings
}

// previewCordon looks at every permit, because a cordon applies to all semaphores, and at tasks that would go to
// different workers. It assumes that any cordon with the same id is replaced.
func (w *world) previewCordon(c *fsm.SetCordon) (effects []Effect, warnings []string) {
	caught := func(id semaphore.Identity) bool { return w.patterns.Catches(c.GroupPattern, c.AcquirerPattern, id) }
	effect := func(name string) *Effect {
		e := &Effect{Semaphore: name}
		if sd := w.state.Definition(name); sd != nil {
			e.Before, e.After = sd.Definition, sd.Definition
		}
		w.findStopped(e, w.rule(name).withCordon(c.ID, c.Drain, caught))
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
	for name, tasks := range w.state.WorkBySemaphore() {
		if tasks.Waiting > 0 && bySemaphore[name] == nil {
			bySemaphore[name] = effect(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(bySemaphore)) {
		if e := bySemaphore[name]; len(e.Stopped) > 0 || e.TasksRun != w.tasksRun(name, w.rule(name)) {
			effects = append(effects, *e)
		}
	}
	if catches { // a holder counts as seen, even if its sighting has not been committed yet
		return effects, nil
	}
	return effects, w.cordonWarnings(c, caught)
}

// findStopped finds a semaphore's holders that would have to stop because of the change or would have less time to
// stop.
func (w *world) findStopped(e *Effect, then rule) {
	now := w.rule(e.Semaphore)
	for p := range w.state.Holders(e.Semaphore) {
		if p.State == semaphore.Held && len(e.Held) < maxHeld {
			e.Held = append(e.Held, p)
		}
		if p.State != semaphore.Live {
			continue
		}
		before, stopping := w.timeLeft(p, now)
		after, stops := w.timeLeft(p, then)
		switch {
		case stopping && after >= before:
			continue // it already has to stop, and nothing changes for it
		case !stopping && !stops:
			e.Unaffected++
			continue
		case !stopping:
			before = 0
		}
		if w.stopped == maxStopped {
			w.unlisted++
			continue
		}
		w.stopped++
		e.Stopped = append(e.Stopped, Stopped{Permit: p, FreeWithin: freeWithin(then.definition, p, after), DrainLeft: before})
	}
	if len(e.Stopped) > 0 && then.definition != nil && then.definition.OnExpiry == semaphore.OnExpiryHold {
		e.Warnings = append(e.Warnings,
			"A holder that does not release its permit keeps its slot until an operator clears it, because on_expiry holds expired permits.")
	}
	e.TasksRun = w.tasksRun(e.Semaphore, then)
}

// tasksRun describes which workers may take a semaphore's waiting tasks under a rule: workers in known groups that the
// rule admits.
func (w *world) tasksRun(name string, then rule) string {
	if w.state.Work(name).Waiting == 0 {
		return ""
	}
	d := then.definition
	switch {
	case d == nil:
		return "no worker can take them until it is created again"
	case d.Permits == 0:
		return "no worker can take them until it has permits"
	case then.pause != nil:
		return "no worker can take them until the pause ends"
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
	case len(w.known.all) == 0: // no caller has been seen yet
		return fmt.Sprintf("only workers in groups that match %q may take them", d.GroupPattern)
	}
	return fmt.Sprintf("no known worker may take them: a group must match the pattern %q and must not be cordoned", d.GroupPattern)
}

// freeWithin returns the longest time for which a holder that must stop can keep its slot. During a drain, its
// refreshes pick up a longer duration from the definition.
func freeWithin(d *semaphore.Definition, p *semaphore.Permit, drain time.Duration) time.Duration {
	duration := p.Duration
	if d != nil && drain > 0 {
		duration = max(duration, d.Duration)
	}
	total := drain + duration
	return total + semaphore.Grace(duration) + semaphore.LossCooling(d, total)
}
