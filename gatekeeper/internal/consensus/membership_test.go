package consensus

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

func TestAddMember_Unreachable_RemainsNonVoter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leader := leaderOf(t, memoryCluster(t, 1, nil)...)
		if err := leader.AddMember(t.Context(), Addition{ID: "gk2", PeerAddress: "gk2.test:7421"}); err != nil {
			t.Fatal(err)
		}
		sleep(time.Minute)
		members, err := leader.Members()
		if err != nil || len(members) != 2 || members[1].Voter {
			t.Errorf("Members() = %+v, %v, want gk2 as a non-voter", members, err)
		}
		mustAppend(t, leader.Node, "x") // would fail if gk2 had a vote
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
			t.Errorf("AddMember of a retired member = %v, want ErrMemberRetired", err)
		}
	})
}

func TestAddMember_LeaderCutOff_OutcomeIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		cutOff(leader, others(members, leader), nil)
		if err := leader.AddMember(t.Context(), Addition{ID: "gk9", PeerAddress: "gk9.test:7421"}); !errors.Is(err, ErrUnknownOutcome) {
			t.Errorf("AddMember on a leader without a majority = %v, want ErrUnknownOutcome", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var notLeader *NotLeaderError
		if err := leader.AddMember(ctx, Addition{ID: "gk9", PeerAddress: "gk9.test:7421"}); !errors.As(err, &notLeader) && !errors.Is(err, context.Canceled) {
			t.Errorf("AddMember on a deposed leader = %v, want a NotLeaderError", err)
		}
	})
}

func TestOpen_AddressOfAnotherMember_IsRefused(t *testing.T) {
	cfg := DataDirConfig{Dir: t.TempDir(), MemberID: "gk1", ClusterName: "test"}
	s := boot(t, cfg, listen(t), nil)
	other := listen(t)
	if err := electLeader(t, []*server{s}).AddMember(t.Context(), Addition{ID: "gk2", PeerAddress: other.Addr().String(), NonVoter: true}); err != nil {
		t.Fatal(err)
	}
	closeNode(t, s.Node)
	dataDir, err := PrepareDataDir(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer dataDir.Close()
	_, err = Open(Config{DataDir: dataDir, Machine: fsm.New(dataDir.ClusterID().String()), PeerListener: other, Timeouts: longTimeouts})
	addrErr, ok := errors.AsType[*AddressTakenError](err)
	if !ok || addrErr.Member != "gk2" || addrErr.Address != other.Addr().String() {
		t.Fatalf("Open() = %v, want an AddressTakenError that names gk2 at %s", err, other.Addr())
	}
	if err := dataDir.Close(); err != nil {
		t.Fatal(err)
	}
	boot(t, cfg, listen(t), nil) // the failed Open left the directory unchanged
}
