package selector

import (
	"iter"
	"slices"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// maxChosen is the maximum number of definitions in one change.
const maxChosen = 100_000

// Selector selects semaphores by name and by the labels of their definitions. An empty Selector selects all of them.
type Selector struct {
	rawNames  []string // the globs, unparsed
	plain     []string // the sorted names, if every glob is a plain name
	rawLabels string   // the label requirements, unparsed
	names     Globs
	labels    labels
	// within limits the selection to the semaphores that the caller may see. nil means all of them.
	within func(state *fsm.State, name string) bool
}

// Within returns a selector limited to the semaphores for which visible returns true. It behaves as if there were no
// others. If visible is nil, Within returns s unchanged.
func (s *Selector) Within(visible func(state *fsm.State, name string) bool) *Selector {
	if visible == nil {
		return s
	}
	limited := *s
	limited.within = visible
	return &limited
}

// Visible reports whether the caller may see the named semaphore.
func (s *Selector) Visible(state *fsm.State, name string) bool {
	return s.within == nil || s.within(state, name)
}

// Parse parses the names and labels fields of the message at the given path. The path is empty for the request itself.
func Parse(path string, names []string, labels string) (s *Selector, err error) {
	if path != "" {
		path += "."
	}
	s = &Selector{rawNames: names, rawLabels: labels}
	if s.names, err = ParseGlobs(path+"names", names); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(names, func(name string) bool { return !plain(name) }) {
		s.plain = slices.Compact(slices.Sorted(slices.Values(names)))
	}
	s.labels, err = parseLabels(path+"labels", labels)
	return s, err
}

// ParseChoice parses a selector that must be explicit: names, labels, or all.
func ParseChoice(path string, m interface {
	GetNames() []string
	GetLabels() string
	GetAll() bool
}) (*Selector, error) {
	s, err := Parse(path, m.GetNames(), m.GetLabels())
	if err != nil {
		return nil, err
	}
	switch chosen := len(m.GetNames()) > 0 || m.GetLabels() != ""; {
	case m.GetAll() && chosen:
		return nil, semaphore.Invalid(path, "", "must not combine all with names or labels")
	case !m.GetAll() && !chosen:
		return nil, semaphore.Invalid(path, "", "must specify which definitions: names, labels or all")
	}
	return s, nil
}

// Match reports whether a definition is selected.
func (s *Selector) Match(d *semaphore.Definition) bool {
	return s.names.Match(d.Name) && s.labels.match(d.Labels)
}

// MatchLabels reports whether these labels meet the label requirements.
func (s *Selector) MatchLabels(l semaphore.Labels) bool { return s.labels.match(l) }

// MatchNow reports whether the named semaphore is currently selected. Without label requirements, the semaphore need
// not be defined.
func (s *Selector) MatchNow(state *fsm.State, name string) bool {
	return s.names.Match(name) && s.labels.matchNamed(state, name) && s.Visible(state, name)
}

// MatchEntry reports whether a journal entry concerns a semaphore that is selected now, or was selected before or after
// the entry. Entries about cordons match only a selector without names and labels.
func (s *Selector) MatchEntry(state *fsm.State, e *fsm.JournalEntry) bool {
	if e.Semaphore != "" && !s.Visible(state, e.Semaphore) {
		return false
	}
	if len(s.names) == 0 && len(s.labels) == 0 {
		return true
	}
	return e.Semaphore != "" && s.names.Match(e.Semaphore) && (s.labels.matchNamed(state, e.Semaphore) ||
		e.Before != nil && s.labels.match(e.Before.Labels) || e.After != nil && s.labels.match(e.After.Labels))
}

// MatchEvent reports whether an event concerns a semaphore that was selected before or after the event. An event about
// a permit has no definition, so the current definition is used. A cordon concerns every semaphore.
func (s *Selector) MatchEvent(state *fsm.State, e *fsm.Event) bool {
	switch {
	case e.Semaphore == "":
		return true
	case !s.names.Match(e.Semaphore) || !s.Visible(state, e.Semaphore):
		return false
	case e.Definition == nil && e.Before == nil:
		return s.labels.matchNamed(state, e.Semaphore)
	}
	return e.Definition != nil && s.labels.match(e.Definition.Definition.Labels) ||
		e.Before != nil && s.labels.match(e.Before.Definition.Labels)
}

// Named reports whether a semaphore was selected by name, rather than by a glob or by its labels.
func (s *Selector) Named(name string) bool { return slices.Contains(s.rawNames, name) }

// CheckDefined returns a *NoDefinitionError for the first name without a definition.
func CheckDefined(state *fsm.State, names ...string) error {
	return new(Selector).checkDefined(state, names...)
}

func (s *Selector) checkDefined(state *fsm.State, names ...string) error {
	for _, name := range names {
		if state.Definition(name) == nil || !s.Visible(state, name) {
			return &NoDefinitionError{Name: name, Suggestion: Suggestion(state, name, s.within)}
		}
	}
	return nil
}

// CheckNames returns a *NoDefinitionError if a name in the selector has no definition.
func (s *Selector) CheckNames(state *fsm.State) error {
	for _, name := range s.rawNames {
		if !plain(name) {
			continue
		}
		if err := s.checkDefined(state, name); err != nil {
			return err
		}
	}
	return nil
}

// Names returns the sorted names of the selected definitions. It returns a *NoDefinitionError if a name in the selector
// has no definition, a *NoMatchError if nothing is selected, and a *semaphore.FieldError if more definitions are
// selected than one change may contain.
func (s *Selector) Names(state *fsm.State) ([]string, error) {
	if err := s.CheckNames(state); err != nil {
		return nil, err
	}
	var chosen []string
	for stored := range s.Definitions(state, "") {
		chosen = append(chosen, stored.Definition.Name)
	}
	if len(chosen) == 0 {
		return nil, s.noMatch(state)
	}
	if len(chosen) > maxChosen {
		return nil, semaphore.Invalid("selector", "", "must select at most 100,000 definitions: split the change")
	}
	return chosen, nil
}

// CheckMatch returns the same errors as Names, but accepts any number of definitions.
func (s *Selector) CheckMatch(state *fsm.State) error {
	if err := s.CheckNames(state); err != nil {
		return err
	}
	for range s.Definitions(state, "") {
		return nil
	}
	return s.noMatch(state)
}

// Definitions returns the selected definitions in name order, starting at from. Plain names are looked up directly, so
// a page that watches 30 of 100,000 definitions costs only 30 lookups.
func (s *Selector) Definitions(state *fsm.State, from string) iter.Seq[*fsm.StoredDefinition] {
	return func(yield func(*fsm.StoredDefinition) bool) {
		candidates := state.Definitions(from)
		if len(s.plain) > 0 {
			candidates = s.lookUp(state, from)
		}
		for stored := range candidates {
			if d := stored.Definition; s.Match(d) && s.Visible(state, d.Name) && !yield(stored) {
				return
			}
		}
	}
}

func (s *Selector) lookUp(state *fsm.State, from string) iter.Seq[*fsm.StoredDefinition] {
	return func(yield func(*fsm.StoredDefinition) bool) {
		for _, name := range s.plain {
			if stored := state.Definition(name); name >= from && stored != nil && !yield(stored) {
				return
			}
		}
	}
}

// Holders returns the selected semaphores' permits, ordered by semaphore and token. It starts at the semaphore named
// from and, within it, at token. Plain names are looked up directly.
func (s *Selector) Holders(state *fsm.State, from string, token uint64) iter.Seq[*semaphore.Permit] {
	return func(yield func(*semaphore.Permit) bool) {
		if len(s.plain) == 0 {
			for p := range state.HoldersFrom(from, token) {
				if s.MatchNow(state, p.Semaphore) && !yield(p) {
					return
				}
			}
			return
		}
		for _, name := range s.plain {
			if name < from || !s.MatchNow(state, name) {
				continue
			}
			for p := range state.Holders(name) {
				if (name > from || p.Token >= token) && !yield(p) {
					return
				}
			}
		}
	}
}
