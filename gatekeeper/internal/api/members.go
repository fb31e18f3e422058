package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// askMember is how long a member has to answer. It is shorter than a connection attempt may take, so that the error of
// a member that hangs says so, instead of naming a closed connection.
const askMember = 1500 * time.Millisecond

// ListMembers describes each member as it sees itself. All are asked at the same time, in the name of the caller: each
// one decides by its own bindings what the caller may see. GetStatus is never passed on, so no call comes back here.
func (s *clusterService) ListMembers(
	ctx context.Context, _ *gatekeeperv1.ListMembersRequest,
) (*gatekeeperv1.ListMembersResponse, error) {
	members, err := s.cfg.Consensus.Members()
	if err != nil {
		return nil, fmt.Errorf("members: %w", err)
	}
	slices.SortFunc(members, func(a, b consensus.Member) int { return strings.Compare(a.ID, b.ID) })
	out := &gatekeeperv1.ListMembersResponse{Id: s.cfg.ID, Members: make([]*gatekeeperv1.MemberStatus, len(members))}
	var asking sync.WaitGroup
	own := func() {}
	for i, m := range toMembers(members) {
		out.Members[i] = &gatekeeperv1.MemberStatus{Member: m}
		ask := func() { s.ask(ctx, members[i], out.Members[i]) }
		if m.GetId() == s.cfg.ID {
			own = ask
		} else {
			asking.Go(ask)
		}
	}
	own() // here, where a panic is caught
	asking.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	lags(out.GetMembers())
	return out, nil
}

// ask puts into out what a member answers, or why it does not.
func (s *clusterService) ask(ctx context.Context, m consensus.Member, out *gatekeeperv1.MemberStatus) {
	status, err := s.statusOf(ctx, m)
	if err != nil {
		out.Error = err.Error()
		return
	}
	out.Status = status
}

// statusOf asks one member. Its error is for a person.
func (s *clusterService) statusOf(ctx context.Context, m consensus.Member) (*gatekeeperv1.GetStatusResponse, error) {
	if m.ID == s.cfg.ID {
		return s.GetStatus(ctx, new(gatekeeperv1.GetStatusRequest))
	}
	if m.APIAddress == "" {
		return nil, errors.New("its API address is not known: no connection to it succeeded since this server started")
	}
	h, err := s.forward.toMember(m)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askMember)
	defer cancel()
	out, end := h.outgoing(ctx, s.cfg.ID)
	defer end()
	status, err := gatekeeperv1.NewClusterServiceClient(h.conn).GetStatus(out, new(gatekeeperv1.GetStatusRequest))
	switch {
	case err == nil:
		return status, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s did not answer within %v", m.APIAddress, askMember)
	}
	return nil, errors.New(hopText(err))
}

// lags says how far each member is behind the commit index of the leader with the newest term. The statuses are not of
// the same moment: a member that is ahead of the leader's answer is not behind.
func lags(members []*gatekeeperv1.MemberStatus) {
	var leader *gatekeeperv1.GetStatusResponse
	for _, m := range members {
		leads := m.GetStatus().GetRole() == gatekeeperv1.ServerRole_SERVER_ROLE_LEADER
		if leads && m.GetStatus().GetTerm() >= leader.GetTerm() {
			leader = m.GetStatus()
		}
	}
	for _, m := range members {
		if status := m.GetStatus(); status != nil && leader != nil {
			lag := leader.GetCommitIndex() - min(status.GetAppliedIndex(), leader.GetCommitIndex())
			m.Lag = &lag
		}
	}
}
