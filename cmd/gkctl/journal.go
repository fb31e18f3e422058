package main

import (
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// dueText is an instant for people, in UTC as firings have it, and without fractions of a second.
func dueText(t *timestamppb.Timestamp) string { return t.AsTime().Format(time.RFC3339) }

func markMoved(c *gatekeeperv1.FiringsChange) bool {
	return !c.GetForgottenUpTo().AsTime().Equal(c.GetForgottenUpToBefore().AsTime())
}

// forgottenText says in one line what a change did to a memory of firings.
func forgottenText(c *gatekeeperv1.FiringsChange, verb string) string {
	var text string
	if names := mapped(c.GetFirings(), func(f *gatekeeperv1.FiringClaim) string { return firing(f.GetFiring()) }); len(names) > 0 {
		text = fmt.Sprintf("%s %s (%s)", plural(len(names), "firing", "firings"), verb, someNames(names))
	}
	if markMoved(c) {
		if text != "" {
			text += "; "
		}
		text += "forgotten up to " + dueText(c.GetForgottenUpTo())
		if c.GetForgottenUpToBefore() != nil {
			text += " instead of " + dueText(c.GetForgottenUpToBefore())
		}
	}
	return text
}

func pauseText(p *gatekeeperv1.Pause) string {
	var parts []string
	if p.GetUntil() != nil {
		parts = append(parts, "until "+when(p.GetUntil()))
	}
	switch {
	case p.GetStop() && p.GetDrain() != nil:
		parts = append(parts, "holders are to stop within "+duration(p.GetDrain()))
	case p.GetStop():
		parts = append(parts, "holders are to stop")
	}
	return strings.Join(parts, ", ")
}

func cordonText(c *gatekeeperv1.CordonRecord) string {
	parts := []string{strconv.Quote(c.GetId())}
	if c.GetGroupPattern() != "" {
		parts = append(parts, "group "+c.GetGroupPattern())
	}
	if c.GetAcquirerPattern() != "" {
		parts = append(parts, "acquirer "+c.GetAcquirerPattern())
	}
	if c.GetUntil() != nil {
		parts = append(parts, "until "+when(c.GetUntil()))
	}
	return strings.Join(parts, ", ")
}

// changesText names changes.
func changesText(changes []uint64) string {
	const most = 5
	if len(changes) == 1 {
		return "change " + number(changes[0])
	}
	text := "changes " + strings.Join(mapped(changes[:min(most, len(changes))], number), ", ")
	if more := len(changes) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// missingText says what the journal has forgotten of a change.
func missingText(m *gatekeeperv1.MissingEntries) string {
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
