package consensus

import (
	"context"
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
				t.Fatalf("got event %q, want %q", got, w)
			}
		default:
			t.Fatalf("got no event, want %q", w)
		}
	}
	select {
	case got := <-r.events:
		t.Fatalf("got event %q, want no more events", got)
	default:
	}
}

func TestLead_PromotesAfterBarrierAndDemotesOnLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		old := leaderOf(t, members...)
		term := old.Term()
		a := mustAppend(t, old.Node, "before")
		next := others(members, old)[0]
		var applied uint64
		next.observer.promote = func(_ uint64, done <-chan struct{}) {
			applied = next.machine.State().Index()
			select {
			case <-done:
				t.Error("done is closed while the server leads")
			default:
			}
		}
		if err := old.Transfer(t.Context(), next.ID()); err != nil {
			t.Fatal(err)
		}
		leaderOf(t, next)
		old.observer.expect(t, fmt.Sprint("promote ", term), fmt.Sprint("demote ", term))
		next.observer.expect(t, fmt.Sprint("promote ", next.Term()))
		if applied < a.Index {
			t.Errorf("applied index at promotion = %d, want at least %d", applied, a.Index)
		}
	})
}

func TestLead_LostAndRegainedWhilePromoting_StartsNewEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		other := others(members, leader)[0]
		if err := leader.Transfer(t.Context(), other.ID()); err != nil {
			t.Fatal(err)
		}
		leaderOf(t, other)
		synctest.Wait()
		for len(leader.observer.events) > 0 {
			<-leader.observer.events
		}

		busy, ended := make(chan struct{}), make(chan struct{})
		proceed := sync.OnceFunc(func() { close(busy) })
		t.Cleanup(proceed)
		leader.observer.promote = func(term uint64, done <-chan struct{}) {
			if ended != nil {
				<-done
				close(ended)
				ended = nil
				<-busy
			}
		}
		regain := func() uint64 {
			oldTerm := leader.Term()
			if err := other.Transfer(t.Context(), leader.ID()); err != nil {
				t.Fatal(err)
			}
			until(t, "leadership is regained", func() bool { term, leads := leads(leader.raft); return leads && term > oldTerm })
			return leader.Term()
		}
		firstEnded := ended
		first := regain()
		synctest.Wait()
		leader.observer.expect(t, fmt.Sprint("promote ", first))
		// Leadership is lost while Promote is still running. No more entries may be appended in that term.
		if err := leader.raft.LeadershipTransferToServer(other.id, other.address).Error(); err != nil {
			t.Fatal(err)
		}
		<-firstEnded
		leaderOf(t, other)
		if a := leader.Append(entry(t, "late")).Wait(); !errors.Is(a.Err, ErrNotAppended) {
			t.Errorf("Append between two terms as leader: %v, want ErrNotAppended", a.Err)
		}
		second := regain()
		if err := leader.Confirm(t.Context(), first, time.Now()); !errors.Is(err, ErrNotConfirmed) {
			t.Errorf("Confirm for the first term during the second = %v, want ErrNotConfirmed", err)
		}
		if err := leader.Confirm(t.Context(), second, time.Now()); !errors.Is(err, ErrNotConfirmed) {
			t.Errorf("Confirm before the promotion = %v, want ErrNotConfirmed", err)
		}
		proceed()
		leaderOf(t, leader)
		leader.observer.expect(t, fmt.Sprint("demote ", first), fmt.Sprint("promote ", second))
	})
}

// depose deposes m with a single message from a leader in a later term.
func depose(t *testing.T, m *member, term uint64) {
	t.Helper()
	_, otherLeader := raft.NewInmemTransport("other.test:1")
	otherLeader.Connect(m.address, m.wire.InmemTransport)
	err := otherLeader.AppendEntries(m.id, m.address, &raft.AppendEntriesRequest{
		RPCHeader: raft.RPCHeader{ProtocolVersion: 3, ID: []byte("other"), Addr: []byte("other.test:1")},
		Term:      term,
	}, &raft.AppendEntriesResponse{})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLead_SingleMemberDeposedAndReelected_StartsNewEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 1, nil)
		leader := leaderOf(t, members...)
		term := leader.Term()
		depose(t, leader, term+5)
		until(t, "the member leads again", func() bool { return leader.promoted.Load() > term+5 })
		leader.observer.expect(t, fmt.Sprint("promote ", term), fmt.Sprint("demote ", term), fmt.Sprint("promote ", leader.Term()))
	})
}

