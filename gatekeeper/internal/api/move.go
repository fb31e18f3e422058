package api

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/preview"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// move is a MoveRequest, read.
type move struct {
	from, to string
	choice   *choice
	drain    time.Duration
	expected *preview.Digest // nil: whatever it moves
}

func moveFrom(m *gatekeeperv1.MoveRequest) (*move, error) {
	out := &move{from: m.GetFromGroup(), to: m.GetToGroup()}
	for _, g := range []struct{ field, name string }{{"from_group", out.from}, {"to_group", out.to}} {
		if err := semaphore.ValidName(g.field, g.name); err != nil {
			return nil, err
		}
	}
	if out.from == out.to {
		return nil, invalid("to_group", out.to, "must be another group than the one to leave")
	}
	var err error
	if out.choice, err = choiceFrom("selector", m.GetSelector()); err != nil {
		return nil, err
	}
	if out.drain, err = durationFrom("drain", m.GetDrain(), 0); err != nil {
		return nil, err
	}
	if err := (keeper.Ending{}).Validate(out.drain); err != nil {
		return nil, err
	}
	out.expected, err = expectedFrom(m)
	return out, err
}

// expectedFrom reads the digest of what the caller was shown; nil when it does not insist on any.
func expectedFrom(m interface{ GetExpected() string }) (*preview.Digest, error) {
	if m.GetExpected() == "" {
		return nil, nil //nolint:nilnil // nothing is expected
	}
	d, ok := preview.ParseDigest(m.GetExpected())
	if !ok {
		return nil, invalid("expected", m.GetExpected(), "must be the digest of a dry run or a preview, unchanged")
	}
	return &d, nil
}

// asExpected returns a *changedError when a change would not be about the targets that its caller was shown.
func asExpected(state *fsm.State, expected *preview.Digest, targets []preview.Target) error {
	if expected == nil || expected.Same(preview.DigestOf(0, targets)) {
		return nil
	}
	return &changedError{preview.ChangedSince(state, expected.Revision)}
}

// Move shows what a move would do, and makes it unless that is all that is asked for. Both are decided from one reading of the state, and
// the edits name the versions that were read.
func (s *operatorService) Move(ctx context.Context, m *gatekeeperv1.MoveRequest) (*gatekeeperv1.MoveResponse, error) {
	q, err := moveFrom(m)
	if err != nil {
		return nil, err
	}
	author, reason, err := wordFrom(m)
	if err != nil {
		return nil, err
	}
	batch := fsm.EditBatch{
		Author: author, Reason: reason, Drain: q.drain,
		RequestID: m.GetRequestId(), Asked: asked(m), RequestRevision: m.GetRequestRevision(),
	}
	if err := semaphore.ValidateRequestID(m.GetRequestId()); err != nil {
		return nil, err
	}
	state, err := s.reader.Read(ctx)
	if err != nil {
		return nil, err
	}
	// In the same state: a first attempt that comes through meanwhile must not look like nothing to move.
	if done, err := repeatedIn(state, m, fsm.EditDefinitions, batch.Asked); err != nil {
		return nil, err
	} else if done != nil {
		return &gatekeeperv1.MoveResponse{Change: done.ChangeID(), Revision: state.Revision()}, nil
	}
	out, edits, err := s.plan(state, q)
	if err != nil || m.GetDryRun() || len(edits) == 0 {
		return out, err
	}
	batch.Changes = edits
	result, err := s.keeper.Edit(ctx, batch, keeper.Ending{})
	if _, conflict := errors.AsType[*keeper.ConflictError](err); conflict {
		return nil, &changedError{preview.ChangedSince(s.cfg.Machine.State(), state.Revision())}
	}
	if err != nil {
		return nil, err
	}
	out.Change, out.Revision = result.Revision, result.Revision
	return out, nil
}

// plan decides what a move does to a state. A *changedError says that it is not what was expected.
func (s *operatorService) plan(state *fsm.State, q *move) (*gatekeeperv1.MoveResponse, []fsm.Change, error) {
	if err := q.choice.absent(state); err != nil {
		return nil, nil, err
	}
	moves := preview.Move(state, s.keeper, q.from, q.to, q.choice.match, q.choice.named)
	if n := len(moves.Edits); n > maxEdits {
		return nil, nil, invalid("selector", strconv.Itoa(n)+" definitions",
			"must choose at most "+strconv.Itoa(maxEdits)+" definitions, which is what one step can move: do it in parts")
	}
	targets := preview.EditTargets(moves.Edits)
	if err := asExpected(state, q.expected, targets); err != nil {
		return nil, nil, err
	}
	change := preview.Change{Edits: moves.Edits, Drain: q.drain, Now: time.Now()}
	effects, warnings := preview.Effects(state, s.keeper, change)
	out := &gatekeeperv1.MoveResponse{
		Effects: toEffects(effects), Warnings: warnings, Revision: state.Revision(), Digest: preview.DigestOf(state.Revision(), targets).String(),
		Confirm: toConfirmations(preview.Confirm(state, s.keeper, change, effects)),
		Doubts:  preview.MoveDoubts(state, q.to, effects),
	}
	for i := range moves.Edits {
		d := moves.Edits[i].Definition
		out.Moves = append(out.Moves, &gatekeeperv1.Moved{
			Semaphore: d.Name, Version: moves.Edits[i].ExpectedVersion, GroupPattern: d.GroupPattern, Permits: d.Permits,
		})
	}
	for _, n := range moves.NotMoved {
		out.NotMoved = append(out.NotMoved, &gatekeeperv1.NotMoved{Semaphore: n.Semaphore, Why: n.Why, Problem: n.Problem})
	}
	for sd := range state.Definitions("") {
		if q.choice.match(sd.Definition) {
			out.Chosen++
		}
	}
	if len(moves.Edits) == 0 {
		out.Mistake = preview.MoveMistake(state, s.keeper, q.from, q.to, q.choice.match)
	}
	return out, moves.Edits, nil
}

// changedError refuses a change that would not do what its caller was shown.
type changedError struct{ changed []preview.Changed }

func (e *changedError) names() (names []string) {
	for _, c := range e.changed {
		names = append(names, c.Semaphore)
	}
	return names
}

func (e *changedError) Error() string {
	const most = 10
	var what []string
	for _, c := range e.changed[:min(len(e.changed), most)] {
		what = append(what, c.Semaphore+" by "+c.Author)
	}
	if more := len(e.changed) - most; more > 0 {
		what = append(what, fmt.Sprintf("%d more", more))
	}
	if len(what) == 0 {
		return "nothing was changed: it would not do what the dry run showed"
	}
	return "nothing was changed: edited since the dry run: " + strings.Join(what, ", ")
}
