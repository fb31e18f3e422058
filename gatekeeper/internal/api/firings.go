package api

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/preview"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// maxFirings is how many firings one step forgets. The journal entry holds them whole, and clients accept messages of 4
// MiB.
const maxFirings = 1000

// ListFirings pages over the remembered firings in the order of the state.
func (s *operatorService) ListFirings(ctx context.Context, m *gatekeeperv1.ListFiringsRequest) (*gatekeeperv1.ListFiringsResponse, error) {
	if err := semaphore.ValidSemaphoreName(m.GetSemaphore()); err != nil {
		return nil, err
	}
	after, err := timestampFrom("due_after", m.GetDueAfter())
	if err != nil {
		return nil, err
	}
	limit, err := pageSize(m.GetPageSize())
	if err != nil {
		return nil, err
	}
	from, err := parsePageToken(m.GetPageToken())
	if err != nil {
		return nil, err
	}
	state, err := s.read(ctx, m.GetStale())
	if err != nil {
		return nil, err
	}
	name := m.GetSemaphore()
	if err := remembers(state, name); err != nil {
		return nil, err
	}
	out := &gatekeeperv1.ListFiringsResponse{
		Revision: state.Revision(), ForgottenUpTo: toTimestamp(state.LowWater(name)),
		Count: uint32(state.ClaimCount(name)), Limit: semaphore.DefaultFiringLimit,
	}
	if sd := state.Definition(name); sd != nil {
		out.Limit = sd.Definition.FiringLimit
	}
	var taken page
	var last pageKey
	behind := semaphore.Firing{Name: from.name, Due: dueOfKey(from.token)}
	for claim := range state.Claims(name) {
		f := claim.Firing
		switch {
		case from.name != "" && cmp.Or(f.Due.Compare(behind.Due), cmp.Compare(f.Name, behind.Name)) <= 0,
			m.GetName() != "" && f.Name != m.GetName(),
			!after.IsZero() && !f.Due.After(after):
			continue
		}
		line := toRemembered(claim)
		if !taken.add(limit, line) {
			out.NextPageToken = last.String()
			break
		}
		out.Firings = append(out.Firings, line)
		last = pageKey{name: f.Name, token: keyOfDue(f.Due)}
	}
	return out, nil
}

// keyOfDue is a due time in a page token; 0 stands for none, as in the log.
func keyOfDue(due time.Time) uint64 {
	if due.IsZero() {
		return 0
	}
	return uint64(due.UnixNano())
}

func dueOfKey(key uint64) time.Time {
	if key == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(key)).UTC()
}

// remembers refuses a name that has neither a definition nor a memory of firings.
func remembers(state *fsm.State, name string) error {
	if state.Definition(name) == nil && state.ClaimCount(name) == 0 && state.LowWater(name).IsZero() {
		return &noDefinitionError{name}
	}
	return nil
}

