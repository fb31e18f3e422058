package sim

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/hashicorp/raft"
)

// snapshot is a snapshot on a disk. While it is being written, it is also the sink. As on a real disk, it is not listed
// until it is complete.
type snapshot struct {
	disk *disk
	meta raft.SnapshotMeta
	bytes.Buffer
	done bool
}

// keptSnapshots is the number of snapshots kept, as on a real disk.
const keptSnapshots = 2

// Create starts a snapshot: either the member's own, which covers entries in its log, or a snapshot from the leader,
// which covers entries that the member lacks.
func (d *disk) Create(version raft.SnapshotVersion, index, term uint64, members raft.Configuration, membersIndex uint64, _ raft.Transport) (raft.SnapshotSink, error) {
	if err := d.wait(); err != nil {
		return nil, err
	}
	return &snapshot{disk: d, meta: raft.SnapshotMeta{
		Version: version, ID: fmt.Sprintf("%d-%d-%d", term, index, time.Now().UnixMilli()), Index: index, Term: term, Configuration: members, ConfigurationIndex: membersIndex,
	}}, nil
}

// List returns the snapshots, newest first.
func (d *disk) List() (list []*raft.SnapshotMeta, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.snapshots {
		meta := s.meta
		list = append([]*raft.SnapshotMeta{&meta}, list...)
	}
	return list, nil
}

func (d *disk) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.snapshots {
		if s.meta.ID == id {
			meta := s.meta
			return &meta, io.NopCloser(bytes.NewReader(s.Bytes())), nil
		}
	}
	return nil, nil, fmt.Errorf("snapshot %s not found", id)
}

// ID returns the snapshot's id.
func (s *snapshot) ID() string { return s.meta.ID }

// Cancel discards the snapshot.
func (s *snapshot) Cancel() error {
	s.done = true
	return nil
}

// Close completes the snapshot. Later calls do nothing.
func (s *snapshot) Close() error {
	d := s.disk
	if err := d.wait(); err != nil {
		return err
	}
	if s.done {
		return nil
	}
	s.done = true
	s.meta.Size = int64(s.Len())
	at, ok := d.entry(s.meta.Index)
	own := ok && at.Term == s.meta.Term
	d.mu.Lock()
	defer d.mu.Unlock()
	if !own {
		d.installed++
	}
	for i := s.meta.Index; own && i > 0; i-- { // a member that has the last entry has all earlier ones, and has applied them
		var l raft.Log
		if _, before := d.compacted[i]; before || d.GetLog(i, &l) != nil {
			break
		}
		d.compacted[i] = l
	}
	d.snapshots = append(d.snapshots, s)
	d.snapshots = d.snapshots[max(0, len(d.snapshots)-keptSnapshots):]
	return nil
}
