package selector

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// maxSearch is the maximum length of a search in bytes.
const maxSearch = 256

// Search selects definitions by the words that they contain. An empty Search selects all of them.
type Search []string

// ParseSearch splits a search into words. field is the name of the request field that contains it, for error messages.
func ParseSearch(field, text string) (Search, error) {
	switch {
	case len(text) > maxSearch:
		return nil, semaphore.Invalid(field, strconv.Itoa(len(text))+" bytes", "must be at most "+strconv.Itoa(maxSearch)+" bytes")
	case !utf8.ValidString(text):
		return nil, semaphore.Invalid(field, text, "must be valid UTF-8")
	}
	return strings.Fields(strings.ToLower(text)), nil
}

// Match reports whether every word occurs in the name, the description, or a label written as key=value. Case is
// ignored.
func (s Search) Match(d *semaphore.Definition) bool {
	for _, word := range s {
		in := func(text string) bool { return strings.Contains(strings.ToLower(text), word) }
		if !in(d.Name) && !in(d.Description) && !slices.ContainsFunc(d.Labels, func(l semaphore.Label) bool { return in(l.Key + "=" + l.Value) }) {
			return false
		}
	}
	return true
}
