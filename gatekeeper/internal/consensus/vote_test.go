package consensus

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// A follower requests votes once the leader has been silent for the heartbeat timeout plus a short random delay, and is
// elected immediately, even if the other follower has not noticed yet.
func TestVote_LeaderGone_FirstCandidateIsElected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		for round := range 24 { // repeated, because Raft's own checks run at random times
			old := leaderOf(t, members...)
			rest := others(members, old)
			mustAppend(t, old.Node, "before")
			for _, r := range rest {
				until(t, "all followers have applied the entries", func() bool { return r.raft.AppliedIndex() >= old.raft.AppliedIndex() })
			}
			sleep(time.Second)
			var mu sync.Mutex // guards requested
			var requested time.Time
			cutOff(old, rest, nil)
			cutAt := time.Now()
			for _, r := range rest {
				r.wire.set(func(to raft.ServerID, command any) error {
					if to == old.id {
						return errCut
					}
					if _, ok := command.(*raft.RequestPreVoteRequest); ok {
						mu.Lock()
						defer mu.Unlock()
						if requested.IsZero() {
							requested = time.Now()
						}
					}
					return nil
				}, nil)
			}
			next := leaderOf(t, rest...)
			mu.Lock()
			silent, took := requested.Sub(cutAt), time.Since(requested)
			mu.Unlock()
			timeout := old.cfg.Timeouts.Heartbeat
			if limit := timeout + maxStagger(timeout); silent > limit {
				t.Errorf("round %d: votes were first requested %v after the last contact, want at most %v", round, silent, limit)
			}
			if took >= 100*time.Millisecond { // virtual time advances only while waiting
				t.Errorf("round %d: elected %v after the first vote request, want less than 100ms", round, took)
			}
			for _, m := range members {
				m.wire.set(nil, nil)
			}
			until(t, "the old leader follows the new one", func() bool { return old.raft.State() == raft.Follower && old.raft.Leader() == next.raft.Leader() })
		}
	})
}

// requestPreVote sends a pre-vote request to voter, from a candidate with the given name and log, for the next term.
func requestPreVote(t *testing.T, candidate, voter *member, name raft.ServerID, lastTerm, lastIndex uint64) (granted bool) {
	t.Helper()
	var r raft.RequestPreVoteResponse
	err := candidate.transport.RequestPreVote(voter.id, voter.address, &raft.RequestPreVoteRequest{
		RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(name), Addr: []byte(candidate.address)},
		Term:      voter.raft.CurrentTerm() + 1, LastLogTerm: lastTerm, LastLogIndex: lastIndex,
	}, &r)
	if err != nil {
		t.Fatal(err)
	}
	return r.Granted
}

// requestVotes sends a pre-vote and then a vote request like requestPreVote.
func requestVotes(t *testing.T, candidate, voter *member, name raft.ServerID, lastTerm, lastIndex uint64) (preVote, vote bool) {
	t.Helper()
	preVote = requestPreVote(t, candidate, voter, name, lastTerm, lastIndex)
	var r raft.RequestVoteResponse
	err := candidate.transport.RequestVote(voter.id, voter.address, &raft.RequestVoteRequest{
		RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(name), Addr: []byte(candidate.address)},
		Term:      voter.raft.CurrentTerm() + 1, LastLogTerm: lastTerm, LastLogIndex: lastIndex,
	}, &r)
	if err != nil {
		t.Fatal(err)
	}
	return preVote, r.Granted
}

func TestVote_LeaderAlive_NoVoteIsGranted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		rest := others(members, leader)
		sleep(time.Second)
		term := leader.Term()
		pre, vote := requestVotes(t, rest[0], rest[1], rest[0].id, term+1, 1_000_000)
		if pre || vote {
			t.Errorf("a follower in contact with its leader granted a pre-vote: %v, a vote: %v", pre, vote)
		}
		// If only one member loses contact with the leader, its repeated vote requests have no effect.
		leader.wire.set(func(to raft.ServerID, _ any) error {
			if to == rest[0].id {
				return errCut
			}
			return nil
		}, nil)
		sleep(20 * time.Second)
		if now, leads := leads(leader.raft); !leads || now != term {
			t.Errorf("leads() = %d, %v, want %d, true", now, leads, term)
		}
	})
}

