package store

import (
	"io"

	"github.com/hashicorp/raft"
)

// Snapshots is a raft.SnapshotStore whose writes are guarded. A read that fails is no fault: a snapshot can be reaped
// between being listed and being opened.
type Snapshots struct {
	inner raft.SnapshotStore
	guard *Guard
}

var _ raft.SnapshotStore = (*Snapshots)(nil)

// NewSnapshots guards inner.
func NewSnapshots(inner raft.SnapshotStore, guard *Guard) *Snapshots {
	return &Snapshots{inner: inner, guard: guard}
}

func (s *Snapshots) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration,
	configurationIndex uint64, trans raft.Transport) (sink raft.SnapshotSink, err error) {
	s.guard.Do("create snapshot", func() error {
		sink, err = s.inner.Create(version, index, term, configuration, configurationIndex, trans)
		return err
	})
	return &snapshotSink{SnapshotSink: sink, guard: s.guard}, nil
}

func (s *Snapshots) List() ([]*raft.SnapshotMeta, error) { return s.inner.List() }

func (s *Snapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	return s.inner.Open(id)
}

type snapshotSink struct {
	raft.SnapshotSink
	guard *Guard
}

func (s *snapshotSink) Write(p []byte) (n int, err error) {
	s.guard.Do("write snapshot", func() error {
		n, err = s.SnapshotSink.Write(p)
		return err
	})
	return n, nil
}

func (s *snapshotSink) Close() error {
	s.guard.Do("finish snapshot", s.SnapshotSink.Close)
	return nil
}
