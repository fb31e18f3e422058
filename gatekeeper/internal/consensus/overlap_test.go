package consensus

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// These tests block the leader's disk while the followers store its entries. The entries must have no effect until the
// leader has stored them too. See "The leader writes while its followers write" in the package documentation.

// storedCommands returns the number of commands on a member's disk.
func (m *member) storedCommands(t *testing.T) (n int) {
	t.Helper()
	last, err := m.memory.LastIndex()
	if err != nil {
		t.Fatal(err)
	}
	for i := uint64(1); i <= last; i++ {
		var entry raft.Log
		if err := m.memory.GetLog(i, &entry); err != nil {
			t.Fatal(err)
		}
		if entry.Type == raft.LogCommand {
			n++
		}
	}
	return n
}

func TestOverlap_EntryOnFollowersButNotLeader_HasNoEffectYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		release := leader.stall(t)
		before, commit := leader.storedCommands(t), leader.CommitIndex()
		x, y := leader.Append(entry(t, "x")), leader.Append(entry(t, "y"))
		sleep(2 * time.Second) // less than the store timeout

		for _, m := range others(members, leader) {
			if got := m.storedCommands(t); got != before+2 {
				t.Errorf("%s has %d commands on disk, want %d, because the leader sends entries while it writes them", m.ID(), got, before+2)
			}
		}
		if got := leader.storedCommands(t); got != before {
			t.Errorf("the leader has %d commands on disk, want %d", got, before)
		}
		for _, p := range []*Pending{x, y} {
			select {
			case <-p.Done():
				t.Errorf("an entry completed before the leader had stored it: %v", p.Wait().Err)
			default:
			}
		}
		for _, m := range members {
			if m.machine.State().Retired("x") {
				t.Errorf("%s applied the entry before the leader had stored it", m.ID())
			}
			if got := m.CommitIndex(); got > commit {
				t.Errorf("%s: CommitIndex() = %d, want at most %d", m.ID(), got, commit)
			}
			if got := m.AppliedIndex(); got > commit {
				t.Errorf("%s: AppliedIndex() = %d, want at most %d", m.ID(), got, commit)
			}
		}
		if term, leads := leads(leader.raft); !leads || term != leader.Term() {
			t.Error("the leader stepped down because of its slow disk")
		}

		release()
		for _, p := range []*Pending{x, y} {
			if err := p.Wait().Err; err != nil {
				t.Error(err)
			}
		}
		until(t, "all members apply the entries", func() bool {
			for _, m := range members {
				if !m.machine.State().Retired("y") {
					return false
				}
			}
			return true
		})
	})
}

func TestOverlap_FailedWrite_EntryIsNotCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		before := leader.CommitIndex()
		leader.disk.set(func() error { return errors.New("no space left on device") })
		if a := leader.Append(entry(t, "x")).Wait(); !errors.Is(a.Err, ErrUnknownOutcome) {
			t.Errorf("Append: %v, want %v", a.Err, ErrUnknownOutcome)
		}
		<-leader.Fatal()
		if leader.machine.State().Retired("x") || leader.CommitIndex() > before {
			t.Error("the leader applied an entry that it could not store")
		}
		// After a fault, the member must not report its term either.
		var resp raft.RequestVoteResponse
		from := others(members, leader)[0]
		err := from.wire.InmemTransport.RequestVote(leader.id, leader.address, &raft.RequestVoteRequest{
			RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(from.id), Addr: []byte(from.address)}, Term: 100,
		}, &resp)
		if err == nil {
			t.Errorf("response to a vote request after the fault = %+v, want an error", resp)
		}
		mustAppend(t, leaderOf(t, others(members, leader)...).Node, "y")
	})
}

