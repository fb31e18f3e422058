package consensus

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// withRetire makes members retire ids the way servers do.
func withRetire(t *testing.T, n **Node) func(*Config) {
	return func(c *Config) {
		machine := c.Machine
		c.Retired = func(id string) bool { return machine.State().Retired(id) }
		c.Retire = func(_ context.Context, id string) error { return (*n).Append(entry(t, id)).Wait().Err }
	}
}

// bootSetWithRetire is like bootSet, with members that retire ids.
func bootSetWithRetire(t *testing.T, ids ...string) []*server {
	t.Helper()
	set, listeners := namedSet(t, ids...)
	var servers []*server
	for i, id := range ids {
		node := new(*Node)
		s := boot(t, DataDirConfig{Dir: t.TempDir(), MemberID: id, ClusterName: "test", Members: set, ClusterID: testClusterID}, listeners[i], withRetire(t, node))
		*node = s.Node
		servers = append(servers, s)
	}
	return servers
}

// waitStopped waits until a server stops and returns its fault.
func waitStopped(t *testing.T, s *server) error {
	t.Helper()
	select {
	case err := <-s.Fatal():
		return err
	case <-time.After(30 * time.Second):
		t.Fatalf("%s did not stop", s.ID())
		return nil
	}
}

func TestRemoveMember_RunningMember_StopsAndIsRetired(t *testing.T) {
	servers := bootSetWithRetire(t, "gk1", "gk2", "gk3")
	leader := electLeader(t, servers)
	target := without(servers, leader)[0]
	until(t, "the member is ready", func() bool { return target.Ready() == nil })
	if _, err := leader.RemoveMember(t.Context(), target.ID(), false); err != nil {
		t.Fatal(err)
	}
	if !leader.machine.State().Retired(target.ID()) {
		t.Error("the id of the removed member is not retired")
	}
	if err := waitStopped(t, target); !errors.Is(err, ErrRemoved) {
		t.Errorf("the member stopped with %v, want ErrRemoved", err)
	}
	select {
	case err := <-leader.Fatal():
		t.Errorf("the leader stopped too: %v", err)
	default:
	}
}

// The member was down and has not received the entry that removes it.
func TestRemoveMember_MemberIsDown_StopsWhenItReturns(t *testing.T) {
	servers := bootSetWithRetire(t, "gk1", "gk2", "gk3")
	leader := electLeader(t, servers)
	target := without(servers, leader)[0]
	address := target.PeerAddress()
	until(t, "the leader has recorded the member", func() bool { return leader.cfg.DataDir.knowsPeer(target.ID()) })
	closeNode(t, target.Node)
	if _, err := leader.RemoveMember(t.Context(), target.ID(), false); err != nil {
		t.Fatal(err)
	}
	node := new(*Node)
	restarted := boot(t, DataDirConfig{Dir: target.dir, MemberID: target.ID(), ClusterName: "test", Members: target.cfg.Members, ClusterID: testClusterID}, listenAt(t, address), withRetire(t, node))
	*node = restarted.Node
	if err := waitStopped(t, restarted); !errors.Is(err, ErrRemoved) {
		t.Errorf("the member stopped with %v, want ErrRemoved", err)
	}
}

// The leader stopped after retiring the id but before removing the member. A second call completes the removal.
func TestRemoveMember_AlreadyRetired_SecondCallRemovesIt(t *testing.T) {
	servers := bootSetWithRetire(t, "gk1", "gk2", "gk3")
	leader := electLeader(t, servers)
	retired := without(servers, leader)[0]
	mustAppend(t, leader.Node, retired.ID()) // retires the id without removing the member
	waitForEntry(t, retired.ID(), servers...)
	until(t, "the member is still ready", func() bool { return retired.Ready() == nil })
	if err := leader.AddMember(t.Context(), Addition{ID: retired.ID(), PeerAddress: retired.PeerAddress()}); !errors.Is(err, ErrMemberRetired) {
		t.Errorf("AddMember of a retired member = %v, want ErrMemberRetired", err)
	}
	if _, err := leader.RemoveMember(t.Context(), retired.ID(), false); err != nil {
		t.Fatal(err)
	}
	if err := waitStopped(t, retired); !errors.Is(err, ErrRemoved) {
		t.Errorf("the member stopped with %v, want ErrRemoved", err)
	}
}

