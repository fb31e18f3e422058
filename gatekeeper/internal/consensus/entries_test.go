package consensus

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// isolatedFollower returns a follower that has applied all committed entries, up to last, and receives messages only
// from the test.
func isolatedFollower(t *testing.T) (follower *member, last, term uint64) {
	t.Helper()
	members := memoryCluster(t, 3, func(_ int, cfg *Config) { cfg.TrailingLogs = 1 })
	leader := leaderOf(t, members...)
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		last = mustAppend(t, leader.Node, id).Index
	}
	rest := others(members, leader)
	follower = rest[0]
	until(t, "the follower has applied all entries", func() bool { return follower.raft.AppliedIndex() == last })
	cutOff(leader, rest, nil)
	rest[1].wire.set(func(raft.ServerID, any) error { return errCut }, nil)
	follower.wire.set(func(raft.ServerID, any) error { return errCut }, nil)
	return follower, last, leader.raft.CurrentTerm()
}

// sendEntries delivers entries after (prev, prevTerm) to the follower, as if they came from another member that leads
// in term.
func (m *member) sendEntries(t *testing.T, term, prev, prevTerm, committed uint64, entries ...*raft.Log) raft.AppendEntriesResponse {
	t.Helper()
	const leader = "gk1.test:7421" // any member's address
	var answer raft.AppendEntriesResponse
	err := m.wire.InmemTransport.AppendEntries(m.id, m.address, &raft.AppendEntriesRequest{
		RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte("gk1"), Addr: []byte(leader)},
		Term:      term, PrevLogEntry: prev, PrevLogTerm: prevTerm, LeaderCommitIndex: committed, Entries: entries,
	}, &answer)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func noop(index, term uint64) *raft.Log {
	return &raft.Log{Index: index, Term: term, Type: raft.LogNoop}
}

// A leader sends entries that continue from the follower's newest snapshot, but the follower's log no longer contains
// the entry before them. Raft alone would reject them forever: the leader would send an older snapshot, which the
// follower has, and then the same entries again.
func TestEntries_AfterTheNewestSnapshot_AreAccepted(t *testing.T) {
	for name, before := range map[string]uint64{"directly after the snapshot": 0, "overlapping the snapshot": 2} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, last, term := isolatedFollower(t)
				if err := f.raft.Snapshot().Error(); err != nil {
					t.Fatal(err)
				}
				first, _ := f.memory.FirstIndex()
				if err := f.memory.DeleteRange(first, last); err != nil { // as after installing a snapshot sent by a leader
					t.Fatal(err)
				}
				if answer := f.sendEntries(t, term+1, last, term, last, noop(last+1, term+1)); !answer.Success {
					t.Fatalf("response to an uncommitted entry: %+v, want success", answer)
				}

				var entries []*raft.Log
				for index := last + 1 - before; index <= last; index++ {
					entries = append(entries, noop(index, term))
				}
				entries = append(entries, noop(last+1, term+2), noop(last+2, term+2))
				answer := f.sendEntries(t, term+2, last-before, term, last+1, entries...)
				if !answer.Success {
					t.Fatalf("response to the next leader: %+v, want success", answer)
				}
				for index := last + 1; index <= last+2; index++ {
					var stored raft.Log
					if err := f.memory.GetLog(index, &stored); err != nil || stored.Term != term+2 {
						t.Errorf("entry %d has term %d (%v), want the next leader's term", index, stored.Term, err)
					}
				}
				if first, _ := f.memory.FirstIndex(); first != last+1 {
					t.Errorf("log begins at entry %d, but the snapshot ends at entry %d", first, last)
				}
				if index := f.raft.AppliedIndex(); index != last+1 {
					t.Errorf("applied up to entry %d, want %d", index, last+1)
				}
				// The previous leader is still rejected.
				if answer := f.sendEntries(t, term+1, last, term, last, noop(last+1, term+1)); answer.Success {
					t.Errorf("response to a leader from an earlier term: %+v, want failure", answer)
				}
			})
		})
	}
}

// The leader's commit index is beyond the entries that it sends, and the follower has entries from another leader at
// those indexes. Raft alone would apply them.
func TestEntries_CommitIndexBeyondSentEntries_AppliesOnlySentEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, last, term := isolatedFollower(t)
		if answer := f.sendEntries(t, term+1, last, term, last, noop(last+1, term+1)); !answer.Success {
			t.Fatalf("response to an uncommitted entry: %+v, want success", answer)
		}
		if answer := f.sendEntries(t, term+2, last, term, last+1); !answer.Success {
			t.Fatalf("response to a heartbeat: %+v, want success", answer)
		}
		if index := f.raft.AppliedIndex(); index != last {
			t.Errorf("applied up to entry %d, want %d: entry %d is not the leader's", index, last, last+1)
		}
		if answer := f.sendEntries(t, term+2, last, term, last+1, noop(last+1, term+2)); !answer.Success {
			t.Errorf("response to the leader's own entry: %+v, want success", answer)
		}
		if index := f.raft.AppliedIndex(); index != last+1 {
			t.Errorf("applied up to entry %d, want %d", index, last+1)
		}
	})
}

// After a fault, calls to the store never return. The code in front of Raft must not wait for them, or the member could
// not stop.
func TestEntries_AfterAFault_DoNotBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, last, term := isolatedFollower(t)
		f.guard.Fail(errors.New("the disk failed"))
		result := make(chan raft.RPC, 1)
		go func() {
			result <- f.transport.incoming.correctEntries(raft.RPC{Command: &raft.AppendEntriesRequest{Term: term + 1, PrevLogEntry: last - 1, PrevLogTerm: term}})
		}()
		select {
		case <-result:
		case <-time.After(time.Minute):
			t.Fatal("the request blocks after a fault")
		}
	})
}
