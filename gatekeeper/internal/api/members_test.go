package api

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestListMembers_ReturnsEachMembersStatusOrError(t *testing.T) {
	leader, follower := pair(t)
	leader.consensus.rename("abc.1/gk1/ours")
	silent := must(net.Listen("tcp", "127.0.0.1:0"))(t) // accepts connections but never answers
	defer silent.Close()
	hung := silent.Addr().String()
	follower.consensus.members = []consensus.Member{
		{ID: "gk6", APIAddress: hung},
		{ID: "gk2", APIAddress: follower.address, Voter: true},
		{ID: "gk1", APIAddress: leader.address, Name: "abc.1/gk1/ours", Voter: true, Leader: true},
		{ID: "gk3", APIAddress: unusedAddress(t), Voter: true},
		{ID: "gk4", PeerAddress: "gk4:7421"},
		{ID: "gk5", APIAddress: leader.address, Name: "abc.1/gk5/other"},
	}
	leader.consensus.applied, follower.consensus.applied = 12, 7
	follower.consensus.role = consensus.RoleFollower
	got := must(follower.cluster.ListMembers(ctx(t), new(gatekeeperv1.ListMembersRequest)))(t)
	if got.GetId() != "gk2" || len(got.GetMembers()) != 6 {
		t.Fatalf("ListMembers() = %v, want 6 members and id gk2", got)
	}
	for i, c := range []struct {
		id  string
		lag uint64
		err string // empty if the member answered
	}{
		{"gk1", 0, ""},
		{"gk2", 5, ""},
		{"gk3", 0, "connection refused"},
		{"gk4", 0, "its API address is not known"},
		{"gk5", 0, "check the addresses and names that the members advertise"},
		{"gk6", 0, fmt.Sprintf("%s did not answer within %v", hung, memberTimeout)},
	} {
		m := got.GetMembers()[i]
		if m.GetMember().GetId() != c.id || !strings.Contains(m.GetError(), c.err) || (m.GetError() == "") != (c.err == "") {
			t.Errorf("member %s = %v, want error %q", c.id, m, c.err)
		}
		if answered := c.err == ""; answered && (m.GetStatus().GetId() != c.id || m.Lag == nil || m.GetLag() != c.lag) ||
			!answered && (m.Status != nil || m.Lag != nil) {
			t.Errorf("member %s = %v, want a status and lag only if it answered", c.id, m)
		}
		if strings.Contains(m.GetError(), "rpc error") || strings.Contains(m.GetError(), "desc =") {
			t.Errorf("%s: error contains raw gRPC error text: %q", c.id, m.GetError())
		}
	}
}

// Lag is measured against the leader, so it is unknown if the leader does not respond.
func TestListMembers_LeaderDoesNotRespond_ReportsNoLag(t *testing.T) {
	_, follower := pair(t)
	follower.consensus.members = []consensus.Member{{ID: "gk1", APIAddress: unusedAddress(t)}, {ID: "gk2"}}
	follower.consensus.role = consensus.RoleFollower
	got := must(follower.cluster.ListMembers(ctx(t), new(gatekeeperv1.ListMembersRequest)))(t)
	if m := got.GetMembers(); len(m) != 2 || m[0].GetError() == "" || m[1].GetStatus() == nil || m[1].Lag != nil {
		t.Errorf("ListMembers() = %v, want an error for gk1 and no lag for gk2", got)
	}
}

func TestListMembers_Connections_AreKeptUntilAddressChanges(t *testing.T) {
	g := open(t)
	f := g.api.forward
	m := consensus.Member{ID: "gk2", APIAddress: "x:1"}
	first := must(f.toMember(m))(t)
	if again := must(f.toMember(m))(t); again != first {
		t.Error("toMember() opened a second connection to the same member")
	}
	m.APIAddress = "y:1"
	if moved := must(f.toMember(m))(t); moved == first || first.done.Err() == nil {
		t.Error("the connection to the old address was not closed")
	}
	g.api.Close()
	if _, err := f.toMember(m); err == nil {
		t.Error("toMember() after Close returned a connection")
	}
}
