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
	// impossibleGroup is a group that no caller can be in: a pattern that admits it admits every group.
	impossibleGroup = "nobody\x00"
	// maxSearchedEntries is the maximum number of journal entries searched for groups that patterns used to name.
	maxSearchedEntries = 1000
)

// MoveMistake distinguishes a move that has already been made from a typo, when there is nothing to move. It returns an
// empty string if the old group is known and some of the selected definitions admit the new group, or all of them admit
// every group. Otherwise, it returns a sentence that tells the operator what is probably wrong.
func MoveMistake(state *fsm.State, patterns Patterns, from, to string, chosen func(*semaphore.Definition) bool) string {
	groups := knownGroups(state, patterns, from)
	if !groups[from] {
		suggestion := nearest.Word(from, slices.Sorted(maps.Keys(groups)))
		return fmt.Sprintf("no definition names the group %q, and no caller has been seen in it", from) + phrase.DidYouMean(suggestion)
	}
	unrestricted, selected := 0, 0
	for sd := range state.Definitions("") {
		if !chosen(sd.Definition) {
			continue
		}
		selected++
		switch pattern := sd.Definition.GroupPattern; {
		case patterns.Match(pattern, impossibleGroup):
			unrestricted++
		case patterns.Match(pattern, to):
			return ""
		}
	}
	if unrestricted == selected {
		return "" // they admit every group, including the new one
	}
	if selected == 1 {
		return fmt.Sprintf("1 definition was selected, and it names neither group %q nor group %q: is the selection correct?", from, to)
	}
	return fmt.Sprintf("%d definitions were selected, and none of them names group %q or group %q: is the selection correct?", selected, from, to)
}

// knownGroups returns the groups that definitions name or used to name, and the groups of callers seen so far. The
// given group is also included if a pattern admits it without admitting every group.
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
		if patterns.Match(pattern, group) && !patterns.Match(pattern, impossibleGroup) {
			groups[group] = true
		}
	}
	for s := range state.Sightings() {
		groups[s.Group] = true
	}
	remaining := maxSearchedEntries
	for entry := range state.JournalBackward("", 0) {
		if remaining--; remaining < 0 {
			break
		}
		if entry.Before != nil {
			add(entry.Before.GroupPattern)
		}
	}
	return groups
}
