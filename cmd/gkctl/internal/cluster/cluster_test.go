package cluster

import (
	"testing"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestRole_FollowerWithoutVote_IsNonVoter(t *testing.T) {
	t.Parallel()
	for want, voter := range map[string]bool{"follower": true, "non-voter": false} {
		m := &client.MemberStatus{
			Member: &gatekeeperv1.Member{Id: "gk4", Voter: voter},
			Status: &gatekeeperv1.GetStatusResponse{Id: "gk4", Role: gatekeeperv1.ServerRole_SERVER_ROLE_FOLLOWER},
		}
		if got := role(m); got != want {
			t.Errorf("role() of a member with voter=%v = %q, want %q", voter, got, want)
		}
	}
}