// ForgetFirings chooses by the present state. The command names the tokens of the claims, so it is refused if one of
// them changes before it is applied.
func (s *operatorService) ForgetFirings(ctx context.Context, m *gatekeeperv1.ForgetFiringsRequest) (*gatekeeperv1.ForgetFiringsResponse, error) {
	chosen, err := forgettingFrom(m)
	if err != nil {
		return nil, err
	}
	cmd := fsm.ForgetFirings{
		Semaphore: m.GetSemaphore(), RequestID: m.GetRequestId(), Asked: asked(m), RequestRevision: m.GetRequestRevision(),
	}
	if cmd.Author, cmd.Reason, err = wordFrom(m); err != nil {
		return nil, err
	}
	// A firing that was claimed again since the first attempt must not be forgotten by its repeat.
	if done, err := s.repeated(ctx, m, fsm.EditForgetFirings, cmd.Asked); err != nil {
		return nil, err
	} else if done != nil {
		return &gatekeeperv1.ForgetFiringsResponse{Revision: done.ChangeID(), Change: toFiringsChange(done.FirstAnswer().Firings)}, nil
	}
	state, err := s.reader.Read(ctx)
	if err != nil {
		return nil, err
	}
	if err := remembers(state, cmd.Semaphore); err != nil {
		return nil, err
	}
	claims, lowerTo, err := chosen.of(state, cmd.Semaphore, s.keeper.WallClock())
	if err != nil {
		return nil, err
	}
	if !m.GetKeepMark() {
		cmd.LowerTo = lowerTo
	}
	for _, c := range claims {
		cmd.Firings = append(cmd.Firings, fsm.ExpectedClaim{Firing: c.Firing, Token: c.Token})
	}
	if err := held(state, cmd.Semaphore, claims); err != nil {
		return nil, err
	}
	out, err := forgetting(state, &cmd, claims)
	if err != nil {
		return nil, err
	}
	if m.GetPlan() != "" && m.GetPlan() != out.GetPlan() {
		return nil, &firingConflictError{cmd.Semaphore, []string{"other firings would be forgotten by now than those that were shown: look again"}}
	}
	if m.GetDryRun() {
		return out, nil
	}
	result, err := s.keeper.ForgetFirings(ctx, cmd)
	if err != nil {
		return nil, err
	}
	if result.Conflict != nil {
		return nil, &firingConflictError{cmd.Semaphore, []string{"its firings changed at this moment: look again"}}
	}
	if result.Repeated { // since it was looked for
		return &gatekeeperv1.ForgetFiringsResponse{Revision: result.Revision, Change: toFiringsChange(result.Firings)}, nil
	}
	if out.Revision = result.Revision; result.Firings != nil {
		out.Change = toFiringsChange(result.Firings)
	}
	return out, nil
}

// choosing says which firings to forget: those that are named or, with after or ahead, those that are due later.
type choosing struct {
	firings []semaphore.Firing
	after   time.Time
	ahead   bool
}

func forgettingFrom(m *gatekeeperv1.ForgetFiringsRequest) (c choosing, err error) {
	if err := semaphore.ValidSemaphoreName(m.GetSemaphore()); err != nil {
		return c, err
	}
	given := 0
	for _, there := range []bool{len(m.GetFirings()) > 0, m.GetAfter() != nil, m.GetAhead()} {
		if there {
			given++
		}
	}
	if given != 1 {
		return c, invalid("firings", "", "must be given, or after, or ahead: one of them, and "+strconv.Itoa(given)+" are")
	}
	if n := len(m.GetFirings()); n > maxFirings {
		return c, invalid("firings", strconv.Itoa(n)+" firings", "must be at most "+strconv.Itoa(maxFirings)+": forget them in several steps")
	}
	named := make(map[semaphore.Firing]bool, len(m.GetFirings()))
	for i, f := range m.GetFirings() {
		firing, err := firingFrom(f)
		if err == nil {
			err = firing.Validate()
		}
		if err == nil && named[*firing] {
			err = invalid("firing.name", firing.Name, "must not be given twice with the same due time")
		}
		if err != nil {
			return c, renamed(at("firings", i), err)
		}
		named[*firing] = true
		c.firings = append(c.firings, *firing)
	}
	if c.after, err = timestampFrom("after", m.GetAfter()); err != nil {
		return c, err
	}
	first, last := time.Unix(0, 0).UTC(), time.Unix(0, math.MaxInt64).UTC() // in the log 0 stands for no mark
	if m.GetAfter() != nil && (!c.after.After(first) || c.after.After(last)) {
		return c, invalid("after", c.after.Format(time.RFC3339), "must lie after "+first.Format(time.RFC3339)+", and at most at "+last.Format(time.RFC3339))
	}
	c.ahead = m.GetAhead()
	return c, nil
}

