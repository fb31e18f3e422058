package store

import (
	"errors"
	"fmt"
	"io"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/wal"
)

// Seed describes the stores of a new server that starts from a snapshot.
type Seed struct {
	// Kind is the kind of log store. Default KindBolt.
	Kind Kind
	// Term is the newest term of the previous incarnation. The first election is for a later term.
	Term uint64
	// LastIndex and LastTerm are the index and term of the last entry in the snapshot.
	LastIndex, LastTerm uint64
	Configuration       raft.Configuration
	// Write writes the snapshot.
	Write func(io.Writer) error
}

// CreateFrom creates the stores in dir, which must not contain any yet. When it returns nil, they are on disk.
func CreateFrom(dir string, seed Seed) (err error) {
	o, err := openLog(dir, seed.Kind, wal.NewConfig(hclog.NewNullLogger()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(dir, keptSnapshots, hclog.NewNullLogger())
	if err != nil {
		return fmt.Errorf("store: open snapshots in %s: %w", dir, err)
	}
	// The transport is needed only to encode addresses, which it returns unchanged.
	_, transport := raft.NewInmemTransport("seed")
	sink, err := snapshots.Create(raft.SnapshotVersionMax, seed.LastIndex, seed.LastTerm, seed.Configuration, seed.LastIndex, transport)
	if err != nil {
		return fmt.Errorf("store: create a snapshot in %s: %w", dir, err)
	}
	if err := seed.Write(sink); err != nil {
		return errors.Join(fmt.Errorf("store: write a snapshot in %s: %w", dir, err), sink.Cancel())
	}
	if err := sink.Close(); err != nil {
		return fmt.Errorf("store: finish a snapshot in %s: %w", dir, err)
	}
	if err := o.values.SetUint64([]byte("CurrentTerm"), seed.Term); err != nil {
		return fmt.Errorf("store: write the term in %s: %w", dir, err)
	}
	if err := syncDataDir(dir); err != nil {
		return fmt.Errorf("store: sync %s: %w", dir, err)
	}
	return nil
}
