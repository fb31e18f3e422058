package api

import (
	"cmp"
	"context"
	"math"
	"strconv"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/preview"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/selector"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// ListFirings pages through the recorded firings, in the order in which the state stores them.
func (s *operatorService) ListFirings(ctx context.Context, m *gatekeeperv1.ListFiringsRequest) (*gatekeeperv1.ListFiringsResponse, error) {
	if err := semaphore.ValidSemaphoreName(m.GetSemaphore()); err != nil {
		return nil, err
	}
	after, err := timestampFrom("due_after", m.GetDueAfter())
	if err != nil {
		return nil, err
	}
	limit, from, err := pageFrom(m)
	if err != nil {
		return nil, err
	}
	state, err := s.read(ctx, m.GetStale())
	if err != nil {
		return nil, err
	}
	name := m.GetSemaphore()
	if !s.visible(ctx, state, name) {
		return nil, &selector.NoDefinitionError{Name: name}
	}
	if err := preview.CheckKnown(state, name); err != nil {
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
	cursor := semaphore.Firing{Name: from.name, Due: decodeDue(from.token)}
	for claim := range state.Claims(name) {
		f := claim.Firing
		switch {
		case from.name != "" && cmp.Or(f.Due.Compare(cursor.Due), cmp.Compare(f.Name, cursor.Name)) <= 0,
			m.GetName() != "" && f.Name != m.GetName(),
			!after.IsZero() && !f.Due.After(after):
			continue
		}
		line := toFiringClaim(claim)
		if !taken.add(limit, line) {
			out.NextPageToken = last.String()
			break
		}
		out.Firings = append(out.Firings, line)
		last = pageKey{name: f.Name, token: encodeDue(f.Due)}
	}
	return out, nil
}

// encodeDue encodes a due time for a page token. 0 means no due time, as in the log.
func encodeDue(due time.Time) uint64 {
	if due.IsZero() {
		return 0
	}
	return uint64(due.UnixNano())
}

func decodeDue(key uint64) time.Time {
	if key == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(key)).UTC()
}

// ForgetFirings selects firings from the current state and forgets them.
func (s *operatorService) ForgetFirings(ctx context.Context, m *gatekeeperv1.ForgetFiringsRequest) (*gatekeeperv1.ForgetFiringsResponse, error) {
	chosen, err := forgetRequestFrom(m)
	if err != nil {
		return nil, err
	}
	author, reason, err := authorReasonFrom(m)
	if err != nil {
		return nil, err
	}
	// A retry must not forget a firing that was claimed again after the first attempt.
	reqHash := requestHash(m)
	state, done, err := s.readForChange(ctx, m, fsm.EditForgetFirings, reqHash)
	if err != nil {
		return nil, err
	}
	if done != nil {
		return &gatekeeperv1.ForgetFiringsResponse{Revision: done.ChangeID(), Change: toFiringsChange(done.OriginalResponse().Firings)}, nil
	}
	plan, err := preview.PlanForget(state, chosen, s.keeper.WallClock())
	if err != nil {
		return nil, err
	}
	out := &gatekeeperv1.ForgetFiringsResponse{Plan: plan.ID, Change: toFiringsChange(plan.Change), Confirm: toConfirmations(plan.Confirm)}
	if m.GetDryRun() {
		return out, nil
	}
	cmd := plan.Command
	cmd.Author, cmd.Reason = author, reason
	cmd.RequestID, cmd.RequestHash, cmd.RequestRevision = m.GetRequestId(), reqHash, m.GetRequestRevision()
	result, err := s.keeper.ForgetFirings(ctx, cmd)
	if err != nil {
		return nil, err
	}
	if result.Conflict != nil {
		return nil, &preview.FiringConflictError{Semaphore: cmd.Semaphore, Conflicts: []string{"its firings changed during this call: list them again"}}
	}
	if result.Repeated { // an earlier attempt was applied after readForChange read the state
		return &gatekeeperv1.ForgetFiringsResponse{Revision: result.Revision, Change: toFiringsChange(result.Firings)}, nil
	}
	if out.Revision = result.Revision; result.Firings != nil {
		out.Change = toFiringsChange(result.Firings)
	}
	return out, nil
}

func forgetRequestFrom(m *gatekeeperv1.ForgetFiringsRequest) (c preview.ForgetRequest, err error) {
	c = preview.ForgetRequest{Semaphore: m.GetSemaphore(), TooFarAhead: m.GetAhead(), KeepMark: m.GetKeepMark(), Shown: m.GetPlan()}
	if err := semaphore.ValidSemaphoreName(m.GetSemaphore()); err != nil {
		return c, err
	}
	count := 0
	for _, set := range []bool{len(m.GetFirings()) > 0, m.GetAfter() != nil, m.GetAhead()} {
		if set {
			count++
		}
	}
	if count != 1 {
		return c, invalid("firings", "", "must be set unless after or ahead is set: specify exactly one of the three, not "+strconv.Itoa(count))
	}
	if n := len(m.GetFirings()); n > preview.MaxForgotten {
		return c, invalid("firings", strconv.Itoa(n)+" firings", "must be at most "+strconv.Itoa(preview.MaxForgotten)+": forget them in several steps")
	}
	named := make(map[semaphore.Firing]bool, len(m.GetFirings()))
	for i, f := range m.GetFirings() {
		firing, err := firingFrom(f)
		if err == nil {
			err = firing.Validate()
		}
		if err == nil && named[*firing] {
			err = invalid("firing.name", firing.Name, "must not appear twice with the same due time")
		}
		if err != nil {
			return c, withField(at("firings", i), err)
		}
		named[*firing] = true
		c.Firings = append(c.Firings, *firing)
	}
	if c.After, err = timestampFrom("after", m.GetAfter()); err != nil {
		return c, err
	}
	first, last := time.Unix(0, 0).UTC(), time.Unix(0, math.MaxInt64).UTC() // 0 means no mark in the log
	if m.GetAfter() != nil && (!c.After.After(first) || c.After.After(last)) {
		return c, invalid("after", c.After.Format(time.RFC3339), "must be later than "+first.Format(time.RFC3339)+" and no later than "+last.Format(time.RFC3339))
	}
	return c, nil
}

func toFiringsChange(c *fsm.FiringsChange) *gatekeeperv1.FiringsChange {
	if c == nil {
		return nil
	}
	return &gatekeeperv1.FiringsChange{
		Firings: mapSlice(c.Claims, toFiringClaim), ForgottenUpToBefore: toTimestamp(c.MarkBefore), ForgottenUpTo: toTimestamp(c.MarkAfter),
	}
}

// toFiringClaim converts a claim for lists and the history.
func toFiringClaim(c *semaphore.Claim) *gatekeeperv1.FiringClaim {
	return &gatekeeperv1.FiringClaim{
		Firing: toFiring(&c.Firing), Token: c.Token, Winner: toIdentity(c.Winner), State: gatekeeperv1.FiringState(c.State), ClaimedAt: toTimestamp(c.At),
		Failure: c.Failure, Attempts: c.Attempts,
	}
}
