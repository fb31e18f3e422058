package conn

import (
	"slices"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Answering counts the members that best knows, and those of them that answered: each once, by whatever address it was asked.
func Answering(best *gatekeeperv1.GetStatusResponse, members []client.MemberStatus) (reached, known int) {
	for _, m := range best.GetMembers() {
		if slices.ContainsFunc(members, func(s client.MemberStatus) bool { return s.Status != nil && s.ID() == m.GetId() }) {
			reached++
		}
	}
	return reached, len(best.GetMembers())
}

// LeaderOrNewest is the status of the leader, or of who has seen the highest term. At least one member has answered.
func LeaderOrNewest(members []client.MemberStatus) *gatekeeperv1.GetStatusResponse {
	var best *gatekeeperv1.GetStatusResponse
	for _, m := range members {
		s := m.Status
		if s == nil {
			continue
		}
		leads := s.GetRole() == gatekeeperv1.ServerRole_SERVER_ROLE_LEADER
		switch {
		case best == nil, s.GetTerm() > best.GetTerm(), s.GetTerm() == best.GetTerm() && leads:
			best = s
		}
	}
	return best
}
