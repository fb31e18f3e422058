package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// operatorService serves gatekeeper.v1.OperatorService: what changes something. What only looks is in operator_look.go.
type operatorService struct {
	gatekeeperv1.UnimplementedOperatorServiceServer
	*API
	keeper operatorKeeper
}

func (s *operatorService) Pause(ctx context.Context, m *gatekeeperv1.PauseRequest) (*gatekeeperv1.PauseResponse, error) {
	cmd, end, c, err := pauseFrom(m)
	if err != nil {
		return nil, err
	}
	cmd.RequestID, cmd.Asked, cmd.RequestRevision = m.GetRequestId(), asked(m), m.GetRequestRevision()
	if done, err := s.repeated(ctx, m, fsm.EditPause, cmd.Asked); err != nil {
		return nil, err
	} else if done != nil {
		return &gatekeeperv1.PauseResponse{Revision: done.ChangeID(), Names: done.FirstAnswer().Names}, nil
	}
	expected, err := expectedFrom(m)
	if err != nil {
		return nil, err
	}
	state, err := s.reader.Read(ctx)
	if err != nil {
		return nil, err
	}
	if cmd.Names, err = c.resolve(state); err != nil {
		return nil, err
	}
	if err := asExpected(state, expected, preview.PauseTargets(state, cmd.Names)); err != nil {
		return nil, err
	}
	if len(cmd.Names) == 0 {
		return nil, errChosenNone
	}
	result, err := s.keeper.Pause(ctx, *cmd, end)
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.PauseResponse{Revision: result.Revision, Names: result.Names}, nil
}

// pauseFrom reads a pause, but for the names, which are those of the choice.
func pauseFrom(m *gatekeeperv1.PauseRequest) (cmd *fsm.Pause, end keeper.Ending, c *choice, err error) {
	cmd = &fsm.Pause{Stop: m.GetStop(), Keep: m.GetKeepPaused()}
	if c, err = choiceFrom("selector", m.GetSelector()); err != nil {
		return nil, end, nil, err
	}
	if cmd.Author, cmd.Reason, err = wordFrom(m); err != nil {
		return nil, end, nil, err
	}
	if cmd.Drain, err = durationFrom("drain", m.GetDrain(), 0); err != nil {
		return nil, end, nil, err
	}
	if cmd.Drain != 0 && !cmd.Stop {
		return nil, end, nil, invalid("drain", cmd.Drain.String(), "must be absent without stop: a plain pause lets holders go on to their end")
	}
	end, err = endingFrom(m)
	return cmd, end, c, err
}

// Resume resumes those of the chosen that are paused, by a certain change if the caller names one.
func (s *operatorService) Resume(ctx context.Context, m *gatekeeperv1.ResumeRequest) (*gatekeeperv1.ResumeResponse, error) {
	c, err := choiceFrom("selector", m.GetSelector())
	if err != nil {
		return nil, err
	}
	author, reason, err := wordFrom(m)
	if err != nil {
		return nil, err
	}
	cmd := fsm.Resume{
		Revision: m.GetChange(), Author: author, Reason: reason,
		RequestID: m.GetRequestId(), Asked: asked(m), RequestRevision: m.GetRequestRevision(),
	}
	if done, err := s.repeated(ctx, m, fsm.EditResume, cmd.Asked); err != nil {
		return nil, err
	} else if done != nil {
		return &gatekeeperv1.ResumeResponse{Revision: done.ChangeID(), Names: done.FirstAnswer().Names}, nil
	}
	state, err := s.reader.Read(ctx)
	if err != nil {
		return nil, err
	}
	chosen, err := c.resolve(state)
	if err != nil {
		return nil, err
	}
	expected, err := expectedFrom(m)
	if err != nil {
		return nil, err
	}
	if err := asExpected(state, expected, preview.PauseTargets(state, chosen)); err != nil {
		return nil, err
	}
	for _, name := range chosen {
		if p := state.Definition(name).Pause; p != nil && (m.GetChange() == 0 || p.Origin() == m.GetChange()) {
			cmd.Names = append(cmd.Names, name)
		}
	}
	// Also if none is paused: the state machine remembers that, and may know the request by now.
	result, err := s.keeper.Resume(ctx, cmd)
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.ResumeResponse{Revision: result.Revision, Names: result.Names}, nil
}

