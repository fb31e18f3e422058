package gatekeeper

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/fsm"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestCluster_CallsThroughFollower_AreServed(t *testing.T) {
	t.Parallel()
	_, followers := findLeader(t, cluster(t, "gk1", "gk2", "gk3"))
	c, other := newCaller(t, followers[0]), newCaller(t, followers[1])
	c.create(t, "job")
	p := c.grant(t, "job", "app1")
	if other.try(t, "job", "app2").GetDenial().GetReason() != gatekeeperv1.Reason_REASON_NO_FREE_PERMIT {
		t.Error("the second acquire was granted while the first permit was live")
	}
	if r := other.refresh(t, p); r.GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED {
		t.Errorf("refresh through another server = %v, want REFRESHED", r)
	}

	waiting, err := other.Acquire(bounded(t), &gatekeeperv1.AcquireRequest{
		Semaphore: "job", Identity: &gatekeeperv1.Identity{Acquirer: "app2"}, RequestId: "waits",
	})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := waiting.Recv(); err != nil || a.GetPlace().GetPlace() != 1 {
		t.Fatalf("first response to a waiting call = %v, %v, want place 1", a, err)
	}
	c.release(t, p)
	for {
		a, err := waiting.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if a.GetGrant() != nil {
			break
		}
	}
}

func TestCluster_LeaderClosed_PermitSurvives(t *testing.T) {
	t.Parallel()
	leader, followers := findLeader(t, cluster(t, "gk1", "gk2", "gk3"))
	c := newCaller(t, followers[0])
	c.create(t, "job")
	p := c.grant(t, "job", "app1")
	closeServer(t, leader)
	waitReady(t, followers...)

	eventually(t, func() bool {
		s, err := c.GetStatus(bounded(t), &gatekeeperv1.GetStatusRequest{})
		return err == nil && s.GetLeaderId() != "" && s.GetLeaderId() != leader.cfg.ID
	})
	eventually(t, func() bool { // calls may fail during the leadership change, but the permit must not be lost
		a, err := c.Refresh(bounded(t), &gatekeeperv1.RefreshRequest{Tokens: []*gatekeeperv1.TokenRefresh{{Token: p.GetToken(), Duration: p.GetDuration()}}})
		if err != nil {
			return false
		}
		status := a.GetResults()[0].GetStatus()
		if status == gatekeeperv1.RefreshStatus_REFRESH_STATUS_LOST {
			t.Fatal("the permit was lost with the leader")
		}
		return status == gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED
	})
	if d := c.try(t, "job", "app2").GetDenial(); d == nil {
		t.Error("the second acquire was granted while the first permit was live")
	}
}

// Newer commands are enabled once every member supports them.
func TestCluster_AllMembersSupportLevel_RaisesFeatureLevel(t *testing.T) {
	t.Parallel()
	servers := cluster(t, "gk1", "gk2", "gk3")
	for _, s := range servers {
		eventually(t, func() bool { return s.machine.State().FeatureLevel() == fsm.SupportedLevel })
	}
}

func TestCluster_Joiner_BecomesMemberAndServes(t *testing.T) {
	t.Parallel()
	servers := cluster(t, "gk1", "gk2", "gk3")
	_, followers := findLeader(t, servers)
	newCaller(t, servers[0]).create(t, "job")

	cfg, log := testConfig(t, "gk4")
	cfg.Listeners.Peer, cfg.PeerAddress = listen(t), ""
	cfg.Join = []string{"127.0.0.1:1", followers[0].APIAddress()} // nothing listens on the first
	s := open(t, cfg)
	waitReady(t, s)
	if s.ClusterID() != servers[0].ClusterID() {
		t.Errorf("ClusterID() = %s, want %s", s.ClusterID(), servers[0].ClusterID())
	}
	c := newCaller(t, s)
	c.grant(t, "job", "app1")
	eventually(t, func() bool {
		a, err := c.GetStatus(bounded(t), &gatekeeperv1.GetStatusRequest{})
		if err != nil {
			return false
		}
		for _, m := range a.GetMembers() {
			if m.GetId() == "gk4" && m.GetVoter() {
				return true
			}
		}
		return false
	})
	if !strings.Contains(log.String(), "cannot join yet") {
		t.Error("no warning about the unreachable server")
	}

	cfg.Listeners.Peer, cfg.PeerAddress = nil, s.PeerAddress() // the address in the membership
	closeServer(t, s)
	s = open(t, cfg) // needs no other server, because the data directory has the cluster's state
	waitReady(t, s)
	if !strings.Contains(log.String(), "Join will be used only to request a vote") {
		t.Error("no message about Join after the restart")
	}
}

