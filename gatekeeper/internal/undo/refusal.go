package undo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/phrase"
)

// ConflictError says what keeps changes from being undone. Nothing was done.
type ConflictError struct {
	Changes   []uint64
	Conflicts []string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s cannot be undone, and nothing was done: %s", changesText(e.Changes), phrase.List(e.Conflicts))
}

// IncompleteError says what the journal has forgotten of the changes. Nothing was done.
type IncompleteError struct{ Missing []string }

func (e *IncompleteError) Error() string {
	return "not all can be undone, and nothing was done: " + phrase.List(e.Missing)
}

// Refusal returns why the plan must not be carried out: an *IncompleteError, a *ConflictError, or nil.
func (p *Plan) Refusal() error {
	if len(p.Missing) > 0 && !p.request.Partial {
		e := new(IncompleteError)
		for _, m := range p.Missing {
			e.Missing = append(e.Missing, m.text())
		}
		return e
	}
	if len(p.Conflicts) > 0 {
		return p.conflict(p.Conflicts...)
	}
	return nil
}

// Expect returns a *ConflictError if somebody was shown another plan than this one.
func (p *Plan) Expect(shown, id string) error {
	if shown == "" || shown == id {
		return nil
	}
	return p.conflict("it would do something else by now than what was shown: look again")
}

// Overtaken is the *ConflictError of a plan that the state machine refused.
func (p *Plan) Overtaken(c *fsm.Conflict) error {
	switch c.Kind {
	case fsm.ConflictPause:
		return p.conflict(c.Name + ": it was paused or resumed at this moment by somebody else; look again")
	case fsm.ConflictFirings:
		return p.conflict(c.Name + ": its firings changed at this moment; look again")
	case fsm.ConflictCordon:
		return p.conflict(fmt.Sprintf("cordon %q: it was set or ended at this moment by somebody else; look again", c.Name))
	default:
		return p.conflict(c.Name + ": it was edited at this moment by somebody else; look again")
	}
}

func (p *Plan) conflict(conflicts ...string) error {
	return &ConflictError{p.request.Changes, conflicts}
}

// ID names what the command does and expects: equal plans have equal names. Author, reason and request do not count.
func (p *Plan) ID() (string, error) {
	return fsm.PlanID(*p.Command)
}

// Reason is that of an undo whose caller gives none.
func (r *Request) Reason() string { return "undo of " + changesText(r.Changes) }

// changesText names changes.
func changesText(changes []uint64) string {
	const most = 5
	decimal := func(n uint64) string { return strconv.FormatUint(n, 10) }
	if len(changes) == 1 {
		return "change " + decimal(changes[0])
	}
	var texts []string
	for _, c := range changes[:min(most, len(changes))] {
		texts = append(texts, decimal(c))
	}
	text := "changes " + strings.Join(texts, ", ")
	if more := len(changes) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// text says what the journal has forgotten of a change.
func (m *Missing) text() string {
	const most = 20
	parts := slices.Clone(m.Names[:min(most, len(m.Names))])
	if more := len(m.Names) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	if m.Cordons > 0 {
		parts = append(parts, fmt.Sprintf("%d cordons", m.Cordons))
	}
	what := strings.Join(parts, ", ")
	switch {
	case m.Unknown && what == "":
		what = "some of what it changed"
	case m.Unknown:
		what += " and perhaps more"
	}
	return fmt.Sprintf("the journal has forgotten what change %d did to %s", m.Change, what)
}
