package consensus

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// longLeaseLeader starts three members and makes the first one the leader. Its lease is so long that it does not step
// down in time when another leader is elected.
func longLeaseLeader(t *testing.T) (leader *member, rest []*member) {
	t.Helper()
	members := memoryCluster(t, 3, func(i int, cfg *Config) {
		if i == 0 {
			cfg.Timeouts = Timeouts{Heartbeat: 10 * time.Second, Election: 10 * time.Second}
		}
	})
	leader = leaderOf(t, members...)
	if leader != members[0] {
		until(t, "gk1 takes over", func() bool {
			leader = leaderOf(t, members...)
			return leader == members[0] || leader.Transfer(t.Context(), "gk1") == nil && leaderOf(t, members...) == members[0]
		})
		leader = members[0]
	}
	return leader, members[1:]
}

// cutOff drops all messages between m and the rest, except responses to requests that m has already sent. If after is
// not nil, it is called before m receives each of those responses.
func cutOff(m *member, rest []*member, after func(raft.ServerID)) {
	m.wire.set(func(raft.ServerID, any) error { return errCut }, after)
	for _, r := range rest {
		r.wire.set(func(to raft.ServerID, _ any) error {
			if to == m.id {
				return errCut
			}
			return nil
		}, nil)
	}
}

func TestConfirm_LateResponses_DoNotConfirm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, rest := longLeaseLeader(t)
		term := old.Term()

		// Responses to requests that the leader sends from now on are held back. Then the leader is cut off.
		late := make(chan struct{})
		release := sync.OnceFunc(func() { close(late) })
		t.Cleanup(release)
		old.wire.set(nil, func(raft.ServerID) { <-late })
		sleep(100 * time.Millisecond)
		cutOff(old, rest, func(raft.ServerID) { <-late })
		next := leaderOf(t, rest...)
		mustAppend(t, next.Node, "committed-in-the-new-term")
		if got, leads := leads(old.raft); !leads || got != term {
			t.Fatalf("old leader: term %d, leads %v, want it to still lead in its term", got, leads)
		}

		requested := time.Now()
		verify := old.raft.VerifyLeader()
		confirm := make(chan error, 1)
		go func() { confirm <- old.Confirm(t.Context(), term, requested) }()
		synctest.Wait()
		release() // the held-back responses arrive

		if err := verify.Error(); err != nil {
			// Confirm exists because of this bug. If a later version of Raft returns an error here, Confirm can be
			// simplified.
			t.Errorf("VerifyLeader on a deposed leader = %v, want nil, because responses to earlier requests satisfy it in v1.8.0", err)
		}
		if err := <-confirm; !errors.Is(err, ErrNotConfirmed) {
			t.Errorf("Confirm on a deposed leader = %v, want %v", err, ErrNotConfirmed)
		}
	})
}

func TestConfirm_IsolatedLeader_FailsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		old := leaderOf(t, members...)
		term := old.Term()
		if err := old.Confirm(t.Context(), term, time.Now()); err != nil {
			t.Fatalf("Confirm on the leader = %v, want nil", err)
		}
		cutOff(old, others(members, old), nil)
		sleep(time.Millisecond)
		start := time.Now()
		if err := old.Confirm(t.Context(), term, start); !errors.Is(err, ErrNotConfirmed) {
			t.Errorf("Confirm on the deposed leader = %v, want %v", err, ErrNotConfirmed)
		}
		if took := time.Since(start); took > 2*old.cfg.Timeouts.Heartbeat {
			t.Errorf("Confirm took %v, want at most twice the lease", took)
		}
		next := leaderOf(t, others(members, old)...)
		if err := next.Confirm(t.Context(), next.Term(), time.Now()); err != nil {
			t.Errorf("Confirm on the new leader = %v, want nil", err)
		}
		if err := next.Confirm(t.Context(), term, time.Now()); !errors.Is(err, ErrNotConfirmed) {
			t.Errorf("Confirm for an earlier term = %v, want %v", err, ErrNotConfirmed)
		}
		if err := old.Confirm(t.Context(), term, start); !errors.Is(err, ErrNotConfirmed) {
			t.Errorf("Confirm after leadership was lost = %v, want %v", err, ErrNotConfirmed)
		}
	})
}

func TestConfirm_ContextEnds_ReturnsItsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		cutOff(leader, others(members, leader), nil)
		sleep(time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		err := leader.Confirm(ctx, leader.Term(), time.Now())
		if !errors.Is(err, ErrNotConfirmed) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Confirm() = %v, want ErrNotConfirmed and context.DeadlineExceeded", err)
		}
	})
}

func TestAppend_LeaderCutOff_OutcomeIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		old := leaderOf(t, members...)
		mustAppend(t, old.Node, "first")
		cutOff(old, others(members, old), nil)
		if a := old.Append(entry(t, "second")).Wait(); !errors.Is(a.Err, ErrUnknownOutcome) || a.Results != nil {
			t.Errorf("Append on a leader without a majority: %+v, want ErrUnknownOutcome", a)
		}
		next := leaderOf(t, others(members, old)...)
		for _, m := range members {
			m.wire.set(nil, nil)
		}
		until(t, "the old leader follows the new one", func() bool { return old.Leader().ID == next.ID() })
		a := old.Append(entry(t, "third")).Wait()
		var notLeader *NotLeaderError
		if !errors.Is(a.Err, ErrNotAppended) || !errors.As(a.Err, &notLeader) || notLeader.Leader.ID != next.ID() {
			t.Errorf("Append on a follower: %v, want ErrNotAppended and the new leader", a.Err)
		}
	})
}
