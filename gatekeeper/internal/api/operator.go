package api

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/preview"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/selector"
	"github.com/gatekeeperd/gatekeeper/internal/nearest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// operatorService serves gatekeeper.v1.OperatorService. Changes are here and in move.go, undo.go and firings.go. Reads
// are in operator_read.go.
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
	shown, err := expectedFrom(m)
	if err != nil {
		return nil, err
	}
	cmd.RequestID, cmd.RequestHash, cmd.RequestRevision = m.GetRequestId(), requestHash(m), m.GetRequestRevision()
	state, done, err := s.readForChange(ctx, m, fsm.EditPause, cmd.RequestHash)
	if err != nil {
		return nil, err
	}
	if done != nil {
		return &gatekeeperv1.PauseResponse{Revision: done.ChangeID(), Names: done.OriginalResponse().Names}, nil
	}
	if cmd.Names, err = c.Within(s.viewFilter(ctx)).Names(state); err != nil {
		return nil, err
	}
	if cmd.Expected, err = preview.ExpectedPauses(state, shown, cmd.Names); err != nil {
		return nil, err
	}
	result, err := s.keeper.Pause(ctx, *cmd, end)
	if err != nil {
		return nil, s.changedSince(state, err)
	}
	return &gatekeeperv1.PauseResponse{Revision: result.Revision, Names: result.Names}, nil
}

// pauseFrom reads a pause request. The caller sets cmd.Names from the selector.
func pauseFrom(m *gatekeeperv1.PauseRequest) (cmd *fsm.Pause, end keeper.Ending, c *selector.Selector, err error) {
	cmd = &fsm.Pause{Stop: m.GetStop(), Keep: m.GetKeepPaused()}
	if c, err = selector.ParseChoice("selector", m.GetSelector()); err != nil {
		return nil, end, nil, err
	}
	if cmd.Author, cmd.Reason, err = authorReasonFrom(m); err != nil {
		return nil, end, nil, err
	}
	if cmd.Drain, err = durationFrom("drain", m.GetDrain(), 0); err != nil {
		return nil, end, nil, err
	}
	if cmd.Drain != 0 && !cmd.Stop {
		return nil, end, nil, invalid("drain", cmd.Drain.String(), "must not be set without stop: a plain pause lets holders finish")
	}
	end, err = endingFrom(m)
	return cmd, end, c, err
}

// Resume resumes the chosen definitions that are paused. If the caller specifies a change, only pauses made by that
// change are ended.
func (s *operatorService) Resume(ctx context.Context, m *gatekeeperv1.ResumeRequest) (*gatekeeperv1.ResumeResponse, error) {
	c, err := selector.ParseChoice("selector", m.GetSelector())
	if err != nil {
		return nil, err
	}
	author, reason, err := authorReasonFrom(m)
	if err != nil {
		return nil, err
	}
	cmd := fsm.Resume{
		Revision: m.GetChange(), Author: author, Reason: reason,
		RequestID: m.GetRequestId(), RequestHash: requestHash(m), RequestRevision: m.GetRequestRevision(),
	}
	shown, err := expectedFrom(m)
	if err != nil {
		return nil, err
	}
	state, done, err := s.readForChange(ctx, m, fsm.EditResume, cmd.RequestHash)
	if err != nil {
		return nil, err
	}
	if done != nil {
		return &gatekeeperv1.ResumeResponse{Revision: done.ChangeID(), Names: done.OriginalResponse().Names}, nil
	}
	chosen, err := namesToResume(state, c.Within(s.viewFilter(ctx)), m)
	if err != nil {
		return nil, err
	}
	expected, err := preview.ExpectedPauses(state, shown, chosen)
	if err != nil {
		return nil, err
	}
	for i, name := range chosen {
		if p := state.Definition(name).Pause; p != nil && (m.GetChange() == 0 || p.Origin() == m.GetChange()) {
			cmd.Names = append(cmd.Names, name)
			if expected != nil {
				cmd.Expected = append(cmd.Expected, expected[i])
			}
		}
	}
	// The command is sent even if none of them are paused, because the state machine must record the request and may
	// already have done so.
	result, err := s.keeper.Resume(ctx, cmd)
	if err != nil {
		return nil, s.changedSince(state, err)
	}
	return &gatekeeperv1.ResumeResponse{Revision: result.Revision, Names: result.Names}, nil
}

