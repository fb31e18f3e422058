package preview

import (
	"fmt"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/phrase"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

const (
	// RecentWindow is how long a caller counts as recent after it was last seen. A change that would admit none of a
	// semaphore's recent callers needs confirmation.
	RecentWindow = 7 * 24 * time.Hour
	// MaxUnconfirmed is how many existing definitions one change may touch without confirmation.
	MaxUnconfirmed = 20
)

// ConfirmationKind says why a change needs confirmation.
type ConfirmationKind uint8

// The values match the API's.
const (
	StopsHolders ConfirmationKind = iota + 1
	ShutsOutCallers
	NoPermits
	DeletesMany
	ChangesMany
	ForgetsFirings
	LowersBound
)

// Confirmation is one reason why an operator must confirm a change before it is made.
type Confirmation struct {
	Kind ConfirmationKind
	// Text is a sentence for the operator, without a final period.
	Text string
}

func (c *Change) recentSince() time.Time {
	if c.Now.IsZero() {
		return time.Time{}
	}
	return c.Now.Add(-RecentWindow)
}

// Confirm returns the reasons why an operator must confirm a change. effects must be what Effects returned for the
// change in the same state. Confirm returns nil for a change that a script may make without confirmation.
//
// A sighting shows that a caller asked somewhere in the cluster, but not for which semaphore. A caller that was seen is
// therefore assumed to have asked for every semaphore whose rule admitted it before the change. A plain pause shuts no
// one out, because callers wait for it to end.
func Confirm(state *fsm.State, patterns Patterns, c Change, effects []Effect) []Confirmation {
	var reasons []Confirmation
	add := func(kind ConfirmationKind, format string, args ...any) {
		reasons = append(reasons, Confirmation{kind, fmt.Sprintf(format, args...)})
	}
	stopped, shortened := 0, 0
	var stopping, withoutCallers, noPermits, deleted, touched []string
	for i := range effects {
		e := &effects[i]
		for _, s := range e.Stopped {
			if s.DrainLeft > 0 {
				shortened++
			} else {
				stopped++
			}
		}
		for _, x := range []struct {
			applies bool
			names   *[]string
		}{
			{len(e.Stopped) > 0, &stopping},
			{e.shutsOutAll, &withoutCallers},
			{e.dropsToZero(), &noPermits},
			{e.Before != nil && e.After == nil, &deleted},
			{e.Before != nil && c.Cordon == nil, &touched},
		} {
			// Effects are ordered by name, and an undo can have several for one name.
			if n := len(*x.names); x.applies && (n == 0 || (*x.names)[n-1] != e.Semaphore) {
				*x.names = append(*x.names, e.Semaphore)
			}
		}
	}
	if stopped > 0 {
		add(StopsHolders, "%s: %s", phrase.Count(stopped, "holder must stop", "holders must stop"), phrase.Names(stopping))
	} else if shortened > 0 {
		add(StopsHolders, "%s less time to stop: %s", phrase.Count(shortened, "holder will have", "holders will have"), phrase.Names(stopping))
	}
	if len(withoutCallers) > 0 {
		add(ShutsOutCallers, "no caller from the last 7 days would still be admitted: %s", phrase.Names(withoutCallers))
	}
	if c.Cordon != nil && cordonsEveryone(state, patterns, &c) {
		add(ShutsOutCallers, "no caller from the last 7 days would be admitted anywhere")
	}
	if len(noPermits) > 0 {
		add(NoPermits, "permits becomes 0, so no caller will be admitted: %s", phrase.Names(noPermits))
	}
	if len(deleted) > 1 {
		add(DeletesMany, "%d definitions will be deleted", len(deleted))
	}
	if len(touched) > MaxUnconfirmed {
		add(ChangesMany, "%d existing definitions will be changed at once", len(touched))
	}
	if c.Undo != nil {
		reasons = append(reasons, confirmUndoFirings(state, c.Undo.Firings)...)
	}
	return reasons
}

// confirmUndoFirings is confirmForgetting for an undo that forgets firings restored by an earlier undo.
func confirmUndoFirings(state *fsm.State, undos []fsm.UndoFirings) (reasons []Confirmation) {
	for _, u := range undos {
		before := state.LowWater(u.Semaphore)
		after := before
		if !u.LowWater.IsZero() {
			after = u.LowWater
		}
		for _, r := range confirmForgetting(u.Forget, before, after) {
			reasons = append(reasons, Confirmation{r.Kind, u.Semaphore + ": " + r.Text})
		}
	}
	return reasons
}

// confirmForgetting returns the reasons why an operator must confirm forgetting a semaphore's firings and moving its
// low-water mark.
func confirmForgetting(firings []fsm.ExpectedClaim, markBefore, markAfter time.Time) (reasons []Confirmation) {
	add := func(format string, args ...any) {
		reasons = append(reasons, Confirmation{ForgetsFirings, fmt.Sprintf(format, args...)})
	}
	belowMark := 0
	for _, f := range firings {
		if f.Firing.Forgotten(markAfter) {
			belowMark++
		}
	}
	if n := len(firings) - belowMark; n > 0 {
		add("%s forgotten and can then be claimed again", phrase.Count(n, "firing will be", "firings will be"))
	}
	if belowMark > 0 {
		add("%s forgotten and then denied as FIRING_FORGOTTEN (due no later than %s)", phrase.Count(belowMark, "firing will be", "firings will be"), phrase.Instant(markAfter))
	}
	if markAfter.Before(markBefore) {
		add("firings due after %s will no longer count as forgotten, so a firing that has run can be claimed again", phrase.Instant(markAfter))
	}
	return reasons
}

// dropsToZero reports whether the change sets an existing definition's permits to 0.
func (e *Effect) dropsToZero() bool {
	return e.Before != nil && e.After != nil && e.Before.Permits > 0 && e.After.Permits == 0
}

// cordonsEveryone reports whether there are recent callers to whom no other cordon applies, and the new cordon applies
// to all of them.
func cordonsEveryone(state *fsm.State, patterns Patterns, c *Change) bool {
	found := false
	for s := range state.Sightings() {
		id := semaphore.Identity{Group: s.Group, Acquirer: s.Acquirer}
		if s.At.Before(c.recentSince()) || slices.ContainsFunc(state.Cordons(), func(other *fsm.Cordon) bool {
			return other.ID != c.Cordon.ID && patterns.Catches(other.GroupPattern, other.AcquirerPattern, id)
		}) {
			continue
		}
		if !patterns.Catches(c.Cordon.GroupPattern, c.Cordon.AcquirerPattern, id) {
			return false
		}
		found = true
	}
	return found
}
