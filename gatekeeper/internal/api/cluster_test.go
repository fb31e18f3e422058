package api

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestGetStatus_ReportsThisServersState(t *testing.T) {
	g := open(t, func(c *Config) { c.Version, c.Started = "v1", time.Now().Add(-time.Hour) })
	g.consensus.members = []consensus.Member{{ID: "gk1", PeerAddress: "p:1", APIAddress: "a:1", Voter: true, Leader: true}, {ID: "gk2"}}
	g.keeper.waiters = make([]keeper.Waiter, 3)
	g.create("a", "b")
	g.grant(t, "a", "host")
	got := must(g.cluster.GetStatus(ctx(t), &gatekeeperv1.GetStatusRequest{StateHash: true}))(t)
	hash := must(g.keeper.machine.State().Hash())(t)
	if w, last := got.GetLogWrites(), got.GetLastSnapshot(); w.GetCount() != 3 || w.GetMedian().AsDuration() != time.Millisecond ||
		w.GetLongest().AsDuration() != time.Second || last.GetIndex() != 9 || last.GetBytes() != 77 || last.GetTakenAt().AsTime().Unix() != 50 {
		t.Errorf("GetStatus() has log writes %v and snapshot %v", w, last)
	}
	if got.GetClusterId() != "0000000000000abc.1" || got.GetId() != "gk1" || got.GetRole() != gatekeeperv1.ServerRole_SERVER_ROLE_LEADER || got.GetLeaderId() != "gk1" ||
		got.GetTerm() != 1 || got.GetAppliedIndex() != 11 || got.GetCommitIndex() != 12 || got.GetRevision() == 0 ||
		got.GetDefinitions() != 2 || got.GetPermits() != 1 || got.GetVersion() != "v1" || got.GetUptime().AsDuration() < time.Hour ||
		got.GetWaiters() != 3 || got.GetStateHash() != fmt.Sprintf("%x", hash) || got.GetStateHashIndex() != g.keeper.index {
		t.Errorf("GetStatus() = %v", got)
	}
	if m := got.GetMembers(); len(m) != 2 || m[0].GetId() != "gk1" || m[0].GetApiAddress() != "a:1" || !m[0].GetVoter() || !m[0].GetLeader() || m[1].GetVoter() {
		t.Errorf("GetStatus() has members %v", m)
	}
}

func TestGetStatus_WhileRecovering_ReportsRemainingTime(t *testing.T) {
	g := open(t)
	got, err := g.cluster.GetStatus(ctx(t), &gatekeeperv1.GetStatusRequest{})
	if err != nil || got.GetRecoveryWait() != nil {
		t.Errorf("GetStatus() without a recovery = %v, %v", got, err)
	}
	g.keeper.recovering = time.Hour
	got, err = g.cluster.GetStatus(ctx(t), &gatekeeperv1.GetStatusRequest{})
	if err != nil || got.GetRecoveryWait().AsDuration() != time.Hour {
		t.Errorf("GetStatus() during a recovery = %v, %v; want a recovery wait of an hour", got, err)
	}
}

func TestAddMember_Retired_IsRefused(t *testing.T) {
	g := open(t)
	g.keeper.do(fsm.RetireMember{ID: "old"})
	g.consensus.addMember = func(id string) error {
		if id == "there" {
			return fmt.Errorf("add: %w", consensus.ErrMemberExists)
		}
		return nil
	}
	add := func(id string) (*gatekeeperv1.AddMemberResponse, error) {
		return g.cluster.AddMember(ctx(t), &gatekeeperv1.AddMemberRequest{Id: id, PeerAddress: "host:7421"})
	}
	_, err := add("old")
	want(t, err, codes.FailedPrecondition, "MEMBER_RETIRED")
	_, err = add("there")
	want(t, err, codes.AlreadyExists, "MEMBER_EXISTS")
	if r, err := add("new"); err != nil || r.GetClusterId() == "" {
		t.Errorf("AddMember() = %v, %v; want a cluster id", r, err)
	}
}

func TestRemoveMember_Refused_ReturnsReason(t *testing.T) {
	g := open(t)
	g.consensus.removeMember = func(id string) error {
		switch id {
		case "last":
			return consensus.ErrLastVoter
		case "gk4":
			return fmt.Errorf("retire: %w", consensus.ErrUnknownOutcome)
		case "gk2":
			return &consensus.QuorumError{ID: "gk2", Voters: 2, Majority: 2, Silent: []string{"gk3"}}
		}
		return nil
	}
	remove := func(id string) error {
		_, err := g.cluster.RemoveMember(ctx(t), &gatekeeperv1.RemoveMemberRequest{Id: id})
		return err
	}
	if err := remove("gk3"); err != nil {
		t.Fatal(err)
	}
	want(t, remove("last"), codes.FailedPrecondition, "LAST_VOTER")
	want(t, remove("gk4"), codes.Unavailable, "OUTCOME_UNKNOWN")
	want(t, remove("gk2"), codes.FailedPrecondition, "WOULD_LOSE_QUORUM")
	r, err := g.cluster.RemoveMember(ctx(t), &gatekeeperv1.RemoveMemberRequest{Id: "gk2", DryRun: true})
	if err != nil || !strings.Contains(r.GetRefusal(), "gk3 is not responding") {
		t.Errorf("RemoveMember() with dry run = %v, %v; want a refusal because gk3 is not responding", r, err)
	}
	if _, err := g.cluster.RemoveMember(ctx(t), &gatekeeperv1.RemoveMemberRequest{Id: "gk2", Force: true}); err != nil {
		t.Errorf("RemoveMember() with force: %v", err)
	}
	if r, err := g.cluster.RemoveMember(ctx(t), &gatekeeperv1.RemoveMemberRequest{Id: "gone"}); err != nil || !r.GetAlreadyRemoved() {
		t.Errorf("RemoveMember() of a removed member = %v, %v; want already removed", r, err)
	}
}

func TestTransferLeadership_Failure_IsNotReportedAsInternal(t *testing.T) {
	g := open(t)
	var transfer error
	g.consensus.transfer = func(string) error { return transfer }
	call := func(id string) (*gatekeeperv1.TransferLeadershipResponse, error) {
		return g.cluster.TransferLeadership(ctx(t), &gatekeeperv1.TransferLeadershipRequest{Id: id})
	}
	if r, err := call("gk2"); err != nil || r.GetLeaderId() != "gk2" {
		t.Errorf("TransferLeadership(gk2) = %v, %v; want gk2 as the leader", r, err)
	}
	if r, err := call(""); err != nil || r.GetLeaderId() != "gk1" {
		t.Errorf("TransferLeadership() = %v, %v; want gk1 as the leader", r, err)
	}
	transfer = fmt.Errorf("transfer: %w", consensus.ErrNotAVoter)
	_, err := call("gk2")
	want(t, err, codes.FailedPrecondition, "NOT_A_VOTER")
	transfer = errors.New("leadership transfer in progress")
	_, err = call("gk2")
	want(t, err, codes.Unavailable, "TRANSFER_FAILED")
}
