package consensus

import (
	"strconv"

	"github.com/hashicorp/raft"
)

// correctEntries corrects two mistakes that Raft (v1.8.0) makes when it receives entries from a leader.
//
// First, Raft looks for the entry before the first new one only in the log. After a leader has sent a snapshot, for
// example, a follower's log may begin after its newest snapshot. Such a follower refuses entries that continue from the
// snapshot unless its log is empty. The leader backs up until it has nothing left to send but an older snapshot, which
// the follower already has, and the cycle repeats forever. Everything up to a follower's snapshot is committed and
// identical on every later leader, so there is nothing to compare up to that point.
//
// Second, if the leader's commit index is higher than this member's last entry, Raft treats that entry as committed,
// even though the leader may have different entries after those that it has just sent. The Raft paper (figure 2,
// AppendEntries, step 5) limits the commit index to the last new entry.
func (i *incoming) correctEntries(rpc raft.RPC) raft.RPC {
	sent, ok := rpc.Command.(*raft.AppendEntriesRequest)
	if !ok {
		return rpc
	}
	req := *sent
	req.LeaderCommitIndex = min(req.LeaderCommitIndex, req.PrevLogEntry+uint64(len(req.Entries)))
	if to, ok := i.inSnapshot(req.PrevLogEntry); ok {
		req.Entries = req.Entries[min(to-req.PrevLogEntry, uint64(len(req.Entries))):]
		req.PrevLogEntry, req.PrevLogTerm = 0, 0 // nothing to compare
	}
	rpc.Command = &req
	return rpc
}

// inSnapshot reports whether this member's newest snapshot contains an entry, and the index at which the snapshot ends.
// It takes into account everything that the leader has already sent. If the log contains the entry as well, the two are
// the same; see package store. The log itself is not read, because after a fault the read would block forever.
func (i *incoming) inSnapshot(index uint64) (to uint64, _ bool) {
	// Normally the leader continues at the end of the log, and this check is the only cost.
	if index == 0 || !i.waitRunning() || index >= i.raft.LastIndex() || !i.waitIdle() {
		return 0, false
	}
	to, err := strconv.ParseUint(i.raft.Stats()["last_snapshot_index"], 10, 64)
	return to, err == nil && index <= to
}
