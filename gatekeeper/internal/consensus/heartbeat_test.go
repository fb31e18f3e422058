package consensus

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// stall blocks the member's writes to its log until the returned function is called.
func (m *member) stall(t *testing.T) (end func()) {
	stalled := make(chan struct{})
	m.disk.set(func() error { <-stalled; return nil })
	ended := false
	end = func() {
		if !ended {
			ended = true
			m.disk.set(nil)
			close(stalled)
		}
	}
	t.Cleanup(end)
	return end
}

// If a leader stepped down whenever its followers' disks stalled, the cluster would lose its leader even though no
// member was down.
func TestHeartbeat_AllFollowerDisksStall_LeaderKeepsConfirming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		term := leader.Term()
		mustAppend(t, leader.Node, "before")
		for _, f := range others(members, leader) {
			until(t, "all followers have applied the entry", func() bool { return f.raft.AppliedIndex() == leader.raft.AppliedIndex() })
		}
		var endStalls []func()
		for _, f := range others(members, leader) {
			endStalls = append(endStalls, f.stall(t))
		}
		late := leader.Append(entry(t, "late"))
		committed := leader.raft.CommitIndex()
		duration := leader.cfg.StoreTimeout - time.Second // the longest stall that does not count as a fault
		for start := time.Now(); time.Since(start) < duration; sleep(10 * time.Millisecond) {
			requested := time.Now()
			if err := leader.Confirm(t.Context(), term, requested); err != nil {
				t.Fatalf("Confirm, %v into the stall: %v", time.Since(start), err)
			}
			if took := time.Since(requested); took > 0 { // virtual time advances only while waiting
				t.Fatalf("Confirm took %v, %v into the stall", took, time.Since(start))
			}
		}
		if leader.CommitIndex() != committed {
			t.Error("the disks did not stall")
		}
		for _, end := range endStalls {
			end()
		}
		if a := late.Wait(); a.Err != nil {
			t.Errorf("Append during the stall: %v", a.Err)
		}
		sleep(time.Minute)
		if now, leads := leads(leader.raft); !leads || now != term {
			t.Errorf("after the stall: leads() = %d, %v, want %d, true", now, leads, term)
		}
	})
}

// While the leader's own disk is stalled, the confirmer's requests to Raft block, and leadership is confirmed by the
// responses to Raft's regular heartbeats.
func TestHeartbeat_LeaderDiskStalls_LeaderKeepsConfirming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		term := leader.Term()
		mustAppend(t, leader.Node, "before")
		end := leader.stall(t)
		late, committed := leader.Append(entry(t, "late")), leader.CommitIndex()
		duration, interval := leader.cfg.StoreTimeout-time.Second, leader.cfg.Timeouts.Heartbeat/5
		for start := time.Now(); time.Since(start) < duration; sleep(time.Millisecond) {
			requested := time.Now()
			if err := leader.Confirm(t.Context(), term, requested); err != nil {
				t.Fatalf("Confirm, %v into the stall: %v", time.Since(start), err)
			}
			if took := time.Since(requested); took > interval {
				t.Fatalf("Confirm took %v, %v into the stall", took, time.Since(start))
			}
		}
		if leader.CommitIndex() != committed {
			t.Error("the disk did not stall")
		}
		end()
		if a := late.Wait(); a.Err != nil {
			t.Errorf("Append during the stall: %v", a.Err)
		}
		if now, leads := leads(leader.raft); !leads || now != term {
			t.Errorf("after the stall: leads() = %d, %v, want %d, true", now, leads, term)
		}
	})
}