// Without a leader, neither a member whose log is behind nor a non-member receives a vote.
func TestVote_LeaderGone_OnlyUpToDateMemberGetsVotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		rest := others(members, leader)
		mustAppend(t, leader.Node, "something")
		last, term := leader.raft.LastIndex(), leader.raft.CurrentTerm()
		for _, r := range rest {
			until(t, "all followers have the entry", func() bool { return r.raft.LastIndex() == last })
		}
		cutOff(leader, rest, nil)
		until(t, "the voter has lost contact with the leader", rest[1].transport.incoming.leaderless)
		if pre, vote := requestVotes(t, rest[0], rest[1], "gk9", term, last); pre || vote {
			t.Errorf("a non-member got a pre-vote: %v, a vote: %v", pre, vote)
		}
		if pre, vote := requestVotes(t, rest[0], rest[1], rest[0].id, term, last-1); pre || vote {
			t.Errorf("a member whose log is behind got a pre-vote: %v, a vote: %v", pre, vote)
		}
		if pre, vote := requestVotes(t, rest[0], rest[1], rest[0].id, term, last); !pre || !vote {
			t.Errorf("a member with the complete log got a pre-vote: %v, a vote: %v", pre, vote)
		}
	})
}

// Raft records its vote under the candidate's address. Two members that advertise the same address must not both
// receive that vote.
func TestVote_SharedAddress_GetsOneVotePerTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		rest := others(members, leader)
		mustAppend(t, leader.Node, "something")
		last, lastTerm := leader.raft.LastIndex(), leader.raft.CurrentTerm()
		for _, r := range rest {
			until(t, "all members have the entry", func() bool { return r.raft.LastIndex() == last })
		}
		cutOff(leader, rest, nil)
		candidate, voter := rest[0], rest[1]
		until(t, "the voter has lost contact with the leader", voter.transport.incoming.leaderless)
		term := voter.raft.CurrentTerm() + 10
		requestVote := func(id raft.ServerID, address string, lastTerm, lastIndex uint64) bool {
			t.Helper()
			var r raft.RequestVoteResponse
			err := candidate.transport.RequestVote(voter.id, voter.address, &raft.RequestVoteRequest{
				RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(id), Addr: []byte(address)},
				Term:      term, LastLogTerm: lastTerm, LastLogIndex: lastIndex,
			}, &r)
			if err != nil {
				t.Fatal(err)
			}
			return r.Granted
		}
		const shared = "same.test:7421"
		if !requestVote(candidate.id, shared, lastTerm, last) {
			t.Fatal("the first candidate was refused a vote")
		}
		if requestVote(leader.id, shared, 0, 0) {
			t.Error("two members got the same member's vote in one term")
		}
		if requestVote(leader.id, string(candidate.address), lastTerm, last) {
			t.Error("a member got another member's vote by using its address")
		}
		if !requestVote(candidate.id, "moved.test:7421", lastTerm, last) {
			t.Error("a candidate that retried from another address was refused its vote")
		}
		term++
		if requestVote("", shared, lastTerm, last) {
			t.Error("a candidate without an id got a vote")
		}
		// A member's vote for itself must not count for another member with its address.
		campaign(t, voter)
		until(t, "the voter becomes a candidate", func() bool { return voter.raft.State() != raft.Follower })
		term = voter.raft.CurrentTerm()
		if requestVote(candidate.id, string(voter.address), lastTerm, last+100) {
			t.Error("a member got the voter's vote for itself")
		}
	})
}

// campaign makes a member start an election immediately, as the target of a leadership transfer does.
func campaign(t *testing.T, m *member) {
	t.Helper()
	req := &raft.TimeoutNowRequest{RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax}}
	m.transport.incoming.to <- raft.RPC{Command: req, RespChan: make(chan raft.RPCResponse, 1)}
}