func (s *operatorService) Cordon(ctx context.Context, m *gatekeeperv1.CordonRequest) (*gatekeeperv1.CordonResponse, error) {
	cmd, end, err := cordonFrom(m)
	if err != nil {
		return nil, err
	}
	cmd.RequestID, cmd.Asked, cmd.RequestRevision = m.GetRequestId(), asked(m), m.GetRequestRevision()
	// First: the end of one that is repeated may have passed.
	if done, err := s.repeated(ctx, m, fsm.EditCordon, cmd.Asked); err != nil {
		return nil, err
	} else if done != nil {
		return cordonResponse(cmd.ID, done.Revision, done.FirstAnswer().Cordon), nil
	}
	result, err := s.keeper.Cordon(ctx, *cmd, end)
	if err != nil {
		return nil, err
	}
	return cordonResponse(cmd.ID, result.Revision, result.Cordon), nil
}

// cordonResponse answers with the cordon as it was set. What was remembered below feature level 3 does not have it.
func cordonResponse(id string, revision uint64, set *fsm.Cordon) *gatekeeperv1.CordonResponse {
	if set == nil {
		set = &fsm.Cordon{ID: id, Revision: revision}
	}
	return &gatekeeperv1.CordonResponse{Cordon: toCordon(set)}
}

func cordonFrom(m *gatekeeperv1.CordonRequest) (cmd *fsm.SetCordon, end keeper.Ending, err error) {
	cmd = &fsm.SetCordon{ID: m.GetId(), GroupPattern: m.GetGroupPattern(), AcquirerPattern: m.GetAcquirerPattern()}
	if err := keeper.ValidCordon(cmd); err != nil {
		return nil, end, err // first: without patterns there is no id to draw from them
	}
	if cmd.ID == "" {
		cmd.ID = cordonID(cmd)
	}
	if err := semaphore.ValidName("id", cmd.ID); err != nil {
		return nil, end, err
	}
	if cmd.Author, cmd.Reason, err = wordFrom(m); err != nil {
		return nil, end, err
	}
	if cmd.Drain, err = durationFrom("drain", m.GetDrain(), 0); err != nil {
		return nil, end, err
	}
	if end, err = endingFrom(m); err != nil {
		return nil, end, err
	}
	return cmd, end, keeper.ValidCordon(cmd)
}

// cordonID names a cordon by what it catches, so that setting the same one again replaces it.
func cordonID(cmd *fsm.SetCordon) string {
	var parts []string
	if cmd.GroupPattern != "" {
		parts = append(parts, "group:"+cmd.GroupPattern)
	}
	if cmd.AcquirerPattern != "" {
		parts = append(parts, "acquirer:"+cmd.AcquirerPattern)
	}
	id := strings.Join(parts, " ")
	if len(id) > semaphore.MaxName {
		return fmt.Sprintf("%.200s... %d bytes", strings.ToValidUTF8(id[:200], ""), len(id))
	}
	return id
}

func (s *operatorService) Uncordon(ctx context.Context, m *gatekeeperv1.UncordonRequest) (*gatekeeperv1.UncordonResponse, error) {
	if err := semaphore.ValidName("id", m.GetId()); err != nil {
		return nil, err
	}
	author, reason, err := wordFrom(m)
	if err != nil {
		return nil, err
	}
	if err := semaphore.ValidateRequestID(m.GetRequestId()); err != nil {
		return nil, err
	}
	result, err := s.keeper.Uncordon(ctx, fsm.Uncordon{
		ID: m.GetId(), Author: author, Reason: reason, RequestID: m.GetRequestId(), Asked: asked(m), RequestRevision: m.GetRequestRevision(),
	})
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.UncordonResponse{Revision: result.Revision}, nil
}

// maxUndone is how many changes one step takes back.
const maxUndone = 1000

