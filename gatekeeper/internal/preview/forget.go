package preview

import (
	"fmt"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/phrase"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/selector"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// MaxForgotten is the maximum number of firings forgotten in one step. The journal entry lists all of them, and clients
// accept messages of at most 4 MiB.
const MaxForgotten = 1000

// NoFiringError means that a semaphore has no record of a firing.
type NoFiringError struct {
	Semaphore string
	Firing    semaphore.Firing
}

func (e *NoFiringError) Error() string {
	return fmt.Sprintf("semaphore %q does not remember firing %s: gkctl firings list shows the ones it remembers", e.Semaphore, phrase.Firing(e.Firing))
}

// FiringConflictError explains why firings cannot be forgotten. Nothing was changed.
type FiringConflictError struct {
	Semaphore string
	Conflicts []string
}

func (e *FiringConflictError) Error() string {
	return fmt.Sprintf("no firings of semaphore %q were forgotten: %s", e.Semaphore, phrase.List(e.Conflicts))
}

// ForgetRequest specifies which of a semaphore's firings to forget: the listed ones or, with After or TooFarAhead, all
// later ones.
type ForgetRequest struct {
	Semaphore   string
	Firings     []semaphore.Firing
	After       time.Time
	TooFarAhead bool   // forget the firings due later than any caller with a correct clock could request
	KeepMark    bool   // do not lower the low-water mark
	Shown       string // the id of the plan that the caller was shown; empty accepts any plan
}

// ForgetPlan is a plan to forget firings.
type ForgetPlan struct {
	// Command carries out the plan. The caller adds the author, the reason and the time. The command lists the claims'
	// tokens, so it is refused if a claim changes.
	Command fsm.ForgetFirings
	ID      string
	Change  *fsm.FiringsChange
	Confirm []Confirmation
}

// PlanForget decides which firings to forget. now is the leader's time. The error is a *selector.NoDefinitionError, a
// *NoFiringError, a *FiringConflictError or a *semaphore.FieldError.
func PlanForget(state *fsm.State, f ForgetRequest, now time.Time) (*ForgetPlan, error) {
	if err := CheckKnown(state, f.Semaphore); err != nil {
		return nil, err
	}
	claims, lowerTo, err := f.claims(state, now)
	if err != nil {
		return nil, err
	}
	if err := checkNotHeld(state, f.Semaphore, claims); err != nil {
		return nil, err
	}
	plan := &ForgetPlan{Command: fsm.ForgetFirings{Semaphore: f.Semaphore}}
	for _, c := range claims {
		plan.Command.Firings = append(plan.Command.Firings, fsm.ExpectedClaim{Firing: c.Firing, Token: c.Token})
	}
	if plan.ID, err = fsm.PlanID(plan.Command); err != nil {
		return nil, err
	}
	if f.Shown != "" && f.Shown != plan.ID {
		return nil, &FiringConflictError{f.Semaphore, []string{"the firings to forget have changed since they were shown: list them again"}}
	}
	if !f.KeepMark {
		plan.Command.LowerTo = lowerTo
	}
	mark := state.LowWater(f.Semaphore)
	plan.Change = &fsm.FiringsChange{Claims: claims, MarkBefore: mark, MarkAfter: mark}
	if to := plan.Command.LowerTo; !to.IsZero() && to.Before(mark) {
		plan.Change.MarkAfter = to
	}
	plan.Confirm = confirmForgetting(plan.Command.Firings, mark, plan.Change.MarkAfter)
	return plan, nil
}

// CheckKnown returns a *selector.NoDefinitionError for a name that has neither a definition nor remembered firings.
func CheckKnown(state *fsm.State, name string) error {
	if state.Definition(name) == nil && state.ClaimCount(name) == 0 && state.LowWater(name).IsZero() {
		return selector.CheckDefined(state, name)
	}
	return nil
}

// claims returns the selected claims in order, and the new low-water mark; zero leaves the mark unchanged.
func (c *ForgetRequest) claims(state *fsm.State, now time.Time) (claims []*semaphore.Claim, lowerTo time.Time, err error) {
	for _, f := range c.Firings {
		claim := state.Claim(c.Semaphore, f)
		if claim == nil {
			return nil, time.Time{}, &NoFiringError{c.Semaphore, f}
		}
		claims = append(claims, claim)
	}
	if len(c.Firings) > 0 {
		return claims, time.Time{}, nil
	}
	after, lowerTo := c.After, c.After
	if c.TooFarAhead {
		// Firings due between now and after may come from hosts with correct clocks, so they are kept. The mark is
		// lowered only to now, because it is unknown whether firings due earlier ran.
		lowerTo = now.Round(0).UTC()
		after = lowerTo.Add(maxAhead(state, c.Semaphore))
	}
	for claim := range state.ClaimsBackward(c.Semaphore, nil) {
		if !claim.Firing.Due.After(after) {
			break
		}
		if len(claims) == MaxForgotten {
			next := fmt.Sprintf("set after to %s to forget the latest ones first, then repeat for the rest", claim.Firing.Due.Format(time.RFC3339Nano))
			if claim.Firing.Due.Equal(claims[0].Firing.Due) {
				next = fmt.Sprintf("name %d of the firings due at %s, then repeat for the rest", MaxForgotten, claim.Firing.Due.Format(time.RFC3339Nano))
			}
			return nil, time.Time{}, semaphore.Invalid("after", after.Format(time.RFC3339), fmt.Sprintf(
				"must select at most %d firings, the limit per step: %s", MaxForgotten, next))
		}
		claims = append(claims, claim)
	}
	slices.Reverse(claims)
	return claims, lowerTo, nil
}

// maxAhead returns how far in the future a semaphore's firing may be due before it counts as a mistake.
func maxAhead(state *fsm.State, name string) time.Duration {
	if sd := state.Definition(name); sd != nil {
		if ahead, bounded := sd.Definition.MaxAhead(); bounded {
			return ahead
		}
	}
	return semaphore.DefaultFiringMaxAhead
}

// checkNotHeld refuses to forget a firing whose permit still occupies a slot: its job may still be running, and a
// second run would overlap it.
func checkNotHeld(state *fsm.State, name string, claims []*semaphore.Claim) error {
	var conflicts []string
	for _, c := range claims {
		p := state.Permit(c.Token)
		if c.State != semaphore.ClaimHeld || p == nil {
			continue
		}
		text := fmt.Sprintf("firing %s is claimed by %s in %s (token %d)", phrase.Firing(c.Firing), c.Winner.Acquirer, c.Winner.Group, c.Token)
		switch p.State {
		case semaphore.Held:
			text += fmt.Sprintf(", whose permit is held for an operator: gkctl clear %d frees it", c.Token)
		case semaphore.Cooling:
			text += ", whose slot is cooling: wait until it is free"
		default:
			text += fmt.Sprintf(", which holds its permit: wait until it is released, or stop it with gkctl revoke %d", c.Token)
		}
		conflicts = append(conflicts, text)
	}
	if len(conflicts) == 0 {
		return nil
	}
	return &FiringConflictError{name, conflicts}
}
