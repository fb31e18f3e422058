package consensus

import (
	"strconv"

	"github.com/hashicorp/raft"
)

// entries makes two things of what a leader sends right that Raft (v1.8.0) gets wrong.
//
// It seeks the entry before the first one in the log alone. A follower whose log begins behind its newest snapshot, as
// after one that a leader sent, refuses entries that follow on the snapshot unless its log is empty. The leader goes
// back until it has only a snapshot left, an older one, which the follower has, and so on for ever. All up to a
// follower's snapshot is committed and the same on every leader from then on, so that there is nothing to compare up to
// there.
//
// It takes its own last entry for committed when the leader names a higher one, although the leader may know better
// what comes behind the entries that it sent now. Raft paper, figure 2, AppendEntries, step 5: the lower of the two is
// the index of the last new entry.
func (i *incoming) entries(rpc raft.RPC) raft.RPC {
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

// inSnapshot reports whether this member's newest snapshot holds an entry, and where that snapshot ends. What the
// leader sent before counts. If the entry is in the log as well it is the same there: see the package store. The log is
// not asked, which would wait for ever after a fault.
func (i *incoming) inSnapshot(index uint64) (to uint64, _ bool) {
	// In the order of things a leader goes on where the log ends, and this is all that it costs.
	if index == 0 || !i.runs() || index >= i.raft.LastIndex() || !i.idle() {
		return 0, false
	}
	to, err := strconv.ParseUint(i.raft.Stats()["last_snapshot_index"], 10, 64)
	return to, err == nil && index <= to
}
