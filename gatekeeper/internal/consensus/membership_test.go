package consensus

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestAddMember_Unreachable_StaysWithoutAVote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leader := leaderOf(t, memoryCluster(t, 1, nil)...)
		if err := leader.AddMember(t.Context(), Addition{ID: "gk2", PeerAddress: "gk2.test:7421"}); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		members, err := leader.Members()
		if err != nil || len(members) != 2 || members[1].Voter {
			t.Errorf("members %+v, %v", members, err)
		}
		mustAppend(t, leader.Node, "x") // with two voters it could not
		if _, err := leader.RemoveMember(t.Context(), "gk2", false); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAddMember_RetiredID_IsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leader := leaderOf(t, memoryCluster(t, 1, func(_ int, cfg *Config) {
			cfg.Retired = func(id string) bool { return id == "gk2" }
		})...)
		if err := leader.AddMember(t.Context(), Addition{ID: "gk2", PeerAddress: "gk2.test:7421"}); !errors.Is(err, ErrMemberRetired) {
			t.Errorf("add a retired member: %v", err)
		}
	})
}

func TestAddMember_LeaderCutOff_EndsAsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		cutOff(leader, others(members, leader), nil)
		if err := leader.AddMember(t.Context(), Addition{ID: "gk9", PeerAddress: "gk9.test:7421"}); !errors.Is(err, ErrUnknownOutcome) {
			t.Errorf("add on a leader without a majority: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var notLeader *NotLeaderError
		if err := leader.AddMember(ctx, Addition{ID: "gk9", PeerAddress: "gk9.test:7421"}); !errors.As(err, &notLeader) && !errors.Is(err, context.Canceled) {
			t.Errorf("add on a deposed leader: %v", err)
		}
	})
}