// Undo plans with the state of now; what changes between the plan and its execution is refused there by its version.
func (s *operatorService) Undo(ctx context.Context, m *gatekeeperv1.UndoRequest) (*gatekeeperv1.UndoResponse, error) {
	if m.GetChange() == 0 {
		return nil, invalid("change", "0", "must be the id of a change: gkctl history lists them")
	}
	if n := len(m.GetAlso()); n >= maxUndone {
		return nil, invalid("also", strconv.Itoa(n)+" changes", fmt.Sprintf("must be fewer than %d: undo them in several steps", maxUndone))
	}
	what := preview.Undoable{Changes: append([]uint64{m.GetChange()}, m.GetAlso()...), Partial: m.GetPartial(), SkipConflicts: m.GetSkipConflicts()}
	author, reason, err := wordFrom(m)
	if err != nil {
		return nil, err
	}
	if reason == "" {
		reason = "undo of " + changesText(what.Changes)
	}
	if what.Drain, err = durationFrom("drain", m.GetDrain(), 0); err != nil {
		return nil, err
	}
	// A repeat of a call whose answer was lost must not undo the undoing.
	asked := asked(m)
	if done, err := s.repeated(ctx, m, fsm.EditUndo, asked); err != nil {
		return nil, err
	} else if done != nil {
		return &gatekeeperv1.UndoResponse{Revision: done.Revision}, nil
	}
	state, err := s.reader.Read(ctx)
	if err != nil {
		return nil, err
	}
	u, err := preview.Undo(state, what, time.Now())
	if err != nil {
		return nil, err
	}
	if !what.Partial && len(u.Missing) > 0 {
		return nil, &undoIncompleteError{missing: mapped(u.Missing, missingText)}
	}
	if len(u.Conflicts) > 0 {
		return nil, &undoConflictError{changes: what.Changes, conflicts: u.Conflicts}
	}
	out := &gatekeeperv1.UndoResponse{
		Notes: u.Notes, UndoneBy: u.UndoneBy, Nothing: u.Command == nil, Missing: mapped(u.Missing, toMissing), Skipped: u.Skipped,
	}
	if u.Command == nil {
		return out, nil
	}
	if out.Plan, err = planID(*u.Command); err != nil {
		return nil, err
	}
	if m.GetPlan() != "" && m.GetPlan() != out.GetPlan() {
		return nil, &undoConflictError{changes: what.Changes, conflicts: []string{"it would do something else by now than what was shown: look again"}}
	}
	change := preview.Change{Undo: u.Command, Now: time.Now()}
	effects, warnings := preview.Effects(state, s.keeper, change)
	out.Effects, out.Warnings = toEffects(effects), warnings
	out.Confirm = toConfirmations(preview.Confirm(state, s.keeper, change, effects))
	if m.GetDryRun() {
		return out, nil
	}
	cmd := *u.Command
	cmd.Author, cmd.Reason = author, reason
	cmd.RequestID, cmd.Asked, cmd.RequestRevision = m.GetRequestId(), asked, m.GetRequestRevision()
	result, err := s.keeper.Undo(ctx, cmd)
	if err != nil {
		return nil, err
	}
	if result.Repeated { // since it was looked for
		return &gatekeeperv1.UndoResponse{Revision: result.Revision}, nil
	}
	if c := result.Conflict; c != nil {
		return nil, &undoConflictError{changes: what.Changes, conflicts: []string{conflictText(c)}}
	}
	out.Revision = result.Revision
	return out, nil
}

// planID names what a planned command does and expects: equal plans have equal names.
func planID(cmd fsm.Command) (string, error) {
	entry, err := fsm.Encode(fsm.SupportedLevel, []fsm.Command{cmd})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(entry)
	return hex.EncodeToString(sum[:8]), nil
}

// conflictText says what was changed between the plan of an undo and its execution.
func conflictText(c *fsm.Conflict) string {
	switch c.Kind {
	case fsm.ConflictPause:
		return c.Name + ": it was paused or resumed at this moment by somebody else; look again"
	case fsm.ConflictFirings:
		return c.Name + ": its firings changed at this moment; look again"
	case fsm.ConflictCordon:
		return fmt.Sprintf("cordon %q: it was set or ended at this moment by somebody else; look again", c.Name)
	default:
		return c.Name + ": it was edited at this moment by somebody else; look again"
	}
}
