package preview

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/phrase"
	"github.com/gatekeeperd/gatekeeper/internal/nearest"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

const (
	// nobody is a group that nobody can be in: a pattern that admits it admits everybody.
	nobody = "nobody\x00"
	// formerPatterns is how many entries of the journal are searched for groups that patterns named before.
	formerPatterns = 1000
)

// MoveMistake distinguishes a move that was made already from a typo, when there is nothing to move. It returns the
// empty string when some of the chosen definitions admit the new group, or all of them everybody, and the old group is
// known. Otherwise it says, for a person, which word is likely wrong.
func MoveMistake(state *fsm.State, patterns Patterns, from, to string, chosen func(*semaphore.Definition) bool) string {
	groups := knownGroups(state, patterns, from)
	if !groups[from] {
		meant := nearest.Word(from, slices.Sorted(maps.Keys(groups)))
		return fmt.Sprintf("no definition names the group %q, and nobody was seen in it", from) + phrase.DidYouMean(meant)
	}
	open, all := 0, 0
	for sd := range state.Definitions("") {
		if !chosen(sd.Definition) {
			continue
		}
		all++
		switch pattern := sd.Definition.GroupPattern; {
		case patterns.Match(pattern, nobody):
			open++
		case patterns.Match(pattern, to):
			return ""
		}
	}
	if open == all {
		return "" // they let everybody in, the new group too
	}
	what := "1 definition was chosen"
	if all != 1 {
		what = fmt.Sprintf("%d definitions were chosen", all)
	}
	return fmt.Sprintf("%s, and none of them names the group %q or %q: is that the right choice?", what, from, to)
}

// knownGroups are the groups that definitions name or named, and those of callers who were seen; and the given group,
// when a pattern that does not let in everybody admits it.
func knownGroups(state *fsm.State, patterns Patterns, group string) map[string]bool {
	groups := make(map[string]bool)
	add := func(pattern string) {
		for part := range strings.SplitSeq(strings.Trim(strings.TrimPrefix(pattern, "(?:"), "()"), "|") {
			if plain, ok := literal(part); ok {
				groups[plain] = true
			}
		}
	}
	for sd := range state.Definitions("") {
		pattern := sd.Definition.GroupPattern
		add(pattern)
		if patterns.Match(pattern, group) && !patterns.Match(pattern, nobody) {
			groups[group] = true
		}
	}
	for s := range state.Sightings() {
		groups[s.Group] = true
	}
	left := formerPatterns
	for entry := range state.JournalBackward("", 0) {
		if left--; left < 0 {
			break
		}
		if entry.Before != nil {
			add(entry.Before.GroupPattern)
		}
	}
	return groups
}
