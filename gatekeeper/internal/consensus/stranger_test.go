package consensus

import (
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// In these tests, an outsider may know the cluster's id, as every client does.

// sendHello sends a hello with the given fields to a member's peer port, and returns the status and text of the
// response.
func sendHello(t *testing.T, to *server, fields ...string) (status byte, message string) {
	t.Helper()
	c, err := net.Dial("tcp", to.PeerAddress())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	var body []byte
	for _, f := range fields {
		body = binary.BigEndian.AppendUint16(body, uint16(len(f)))
		body = append(body, f...)
	}
	msg := binary.BigEndian.AppendUint16([]byte("gkpeer\x00\x01\x00"), uint16(len(body)))
	if _, err := c.Write(append(msg, body...)); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(io.LimitReader(c, 11))
	if err != nil || len(answer) < 11 {
		t.Fatalf("got response %q, error %v", answer, err)
	}
	text := make([]byte, binary.BigEndian.Uint16(answer[9:]))
	if _, err := io.ReadFull(c, text); err != nil {
		t.Fatal(err)
	}
	return answer[8], string(text)
}

func TestOutsider_FromAnotherCluster_GetsNoReason(t *testing.T) {
	s := bootSet(t, "gk1")[0]
	if status, reason := sendHello(t, s, "x", "nobody", "x", "", "f", "2"); status != 1 || reason != "" {
		t.Errorf("got status %d with text %q, want 1 without text", status, reason)
	}
}

func TestOutsider_ClaimsALaterIncarnation_NoServerStops(t *testing.T) {
	servers := bootSet(t, "gk1", "gk2")
	leader := electLeader(t, servers)
	later := leader.ClusterID().Next(time.Now())
	for range 3 {
		if status, _ := sendHello(t, leader, later.String(), "gk2", leader.ID(), "", "f", "2"); status == 0 {
			t.Fatal("the outsider was accepted")
		}
	}
	mustAppend(t, leader.Node, "one")
	select {
	case err := <-leader.Fatal():
		t.Errorf("the server stopped: %v", err)
	default:
	}
	dir := leader.dir
	closeNode(t, leader.Node)
	prepare(t, dir, DataDirConfig{MemberID: leader.ID(), ClusterName: "test", Members: leader.cfg.Members})
}

func TestOutsider_StatementIsNotRecorded(t *testing.T) {
	servers := bootSet(t, "gk1", "gk2")
	leader := electLeader(t, servers)
	other := without(servers, leader)[0]
	id := leader.ClusterID().String()
	// The outsider uses a member's id with a wrong address and directory, and the id of a server that has not joined
	// yet.
	sendHello(t, leader, id, other.ID(), leader.ID(), "evil:1", "f", "1")
	if status, reason := sendHello(t, leader, id, "gk9", leader.ID(), "evil:1", "0000000000000000", "2"); status != 0 {
		t.Fatal(reason)
	}
	if status, reason := sendHello(t, leader, id, "gk9", leader.ID(), "api:1", "1111111111111111", "2"); status != 0 {
		t.Errorf("the real gk9 was refused: %s", reason)
	}
	until(t, "the leader has recorded the other member's API address", func() bool { return leader.apiAddressOf(other.ID()) == other.ID()+".api:7420" })
	if leader.cfg.DataDir.knowsPeer("gk9") || leader.apiAddressOf("gk9") != "" {
		t.Error("the outsider's claim was recorded")
	}
}

func TestDataDir_DiskStalls_RecordedPeersRemainReadable(t *testing.T) {
	memory := NewMemory()
	f, err := PrepareDataDir(DataDirConfig{Memory: memory, MemberID: "gk1", ClusterName: "test"})
	if err != nil {
		t.Fatal(err)
	}
	members := []raft.Server{{ID: "gk1"}, {ID: "gk2"}, {ID: "gk3"}}
	if err := f.recordPeer("gk2", "two", members); err != nil {
		t.Fatal(err)
	}
	memory.mu.Lock() // blocks the disk
	done := make(chan error)
	go func() { done <- f.recordPeer("gk3", "three", members) }()
	for f.writing.TryLock() { // until the write is blocked
		f.writing.Unlock()
		runtime.Gosched()
	}
	if f.memberName("gk2") == "" || f.knowsPeer("gk3") {
		t.Errorf("peerDirs = %v while the write is blocked, want only gk2", f.peerDirs)
	}
	memory.mu.Unlock()
	if err := <-done; err != nil || !f.knowsPeer("gk3") {
		t.Error(err)
	}
}