// memberOf returns the member with the given id from GetStatus, or nil.
func memberOf(t *testing.T, c caller, id string) *gatekeeperv1.Member {
	t.Helper()
	a, err := withRetry(t, c.GetStatus, &gatekeeperv1.GetStatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range a.GetMembers() {
		if m.GetId() == id {
			return m
		}
	}
	return nil
}

func TestCluster_NonVoter_StaysNonVoterUntilPromoted(t *testing.T) {
	t.Parallel()
	servers := cluster(t, "gk1")
	c := newCaller(t, servers[0])
	c.create(t, "job")
	listener := listen(t)
	add := &gatekeeperv1.AddMemberRequest{Id: "gk2", PeerAddress: listener.Addr().String(), NonVoter: true}
	if _, err := c.AddMember(bounded(t), add); err != nil {
		t.Fatal(err)
	}
	cfg, _ := testConfig(t, "gk2")
	cfg.Join, cfg.Listeners.Peer, cfg.PeerAddress = []string{servers[0].APIAddress()}, listener, ""

	// It was added as a non-voter, so it cannot start as a voter.
	if _, err := Open(bounded(t), cfg); !errors.Is(err, ErrJoinRefused) || !strings.Contains(err.Error(), "added as a non-voter") {
		t.Fatalf("Open() = %v, want ErrJoinRefused", err)
	}
	reopened, err := net.Listen("tcp", add.GetPeerAddress()) // the refused server has closed its listener
	if err != nil {
		t.Fatal(err)
	}
	cfg.Listeners.Peer, cfg.NonVoter = reopened, true
	s := open(t, cfg)
	waitReady(t, s)
	newCaller(t, s).grant(t, "job", "app1")
	if m := memberOf(t, c, "gk2"); m == nil || m.GetVoter() {
		t.Errorf("gk2 = %v, want a non-voter", m)
	}
	if _, err := c.TransferLeadership(bounded(t), &gatekeeperv1.TransferLeadershipRequest{Id: "gk2"}); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("TransferLeadership() to a non-voter = %v, want FailedPrecondition", err)
	}

	// An operator promotes it.
	add.NonVoter = false
	if _, err := c.AddMember(bounded(t), add); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return memberOf(t, c, "gk2").GetVoter() })
	add.NonVoter = true
	if _, err := c.AddMember(bounded(t), add); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("AddMember() of a voter as a non-voter = %v, want FailedPrecondition", err)
	}
}

func TestCluster_JoinerIDInUse_IsRefused(t *testing.T) {
	t.Parallel()
	servers := cluster(t, "gk1", "gk2", "gk3")
	cfg, _ := testConfig(t, "gk2")
	cfg.Join = []string{servers[0].APIAddress()}
	if _, err := Open(bounded(t), cfg); !errors.Is(err, ErrJoinRefused) {
		t.Errorf("Open() = %v, want ErrJoinRefused", err)
	}
}

func TestOpen_JoinWithoutCluster_RetriesUntilContextEnds(t *testing.T) {
	t.Parallel()
	cfg, _ := testConfig(t, "gk4")
	cfg.Join = []string{"127.0.0.1:1"}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := Open(ctx, cfg); !errors.Is(err, ErrJoin) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Open() = %v, want ErrJoin and DeadlineExceeded", err)
	}
}

func TestCluster_RestartedWithDifferentMembers_WarnsAndKeepsMembers(t *testing.T) {
	t.Parallel()
	cfg, log := testConfig(t, "gk1")
	s := open(t, cfg)
	waitReady(t, s)
	address := s.PeerAddress()
	closeServer(t, s)

	cfg.PeerAddress = address
	cfg.Members = []Member{{"gk1", address}, {"gk2", "127.0.0.1:1"}}
	s = open(t, cfg)
	waitReady(t, s) // still a single server
	if !strings.Contains(log.String(), "the cluster's members differ from Members") {
		t.Error("the log has no warning that the members differ")
	}
}

func TestServer_RestartedAtAnotherAddress_Warns(t *testing.T) {
	t.Parallel()
	cfg, log := testConfig(t, "gk1")
	s := open(t, cfg)
	waitReady(t, s)
	closeServer(t, s)
	if strings.Contains(log.String(), "has a different address for this server") {
		t.Error("unexpected address warning after the first start")
	}
	waitReady(t, open(t, cfg)) // on another free port
	if !strings.Contains(log.String(), "has a different address for this server") {
		t.Error("no warning after the address changed")
	}
}
