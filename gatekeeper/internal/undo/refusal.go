package undo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/phrase"
)

// ConflictError means that changes cannot be undone because of conflicts. Nothing was changed.
type ConflictError struct {
	Changes   []uint64
	Conflicts []string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("cannot undo %s; nothing was changed: %s", changesText(e.Changes), phrase.List(e.Conflicts))
}

// IncompleteError lists the parts of the changes that are no longer in the journal. Nothing was changed.
type IncompleteError struct{ Missing []string }

func (e *IncompleteError) Error() string {
	return "the undo would be incomplete, so nothing was changed: " + phrase.List(e.Missing)
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

// Expect returns a *ConflictError if the caller was shown a different plan.
func (p *Plan) Expect(shown, id string) error {
	if shown == "" || shown == id {
		return nil
	}
	return p.conflict("the undo would no longer have the effect that was previewed; preview it again")
}

// StaleError returns the *ConflictError for a plan that the state machine refused.
func (p *Plan) StaleError(c *fsm.Conflict) error {
	switch c.Kind {
	case fsm.ConflictPause:
		return p.conflict(c.Name + ": another user paused or resumed it in the meantime; preview the undo again")
	case fsm.ConflictFirings:
		return p.conflict(c.Name + ": its firings changed in the meantime; preview the undo again")
	case fsm.ConflictCordon:
		return p.conflict(fmt.Sprintf("cordon %q: another user set or ended it in the meantime; preview the undo again", c.Name))
	default:
		return p.conflict(c.Name + ": another user edited it in the meantime; preview the undo again")
	}
}

func (p *Plan) conflict(conflicts ...string) error {
	return &ConflictError{p.request.Changes, conflicts}
}

// ID returns an id for the command and the versions that it expects. Identical plans have the same id, regardless of
// their author, reason and request id.
func (p *Plan) ID() (string, error) {
	return fsm.PlanID(*p.Command)
}

// Reason returns the default reason for an undo.
func (r *Request) Reason() string { return "undo of " + changesText(r.Changes) }

// changesText returns text such as "change 7" or "changes 3, 5, 7".
func changesText(changes []uint64) string {
	const maxListed = 5
	decimal := func(n uint64) string { return strconv.FormatUint(n, 10) }
	if len(changes) == 1 {
		return "change " + decimal(changes[0])
	}
	var texts []string
	for _, c := range changes[:min(maxListed, len(changes))] {
		texts = append(texts, decimal(c))
	}
	text := "changes " + strings.Join(texts, ", ")
	if more := len(changes) - maxListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// text describes the parts of the change that are no longer in the journal.
func (m *Missing) text() string {
	const maxListed = 20
	parts := slices.Clone(m.Names[:min(maxListed, len(m.Names))])
	if more := len(m.Names) - maxListed; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	if m.Cordons > 0 {
		parts = append(parts, phrase.Count(m.Cordons, "cordon", "cordons"))
	}
	what := strings.Join(parts, ", ")
	switch {
	case m.Unknown && what == "":
		what = "some of the objects it changed"
	case m.Unknown:
		what += " and possibly more"
	}
	return fmt.Sprintf("the journal no longer contains the effects of change %d on %s", m.Change, what)
}