// of returns the chosen claims in their order, and to where the low-water mark falls; zero: it stays.
func (c *choosing) of(state *fsm.State, name string, now time.Time) (claims []*semaphore.Claim, lowerTo time.Time, err error) {
	for _, f := range c.firings {
		claim := state.Claim(name, f)
		if claim == nil {
			return nil, time.Time{}, &noFiringError{name, f}
		}
		claims = append(claims, claim)
	}
	if len(c.firings) > 0 {
		return claims, time.Time{}, nil
	}
	after, lowerTo := c.after, c.after
	if c.ahead {
		// Between now and after lie the firings of hosts whose clocks are right. Those until now stay forgotten:
		// whether they ran is not known.
		lowerTo = now.Round(0).UTC()
		after = lowerTo.Add(maxAhead(state, name))
	}
	for claim := range state.ClaimsBackward(name, nil) {
		if !claim.Firing.Due.After(after) {
			break
		}
		if len(claims) == maxFirings {
			next := fmt.Sprintf("after %s forgets the furthest ones, then go on", claim.Firing.Due.Format(time.RFC3339Nano))
			if claim.Firing.Due.Equal(claims[0].Firing.Due) {
				next = fmt.Sprintf("name %d of the firings that are due at %s, then go on", maxFirings, claim.Firing.Due.Format(time.RFC3339Nano))
			}
			return nil, time.Time{}, invalid("after", after.Format(time.RFC3339), fmt.Sprintf(
				"must choose at most %d firings, which is what one step forgets: %s", maxFirings, next))
		}
		claims = append(claims, claim)
	}
	slices.Reverse(claims)
	return claims, lowerTo, nil
}

// maxAhead is how far ahead a firing of a semaphore may be due before it counts as one that nobody meant.
func maxAhead(state *fsm.State, name string) time.Duration {
	if sd := state.Definition(name); sd != nil {
		if ahead, bounded := sd.Definition.MaxAhead(); bounded {
			return ahead
		}
	}
	return semaphore.DefaultFiringMaxAhead
}

// held refuses to forget a firing whose permit takes a slot: its job may still run, and another one would run beside
// it.
func held(state *fsm.State, name string, claims []*semaphore.Claim) error {
	var conflicts []string
	for _, c := range claims {
		p := state.Permit(c.Token)
		if c.State != semaphore.ClaimHeld || p == nil {
			continue
		}
		text := fmt.Sprintf("firing %s is claimed by %s in %s (token %d)", preview.FiringText(c.Firing), c.Winner.Acquirer, c.Winner.Group, c.Token)
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
	return &firingConflictError{name, conflicts}
}

// forgetting says what a command would do.
func forgetting(state *fsm.State, cmd *fsm.ForgetFirings, claims []*semaphore.Claim) (*gatekeeperv1.ForgetFiringsResponse, error) {
	mark := state.LowWater(cmd.Semaphore)
	change := &fsm.FiringsChange{Claims: claims, MarkBefore: mark, MarkAfter: mark}
	if !cmd.LowerTo.IsZero() && cmd.LowerTo.Before(mark) {
		change.MarkAfter = cmd.LowerTo
	}
	out := &gatekeeperv1.ForgetFiringsResponse{
		Change: toFiringsChange(change), Confirm: toConfirmations(preview.ConfirmForgetting(cmd.Firings, mark, change.MarkAfter)),
	}
	var err error
	out.Plan, err = planID(fsm.ForgetFirings{Semaphore: cmd.Semaphore, Firings: cmd.Firings})
	return out, err
}

func toFiringsChange(c *fsm.FiringsChange) *gatekeeperv1.FiringsChange {
	if c == nil {
		return nil
	}
	return &gatekeeperv1.FiringsChange{
		Firings: mapped(c.Claims, toRemembered), ForgottenUpToBefore: toTimestamp(c.MarkBefore), ForgottenUpTo: toTimestamp(c.MarkAfter),
	}
}

// toRemembered writes a claim as lists and the history have it.
func toRemembered(c *semaphore.Claim) *gatekeeperv1.FiringClaim {
	return &gatekeeperv1.FiringClaim{
		Firing: toFiring(&c.Firing), Token: c.Token, Winner: toIdentity(c.Winner), State: gatekeeperv1.FiringState(c.State), ClaimedAt: toTimestamp(c.At),
	}
}