// While a leader cannot send entries, because it is backing off or sending a snapshot, a follower receives only
// heartbeats. Enough of them must reach Raft's main loop to prevent an election.
func TestHeartbeat_OnlyHeartbeats_NoElection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		term := leader.Term()
		leader.wire.set(func(_ raft.ServerID, command any) error {
			if !isHeartbeat(command) {
				return errCut
			}
			return nil
		}, nil)
		sleep(time.Second)
		for end := time.Now().Add(time.Minute); time.Now().Before(end); sleep(50 * time.Millisecond) {
			for _, f := range others(members, leader) {
				heartbeat := f.cfg.Timeouts.Heartbeat
				// Heartbeats are at most a fifth of the timeout apart, and a heartbeat that follows another within a
				// fiftieth of the timeout is not forwarded.
				if silent := time.Since(f.raft.LastContact()); silent > heartbeat/5+heartbeat/50 {
					t.Fatalf("%s: last contact with the leader was %v ago", f.ID(), silent)
				}
			}
		}
		if now, leads := leads(leader.raft); !leads || now != term {
			t.Errorf("leads() = %d, %v, want %d, true", now, leads, term)
		}
	})
}

// sendHeartbeat sends a heartbeat to the member, bypassing its transport, and returns the response. It returns nil if
// there is no response because Raft's main loop, to which the heartbeat was forwarded, is stalled.
func (m *member) sendHeartbeat(req raft.AppendEntriesRequest) *raft.AppendEntriesResponse {
	answer := make(chan raft.RPCResponse, 1)
	go m.transport.incoming.heartbeat(raft.RPC{Command: &req, RespChan: answer})
	synctest.Wait()
	select {
	case a := <-answer:
		got, _ := a.Response.(*raft.AppendEntriesResponse)
		return got
	default:
		return nil
	}
}

// A success response that bypasses Raft's main loop means that the member follows the sender in this term. Only the
// leader that the member follows, in its current term, may receive one.
func TestHeartbeat_FromAnotherLeader_IsForwardedToRaft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		mustAppend(t, leader.Node, "before")
		follower, other := others(members, leader)[0], others(members, leader)[1]
		until(t, "the follower has applied the entry", func() bool { return follower.raft.AppliedIndex() == leader.raft.AppliedIndex() })
		valid := raft.AppendEntriesRequest{
			RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(leader.id), Addr: []byte(leader.address)}, Term: leader.raft.CurrentTerm(),
		}
		otherLeader := valid
		otherLeader.RPCHeader.ID = []byte(other.id)
		later, earlier, otherProtocol := valid, valid, valid
		later.Term++
		earlier.Term--
		otherProtocol.ProtocolVersion--
		invalid := map[string]raft.AppendEntriesRequest{"another leader": otherLeader, "a later term": later, "an earlier term": earlier, "another protocol version": otherProtocol}

		end := follower.stall(t)
		leader.Append(entry(t, "stalls"))
		synctest.Wait()
		if a := follower.sendHeartbeat(valid); a == nil || !a.Success || a.Term != valid.Term || string(a.ID) != string(follower.id) {
			t.Errorf("response to the leader while the disk was stalled = %+v, want success", a)
		}
		for name, req := range invalid {
			if a := follower.sendHeartbeat(req); a != nil {
				t.Errorf("%s: sendHeartbeat() = %+v, want no response", name, a)
			}
		}
		end()
		synctest.Wait()
		until(t, "Raft has processed the later term", func() bool { return follower.raft.CurrentTerm() == later.Term })
	})
}

