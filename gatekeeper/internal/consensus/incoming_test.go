package consensus

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/hashicorp/raft"
)

// A leader sends a snapshot again because the first response was late. In the meantime, the follower has applied more
// entries and trimmed its log after its own snapshot. Raft would revert to the old snapshot and panic because an entry
// is missing.
func TestIncoming_LateSnapshot_DoesNotRevertState(t *testing.T) {
	members := memoryCluster(t, 3, func(_ int, cfg *Config) { cfg.TrailingLogs = 1 })
	leader := leaderOf(t, members...)
	follower := others(members, leader)[0]
	for i := range 5 {
		mustAppend(t, leader.Node, fmt.Sprintf("old%d", i))
	}
	saved := leader.raft.Snapshot()
	if err := saved.Error(); err != nil {
		t.Fatal(err)
	}
	meta, reader, err := saved.Open()
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	var last Appended
	for i := range 5 {
		last = mustAppend(t, leader.Node, fmt.Sprintf("new%d", i))
	}
	until(t, "the follower has applied all entries", func() bool { return follower.raft.AppliedIndex() >= last.Index })
	if err := follower.raft.Snapshot().Error(); err != nil {
		t.Fatal(err)
	}

	send := func(term uint64) raft.InstallSnapshotResponse {
		t.Helper()
		var answer raft.InstallSnapshotResponse
		err := leader.transport.InstallSnapshot(follower.id, follower.address, &raft.InstallSnapshotRequest{
			RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(leader.id), Addr: []byte(leader.address)}, SnapshotVersion: meta.Version,
			Term: term, LastLogIndex: meta.Index, LastLogTerm: meta.Term, Size: int64(len(data)),
			Configuration: raft.EncodeConfiguration(meta.Configuration), ConfigurationIndex: meta.ConfigurationIndex,
		}, &answer, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	term := leader.raft.CurrentTerm()
	if answer := send(term); !answer.Success || answer.Term != term {
		t.Errorf("response to a snapshot that the follower already has: %+v, want success in the current term", answer)
	}
	if answer := send(term - 1); answer.Success || answer.Term != term {
		t.Errorf("response to a leader from an earlier term: %+v, want failure in the current term", answer)
	}
	if applied := follower.raft.AppliedIndex(); applied < last.Index {
		t.Errorf("the follower reverted from entry %d to %d", last.Index, applied)
	}
	last = mustAppend(t, leader.Node, "afterwards")
	until(t, "the follower applies new entries", func() bool { return follower.raft.AppliedIndex() >= last.Index })
}