func TestReady_FollowerCutOff_ReturnsError(t *testing.T) {
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
		sleep(5 * time.Second)
		if err := follower.Ready(); err == nil {
			t.Error("Ready() = nil on a follower without a leader")
		}
		if err := leader.Ready(); err != nil {
			t.Errorf("Ready() on the leader = %v, want nil", err)
		}
	})
}

// fakeLeaderSource fakes the part of Raft that the watcher uses.
type fakeLeaderSource struct {
	fakeRaft
	ch chan bool
}

func (s *fakeLeaderSource) LeaderCh() <-chan bool { return s.ch }

func TestWatch_LossMissingFromChannel_IsDetectedByTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeLeaderSource{fakeRaft: fakeRaft{term: 5, state: raft.Leader}, ch: make(chan bool, 1)}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		epochs := make(chan *epoch, 1)
		go watchLeadership(ctx, s, epochs, (*epoch).end)
		first := <-epochs
		s.ch <- true // a late notification of the first election
		synctest.Wait()
		select {
		case <-first.over:
			t.Fatal("the epoch ended even though the term is unchanged")
		default:
		}
		s.set(func(r *fakeRaft) { r.term = 7 })
		s.ch <- true // the "lost" notification was overwritten
		<-first.over
		if second := <-epochs; first.term != 5 || second.term != 7 {
			t.Errorf("got epochs with terms %d and %d, want 5 and 7", first.term, second.term)
		}
		s.set(func(r *fakeRaft) { r.term = 9 })
		s.ch <- true
		synctest.Wait()
		s.set(func(r *fakeRaft) { r.term = 11 })
		s.ch <- true // before the epoch of term 9 was received
		synctest.Wait()
		if third := <-epochs; third.term != 11 {
			t.Errorf("got an epoch with term %d, want 11", third.term)
		}
		cancel()
		if _, more := <-epochs; more {
			t.Error("an epoch was sent after the watcher stopped")
		}
	})
}

// stuckTransfer makes leader start a transfer that does not finish until release is called. Because of hashicorp/raft
// issue 696, a transfer may never finish.
func stuckTransfer(t *testing.T, leader *member, to *member) (release func()) {
	t.Helper()
	stuck := make(chan struct{})
	release = sync.OnceFunc(func() { close(stuck) })
	t.Cleanup(release)
	leader.wire.set(func(_ raft.ServerID, command any) error {
		if _, ok := command.(*raft.TimeoutNowRequest); ok {
			<-stuck
			return errCut
		}
		return nil
	}, nil)
	if err := leader.Transfer(t.Context(), to.ID()); err == nil {
		t.Fatal("the transfer succeeded, want an error")
	}
	return release
}

func TestLead_BarrierRefused_IsNotPromoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		rest := others(members, leader)
		release := stuckTransfer(t, leader, rest[0])
		for _, m := range rest { // the other members must not start an election
			m.wire.set(func(raft.ServerID, any) error { return errCut }, nil)
		}
		term := leader.Term()
		depose(t, leader, term+5)
		until(t, "the member is elected again", func() bool { got, leads := leads(leader.raft); return leads && got > term+5 })
		sleep(time.Second)
		newTerm := leader.Term()
		leader.observer.expect(t, fmt.Sprint("promote ", term), fmt.Sprint("demote ", term))
		if err := leader.Ready(); err == nil {
			t.Error("Ready() = nil before the promotion")
		}
		release()
		leaderOf(t, leader)
		leader.observer.expect(t, fmt.Sprint("promote ", newTerm))
	})
}

func TestFault_TransferNeverFinishes_IsDetected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		leader := leaderOf(t, members...)
		stuckTransfer(t, leader, others(members, leader)[0])
		start := time.Now()
		for leader.guard.Err() == nil {
			if a := leader.Append(entry(t, "x")).Wait(); !errors.Is(a.Err, ErrNotAppended) {
				t.Fatalf("Append: %v, want ErrNotAppended", a.Err)
			}
			sleep(100 * time.Millisecond)
		}
		if took := time.Since(start); took < 4*time.Second || took > 10*time.Second {
			t.Errorf("the stuck transfer was detected after %v, want 4 s to 10 s", took)
		}
		leaderOf(t, others(members, leader)...)
	})
}