// Responses that bypass the main loop are safe because Raft stores and adopts a new term before it stores its vote in
// that term.
func TestHeartbeat_DuringVote_GetsNoResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		mustAppend(t, leader.Node, "before")
		voter, candidate := others(members, leader)[0], others(members, leader)[1]
		for _, f := range []*member{voter, candidate} {
			until(t, "all members have applied the entry", func() bool { return f.raft.AppliedIndex() == leader.raft.AppliedIndex() })
		}
		old := raft.AppendEntriesRequest{
			RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(leader.id), Addr: []byte(leader.address)}, Term: leader.raft.CurrentTerm(),
		}
		voting, stored := make(chan struct{}), make(chan struct{})
		voter.disk.setOnVote(sync.OnceFunc(func() { close(voting); <-stored }))
		t.Cleanup(func() { close(stored) })
		vote := raft.RequestVoteRequest{
			RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(candidate.id), Addr: []byte(candidate.address)},
			Term:      old.Term + 1, LastLogTerm: old.Term, LastLogIndex: leader.raft.LastIndex(), LeadershipTransfer: true,
		}
		go func() {
			_ = candidate.transport.RequestVote(voter.id, voter.address, &vote, &raft.RequestVoteResponse{})
		}()
		select {
		case <-voting:
		case <-time.After(10 * time.Second):
			t.Fatal("timed out waiting for the vote to be stored")
		}
		if term := voter.raft.CurrentTerm(); term != old.Term+1 {
			t.Errorf("CurrentTerm() = %d while the vote is being stored, want %d", term, old.Term+1)
		}
		if a := voter.sendHeartbeat(old); a != nil {
			t.Errorf("response to the old leader = %+v, want none", a)
		}
	})
}

// Neither a candidate nor a leader follows a leader.
func TestHeartbeat_ToNonFollower_IsForwardedToRaft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		own := raft.AppendEntriesRequest{
			RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(leader.id), Addr: []byte(leader.address)}, Term: leader.raft.CurrentTerm(),
		}
		if leader.transport.incoming.follows(&own) {
			t.Error("follows() = true on the leader itself")
		}
		follower := others(members, leader)[0]
		until(t, "the follower follows the leader", func() bool { return follower.transport.incoming.follows(&own) })
		for _, m := range members {
			m.wire.set(func(raft.ServerID, any) error { return errCut }, nil)
		}
		until(t, "the follower becomes a candidate", func() bool { return follower.raft.State() == raft.Candidate })
		if follower.raft.CurrentTerm() == own.Term && follower.transport.incoming.follows(&own) {
			t.Error("follows() = true on a candidate in the leader's term")
		}
	})
}

// A fault does not necessarily block Raft's main loop. The member must refuse heartbeats even if the loop is still
// running.
func TestHeartbeat_FaultOutsideMainLoop_IsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		follower := others(members, leader)[0]
		valid := raft.AppendEntriesRequest{
			RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(leader.id), Addr: []byte(leader.address)}, Term: leader.raft.CurrentTerm(),
		}
		until(t, "the follower follows the leader", func() bool { a := follower.sendHeartbeat(valid); return a != nil && a.Success })
		follower.guard.Fail(errors.New("the data read differs from the data written"))
		answer := make(chan raft.RPCResponse, 1)
		follower.transport.incoming.heartbeat(raft.RPC{Command: &valid, RespChan: answer})
		if a := <-answer; !errors.Is(a.Error, errFaulty) {
			t.Errorf("response after a fault = %+v, want errFaulty", a)
		}
	})
}

// A member with a fault must not respond to heartbeats, so that its leader notices the failure.
func TestHeartbeat_AfterFault_GetsNoResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, func(_ int, cfg *Config) { cfg.StoreTimeout = 5 * time.Second })
		leader := leaderOf(t, members...)
		follower := others(members, leader)[0]
		valid := raft.AppendEntriesRequest{
			RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(leader.id), Addr: []byte(leader.address)}, Term: leader.raft.CurrentTerm(),
		}
		until(t, "the follower follows the leader", func() bool { return follower.transport.incoming.follows(&valid) })
		for _, f := range others(members, leader) {
			f.stall(t)
		}
		start := time.Now()
		leader.Append(entry(t, "late"))
		until(t, "the leader steps down", func() bool { _, leads := leads(leader.raft); return !leads })
		if a := follower.sendHeartbeat(valid); a != nil {
			t.Errorf("response after a fault = %+v, want none", a)
		}
		if took, minTime := time.Since(start), 5*time.Second; took < minTime || took > minTime+2*leader.cfg.Timeouts.Heartbeat {
			t.Errorf("the leader stepped down after %v, want about %v", took, minTime)
		}
	})
}
