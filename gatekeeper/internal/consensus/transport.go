package consensus

import (
	"errors"
	"io"
	"time"

	"github.com/hashicorp/raft"
)

// innerTransport is the wrapped transport: Raft's network transport, or its in-memory transport in tests.
type innerTransport interface {
	raft.Transport
	raft.WithPreVote
	raft.WithClose
}

// transport wraps Raft's transport. It
//
//   - records the responses that Confirm counts
//   - drops Raft's fast path for heartbeats, which changes the term concurrently with its main loop, so that logs can
//     diverge (hashicorp/raft issue 695, open in v1.8.0); heartbeat.go has a replacement that changes no Raft state
//   - refuses pipelines, because their responses could not be recorded
//   - withholds any snapshot that would roll Raft back; see incoming
//   - never sends a commit index beyond the entries that this member has on its own disk
//   - sends nothing after a fault (issue 503: a leader with a hung disk would keep sending heartbeats)
//
// Every method is written out. Embedding would lose the interfaces that Raft detects by type assertion, and would let
// new methods bypass the wrapper.
type transport struct {
	inner innerTransport
	// target returns the inner transport's address for a member.
	target    func(raft.ServerID, raft.ServerAddress) raft.ServerAddress
	advertise raft.ServerAddress
	acks      *acks
	incoming  *incoming
	snapshots *snapshotAlarm
	failed    <-chan struct{}
	durable   func() uint64 // the index up to which this member's log is on disk
}

var (
	_ raft.Transport   = (*transport)(nil)
	_ raft.WithPreVote = (*transport)(nil)
	_ raft.WithClose   = (*transport)(nil)
)

var errFaulty = errors.New("consensus: this member has a fault and no longer responds")

func (t *transport) hasFault() bool {
	select {
	case <-t.failed:
		return true
	default:
		return false
	}
}

func (t *transport) AppendEntries(id raft.ServerID, address raft.ServerAddress, req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	if t.hasFault() {
		return errFaulty
	}
	// On a leader, Raft counts this member's copy of an entry before it is on disk.
	if durable := t.durable(); req.LeaderCommitIndex > durable {
		limited := *req
		limited.LeaderCommitIndex = durable
		req = &limited
	}
	// Raft reuses resp, so decode into a fresh value, without leftovers from an earlier response.
	var fresh raft.AppendEntriesResponse
	sent := time.Now()
	if err := t.inner.AppendEntries(id, t.target(id, address), req, &fresh); err != nil {
		return err
	}
	*resp = fresh
	if fresh.Success && fresh.Term == req.Term && string(fresh.ID) == string(id) {
		matched := uint64(0) // a heartbeat contains no entries
		if req.PrevLogEntry > 0 || len(req.Entries) > 0 {
			matched = req.PrevLogEntry + uint64(len(req.Entries))
		}
		t.acks.ack(id, req.Term, sent, matched)
		t.snapshots.caughtUpTo(id, matched)
	}
	return nil
}

// AppendEntriesPipeline is never used: see transport.
func (t *transport) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, raft.ErrPipelineReplicationNotSupported
}

// SetHeartbeatHandler ignores Raft's handler: see transport.
func (t *transport) SetHeartbeatHandler(func(raft.RPC)) {}

// InstallSnapshot does not record responses for Confirm. Raft counts them for VerifyLeader, but a snapshot is not a
// request that confirms leadership.
func (t *transport) InstallSnapshot(id raft.ServerID, address raft.ServerAddress, req *raft.InstallSnapshotRequest, resp *raft.InstallSnapshotResponse, data io.Reader) error {
	if t.hasFault() {
		return errFaulty
	}
	t.snapshots.snapshotStarted(id, req.LastLogIndex)
	return t.inner.InstallSnapshot(id, t.target(id, address), req, resp, data)
}

func (t *transport) RequestVote(id raft.ServerID, address raft.ServerAddress, req *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	if t.hasFault() {
		return errFaulty
	}
	return t.inner.RequestVote(id, t.target(id, address), req, resp)
}

func (t *transport) RequestPreVote(id raft.ServerID, address raft.ServerAddress, req *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	if t.hasFault() {
		return errFaulty
	}
	return t.inner.RequestPreVote(id, t.target(id, address), req, resp)
}

func (t *transport) TimeoutNow(id raft.ServerID, address raft.ServerAddress, req *raft.TimeoutNowRequest, resp *raft.TimeoutNowResponse) error {
	if t.hasFault() {
		return errFaulty
	}
	return t.inner.TimeoutNow(id, t.target(id, address), req, resp)
}

func (t *transport) Consumer() <-chan raft.RPC     { return t.incoming.to }
func (t *transport) LocalAddr() raft.ServerAddress { return t.advertise }

// Close may be called more than once. Raft calls it when it shuts down.
func (t *transport) Close() error {
	err := t.inner.Close() // before incoming, whose goroutines may wait for a sender
	t.incoming.close()
	return err
}

func (t *transport) EncodePeer(_ raft.ServerID, address raft.ServerAddress) []byte {
	return []byte(address)
}
func (t *transport) DecodePeer(b []byte) raft.ServerAddress { return raft.ServerAddress(b) }
