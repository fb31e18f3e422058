package consensus

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// countChecks counts how often the member notices a silent leader and makes Raft check for it.
func countChecks(m *member) (checks *int) {
	checks = new(int)
	synctest.Wait()
	m.transport.incoming.check = func() { *checks++ }
	return checks
}

// A follower that has just granted a pre-vote leaves the election to that candidate. If both became candidates, they
// would split the votes.
func TestSilence_PreVoteGranted_DoesNotCampaign(t *testing.T) {
	for range 4 { // repeated, because Raft's own randomized timer may also make the voter a candidate
		synctest.Test(t, func(t *testing.T) {
			members := memoryCluster(t, 3, nil)
			leader := leaderOf(t, members...)
			candidate, voter := others(members, leader)[0], others(members, leader)[1]
			last, term := leader.raft.LastIndex(), leader.raft.CurrentTerm()
			until(t, "the voter has all entries", func() bool { return voter.raft.LastIndex() == last })
			checks := countChecks(voter)
			for _, m := range []*member{leader, voter} {
				m.wire.set(func(raft.ServerID, any) error { return errCut }, nil)
			}
			until(t, "the voter has lost contact with the leader", voter.transport.incoming.leaderless)
			if !requestPreVote(t, candidate, voter, candidate.id, term, last) {
				t.Fatal("the voter did not grant its pre-vote")
			}
			candidate.wire.set(func(raft.ServerID, any) error { return errCut }, nil)
			sleep(voter.cfg.Timeouts.Heartbeat - time.Millisecond)
			synctest.Wait()
			if *checks != 0 {
				t.Errorf("got %d checks within a heartbeat timeout of granting the pre-vote, want 0", *checks)
			}
		})
	}
}

// While a follower's disk is stalled, Raft's main loop does not see the heartbeats. The follower must not mistake that
// for silence.
func TestSilence_DiskStalls_NoElection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		follower := others(members, leader)[0]
		mustAppend(t, leader.Node, "before")
		until(t, "the follower has applied the entry", func() bool { return follower.raft.AppliedIndex() == leader.raft.AppliedIndex() })
		checks := countChecks(follower)
		for range 20 {
			release := follower.stall(t)
			mustAppend(t, leader.Node, "during the stall")
			sleep(3 * follower.cfg.Timeouts.Heartbeat)
			release()
			sleep(time.Second)
		}
		synctest.Wait()
		if *checks != 0 {
			t.Errorf("got %d checks for a silent leader, want 0, because heartbeats arrived", *checks)
		}
	})
}

// A pause in the leader's process or network that is well below the heartbeat timeout must not cost it leadership.
func TestSilence_ShortLeaderPause_KeepsLeading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		term := leader.Term()
		timeout := leader.cfg.Timeouts.Heartbeat
		for i := range 200 {
			resume := make(chan struct{})
			leader.wire.set(func(raft.ServerID, any) error { <-resume; return nil }, nil)
			sleep(timeout * 5 / 8)
			leader.wire.set(nil, nil)
			close(resume)
			sleep(timeout * time.Duration(i*37%100) / 100) // vary the start of the next pause relative to the heartbeats and timers
		}
		sleep(2 * timeout)
		if now, leads := leads(leader.raft); !leads || now != term {
			t.Errorf("leads() = %d, %v, want %d, true", now, leads, term)
		}
	})
}

func TestSilence_OnlyVoter_LeadsImmediately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		leaderOf(t, memoryCluster(t, 1, nil)...)
		if took := time.Since(start); took > 10*time.Millisecond { // virtual time advances only while waiting
			t.Errorf("a single server took %v to become leader", took)
		}
	})
}
