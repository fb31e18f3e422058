package preview

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/phrase"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/selector"
	"github.com/gatekeeperd/gatekeeper/internal/nearest"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Moves holds the edits that make up a move, and the definitions and permits that the move leaves unchanged.
type Moves struct {
	// Edits replace the group pattern of each moving definition, ordered by name.
	Edits []fsm.Change
	// NotMoved lists the selected definitions that are left unchanged.
	NotMoved []NotMoved
	// Stay lists the old group's live permits in selected definitions that admit both groups. Their holders continue.
	Stay []*semaphore.Permit
}

// NotMoved is a definition that a move leaves unchanged.
type NotMoved struct {
	Semaphore string
	// Why is the reason, as shown to the operator.
	Why string
	// Problem is set if the definition should move but must be edited by hand: its pattern cannot be rewritten without
	// changing which other callers are admitted, or would become too long.
	Problem bool
}

// MoveRequest specifies what to move.
type MoveRequest struct {
	From, To string
	Chosen   *selector.Selector
	Drain    time.Duration
	Shown    *Digest // what the caller was shown; nil accepts any move
}

// MovePlan describes what a move does.
type MovePlan struct {
	Moves
	Digest   Digest
	Effects  []Effect
	Warnings []string
	Confirm  []Confirmation
	// Doubts and Mistake are the results of MoveDoubts and MoveMistake.
	Doubts  []string
	Mistake string
	// Chosen is the number of selected definitions, whether or not they move.
	Chosen int
}

// maxMoved is the maximum number of definitions in one move: as many as one batch can edit.
const maxMoved = 10_000

// PlanMove plans a move against a state. It returns the same errors as Selector.Names, a *semaphore.FieldError if too
// many definitions would move, and a *ChangedError if the move is not what the caller was shown.
func PlanMove(state *fsm.State, leader Leader, m MoveRequest, now time.Time) (*MovePlan, error) {
	chosen, err := m.Chosen.Names(state)
	if err != nil {
		return nil, err
	}
	plan := &MovePlan{Chosen: len(chosen), Moves: Move(state, leader, m.From, m.To, m.Chosen.Match, m.Chosen.Named)}
	if n := len(plan.Edits); n > maxMoved {
		return nil, semaphore.Invalid("selector", strconv.Itoa(n)+" definitions",
			"must select at most "+strconv.Itoa(maxMoved)+" definitions, the limit per step: move them in several steps")
	}
	targets := editTargets(plan.Edits)
	if err := checkShown(state, m.Shown, targets); err != nil {
		return nil, err
	}
	plan.Digest = DigestOf(state.Revision(), targets)
	change := Change{Edits: plan.Edits, Drain: m.Drain, Now: now}
	plan.Effects, plan.Warnings = Effects(state, leader, change)
	if w := stayWarning(m.From, plan.Stay); w != "" {
		plan.Warnings = append(plan.Warnings, w)
	}
	plan.Confirm = Confirm(state, leader, change, plan.Effects)
	plan.Doubts = MoveDoubts(state, m.To, plan.Effects)
	if len(plan.Edits) == 0 {
		plan.Mistake = MoveMistake(state, leader, m.From, m.To, m.Chosen.Match)
	}
	return plan, nil
}

