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

// The errors in this file suggest the definition that was probably meant. Each search scans all definitions, which
// takes about 10 ms for 100,000 of them, so only operators' calls get suggestions: edits, pauses, previews, lists,
// Explain, and GetDefinition while there are few definitions. Denials get none, because a job with a misspelled name
// may call TryAcquire very often, from many hosts.

// NoDefinitionError means that there is no definition with the given name.
type NoDefinitionError struct {
	Name string
	// Suggestion is the most similar existing name, or "" if none is similar.
	Suggestion string
}

func (e *NoDefinitionError) Error() string {
	return fmt.Sprintf("there is no definition %q", e.Name) + phrase.DidYouMean(e.Suggestion)
}

// Suggestion returns the existing name that is most similar to an undefined name, or "" if none is similar. It
// considers only names for which visible returns true, or all names if visible is nil.
func Suggestion(state *fsm.State, name string, visible func(state *fsm.State, name string) bool) string {
	return nearest.Among(name, names(state, visible))
}

func names(state *fsm.State, visible func(state *fsm.State, name string) bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for stored := range (&Selector{within: visible}).Definitions(state, "") {
			if !yield(stored.Definition.Name) {
				return
			}
		}
	}
}

// NoMatchError means that a selector matches no definitions. A listing may be empty, but a change fails: the selector
// probably has a typo, and a script must not mistake that for success.
type NoMatchError struct {
	// Chosen lists the names and globs in the selector. Labels contains its label requirements.
	Chosen []string
	Labels string
	// Suggestion is the glob or label requirements that the caller probably meant. It is empty if nothing is similar.
	Suggestion string
}

// maxQuoted limits how many names and globs an error quotes, and how many globs or label requirements it tries to
// correct.
const maxQuoted = 10

func (e *NoMatchError) Error() string {
	var quoted []string
	for _, name := range e.Chosen[:min(len(e.Chosen), maxQuoted)] {
		quoted = append(quoted, strconv.Quote(name))
	}
	if more := len(e.Chosen) - len(quoted); more > 0 {
		quoted = append(quoted, strconv.Itoa(more)+" more")
	}
	text := "no definitions match " + strings.Join(quoted, " or ")
	switch {
	case e.Labels != "" && len(e.Chosen) > 0:
		text += fmt.Sprintf(" and have the labels %q", e.Labels)
	case e.Labels != "":
		text = fmt.Sprintf("no definitions have the labels %q", e.Labels)
	case len(e.Chosen) == 0:
		text = "there are no definitions"
	}
	return text + phrase.DidYouMean(e.Suggestion)
}

// noMatch returns the error for a selector that matches no definitions.
func (s *Selector) noMatch(state *fsm.State) error {
	e := &NoMatchError{Chosen: s.rawNames, Labels: s.rawLabels}
	for _, glob := range s.rawNames[:min(len(s.rawNames), maxQuoted)] { // each search scans all definitions
		if e.Suggestion = nearestGlob(glob, names(state, s.within)); e.Suggestion != "" {
			return e
		}
	}
	if len(s.rawNames) == 0 {
		e.Suggestion = s.nearestLabels(state)
	}
	return e
}

// nearestGlob returns the glob with its literal prefix replaced by a similar prefix of a known name. It returns "" if
// no prefix is similar, or if the glob does not start with a literal prefix.
func nearestGlob(glob string, known iter.Seq[string]) string {
	n := strings.IndexAny(glob, "*?[")
	if n <= 0 {
		return ""
	}
	suggestion := nearest.Among(glob[:n], func(yield func(string) bool) {
		for name := range known {
			for _, length := range []int{n, n + 1, n - 1} { // a letter may be missing or extra
				if length = min(length, len(name)); length < len(name) && !utf8.RuneStart(name[length]) {
					continue
				}
				if !yield(name[:length]) {
					return
				}
			}
		}
	})
	if suggestion == "" || suggestion == glob[:n] { // the prefix exists, so the mismatch is in the rest of the glob
		return ""
	}
	return suggestion + glob[n:]
}

// nearestLabels returns the requirements with one of them replaced so that they select a definition. The replacement is
// the most similar label among the definitions that meet all the other requirements. It returns "" if none is similar.
// Only a positive requirement with a single value can be replaced: there is no nearest label for any other kind.
func (s *Selector) nearestLabels(state *fsm.State) string {
	for i, r := range s.labels[:min(len(s.labels), maxQuoted)] {
		if r.not || len(r.values) != 1 {
			continue
		}
		others := slices.Delete(slices.Clone(s.labels), i, i+1)
		known := make(map[string]semaphore.Label)
		for stored := range state.Definitions("") {
			if defLabels := stored.Definition.Labels; others.match(defLabels) && s.Visible(state, stored.Definition.Name) {
				for _, l := range defLabels {
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
