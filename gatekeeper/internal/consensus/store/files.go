package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
)

// RaftFile is the name of the log's and the stable store's file in a data folder.
const RaftFile = "raft.db"

// cachedEntries is how many of the newest log entries are kept in memory, so that replication seldom reads the file.
const cachedEntries = 512

// keptSnapshots is how many snapshots stay on disk: the newest, and one to fall back on.
const keptSnapshots = 2

// Files are the stores of a data folder, guarded.
type Files struct {
	Log       raft.LogStore
	Stable    raft.StableStore
	Snapshots raft.SnapshotStore

	bolt *raftboltdb.BoltStore
}

// Open opens or creates the stores in dir.
func Open(dir string, guard *Guard, logger hclog.Logger) (*Files, error) {
	bolt, err := openBolt(dir)
	if err != nil {
		return nil, err
	}
	cached, err := raft.NewLogCache(cachedEntries, NewLog(bolt, guard))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store: %w", err), bolt.Close())
	}
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(dir, keptSnapshots, logger)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store: open snapshots in %s: %w", dir, err), bolt.Close())
	}
	return &Files{
		Log:       cached,
		Stable:    NewStable(bolt, guard),
		Snapshots: NewSnapshots(snapshots, guard),
		bolt:      bolt,
	}, nil
}

func openBolt(dir string) (*raftboltdb.BoltStore, error) {
	path := filepath.Join(dir, RaftFile)
	bolt, err := raftboltdb.New(raftboltdb.Options{
		Path: path,
		// The freelist is rebuilt at start instead of being written with each commit. NoSync stays off: an
		// acknowledged entry is on disk.
		BoltOptions: &bbolt.Options{Timeout: time.Second, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType},
	})
	if err != nil {
		return nil, fmt.Errorf("store: open %s: %w", path, err)
	}
	return bolt, nil
}

// Close closes the files. It waits for calls under way.
func (f *Files) Close() error {
	if err := f.bolt.Close(); err != nil {
		return fmt.Errorf("store: close: %w", err)
	}
	return nil
}
