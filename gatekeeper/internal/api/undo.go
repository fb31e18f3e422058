package api

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/auth"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/preview"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/undo"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// maxUndoChanges is the maximum number of changes undone in one step.
const maxUndoChanges = 1000

// Undo computes a plan from the current state. If the state changes before the plan is executed, the versions in the
// plan no longer match, and the plan is refused.
func (s *operatorService) Undo(ctx context.Context, m *gatekeeperv1.UndoRequest) (*gatekeeperv1.UndoResponse, error) {
	req, err := undoFrom(m)
	if err != nil {
		return nil, err
	}
	author, reason, err := authorReasonFrom(m)
	if err != nil {
		return nil, err
	}
	// A retry of a call whose response was lost must not undo the undo.
	hash := requestHash(m)
	state, done, err := s.readForChange(ctx, m, fsm.EditUndo, hash)
	if err != nil {
		return nil, err
	}
	if done != nil {
		return &gatekeeperv1.UndoResponse{Revision: done.Revision}, nil
	}
	now := time.Now()
	plan, err := undo.NewPlan(state, req, now)
	if err != nil {
		return nil, err
	}
	if err := s.mayPlan(ctx, plan.Command); err != nil { // checked first, because refusals name semaphores
		return nil, err
	}
	if err := plan.Refusal(); err != nil {
		return nil, err
	}
	out := &gatekeeperv1.UndoResponse{
		Notes: plan.Notes, UndoneBy: plan.UndoneBy, Nothing: plan.Command == nil, Missing: mapSlice(plan.Missing, toMissing), Skipped: plan.Skipped,
	}
	if plan.Command == nil {
		return out, nil
	}
	if out.Plan, err = plan.ID(); err != nil {
		return nil, err
	}
	if err := plan.Expect(m.GetPlan(), out.GetPlan()); err != nil {
		return nil, err
	}
	change := preview.Change{Undo: plan.Command, Now: now}
	effects, warnings := preview.Effects(state, s.keeper, change)
	out.Effects, out.Warnings = s.effects(state, effects), warnings
	out.Confirm = toConfirmations(preview.Confirm(state, s.keeper, change, effects))
	if m.GetDryRun() {
		return out, nil
	}
	cmd := *plan.Command
	cmd.Author, cmd.Reason = author, cmp.Or(reason, req.Reason())
	cmd.RequestID, cmd.RequestHash, cmd.RequestRevision = m.GetRequestId(), hash, m.GetRequestRevision()
	result, err := s.keeper.Undo(ctx, cmd)
	if err != nil {
		return nil, err
	}
	if result.Repeated { // an earlier attempt was applied after readForChange read the state
		return &gatekeeperv1.UndoResponse{Revision: result.Revision}, nil
	}
	if result.Conflict != nil {
		return nil, plan.StaleError(result.Conflict)
	}
	out.Revision = result.Revision
	return out, nil
}

// mayPlan refuses to show the effects of an undo to a caller that may not execute it.
func (s *operatorService) mayPlan(ctx context.Context, cmd *fsm.Undo) error {
	c := s.caller(ctx)
	if c == nil {
		return nil
	}
	if cmd == nil {
		cmd = &fsm.Undo{}
	}
	_, err := c.authorize(ctx, func(p *auth.Principal, state *fsm.State) error { return mayUndo(p, state, cmd) })
	return err
}

func undoFrom(m *gatekeeperv1.UndoRequest) (r undo.Request, err error) {
	if m.GetChange() == 0 {
		return r, invalid("change", "0", "must be a change id, as listed by gkctl history")
	}
	if n := len(m.GetAlso()); n >= maxUndoChanges {
		return r, invalid("also", strconv.Itoa(n)+" changes", fmt.Sprintf("must be fewer than %d: undo them in several steps", maxUndoChanges))
	}
	r = undo.Request{Changes: append([]uint64{m.GetChange()}, m.GetAlso()...), Partial: m.GetPartial(), SkipConflicts: m.GetSkipConflicts()}
	r.Drain, err = durationFrom("drain", m.GetDrain(), 0)
	return r, err
}
