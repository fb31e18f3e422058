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

// memberTimeout limits how long a member may take to answer. It is shorter than hopDialTimeout, so that the error for a
// hung member reports the timeout rather than a closed connection.
const memberTimeout = 1500 * time.Millisecond

// ListMembers returns each member's own status. It queries all members in parallel on the caller's behalf, and each
// member uses its own bindings to decide what the caller may see. GetStatus is never forwarded, so no call can loop.
func (s *clusterService) ListMembers(
	ctx context.Context, _ *gatekeeperv1.ListMembersRequest,
) (*gatekeeperv1.ListMembersResponse, error) {
	members, err := s.cfg.Consensus.Members()
	if err != nil {
		return nil, fmt.Errorf("members: %w", err)
	}
	slices.SortFunc(members, func(a, b consensus.Member) int { return strings.Compare(a.ID, b.ID) })
	out := &gatekeeperv1.ListMembersResponse{Id: s.cfg.ID, Members: make([]*gatekeeperv1.MemberStatus, len(members))}
	var wg sync.WaitGroup
	queryOwn := func() {}
	for i, m := range toMembers(members) {
		out.Members[i] = &gatekeeperv1.MemberStatus{Member: m}
		query := func() { s.query(ctx, members[i], out.Members[i]) }
		if m.GetId() == s.cfg.ID {
			queryOwn = query
		} else {
			wg.Go(query)
		}
	}
	queryOwn() // in this goroutine, where panics are caught
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	setLags(out.GetMembers())
	return out, nil
}

// query stores a member's status, or the error, in out.
func (s *clusterService) query(ctx context.Context, m consensus.Member, out *gatekeeperv1.MemberStatus) {
	status, err := s.statusOf(ctx, m)
	if err != nil {
		out.Error = err.Error()
		return
	}
	out.Status = status
}

// statusOf returns the status of one member. Its error is shown to users.
func (s *clusterService) statusOf(ctx context.Context, m consensus.Member) (*gatekeeperv1.GetStatusResponse, error) {
	if m.ID == s.cfg.ID {
		return s.GetStatus(ctx, new(gatekeeperv1.GetStatusRequest))
	}
	if m.APIAddress == "" {
		return nil, errors.New("its API address is not known: no connection to it has succeeded since this server started")
	}
	h, err := s.forward.toMember(m)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, memberTimeout)
	defer cancel()
	out, end := h.outgoing(ctx, s.cfg.ID)
	defer end()
	status, err := gatekeeperv1.NewClusterServiceClient(h.conn).GetStatus(out, new(gatekeeperv1.GetStatusRequest))
	switch {
	case err == nil:
		return status, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s did not answer within %v", m.APIAddress, memberTimeout)
	}
	return nil, errors.New(hopText(err))
}

// setLags computes how far each member lags behind the commit index of the leader with the newest term. The statuses
// were taken at different times, so a member may be ahead of the leader's status. In that case, its lag is 0.
func setLags(members []*gatekeeperv1.MemberStatus) {
	var leader *gatekeeperv1.GetStatusResponse
	for _, m := range members {
		isLeader := m.GetStatus().GetRole() == gatekeeperv1.ServerRole_SERVER_ROLE_LEADER
		if isLeader && m.GetStatus().GetTerm() >= leader.GetTerm() {
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
