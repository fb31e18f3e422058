package consensus

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/internal/ports"
)

// These tests run complete members that store their data on disk and connect over loopback.

// longTimeouts are longer than disk stalls on a busy machine. Tests do not wait for them; see electLeader.
var longTimeouts = Timeouts{Heartbeat: 2 * time.Second, Election: 2 * time.Second}

type server struct {
	*Node
	machine *fsm.Machine
	dir     string
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := ports.Listen() // reserves the port, so that a restarted member can use it again
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func listenAt(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// boot starts a member with a recorder as its LeadershipObserver.
func boot(t *testing.T, cfg DataDirConfig, listener net.Listener, adjust func(*Config)) *server {
	t.Helper()
	dataDir, err := PrepareDataDir(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{machine: fsm.New(dataDir.ClusterID().String()), dir: cfg.Dir}
	c := Config{
		DataDir: dataDir, Machine: s.machine, PeerListener: listener, Members: cfg.Members, Timeouts: longTimeouts,
		APIAddress: cfg.MemberID + ".api:7420",
	}
	if adjust != nil {
		adjust(&c)
	}
	if s.Node, err = Open(c); err != nil {
		t.Fatal(err)
	}
	s.ObserveLeadership(newRecorder())
	t.Cleanup(func() { closeNode(t, s.Node) })
	return s
}

func namedSet(t *testing.T, ids ...string) (set []Member, listeners []net.Listener) {
	t.Helper()
	for _, id := range ids {
		l := listen(t)
		listeners = append(listeners, l)
		set = append(set, Member{ID: id, PeerAddress: l.Addr().String()})
	}
	return set, listeners
}

func bootSet(t *testing.T, ids ...string) []*server {
	t.Helper()
	set, listeners := namedSet(t, ids...)
	var servers []*server
	for i, id := range ids {
		cfg := DataDirConfig{Dir: t.TempDir(), MemberID: id, ClusterName: "test", Members: set, ClusterID: testClusterID}
		servers = append(servers, boot(t, cfg, listeners[i], nil))
	}
	return servers
}

// campaign makes the server start an election immediately, as the target of a transfer does.
func (s *server) campaign() {
	req := &raft.TimeoutNowRequest{RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax}}
	select {
	case s.transport.incoming.to <- raft.RPC{Command: req, RespChan: make(chan raft.RPCResponse, 1)}:
	case <-time.After(longTimeouts.Election): // it is no longer a follower
	}
}

// promotedLeader returns the promoted leader, or nil.
func promotedLeader(servers []*server) *server {
	for _, s := range servers {
		if term, leads := leads(s.raft); leads && s.promoted.Load() == term {
			return s
		}
	}
	return nil
}

// electLeader waits for a promoted leader. If there is neither a leader nor a candidate, the first server starts an
// election, which is faster than waiting for a timeout.
func electLeader(t *testing.T, servers []*server) *server {
	t.Helper()
	if !slices.ContainsFunc(servers, func(s *server) bool { return s.raft.State() != raft.Follower }) {
		servers[0].campaign()
	}
	return waitForLeader(t, servers)
}

// waitForLeader waits for a promoted leader. Unlike electLeader, it does not start an election.
func waitForLeader(t *testing.T, servers []*server) *server {
	t.Helper()
	var leader *server
	until(t, "a leader is promoted", func() bool {
		leader = promotedLeader(servers)
		return leader != nil
	})
	return leader
}

func without(servers []*server, excluded *server) []*server {
	var rest []*server
	for _, s := range servers {
		if s != excluded {
			rest = append(rest, s)
		}
	}
	return rest
}

func waitForEntry(t *testing.T, id string, servers ...*server) {
	t.Helper()
	for _, s := range servers {
		until(t, s.ID()+" applies "+id, func() bool { return s.machine.State().Retired(id) })
	}
}

func TestCluster_SurvivesElectionsFailuresAndMembershipChanges(t *testing.T) {
	servers := bootSet(t, "gk1", "gk2", "gk3")
	leader := electLeader(t, servers)
	mustAppend(t, leader.Node, "one")
	waitForEntry(t, "one", servers...)
	if err := leader.Confirm(t.Context(), leader.Term(), time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, s := range servers {
		until(t, s.ID()+" is ready", func() bool { return s.Ready() == nil })
		want := Leader{ID: leader.ID(), PeerAddress: leader.PeerAddress(), APIAddress: leader.ID() + ".api:7420", Name: leader.Name(), Term: leader.Term()}
		if got := s.Leader(); got != want {
			t.Errorf("%s: Leader() = %+v, want %+v", s.ID(), got, want)
		}
	}

	// One member is lost.
	closeNode(t, leader.Node)
	lost := leader
	servers = without(servers, leader)
	leader = electLeader(t, servers)
	mustAppend(t, leader.Node, "two")
	if err := leader.Confirm(t.Context(), leader.Term(), time.Now()); err != nil {
		t.Fatal(err)
	}

	// A fourth member joins, first as a non-voter.
	joiner := boot(t, DataDirConfig{Dir: t.TempDir(), MemberID: "gk4", ClusterName: "test", Join: true, ClusterID: leader.ClusterID()}, listen(t), nil)
	if err := joiner.Ready(); err == nil {
		t.Error("Ready() = nil for a joiner that has not been added")
	}
	if err := leader.AddMember(t.Context(), Addition{ID: "gk4", PeerAddress: joiner.PeerAddress(), NonVoter: true}); err != nil {
		t.Fatal(err)
	}
	waitForEntry(t, "two", joiner)
	until(t, "the joiner is ready", func() bool { return joiner.Ready() == nil })
	if !joiner.cfg.DataDir.hasBegun() {
		t.Error("the joiner applied entries but did not record that it has begun")
	}
	if err := leader.Transfer(t.Context(), "gk4"); !errors.Is(err, ErrNotAVoter) {
		t.Errorf("Transfer to a non-voter = %v, want ErrNotAVoter", err)
	}
	// It is added again, this time as a voter.
	if err := leader.AddMember(t.Context(), Addition{ID: "gk4", PeerAddress: joiner.PeerAddress()}); err != nil {
		t.Fatal(err)
	}
	member := func(s *server, id string) (found Member) {
		members, err := s.Members()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range members {
			if m.ID == id {
				found = m
			}
		}
		return found
	}
	until(t, "the joiner is a voter", func() bool { return member(leader, "gk4").Voter })
	if got := member(leader, "gk4").APIAddress; got != "gk4.api:7420" {
		t.Errorf("API address of the joiner = %q, want gk4.api:7420", got)
	}
	servers = append(servers, joiner)

	// Rejected changes.
	_, noSuchMember := leader.RemoveMember(t.Context(), "gk9", false)
	for _, tc := range []struct {
		err, want error
	}{
		{leader.AddMember(t.Context(), Addition{ID: "gk4", PeerAddress: "127.0.0.1:1"}), ErrMemberExists},
		{leader.AddMember(t.Context(), Addition{ID: "gk9", PeerAddress: joiner.PeerAddress()}), ErrMemberExists},
		{leader.AddMember(t.Context(), Addition{ID: "gk9", PeerAddress: "0.0.0.0:1"}), ErrInvalidMember},
		{leader.AddMember(t.Context(), Addition{ID: "gk|9", PeerAddress: "127.0.0.1:1"}), ErrInvalidMember},
		{noSuchMember, ErrNoSuchMember},
		{leader.Transfer(t.Context(), "gk9"), ErrNoSuchMember},
	} {
		if !errors.Is(tc.err, tc.want) {
			t.Errorf("got %v, want %v", tc.err, tc.want)
		}
	}
	var notLeader *NotLeaderError
	if _, err := joiner.RemoveMember(t.Context(), "gk1", false); !errors.As(err, &notLeader) || notLeader.Leader.ID != leader.ID() {
		t.Errorf("RemoveMember on a follower = %v, want a NotLeaderError that names the leader", err)
	}

	// The lost member is removed, and leadership is transferred.
	if _, err := leader.RemoveMember(t.Context(), lost.ID(), false); err != nil {
		t.Fatal(err)
	}
	if m := member(leader, lost.ID()); m.ID != "" {
		t.Errorf("the removed member is still listed: %+v", m)
	}
	until(t, "gk4 leads", func() bool {
		return promotedLeader(servers) == joiner || leader.Transfer(t.Context(), "gk4") == nil && promotedLeader(servers) == joiner // a transfer can time out on a busy machine
	})
	mustAppend(t, joiner.Node, "three")
	waitForEntry(t, "three", servers...)

	// A leader that is asked to remove itself transfers leadership instead.
	until(t, "gk4 finds a voter to transfer leadership to", func() bool {
		e, members, unlock, err := joiner.beginChange(t.Context())
		if err != nil {
			return false
		}
		defer unlock()
		return joiner.mostUpToDateVoter(e, members) != ""
	})
	if _, err := joiner.RemoveMember(t.Context(), "gk4", false); !errors.As(err, &notLeader) {
		t.Errorf("RemoveMember of the leader = %v, want a NotLeaderError", err)
	}
	leader = waitForLeader(t, without(servers, joiner))
	if _, err := leader.RemoveMember(t.Context(), "gk4", false); err != nil {
		t.Fatal(err)
	}
}

func TestCluster_RestartedMember_KeepsItsState(t *testing.T) {
	dir, l := t.TempDir(), listen(t)
	cfg := DataDirConfig{Dir: dir, MemberID: "gk1", ClusterName: "test"}
	s := boot(t, cfg, l, nil)
	electLeader(t, []*server{s})
	mustAppend(t, s.Node, "one")
	term := s.Term()
	if _, err := s.RemoveMember(t.Context(), "gk1", false); !errors.Is(err, ErrLastVoter) {
		t.Errorf("RemoveMember of the last voter = %v, want ErrLastVoter", err)
	}
	if err := s.Transfer(t.Context(), ""); err == nil {
		t.Error("Transfer on a single server succeeded, want an error")
	}
	closeNode(t, s.Node)
	if err := s.Close(context.Background()); err != nil {
		t.Errorf("second Close: %v", err)
	}

	s = boot(t, cfg, listen(t), nil) // on another port
	electLeader(t, []*server{s})
	if !s.machine.State().Retired("one") || s.Term() <= term {
		t.Errorf("term after the restart = %d, want a term later than %d and no lost entries", s.Term(), term)
	}
	until(t, "the member's address is corrected", func() bool {
		members, err := s.Members()
		return err == nil && len(members) == 1 && members[0].PeerAddress == s.PeerAddress()
	})
}

// eachStore runs a test with each kind of log store.
func eachStore(t *testing.T, f func(t *testing.T, store LogStore)) {
	t.Helper()
	for _, store := range []LogStore{LogStoreBolt, LogStoreWAL} {
		t.Run(string(store), func(t *testing.T) { f(t, store) })
	}
}

func TestCluster_SnapshotAndTrim_RestoresAndCatchesUp(t *testing.T) {
	eachStore(t, testSnapshotAndTrim)
}

func testSnapshotAndTrim(t *testing.T, store LogStore) {
	dir := t.TempDir()
	adjust := func(c *Config) {
		c.SnapshotThreshold, c.SnapshotInterval, c.TrailingLogs = 10, 20*time.Millisecond, 5
		c.LogStore = store
	}
	cfg := DataDirConfig{Dir: dir, MemberID: "gk1", ClusterName: "test"}
	s := boot(t, cfg, listen(t), adjust)
	electLeader(t, []*server{s})
	snapshots := func() int {
		found, _ := filepath.Glob(filepath.Join(dir, "snapshots", "*-*-*"))
		return len(found)
	}
	for i := 0; snapshots() == 0; i++ {
		mustAppend(t, s.Node, "m"+strings.Repeat("x", i%50))
	}
	mustAppend(t, s.Node, "last")
	closeNode(t, s.Node)
	s = boot(t, cfg, listen(t), adjust)
	electLeader(t, []*server{s})
	waitForEntry(t, "last", s)
	joiner := boot(t, DataDirConfig{Dir: t.TempDir(), MemberID: "gk2", ClusterName: "test", Join: true, ClusterID: s.ClusterID()}, listen(t), adjust)
	if err := s.AddMember(t.Context(), Addition{ID: "gk2", PeerAddress: joiner.PeerAddress()}); err != nil {
		t.Fatal(err)
	}
	waitForEntry(t, "last", joiner)
	waitForEntry(t, "m", joiner)
	until(t, "the joiner is a voter", func() bool {
		members, err := s.Members()
		return err == nil && len(members) == 2 && members[1].Voter
	})
}

// A follower whose log ends before the leader's log begins receives a snapshot, which replaces its log. The log on disk
// must not have a gap.
func TestCluster_FollowerThatWasDown_CatchesUpFromSnapshot(t *testing.T) {
	eachStore(t, func(t *testing.T, store LogStore) {
		set, listeners := namedSet(t, "gk1", "gk2", "gk3")
		var servers []*server
		start := func(id, dir string, l net.Listener) *server {
			return boot(t, DataDirConfig{Dir: dir, MemberID: id, ClusterName: "test", Members: set, ClusterID: testClusterID}, l, func(c *Config) {
				c.SnapshotThreshold, c.SnapshotInterval, c.TrailingLogs = 10, 20*time.Millisecond, 1
				c.LogStore = store
			})
		}
		for i, m := range set {
			servers = append(servers, start(m.ID, t.TempDir(), listeners[i]))
		}
		leader := electLeader(t, servers)
		mustAppend(t, leader.Node, "before")
		waitForEntry(t, "before", servers...)
		down := without(servers, leader)[0]
		last := down.raft.LastIndex()
		closeNode(t, down.Node)
		for i := 0; ; i++ {
			mustAppend(t, leader.Node, fmt.Sprintf("m%d", i))
			if first, err := leader.stores.log.FirstIndex(); err != nil {
				t.Fatal(err)
			} else if first > last+1 {
				break
			}
		}
		mustAppend(t, leader.Node, "meanwhile")
		l, err := net.Listen("tcp", down.PeerAddress())
		if err != nil {
			t.Fatal(err)
		}
		restarted := start(down.ID(), down.dir, l)
		waitForEntry(t, "meanwhile", restarted)
		mustAppend(t, leader.Node, "after")
		waitForEntry(t, "after", restarted)
		if first, err := restarted.stores.log.FirstIndex(); err != nil || first <= last+1 {
			t.Errorf("FirstIndex() = %d, %v; want the log to begin after a snapshot", first, err)
		}
		closeNode(t, restarted.Node)
		if l, err = net.Listen("tcp", down.PeerAddress()); err != nil {
			t.Fatal(err)
		}
		waitForEntry(t, "after", start(down.ID(), down.dir, l))
	})
}

func TestCluster_MemberWithLostData_IsExcluded(t *testing.T) {
	servers := bootSet(t, "gk1", "gk2", "gk3")
	leader := electLeader(t, servers)
	mustAppend(t, leader.Node, "one")
	waitForEntry(t, "one", servers...)
	lost := without(servers, leader)[0]
	for _, s := range without(servers, lost) {
		until(t, s.ID()+" has recorded "+lost.ID(), func() bool { return s.cfg.DataDir.knowsPeer(lost.ID()) })
	}
	closeNode(t, lost.Node)
	if err := os.RemoveAll(lost.dir); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", lost.PeerAddress())
	if err != nil {
		t.Fatal(err)
	}
	restarted := boot(t, DataDirConfig{Dir: t.TempDir(), MemberID: lost.ID(), ClusterName: "test", Members: lost.cfg.Members, ClusterID: testClusterID}, l, nil)
	mustAppend(t, leader.Node, "two")
	req := &raft.AppendEntriesRequest{RPCHeader: raft.RPCHeader{ProtocolVersion: 3, ID: []byte(leader.ID()), Addr: []byte(leader.PeerAddress())}, Term: 1}
	until(t, "the leader is refused", func() bool {
		err = leader.transport.AppendEntries(restarted.id, restarted.address, req, &raft.AppendEntriesResponse{})
		return err != nil && strings.Contains(err.Error(), "new data directory")
	})
	if restarted.machine.State().Retired("two") {
		t.Error("the member that lost its data applied a new entry")
	}
}