// namesToResume returns the names of the chosen definitions. Resuming all definitions is not an error if there are
// none.
func namesToResume(state *fsm.State, c *selector.Selector, m *gatekeeperv1.ResumeRequest) ([]string, error) {
	names, err := c.Names(state)
	if _, notFound := errors.AsType[*selector.NoMatchError](err); notFound && m.GetSelector().GetAll() {
		return nil, nil
	}
	return names, err
}

func (s *operatorService) Cordon(ctx context.Context, m *gatekeeperv1.CordonRequest) (*gatekeeperv1.CordonResponse, error) {
	cmd, end, err := cordonFrom(m)
	if err != nil {
		return nil, err
	}
	cmd.RequestID, cmd.RequestHash, cmd.RequestRevision = m.GetRequestId(), requestHash(m), m.GetRequestRevision()
	// Retries are detected first, because the end time of a retried cordon may have passed.
	_, done, err := s.readForChange(ctx, m, fsm.EditCordon, cmd.RequestHash)
	if err != nil {
		return nil, err
	}
	if done != nil {
		return cordonResponse(cmd.ID, done.Revision, done.OriginalResponse().Cordon), nil
	}
	result, err := s.keeper.Cordon(ctx, *cmd, end)
	if err != nil {
		return nil, err
	}
	return cordonResponse(cmd.ID, result.Revision, result.Cordon), nil
}

// cordonResponse returns the cordon as originally set. Results stored below feature level 3 do not include it.
func cordonResponse(id string, revision uint64, set *fsm.Cordon) *gatekeeperv1.CordonResponse {
	if set == nil {
		set = &fsm.Cordon{ID: id, Revision: revision}
	}
	return &gatekeeperv1.CordonResponse{Cordon: toCordon(set)}
}

func cordonFrom(m *gatekeeperv1.CordonRequest) (cmd *fsm.SetCordon, end keeper.Ending, err error) {
	cmd = &fsm.SetCordon{ID: m.GetId(), GroupPattern: m.GetGroupPattern(), AcquirerPattern: m.GetAcquirerPattern()}
	if err := keeper.ValidCordon(cmd); err != nil {
		return nil, end, err // checked first, because the id is derived from the patterns
	}
	if cmd.ID == "" {
		cmd.ID = cordonID(cmd)
	}
	if err := semaphore.ValidName("id", cmd.ID); err != nil {
		return nil, end, err
	}
	if cmd.Author, cmd.Reason, err = authorReasonFrom(m); err != nil {
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

// Prefixes of the ids that cordonID returns.
const groupID, acquirerID = "group:", "acquirer:"

// cordonID derives an id from a cordon's patterns, so that setting the same cordon again replaces it.
func cordonID(cmd *fsm.SetCordon) string {
	var parts []string
	if cmd.GroupPattern != "" {
		parts = append(parts, groupID+cmd.GroupPattern)
	}
	if cmd.AcquirerPattern != "" {
		parts = append(parts, acquirerID+cmd.AcquirerPattern)
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
	author, reason, err := authorReasonFrom(m)
	if err != nil {
		return nil, err
	}
	if err := semaphore.ValidateRequestID(m.GetRequestId()); err != nil {
		return nil, err
	}
	result, err := s.keeper.Uncordon(ctx, fsm.Uncordon{
		ID: m.GetId(), Author: author, Reason: reason, RequestID: m.GetRequestId(), RequestHash: requestHash(m), RequestRevision: m.GetRequestRevision(),
	})
	if notFound, ok := errors.AsType[*keeper.NoSuchCordonError](err); ok {
		ids := mapSlice(s.cfg.Machine.State().Cordons(), func(c *fsm.Cordon) string { return c.ID })
		notFound.Suggestion = nearest.Prefixed(m.GetId(), ids, acquirerID, groupID)
	}
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.UncordonResponse{Revision: result.Revision}, nil
}