// Move plans the edits that move definitions from one group to another. A definition moves if it admits the old group
// but not the new one. After the edit it admits the new group instead; nothing changes for other callers. Definitions
// that do not admit the old group or already admit the new one are skipped silently, unless named reports that the
// operator named them.
func Move(state *fsm.State, patterns Patterns, from, to string, chosen func(*semaphore.Definition) bool, named func(name string) bool) Moves {
	var m Moves
	for sd := range state.Definitions("") {
		d := sd.Definition
		if !chosen(d) {
			continue
		}
		skip := func(problem bool, format string, args ...any) {
			m.NotMoved = append(m.NotMoved, NotMoved{Semaphore: d.Name, Why: fmt.Sprintf(format, args...), Problem: problem})
		}
		admitsFrom, admitsTo := patterns.Match(d.GroupPattern, from), patterns.Match(d.GroupPattern, to)
		if admitsFrom && admitsTo && from != to {
			for p := range state.Holders(d.Name) {
				if p.State == semaphore.Live && p.Stop == semaphore.NotStopping && p.Identity.Group == from {
					m.Stay = append(m.Stay, p)
				}
			}
		}
		switch {
		case (admitsTo || !admitsFrom) && !named(d.Name):
			continue
		case admitsTo:
			skip(false, "its group pattern %q already admits %q", d.GroupPattern, to)
			continue
		case !admitsFrom:
			skip(false, "its group pattern %q does not admit %q", d.GroupPattern, from)
			continue
		}
		pattern, ok := replaceGroup(d.GroupPattern, from, to)
		if !ok || patterns.Match(pattern, from) || !patterns.Match(pattern, to) {
			skip(true, "its group pattern %q is not a plain list of groups, so removing %q from it would change who else is admitted: edit it by hand",
				d.GroupPattern, from)
			continue
		}
		if len(pattern) > semaphore.MaxPattern {
			skip(true, "its group pattern would be %d bytes long, and the maximum is %d: edit it by hand", len(pattern), semaphore.MaxPattern)
			continue
		}
		moved := *d
		moved.GroupPattern = pattern
		m.Edits = append(m.Edits, fsm.Change{Kind: fsm.Replace, Definition: &moved, Name: d.Name, ExpectedVersion: sd.Version})
	}
	return m
}

// stayWarning describes the holders that continue in the old group after a move, or returns an empty string if there
// are none.
func stayWarning(from string, permits []*semaphore.Permit) string {
	if len(permits) == 0 {
		return ""
	}
	var names []string
	for _, p := range permits {
		names = append(names, fmt.Sprintf("%s holds %s", p.Identity.Acquirer, p.Semaphore))
	}
	return fmt.Sprintf("%s in group %q, because the group pattern admits both groups: %s. To stop them, edit the patterns or cordon the group.",
		phrase.Count(len(permits), "holder continues", "holders continue"), from, phrase.Names(names))
}

// MoveDoubts returns messages for the operator if a move with these effects is probably a mistake: no caller has ever
// been seen in the new group, or a definition would admit no known caller. A group that appears only in definitions may
// have no callers at all.
func MoveDoubts(state *fsm.State, to string, effects []Effect) []string {
	if len(effects) == 0 {
		return nil
	}
	seen := false
	var groups []string
	for s := range state.Sightings() {
		if s.Group == to {
			seen = true
			break
		}
		if n := len(groups); n == 0 || groups[n-1] != s.Group {
			groups = append(groups, s.Group)
		}
	}
	if !seen {
		text := fmt.Sprintf("no caller has ever been seen in the group %q", to)
		if near := nearest.Word(to, groups); near != "" {
			text += fmt.Sprintf("; the nearest known group is %q", near)
		}
		return []string{text}
	}
	var unreachable []string
	for i := range effects {
		if effects[i].Eligible == 0 {
			unreachable = append(unreachable, effects[i].Semaphore)
		}
	}
	if len(unreachable) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("no known caller would be admitted to %s", phrase.Names(unreachable))}
}

// replaceGroup replaces one group with another in a pattern that is a plain list of groups: "a" or "a|b|c", optionally
// in parentheses. The other groups are copied verbatim.
func replaceGroup(pattern, from, to string) (string, bool) {
	list, open, closing := pattern, "", ""
	for _, prefix := range []string{"(?:", "("} {
		inner, found := strings.CutPrefix(list, prefix)
		if inner, end := strings.CutSuffix(inner, ")"); found && end {
			list, open, closing = inner, prefix, ")"
			break
		}
	}
	groups := strings.Split(list, "|")
	for i, group := range groups {
		plain, ok := literal(group)
		if !ok {
			return "", false
		}
		if plain == from {
			groups[i] = regexp.QuoteMeta(to)
		}
	}
	groups = slices.Compact(groups)
	return open + strings.Join(groups, "|") + closing, true
}

// literal returns the text that a pattern matches if it matches exactly one string.
func literal(pattern string) (string, bool) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || tree.Op != syntax.OpLiteral || tree.Flags&syntax.FoldCase != 0 {
		return "", false
	}
	return string(tree.Rune), true
}