func TestRemoveMember_RetireFails_MemberIsNotRemoved(t *testing.T) {
	set, listeners := namedSet(t, "gk1", "gk2")
	errFull := errors.New("the log is full")
	var servers []*server
	for i, m := range set {
		servers = append(servers, boot(t, DataDirConfig{Dir: t.TempDir(), MemberID: m.ID, ClusterName: "test", Members: set, ClusterID: testClusterID}, listeners[i], func(c *Config) {
			c.Retire = func(context.Context, string) error { return errFull }
		}))
	}
	leader := electLeader(t, servers)
	other := without(servers, leader)[0]
	if _, err := leader.RemoveMember(t.Context(), other.ID(), false); !errors.Is(err, errFull) {
		t.Errorf("RemoveMember() = %v, want the error from Retire", err)
	}
	members, err := leader.servers()
	if err != nil || find(members, raft.ServerID(other.ID())) == nil {
		t.Errorf("the member was removed: %v, %v", members, err)
	}
}

// A joiner is not in any configuration yet, but this does not mean that it was removed.
func TestJoiner_NotYetAMember_KeepsRunning(t *testing.T) {
	servers := bootSetWithRetire(t, "gk1")
	leader := electLeader(t, servers)
	node := new(*Node)
	joiner := boot(t, DataDirConfig{Dir: t.TempDir(), MemberID: "gk2", ClusterName: "test", Join: true, ClusterID: leader.ClusterID()}, listen(t), withRetire(t, node))
	*node = joiner.Node
	for _, id := range []string{"gk1", "gk2"} {
		if leader.removed(id) || joiner.removed(id) {
			t.Errorf("removed(%s) = true", id)
		}
	}
	if err := leader.AddMember(t.Context(), Addition{ID: "gk2", PeerAddress: joiner.PeerAddress()}); err != nil {
		t.Fatal(err)
	}
	until(t, "the joiner is ready", func() bool { return joiner.Ready() == nil })
	select {
	case err := <-joiner.Fatal():
		t.Errorf("the joiner stopped: %v", err)
	default:
	}
}

func TestRemoveMember_WouldLoseQuorum_IsRefused(t *testing.T) {
	servers := bootSetWithRetire(t, "gk1", "gk2", "gk3")
	leader := electLeader(t, servers)
	others := without(servers, leader)
	live, dead := others[0], others[1]
	closeNode(t, dead.Node)
	for _, id := range []string{live.ID(), leader.ID()} {
		_, err := leader.RemoveMember(t.Context(), id, false)
		if refused, ok := errors.AsType[*QuorumError](err); !ok || refused.ID != id || refused.Voters != 2 || refused.Majority != 2 || !slices.Equal(refused.Silent, []string{dead.ID()}) {
			t.Errorf("RemoveMember(%s) = %v, want a QuorumError with 2 voters", id, err)
		}
		if leader.machine.State().Retired(id) {
			t.Errorf("%s was retired by a rejected removal", id)
		}
	}
	r, refusal, err := leader.PlanRemoval(t.Context(), live.ID())
	if _, refused := errors.AsType[*QuorumError](refusal); err != nil || !refused || len(r.Members) != 2 {
		t.Errorf("PlanRemoval() = %+v, %v, %v, want a QuorumError as the refusal", r, refusal, err)
	}
	if r, err := leader.RemoveMember(t.Context(), dead.ID(), false); err != nil || len(r.Members) != 2 || r.AlreadyRemoved {
		t.Fatalf("RemoveMember of the silent member = %+v, %v", r, err)
	}
	if r, err := leader.RemoveMember(t.Context(), dead.ID(), false); err != nil || !r.AlreadyRemoved {
		t.Errorf("second RemoveMember = %+v, %v, want AlreadyRemoved", r, err)
	}
}

