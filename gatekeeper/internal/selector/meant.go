package selector

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/phrase"
	"github.com/gatekeeperd/gatekeeper/internal/nearest"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// The errors of this file say which definition was likely meant. Each search looks at all definitions, which takes some
// 10 ms for 100,000 of them, so only what operators call suggests a name: edits, pauses, previews, lists, Explain, and
// GetDefinition while there are few definitions. A denial does not: a misspelled job may call TryAcquire very often,
// from many hosts.

// NoDefinitionError says that there is no definition of a name.
type NoDefinitionError struct {
	Name string
	// Meant is the name that was likely meant; empty when none is near.
	Meant string
}

func (e *NoDefinitionError) Error() string {
	return fmt.Sprintf("there is no definition %q", e.Name) + phrase.DidYouMean(e.Meant)
}

// Meant is the name of the definition that was likely meant by a name without one, among those of which sees holds;
// nil: all. It is empty when none is near.
func Meant(state *fsm.State, name string, sees func(state *fsm.State, name string) bool) string {
	return nearest.Among(name, names(state, sees))
}

func names(state *fsm.State, sees func(state *fsm.State, name string) bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for stored := range (&Selector{within: sees}).Definitions(state, "") {
			if !yield(stored.Definition.Name) {
				return
			}
		}
	}
}

// NothingChosenError says that a selector selects no definition. An empty listing is an answer. A change that matches
// nothing is probably a typo, and a script must not take it for done.
type NothingChosenError struct {
	// Chosen are the names and globs of the selector, Labels its requirements.
	Chosen []string
	Labels string
	// Meant is the glob, or the requirements, that were likely meant; empty when nothing is near.
	Meant string
}

// maxQuoted is how many names and globs an error quotes, and how many of them, or of the requirements, it looks up.
const maxQuoted = 10

func (e *NothingChosenError) Error() string {
	var quoted []string
	for _, name := range e.Chosen[:min(len(e.Chosen), maxQuoted)] {
		quoted = append(quoted, strconv.Quote(name))
	}
	if more := len(e.Chosen) - len(quoted); more > 0 {
		quoted = append(quoted, strconv.Itoa(more)+" more")
	}
	text := "no definition matches " + strings.Join(quoted, " or ")
	switch {
	case e.Labels != "" && len(e.Chosen) > 0:
		text += fmt.Sprintf(" and has the labels %q", e.Labels)
	case e.Labels != "":
		text = fmt.Sprintf("no definition has the labels %q", e.Labels)
	case len(e.Chosen) == 0:
		text = "there is no definition"
	}
	return text + phrase.DidYouMean(e.Meant)
}

// nothing is the error of a selector that selects no definition of a state.
func (s *Selector) nothing(state *fsm.State) error {
	e := &NothingChosenError{Chosen: s.given, Labels: s.text}
	for _, glob := range s.given[:min(len(s.given), maxQuoted)] { // each search looks at all definitions
		if e.Meant = nearestGlob(glob, names(state, s.within)); e.Meant != "" {
			return e
		}
	}
	if len(s.given) == 0 {
		e.Meant = s.nearestLabels(state)
	}
	return e
}

// nearestGlob is the glob with another beginning, one that a known name has; empty when none is near, or when the glob
// has no beginning.
func nearestGlob(glob string, known iter.Seq[string]) string {
	n := strings.IndexAny(glob, "*?[")
	if n <= 0 {
		return ""
	}
	meant := nearest.Among(glob[:n], func(yield func(string) bool) {
		for name := range known {
			for _, length := range []int{n, n + 1, n - 1} { // a letter may be missing, or one too many
				if length = min(length, len(name)); length < len(name) && !utf8.RuneStart(name[length]) {
					continue
				}
				if !yield(name[:length]) {
					return
				}
			}
		}
	})
	if meant == "" || meant == glob[:n] { // names begin like this: the rest of the glob is what matches none
		return ""
	}
	return meant + glob[n:]
}

// nearestLabels are the requirements with one value replaced, so that they select a definition: the nearest label of
// those that meet all the others. It is empty when none is near. Only a requirement that demands one value is replaced:
// any other has no nearest label.
func (s *Selector) nearestLabels(state *fsm.State) string {
	for i, r := range s.labels[:min(len(s.labels), maxQuoted)] {
		if r.not || len(r.values) != 1 {
			continue
		}
		others := slices.Delete(slices.Clone(s.labels), i, i+1)
		known := make(map[string]semaphore.Label)
		for stored := range state.Definitions("") {
			if of := stored.Definition.Labels; others.match(of) && s.Sees(state, stored.Definition.Name) {
				for _, l := range of {
					known[l.Key+"="+l.Value] = l
				}
			}
		}
		if l, near := known[nearest.Word(r.key+"="+r.values[0], slices.Sorted(maps.Keys(known)))]; near {
			return slices.Insert(others, i, requirement{key: l.Key, values: []string{l.Value}}).String()
		}
	}
	return ""
}
