package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/internal/nearest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// nobody is a group that nobody can be in: a pattern that admits it admits everybody.
const nobody = "nobody\x00"

// whyNothing tells a move that has been made already from one that was mistyped. It returns nil when the chosen definitions, or
// some of them, admit the new group and the old group is known: there is nothing left to do. Otherwise it says which word is likely
// wrong, and the command fails.
func (o *moveOptions) whyNothing(ctx context.Context, c *client.Client) error {
	all, err := definitions(ctx, c, nil, "")
	if err != nil {
		return err
	}
	chosen := all
	if len(o.chosen.names) > 0 || o.chosen.labels != "" {
		if chosen, err = definitions(ctx, c, o.chosen.names, o.chosen.labels); err != nil {
			return err
		}
	}
	if len(chosen) == 0 {
		return nothingChosen(ctx, c, o.chosen.names, o.chosen.labels)
	}
	groups, err := knownGroups(ctx, c, all, o.from)
	if err != nil {
		return err
	}
	const hint = "Nothing was moved. `gkctl get` shows which groups are let in."
	if !groups[o.from] {
		text := fmt.Sprintf("no definition names the group %q, and nobody was seen in it", o.from)
		if meant := nearest.Word(o.from, slices.Sorted(maps.Keys(groups))); meant != "" {
			text += fmt.Sprintf("; did you mean --from %s?", shellWord(meant))
		}
		return &codeError{code: exitNoSuch, err: errors.New(text), hint: hint}
	}
	open := 0
	for _, r := range chosen {
		pattern := r.GetDefinition().GetGroupPattern()
		switch {
		case admits(pattern, nobody):
			open++
		case admits(pattern, o.to):
			return nil
		}
	}
	if open == len(chosen) {
		return nil // they let everybody in, the new group too
	}
	return &codeError{
		code: exitNoSuch, hint: hint,
		err: fmt.Errorf("%s, and none of them names the group %q or %q: is that the right choice?", plural(len(chosen), "definition was chosen", "definitions were chosen"), o.from, o.to),
	}
}

// knownGroups are the groups that definitions name or named, and those of callers who were seen; and that group, when a pattern that
// does not let in everybody admits it.
func knownGroups(ctx context.Context, c *client.Client, all []*gatekeeperv1.DefinitionRecord, group string) (map[string]bool, error) {
	groups := make(map[string]bool)
	for _, r := range all {
		pattern := r.GetDefinition().GetGroupPattern()
		addGroups(groups, pattern)
		if admits(pattern, group) && !admits(pattern, nobody) {
			groups[group] = true
		}
	}
	return groups, addKnownGroups(ctx, c, groups)
}

// admits says whether a group pattern matches the whole of a group, as the servers do; one that cannot be compiled matches nothing.
func admits(pattern, group string) bool {
	p, err := regexp.Compile(`\A(?:` + pattern + `)\z`)
	return err == nil && p.MatchString(group)
}

// addGroups adds the groups that a pattern names: those of a list, as "a" or "a|b". A part that matches more than one text names none.
func addGroups(groups map[string]bool, pattern string) {
	list := strings.Trim(strings.TrimPrefix(pattern, "(?:"), "()")
	for part := range strings.SplitSeq(list, "|") {
		if tree, err := syntax.Parse(part, syntax.Perl); err == nil && tree.Op == syntax.OpLiteral && tree.Flags&syntax.FoldCase == 0 {
			groups[string(tree.Rune)] = true
		}
	}
}

// addKnownGroups adds the groups of those who were seen asking, and those that patterns named before they were edited, as far as
// the newest page of the journal goes.
func addKnownGroups(ctx context.Context, c *client.Client, groups map[string]bool) error {
	for req := (&gatekeeperv1.ListKnownRequest{PageSize: 1000}); ; {
		r, err := c.Operator().ListKnown(ctx, req)
		if err != nil {
			return err
		}
		for _, caller := range r.GetCallers() {
			groups[caller.GetGroup()] = true
		}
		if req.PageToken = r.GetNextPageToken(); req.PageToken == "" {
			break
		}
	}
	r, err := c.Operator().ListHistory(ctx, &gatekeeperv1.ListHistoryRequest{PageSize: 1000})
	for _, e := range r.GetEntries() {
		if e.GetBefore() != nil {
			addGroups(groups, e.GetBefore().GetGroupPattern())
		}
	}
	return err
}
