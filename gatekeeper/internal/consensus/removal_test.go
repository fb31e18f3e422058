package consensus

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// retiring lets members retire ids as servers do.
func retiring(t *testing.T, n **Node) func(*Config) {
	return func(c *Config) {
		machine := c.Machine
		c.Retired = func(id string) bool { return machine.State().Retired(id) }
		c.Retire = func(_ context.Context, id string) error { return (*n).Append(entry(t, id)).Wait().Err }
	}
}

// bootRetiring is bootSet with members that retire ids.
func bootRetiring(t *testing.T, ids ...string) []*server {
	t.Helper()
	set, listeners := namedSet(t, ids...)
	var servers []*server
	for i, id := range ids {
		node := new(*Node)
		s := boot(t, FolderConfig{Dir: t.TempDir(), MemberID: id, ClusterName: "test", Members: set}, listeners[i], retiring(t, node))
		*node = s.Node
		servers = append(servers, s)
	}
	return servers
}

// leaves waits for the fault with which a server leaves.
func leaves(t *testing.T, s *server) error {
	t.Helper()
	select {
	case err := <-s.Fatal():
		return err
	case <-time.After(30 * time.Second):
		t.Fatalf("%s stays", s.ID())
		return nil
	}
}

func TestRemoveMember_ThatRuns_LeavesAndIsRetired(t *testing.T) {
	servers := bootRetiring(t, "gk1", "gk2", "gk3")
	leader := leading(t, servers)
	gone := without(servers, leader)[0]
	until(t, "it is ready", func() bool { return gone.Ready() == nil })
	if err := leader.RemoveMember(t.Context(), gone.ID()); err != nil {
		t.Fatal(err)
	}
	if !leader.machine.State().Retired(gone.ID()) {
		t.Error("its id is not retired")
	}
	if err := leaves(t, gone); !errors.Is(err, ErrRemoved) {
		t.Errorf("it leaves with %v", err)
	}
	select {
	case err := <-leader.Fatal():
		t.Errorf("the leader leaves too: %v", err)
	default:
	}
}

// It was away, and has not even the entry that removes it.
func TestRemoveMember_ThatWasAway_LeavesWhenItIsBack(t *testing.T) {
	servers := bootRetiring(t, "gk1", "gk2", "gk3")
	leader := leading(t, servers)
	gone := without(servers, leader)[0]
	address := gone.PeerAddress()
	until(t, "it has met the leader", func() bool { return leader.cfg.Folder.hasMet(gone.ID()) })
	closeNode(t, gone.Node)
	if err := leader.RemoveMember(t.Context(), gone.ID()); err != nil {
		t.Fatal(err)
	}
	node := new(*Node)
	again := boot(t, FolderConfig{Dir: gone.dir, MemberID: gone.ID(), ClusterName: "test", Members: gone.cfg.Members}, listenAt(t, address), retiring(t, node))
	*node = again.Node
	if err := leaves(t, again); !errors.Is(err, ErrRemoved) {
		t.Errorf("it leaves with %v", err)
	}
}

// The leader went away between the two halves. The removal is asked for again, and completed.
func TestRemoveMember_RetiredButStillThere_IsRemovedByARepeat(t *testing.T) {
	servers := bootRetiring(t, "gk1", "gk2", "gk3")
	leader := leading(t, servers)
	half := without(servers, leader)[0]
	mustAppend(t, leader.Node, half.ID()) // retired, and no more
	applied(t, half.ID(), servers...)
	until(t, "it is ready all the same", func() bool { return half.Ready() == nil })
	if err := leader.AddMember(t.Context(), half.ID(), half.PeerAddress(), false); !errors.Is(err, ErrMemberRetired) {
		t.Errorf("add a retired member: %v", err)
	}
	if err := leader.RemoveMember(t.Context(), half.ID()); err != nil {
		t.Fatal(err)
	}
	if err := leaves(t, half); !errors.Is(err, ErrRemoved) {
		t.Errorf("it leaves with %v", err)
	}
}

func TestRemoveMember_CannotRetire_RemovesNothing(t *testing.T) {
	set, listeners := namedSet(t, "gk1", "gk2")
	full := errors.New("the log is full")
	var servers []*server
	for i, m := range set {
		servers = append(servers, boot(t, FolderConfig{Dir: t.TempDir(), MemberID: m.ID, ClusterName: "test", Members: set}, listeners[i], func(c *Config) {
			c.Retire = func(context.Context, string) error { return full }
		}))
	}
	leader := leading(t, servers)
	other := without(servers, leader)[0]
	if err := leader.RemoveMember(t.Context(), other.ID()); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	members, err := leader.servers()
	if err != nil || find(members, raft.ServerID(other.ID())) == nil {
		t.Errorf("it is gone: %v, %v", members, err)
	}
}

// A joiner is in no configuration that it knows of, and nobody removed it.
func TestJoiner_NotYetAMember_Stays(t *testing.T) {
	servers := bootRetiring(t, "gk1")
	leader := leading(t, servers)
	node := new(*Node)
	joiner := boot(t, FolderConfig{Dir: t.TempDir(), MemberID: "gk2", ClusterName: "test", Join: true, ClusterID: leader.ClusterID()}, listen(t), retiring(t, node))
	*node = joiner.Node
	for _, id := range []string{"gk1", "gk2"} {
		if leader.removed(id) || joiner.removed(id) {
			t.Errorf("%s counts as removed", id)
		}
	}
	if err := leader.AddMember(t.Context(), "gk2", joiner.PeerAddress(), false); err != nil {
		t.Fatal(err)
	}
	until(t, "the joiner is ready", func() bool { return joiner.Ready() == nil })
	select {
	case err := <-joiner.Fatal():
		t.Errorf("the joiner leaves: %v", err)
	default:
	}
}