// A leader with queued entries receives a vote request for a newer term. It must write the entries to disk before it
// stores or grants the vote.
func TestOverlap_VoteInNewerTerm_WaitsForQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		rest := others(members, leader)
		// The other members do not receive the entries, so the leader's log is the longest. The vote request below
		// claims a log of the same length, because the leader would not vote for a candidate with a shorter log.
		cutOff(leader, rest, nil)
		release := leader.stall(t)
		p := leader.Append(entry(t, "x"))
		synctest.Wait()
		term := leader.Term()
		answered := make(chan raft.RequestVoteResponse, 1)
		go func() {
			var resp raft.RequestVoteResponse
			_ = rest[0].wire.InmemTransport.RequestVote(leader.id, leader.address, &raft.RequestVoteRequest{
				RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(rest[0].id), Addr: []byte(rest[0].address)},
				Term:      term + 10, LastLogIndex: leader.raft.LastIndex(), LastLogTerm: term, LeadershipTransfer: true,
			}, &resp)
			answered <- resp
		}()
		sleep(100 * time.Millisecond)
		select {
		case resp := <-answered:
			t.Fatalf("got vote response %+v before the leader's queued entries were on disk", resp)
		default:
		}
		if stored, err := leader.memory.GetUint64([]byte("CurrentTerm")); err != nil || stored != term {
			t.Errorf("term on disk = %d, %v, want %d until the queued entries are on disk", stored, err, term)
		}
		before := leader.storedCommands(t)
		release()
		if resp := <-answered; !resp.Granted || resp.Term != term+10 {
			t.Errorf("vote response = %+v, want granted in term %d", resp, term+10)
		}
		if got := leader.storedCommands(t); got != before+1 {
			t.Errorf("%d commands on disk after the vote, want %d", got, before+1)
		}
		if a := p.Wait(); !errors.Is(a.Err, ErrUnknownOutcome) {
			t.Errorf("Append: %v, want %v", a.Err, ErrUnknownOutcome)
		}
	})
}

// A leader crashes while an entry is only on its followers' disks. The followers elect a new leader, which commits the
// entry. The crashed leader must not have applied it.
func TestOverlap_LeaderCrashesWithQueuedEntry_FollowersCommitIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		leader.stall(t)
		p := leader.Append(entry(t, "x"))
		sleep(time.Second)
		// The fault occurs before the leader has written the queued entry.
		leader.guard.Fail(errors.New("crashed"))
		if a := p.Wait(); !errors.Is(a.Err, ErrUnknownOutcome) {
			t.Errorf("Append: %v, want %v", a.Err, ErrUnknownOutcome)
		}
		next := leaderOf(t, others(members, leader)...)
		mustAppend(t, next.Node, "y")
		for _, m := range others(members, leader) {
			until(t, fmt.Sprintf("%s applies both entries", m.ID()), func() bool { return m.machine.State().Retired("x") && m.machine.State().Retired("y") })
		}
		if leader.machine.State().Retired("x") {
			t.Error("the crashed leader applied an entry that it had not stored")
		}
	})
}

// A leader with a stalled disk is deposed, and the next leader sends it a snapshot. Raft has already handed the entries
// in the snapshot to the state machine, but they are not on disk yet. A success response means that the member has
// stored them, so the response must wait until it has.
func TestOverlap_SnapshotFromNextLeader_WaitsForQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		release := leader.stall(t)
		p := leader.Append(entry(t, "x"))
		until(t, "Raft hands the entry to the state machine", func() bool {
			return leader.raft.AppliedIndex() == leader.raft.LastIndex() && leader.AppliedIndex() < leader.raft.LastIndex()
		})
		answered := make(chan raft.InstallSnapshotResponse, 1)
		go func() {
			from := others(members, leader)[0]
			var resp raft.InstallSnapshotResponse
			_ = from.wire.InmemTransport.InstallSnapshot(leader.id, leader.address, &raft.InstallSnapshotRequest{
				RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(from.id), Addr: []byte(from.address)},
				Term:      leader.Term() + 10, LastLogIndex: leader.raft.LastIndex(), LastLogTerm: leader.Term(), Size: 1,
			}, &resp, strings.NewReader("x"))
			answered <- resp
		}()
		sleep(100 * time.Millisecond)
		select {
		case resp := <-answered:
			t.Fatalf("got snapshot response %+v before the entries in the snapshot were on disk", resp)
		default:
		}
		release()
		if resp := <-answered; !resp.Success {
			t.Errorf("snapshot response = %+v, want success", resp)
		}
		if err := p.Wait().Err; err != nil {
			t.Error(err)
		}
	})
}

// noResponse is the future of an entry that is pending when the state machine's goroutine exits.
type noResponse struct{ raft.ApplyFuture }

func (noResponse) Error() error  { return nil }
func (noResponse) Response() any { return nil }

func TestAppend_MachineGoroutineExits_OutcomeIsUnknown(t *testing.T) {
	if a, err := new(Node).outcome(noResponse{}); !errors.Is(a.Err, ErrUnknownOutcome) || err != nil {
		t.Errorf("outcome() = %v, %v, want ErrUnknownOutcome and no Raft error", a.Err, err)
	}
}
