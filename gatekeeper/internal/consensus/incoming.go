package consensus

import (
	"io"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// incoming stands between what peers ask and Raft's main loop. It answers late snapshots itself, handles votes when the
// leader is gone (vote.go), makes right what Raft does with entries (entries.go), and answers heartbeats beside the
// main loop (heartbeat.go).
//
// A leader that hears no answer in time sends a snapshot again, and the first one may have arrived. Raft (v1.8.0)
// installs every one, also over what it has applied since: it goes back to the older state and the older members, and
// panics when the log does not reach back so far. Who has applied all that a snapshot holds has what the leader wants,
// and says so, as in the Raft paper, figure 13, InstallSnapshot, step 6.
type incoming struct {
	silence time.Duration  // after how long without a word the leader is gone
	recent  time.Duration  // for how long after a word Raft need not hear of the leader
	header  raft.RPCHeader // this member's
	from    <-chan raft.RPC
	heard   chan raft.RPC // a heartbeat that was answered, for Raft to hear of
	to      chan raft.RPC
	failed  <-chan struct{} // closed at this member's first fault
	running chan struct{}   // closed once raft is set
	raft    *raft.Raft
	done    chan struct{} // closed by close
	once    sync.Once
	work    sync.WaitGroup
}

func newIncoming(from <-chan raft.RPC, heartbeat time.Duration, header raft.RPCHeader, failed <-chan struct{}) *incoming {
	i := &incoming{
		silence: silence(heartbeat), recent: recent(heartbeat), header: header,
		from: from, heard: make(chan raft.RPC, 1), to: make(chan raft.RPC),
		failed: failed, running: make(chan struct{}), done: make(chan struct{}),
	}
	i.work.Go(i.run)
	i.work.Go(i.tell)
	return i
}

// serves says whose questions they are.
func (i *incoming) serves(r *raft.Raft) {
	i.raft = r
	close(i.running)
}

// close returns when nothing is passed on any more. It may be called again.
func (i *incoming) close() {
	i.once.Do(func() { close(i.done) })
	i.work.Wait()
}

func (i *incoming) run() {
	for {
		select {
		case rpc := <-i.from:
			switch {
			case i.late(rpc):
				i.work.Go(func() { has(rpc) }) // reading it takes as long as sending it
			case i.preVote(rpc), i.vote(&rpc):
			case !i.pass(i.entries(rpc)):
				rpc.Respond(nil, raft.ErrTransportShutdown)
				return
			}
		case <-i.done:
			return
		}
	}
}

// pass returns false when Raft is gone.
func (i *incoming) pass(rpc raft.RPC) bool {
	select {
	case i.to <- rpc:
		return true
	case <-i.done:
		return false
	}
}

// late says whether rpc is a snapshot of what this member has applied. Nothing is applied between this and the next
// question, for a follower applies only what it is sent.
func (i *incoming) late(rpc raft.RPC) bool {
	snapshot, ok := rpc.Command.(*raft.InstallSnapshotRequest)
	if !ok || !i.idle() {
		return false
	}
	// One of an earlier term is for Raft to refuse.
	return snapshot.Term >= i.raft.CurrentTerm() && snapshot.LastLogIndex <= i.raft.AppliedIndex()
}

// runs returns when Raft is there; false when it is gone.
func (i *incoming) runs() bool {
	select {
	case <-i.running:
		return true
	case <-i.done:
		return false
	}
}

// idle returns when Raft has worked off all that was passed on before; false when it is gone. It asks something that
// Raft's main loop refuses before it looks at anything: a question of no version of the protocol.
func (i *incoming) idle() bool {
	if !i.runs() {
		return false
	}
	answer := make(chan raft.RPCResponse, 1)
	if !i.pass(raft.RPC{Command: &raft.RequestPreVoteRequest{}, RespChan: answer}) {
		return false
	}
	select {
	case <-answer:
		return true
	case <-i.done:
		return false
	}
}

// has answers that what the snapshot holds is here. Its sender first sends all of it.
func has(rpc raft.RPC) {
	_, err := io.Copy(io.Discard, rpc.Reader)
	snapshot := rpc.Command.(*raft.InstallSnapshotRequest) //nolint:forcetypeassert // late has looked
	rpc.Respond(&raft.InstallSnapshotResponse{Term: snapshot.Term, Success: err == nil}, err)
}
