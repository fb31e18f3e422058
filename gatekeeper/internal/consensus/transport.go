package consensus

import (
	"errors"
	"io"
	"time"

	"github.com/hashicorp/raft"
)

// innerTransport is what the wrapper needs underneath: Raft's network transport, or its in-memory one in tests.
type innerTransport interface {
	raft.Transport
	raft.WithPreVote
	raft.WithClose
}

// transport stands between Raft and its transport. It
//
//   - notes the answers that Confirm counts;
//   - drops Raft's fast path for heartbeats, which changes the term beside its main loop (hashicorp/raft issue 695,
//     open in v1.8.0): logs can diverge with it. Members have one that changes nothing instead: see heartbeat.go;
//   - refuses pipelines, whose answers could not be noted;
//   - keeps snapshots from Raft that would take it back: see incoming;
//   - says nothing more after a fault (issue 503: a leader with a hanging disk would go on sending heartbeats).
//
// Every method is written out: embedding would lose what Raft looks for by type assertion, and let new methods slip
// through.
type transport struct {
	inner innerTransport
	// target makes the inner transport's address of a member.
	target    func(raft.ServerID, raft.ServerAddress) raft.ServerAddress
	advertise raft.ServerAddress
	answers   *answers
	incoming  *incoming
	snapshots *snapshotAlarm
	failed    <-chan struct{}
}

var (
	_ raft.Transport   = (*transport)(nil)
	_ raft.WithPreVote = (*transport)(nil)
	_ raft.WithClose   = (*transport)(nil)
)

var errFaulty = errors.New("consensus: this member has a fault and says nothing more")

func (t *transport) mute() bool {
	select {
	case <-t.failed:
		return true
	default:
		return false
	}
}

func (t *transport) AppendEntries(id raft.ServerID, address raft.ServerAddress, req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	if t.mute() {
		return errFaulty
	}
	// Raft reuses resp; a fresh one lets nothing of an earlier answer stand.
	var fresh raft.AppendEntriesResponse
	sent := time.Now()
	if err := t.inner.AppendEntries(id, t.target(id, address), req, &fresh); err != nil {
		return err
	}
	*resp = fresh
	if fresh.Success && fresh.Term == req.Term && string(fresh.ID) == string(id) {
		matched := uint64(0) // a heartbeat names no entries
		if req.PrevLogEntry > 0 || len(req.Entries) > 0 {
			matched = req.PrevLogEntry + uint64(len(req.Entries))
		}
		t.answers.note(id, req.Term, sent, matched)
		t.snapshots.progress(id, matched)
	}
	return nil
}

// AppendEntriesPipeline is never used: see transport.
func (t *transport) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, raft.ErrPipelineReplicationNotSupported
}

// SetHeartbeatHandler does nothing with Raft's handler: see transport.
func (t *transport) SetHeartbeatHandler(func(raft.RPC)) {}

// InstallSnapshot's answers are not noted: Raft counts them for VerifyLeader, but what was sent is the snapshot, not a
// question.
func (t *transport) InstallSnapshot(id raft.ServerID, address raft.ServerAddress, req *raft.InstallSnapshotRequest, resp *raft.InstallSnapshotResponse, data io.Reader) error {
	if t.mute() {
		return errFaulty
	}
	t.snapshots.sending(id, req.LastLogIndex)
	return t.inner.InstallSnapshot(id, t.target(id, address), req, resp, data)
}

func (t *transport) RequestVote(id raft.ServerID, address raft.ServerAddress, req *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	if t.mute() {
		return errFaulty
	}
	return t.inner.RequestVote(id, t.target(id, address), req, resp)
}

func (t *transport) RequestPreVote(id raft.ServerID, address raft.ServerAddress, req *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	if t.mute() {
		return errFaulty
	}
	return t.inner.RequestPreVote(id, t.target(id, address), req, resp)
}

func (t *transport) TimeoutNow(id raft.ServerID, address raft.ServerAddress, req *raft.TimeoutNowRequest, resp *raft.TimeoutNowResponse) error {
	if t.mute() {
		return errFaulty
	}
	return t.inner.TimeoutNow(id, t.target(id, address), req, resp)
}

func (t *transport) Consumer() <-chan raft.RPC     { return t.incoming.to }
func (t *transport) LocalAddr() raft.ServerAddress { return t.advertise }

// Close may be called again: Raft does so when it shuts down.
func (t *transport) Close() error {
	err := t.inner.Close() // before incoming: what reads from it may wait for a sender
	t.incoming.close()
	return err
}

func (t *transport) EncodePeer(_ raft.ServerID, address raft.ServerAddress) []byte {
	return []byte(address)
}
func (t *transport) DecodePeer(b []byte) raft.ServerAddress { return raft.ServerAddress(b) }