// A removal that is stored only on the leader may still be undone, so the removed member must not stop.
func TestRemoveMember_NotCommitted_NoMemberStops(t *testing.T) {
	for range 5 {
		if removeWithOneDead(t) {
			return
		}
	}
	t.Error("every removal was committed under the previous configuration")
}

// removeWithOneDead removes one of three members while the third is dead, so that the new configuration has no
// majority. It returns false if the removal was committed anyway. Raft hands the entry to its replicators before it
// switches to the new configuration, and counts an acknowledgement that arrives before the switch toward the old
// majority. That is harmless, because every majority of either configuration then includes a member with the entry.
func removeWithOneDead(t *testing.T) (uncommitted bool) {
	servers := bootSetWithRetire(t, "gk1", "gk2", "gk3")
	leader := electLeader(t, servers)
	others := without(servers, leader)
	target, dead := others[0], others[1]
	address := dead.PeerAddress()
	closeNode(t, dead.Node)
	ctx, cancel := context.WithCancel(t.Context())
	removal := make(chan error, 1)
	go func() {
		_, err := leader.RemoveMember(ctx, target.ID(), true)
		removal <- err
	}()
	until(t, "the leader has stored the removal", func() bool {
		servers, err := leader.servers()
		return err == nil && find(servers, raft.ServerID(target.ID())) == nil
	})
	reportedRemoved := leader.removed(target.ID())
	cancel()
	if err := <-removal; err == nil {
		return false
	}
	if reportedRemoved || !leader.cfg.Retired(target.ID()) {
		t.Error("removed() = true before the removal was committed")
	}
	select {
	case err := <-target.Fatal():
		t.Fatalf("the member stopped: %v", err)
	default:
	}
	node := new(*Node)
	restarted := boot(t, DataDirConfig{Dir: dead.dir, MemberID: dead.ID(), ClusterName: "test", Members: dead.cfg.Members, ClusterID: testClusterID}, listenAt(t, address), withRetire(t, node))
	*node = restarted.Node
	if err := waitStopped(t, target); !errors.Is(err, ErrRemoved) { // the third member is back up, so the removal is committed
		t.Errorf("the member stopped with %v, want ErrRemoved", err)
	}
	return true
}

func TestAddMember_Repeated_KeepsVoterSetting(t *testing.T) {
	servers := bootSetWithRetire(t, "gk1", "gk2", "gk3")
	leader := electLeader(t, servers)
	other := without(servers, leader)[0]
	if err := leader.AddMember(t.Context(), Addition{ID: other.ID(), PeerAddress: other.PeerAddress(), NonVoter: true}); !errors.Is(err, ErrHasVote) {
		t.Errorf("AddMember of a voter as a non-voter = %v, want ErrHasVote", err)
	}
	added := Addition{ID: "gk4", PeerAddress: "127.0.0.1:1", NonVoter: true}
	if err := leader.AddMember(t.Context(), added); err != nil {
		t.Fatal(err)
	}
	joinRequest := Addition{ID: "gk4", PeerAddress: "127.0.0.1:1", Joining: true}
	if err := leader.AddMember(t.Context(), joinRequest); !errors.Is(err, ErrAddedWithoutVote) {
		t.Errorf("AddMember of a joining non-voter as a voter = %v, want ErrAddedWithoutVote", err)
	}
	joinRequest.NonVoter = true
	if err := leader.AddMember(t.Context(), joinRequest); err != nil {
		t.Errorf("AddMember of a joining non-voter as a non-voter: %v", err)
	}
	e := leader.epoch.Load()
	if e.shouldPromote("gk4") {
		t.Error("the non-voter is scheduled for promotion")
	}
	if err := leader.AddMember(t.Context(), Addition{ID: "gk4", PeerAddress: "127.0.0.1:1"}); err != nil || !e.shouldPromote("gk4") {
		t.Errorf("AddMember by an operator, as a voter = %v, want a scheduled promotion", err)
	}
}
