package store

import (
	"errors"
	"fmt"
	"io"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/wal"
)

// Seed is what the stores of a server begin with that starts from a snapshot instead of from nothing.
type Seed struct {
	// Kind is that of the log. Default KindBolt.
	Kind Kind
	// Term is the newest term of the life before: the first election here is for a later one.
	Term uint64
	// LastIndex and LastTerm are those of the last entry that is in the snapshot.
	LastIndex, LastTerm uint64
	Configuration       raft.Configuration
	// Write writes the snapshot.
	Write func(io.Writer) error
}

// Plant makes the stores in dir, where there are none yet, and has them on disk when it returns nil.
func Plant(dir string, seed Seed) (err error) {
	o, err := openLog(dir, seed.Kind, wal.NewConfig(hclog.NewNullLogger()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(dir, keptSnapshots, hclog.NewNullLogger())
	if err != nil {
		return fmt.Errorf("store: open snapshots in %s: %w", dir, err)
	}
	// Only its words for addresses are needed, which are the addresses.
	_, words := raft.NewInmemTransport("seed")
	sink, err := snapshots.Create(raft.SnapshotVersionMax, seed.LastIndex, seed.LastTerm, seed.Configuration, seed.LastIndex, words)
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
	if err := syncFolder(dir); err != nil {
		return fmt.Errorf("store: sync %s: %w", dir, err)
	}
	return nil
}
