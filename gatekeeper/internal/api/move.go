package api

import (
	"context"
	"errors"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/preview"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/selector"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func moveFrom(m *gatekeeperv1.MoveRequest) (out preview.MoveRequest, err error) {
	out = preview.MoveRequest{From: m.GetFromGroup(), To: m.GetToGroup()}
	for _, g := range []struct{ field, name string }{{"from_group", out.From}, {"to_group", out.To}} {
		if err := semaphore.ValidName(g.field, g.name); err != nil {
			return out, err
		}
	}
	if out.From == out.To {
		return out, invalid("to_group", out.To, "must differ from from_group")
	}
	if out.Chosen, err = selector.ParseChoice("selector", m.GetSelector()); err != nil {
		return out, err
	}
	if out.Drain, err = durationFrom("drain", m.GetDrain(), 0); err != nil {
		return out, err
	}
	if err := (keeper.Ending{}).Validate(out.Drain); err != nil {
		return out, err
	}
	out.Shown, err = expectedFrom(m)
	return out, err
}

// expectedFrom returns the digest of the plan that the caller confirmed, or nil if there is none.
func expectedFrom(m interface{ GetExpected() string }) (*preview.Digest, error) {
	if m.GetExpected() == "" {
		return nil, nil //nolint:nilnil // absent, which is valid
	}
	d, ok := preview.ParseDigest(m.GetExpected())
	if !ok {
		return nil, invalid("expected", m.GetExpected(), "must be the unmodified digest of a dry run or a preview")
	}
	return &d, nil
}

// changedSince turns a conflict with a newer state into a *preview.ChangedError. It returns any other error unchanged.
func (s *operatorService) changedSince(state *fsm.State, err error) error {
	if _, conflict := errors.AsType[*keeper.ConflictError](err); conflict {
		return &preview.ChangedError{Changed: preview.ChangedSince(s.cfg.Machine.State(), state.Revision())}
	}
	return err
}

// Move returns the effects of a move and executes it unless a dry run is requested. Both are based on a single read of
// the state, and the edits expect the versions that were read.
func (s *operatorService) Move(ctx context.Context, m *gatekeeperv1.MoveRequest) (*gatekeeperv1.MoveResponse, error) {
	move, err := moveFrom(m)
	if err != nil {
		return nil, err
	}
	move.Chosen = move.Chosen.Within(s.viewFilter(ctx))
	author, reason, err := authorReasonFrom(m)
	if err != nil {
		return nil, err
	}
	batch := fsm.EditBatch{
		Author: author, Reason: reason, Drain: move.Drain,
		RequestID: m.GetRequestId(), RequestHash: requestHash(m), RequestRevision: m.GetRequestRevision(),
	}
	state, done, err := s.readForChange(ctx, m, fsm.EditDefinitions, batch.RequestHash)
	if err != nil {
		return nil, err
	}
	if done != nil {
		return &gatekeeperv1.MoveResponse{Change: done.ChangeID(), Revision: state.Revision()}, nil
	}
	plan, err := preview.PlanMove(state, s.keeper, move, time.Now())
	if err != nil {
		return nil, err
	}
	out := s.moveResponse(state, plan)
	if m.GetDryRun() || len(plan.Edits) == 0 {
		return out, nil
	}
	batch.Changes = plan.Edits
	result, err := s.keeper.Edit(ctx, batch, keeper.Ending{})
	if err != nil {
		return nil, s.changedSince(state, err)
	}
	out.Change, out.Revision = result.Revision, result.Revision
	return out, nil
}

func (a *API) moveResponse(state *fsm.State, plan *preview.MovePlan) *gatekeeperv1.MoveResponse {
	out := &gatekeeperv1.MoveResponse{
		Effects: a.effects(state, plan.Effects), Warnings: plan.Warnings, Revision: state.Revision(), Digest: plan.Digest.String(),
		Confirm: toConfirmations(plan.Confirm), Doubts: plan.Doubts, Mistake: plan.Mistake, Chosen: uint32(plan.Chosen),
	}
	for i := range plan.Edits {
		d := plan.Edits[i].Definition
		out.Moves = append(out.Moves, &gatekeeperv1.Moved{
			Semaphore: d.Name, Version: plan.Edits[i].ExpectedVersion, GroupPattern: d.GroupPattern, Permits: d.Permits,
		})
	}
	for _, n := range plan.NotMoved {
		out.NotMoved = append(out.NotMoved, &gatekeeperv1.NotMoved{Semaphore: n.Semaphore, Why: n.Why, Problem: n.Problem})
	}
	return out
}
