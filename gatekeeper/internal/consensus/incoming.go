package consensus

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// incoming filters the requests from peers before they reach Raft's main loop. It answers late snapshots, handles votes
// when the leader is silent (vote.go), corrects how Raft handles entries (entries.go), and answers heartbeats without
// the main loop (heartbeat.go). It also notices when the leader falls silent (silence.go).
//
// A leader that receives no response in time sends a snapshot again, even though the first one may have arrived. Raft
// (v1.8.0) installs every snapshot, even over entries that it has applied since. It reverts to the older state and the
// older membership, and panics when the log does not reach back far enough. A member that has applied everything in a
// snapshot already has everything that the leader is sending, so it reports success, as in the Raft paper, figure 13,
// InstallSnapshot, step 6.
type incoming struct {
	timeout            time.Duration  // the heartbeat timeout
	silenceThreshold   time.Duration  // how long the leader must be silent to count as gone when a vote is requested
	recentContact      time.Duration  // for this long after leader contact, answered heartbeats are not sent to Raft
	header             raft.RPCHeader // sent with this member's responses
	from               <-chan raft.RPC
	answeredHeartbeats chan raft.RPC // answered heartbeats that Raft should also see
	to                 chan raft.RPC
	failed             <-chan struct{}    // closed at this member's first fault
	waitStored         func(index uint64) // waits until the log is on disk up to an index
	running            chan struct{}      // closed once raft and check are set
	raft               *raft.Raft
	check              func()                    // makes Raft check for its leader
	preVoteGranted     atomic.Pointer[time.Time] // when this member last granted a pre-vote; nil for never
	done               chan struct{}             // closed by close
	closeOnce          sync.Once
	wg                 sync.WaitGroup
}

func newIncoming(from <-chan raft.RPC, heartbeat time.Duration, header raft.RPCHeader, failed <-chan struct{}, waitStored func(uint64)) *incoming {
	i := &incoming{
		timeout: heartbeat, silenceThreshold: silenceThreshold(heartbeat), recentContact: recentContact(heartbeat), header: header,
		from: from, answeredHeartbeats: make(chan raft.RPC, 1), to: make(chan raft.RPC),
		failed: failed, waitStored: waitStored, running: make(chan struct{}), done: make(chan struct{}),
	}
	i.wg.Go(i.run)
	i.wg.Go(i.forwardHeartbeats)
	i.wg.Go(i.watchSilence)
	return i
}

// setRaft sets the Raft instance that serves the requests, and the function that makes it check for its leader.
func (i *incoming) setRaft(r *raft.Raft, check func()) {
	i.raft, i.check = r, check
	close(i.running)
}

// close stops forwarding requests and waits for the goroutines to exit. It may be called more than once.
func (i *incoming) close() {
	i.closeOnce.Do(func() { close(i.done) })
	i.wg.Wait()
}

func (i *incoming) run() {
	for {
		select {
		case rpc := <-i.from:
			switch {
			case i.isStaleSnapshot(rpc):
				i.wg.Go(func() { respondInstalled(rpc) }) // reading the snapshot takes as long as sending it
			case i.preVote(rpc), i.vote(&rpc):
			default:
				if err := i.forward(i.correctEntries(rpc)); err != nil {
					rpc.Respond(nil, err)
				}
			}
		case <-i.done:
			return
		}
	}
}

// forward forwards a request to Raft. It returns an error after close and after a fault, although Raft may keep running
// after a fault until its next store call.
func (i *incoming) forward(rpc raft.RPC) error {
	select {
	case <-i.failed:
		return errFaulty
	default:
	}
	select {
	case i.to <- rpc:
		return nil
	case <-i.done:
		return raft.ErrTransportShutdown
	}
}

// isStaleSnapshot reports whether rpc is a snapshot that this member has already applied. Nothing is applied between
// this check and the next request, because a follower applies only what it is sent.
func (i *incoming) isStaleSnapshot(rpc raft.RPC) bool {
	snapshot, ok := rpc.Command.(*raft.InstallSnapshotRequest)
	// Raft must reject a snapshot of an earlier term.
	if !ok || !i.waitIdle() || snapshot.Term < i.raft.CurrentTerm() || snapshot.LastLogIndex > i.raft.AppliedIndex() {
		return false
	}
	// If this member led, it may still be writing entries that Raft has handed to the state machine.
	onDisk := make(chan struct{})
	go func() {
		i.waitStored(snapshot.LastLogIndex) // does not return after a fault
		close(onDisk)
	}()
	select {
	case <-onDisk:
		return true
	case <-i.failed:
	case <-i.done:
	}
	return false
}

// waitRunning waits until Raft is running. It returns false after close.
func (i *incoming) waitRunning() bool {
	select {
	case <-i.running:
		return true
	case <-i.done:
		return false
	}
}

// waitIdle waits until Raft has processed everything forwarded to it. It returns false after a fault and after close.
// It sends a request without a protocol version, which Raft's main loop rejects before looking at anything else.
func (i *incoming) waitIdle() bool {
	if !i.waitRunning() {
		return false
	}
	answer := make(chan raft.RPCResponse, 1)
	if i.forward(raft.RPC{Command: &raft.RequestPreVoteRequest{}, RespChan: answer}) != nil {
		return false
	}
	select {
	case <-answer:
		return true
	case <-i.failed:
		return false
	case <-i.done:
		return false
	}
}

// respondInstalled reports that this member already has the contents of the snapshot. It first reads the whole
// snapshot, because the sender sends all of it before reading the response.
func respondInstalled(rpc raft.RPC) {
	_, err := io.Copy(io.Discard, rpc.Reader)
	snapshot := rpc.Command.(*raft.InstallSnapshotRequest) //nolint:forcetypeassert // the caller checked the type
	rpc.Respond(&raft.InstallSnapshotResponse{Term: snapshot.Term, Success: err == nil}, err)
}
