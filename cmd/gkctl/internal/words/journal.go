package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// DueText is an instant for people, in UTC as firings have it, and without fractions of a second.
func DueText(t *timestamppb.Timestamp) string { return t.AsTime().Format(time.RFC3339) }

// MarkMoved says whether a change moved the time up to which firings count as forgotten.
func MarkMoved(c *gatekeeperv1.FiringsChange) bool {
	return !c.GetForgottenUpTo().AsTime().Equal(c.GetForgottenUpToBefore().AsTime())
}

// ForgottenText says in one line what a change did to a memory of firings.
func ForgottenText(c *gatekeeperv1.FiringsChange, verb string) string {
	var text string
	if names := Mapped(c.GetFirings(), func(f *gatekeeperv1.FiringClaim) string { return Firing(f.GetFiring()) }); len(names) > 0 {
		text = fmt.Sprintf("%s %s (%s)", Plural(len(names), "firing", "firings"), verb, SomeNames(names))
	}
	if MarkMoved(c) {
		if text != "" {
			text += "; "
		}
		text += "forgotten up to " + DueText(c.GetForgottenUpTo())
		if c.GetForgottenUpToBefore() != nil {
			text += " instead of " + DueText(c.GetForgottenUpToBefore())
		}
	}
	return text
}

// PauseText says until when a pause lasts, and what it does to holders.
func PauseText(p *gatekeeperv1.Pause) string {
	var parts []string
	if p.GetUntil() != nil {
		parts = append(parts, "until "+When(p.GetUntil()))
	}
	switch {
	case p.GetStop() && p.GetDrain() != nil:
		parts = append(parts, "holders are to stop within "+Duration(p.GetDrain()))
	case p.GetStop():
		parts = append(parts, "holders are to stop")
	}
	return strings.Join(parts, ", ")
}

// CordonText says what a cordon catches, and until when.
func CordonText(c *gatekeeperv1.CordonRecord) string {
	parts := []string{strconv.Quote(c.GetId())}
	if c.GetGroupPattern() != "" {
		parts = append(parts, "group "+c.GetGroupPattern())
	}
	if c.GetAcquirerPattern() != "" {
		parts = append(parts, "acquirer "+c.GetAcquirerPattern())
	}
	if c.GetUntil() != nil {
		parts = append(parts, "until "+When(c.GetUntil()))
	}
	return strings.Join(parts, ", ")
}

// ChangesText names changes.
func ChangesText(changes []uint64) string {
	const most = 5
	if len(changes) == 1 {
		return "change " + Number(changes[0])
	}
	text := "changes " + strings.Join(Mapped(changes[:min(most, len(changes))], Number), ", ")
	if more := len(changes) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// MissingText says what the journal has forgotten of a change.
func MissingText(m *gatekeeperv1.MissingEntries) string {
	parts := slices.Clone(m.GetSemaphores())
	if n := m.GetCordons(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d cordons", n))
	}
	what := strings.Join(parts, ", ")
	if what == "" {
		what = "some of what it changed"
	}
	return fmt.Sprintf("the journal has forgotten what change %d did to %s", m.GetChange(), what)
}
