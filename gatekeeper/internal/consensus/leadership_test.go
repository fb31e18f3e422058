package consensus

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

func (r *recorder) expect(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	for _, w := range want {
		select {
		case got := <-r.events:
			if got != w {
				t.Fatalf("Leading was told %q, want %q", got, w)
			}
		default:
			t.Fatalf("Leading was told nothing, want %q", w)
		}
	}
	select {
	case got := <-r.events:
		t.Fatalf("Leading was told %q too", got)
	default:
	}
}

func TestLead_PromotedAfterTheBarrierAndDemotedAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		old := leaderOf(t, members...)
		term := old.Term()
		a := mustAppend(t, old.Node, "before")
		next := others(members, old)[0]
		var applied uint64
		next.leading.promote = func(_ uint64, done <-chan struct{}) {
			applied = next.machine.State().Index()
			select {
			case <-done:
				t.Error("done is closed while the leadership lasts")
			default:
			}
		}
		if err := old.Transfer(t.Context(), next.ID()); err != nil {
			t.Fatal(err)
		}
		leaderOf(t, next)
		old.leading.expect(t, fmt.Sprint("promote ", term), fmt.Sprint("demote ", term))
		next.leading.expect(t, fmt.Sprint("promote ", next.Term()))
		if applied < a.Index {
			t.Errorf("promoted with entries applied up to %d, committed were %d", applied, a.Index)
		}
	})
}

func TestLead_LostAndRegainedWhilePromoting_AreTwoLeaderships(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		other := others(members, leader)[0]
		if err := leader.Transfer(t.Context(), other.ID()); err != nil {
			t.Fatal(err)
		}
		leaderOf(t, other)
		synctest.Wait()
		for len(leader.leading.events) > 0 {
			<-leader.leading.events
		}

		busy, ended := make(chan struct{}), make(chan struct{})
		proceed := sync.OnceFunc(func() { close(busy) })
		t.Cleanup(proceed)
		leader.leading.promote = func(term uint64, done <-chan struct{}) {
			if ended != nil {
				<-done
				close(ended)
				ended = nil
				<-busy
			}
		}
		back := func() uint64 {
			was := leader.Term()
			if err := other.Transfer(t.Context(), leader.ID()); err != nil {
				t.Fatal(err)
			}
			until(t, "the leadership is back", func() bool { term, leads := leader.leads(); return leads && term > was })
			return leader.Term()
		}
		firstOver := ended
		first := back()
		synctest.Wait()
		leader.leading.expect(t, fmt.Sprint("promote ", first))
		// It is lost, and Promote has not returned. Nothing may be appended for it any more.
		if err := leader.raft.LeadershipTransferToServer(other.id, other.address).Error(); err != nil {
			t.Fatal(err)
		}
		<-firstOver
		leaderOf(t, other)
		if a := leader.Append(entry(t, "late")).Wait(); !errors.Is(a.Err, ErrNotAppended) {
			t.Errorf("append between two leaderships: %v", a.Err)
		}
		second := back()
		if err := leader.Confirm(t.Context(), first, time.Now()); !errors.Is(err, ErrNotConfirmed) {
			t.Errorf("Confirm of the first leadership in the second: %v", err)
		}
		if err := leader.Confirm(t.Context(), second, time.Now()); !errors.Is(err, ErrNotConfirmed) {
			t.Errorf("Confirm before promotion: %v", err)
		}
		proceed()
		leaderOf(t, leader)
		leader.leading.expect(t, fmt.Sprint("demote ", first), fmt.Sprint("promote ", second))
	})
}

// Raft's channel keeps only the newest value: who is slow hears "leader" twice.
func TestWatch_ChannelSkipsTheLoss_TermTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 1, nil)
		leader := leaderOf(t, members...)
		term := leader.Term()
		// A leader of a later term deposes it; as the only voter it is elected again soon.
		resp := make(chan raft.RPCResponse, 1)
		_, stranger := raft.NewInmemTransport("stranger:1")
		stranger.Connect(leader.address, leader.wire.InmemTransport)
		go func() {
			_ = stranger.AppendEntries(leader.id, leader.address, &raft.AppendEntriesRequest{
				RPCHeader: raft.RPCHeader{ProtocolVersion: 3, ID: []byte("x"), Addr: []byte("x:1")}, Term: term + 5,
			}, &raft.AppendEntriesResponse{})
			close(resp)
		}()
		<-resp
		until(t, "it leads again", func() bool { return leader.promoted.Load() > term+5 })
		leader.leading.expect(t, fmt.Sprint("promote ", term), fmt.Sprint("demote ", term), fmt.Sprint("promote ", leader.Term()))
	})
}

func TestReady_FollowerAndLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		for _, m := range members {
			until(t, m.ID()+" is ready", func() bool { return m.Ready() == nil })
		}
		follower := others(members, leader)[0]
		leader.wire.set(func(to raft.ServerID, _ any) error {
			if to == follower.id {
				return errCut
			}
			return nil
		}, nil)
		pass(5 * time.Second)
		if err := follower.Ready(); err == nil {
			t.Error("a follower that hears nothing is ready")
		}
		if err := leader.Ready(); err != nil {
			t.Errorf("the leader: %v", err)
		}
	})
}
