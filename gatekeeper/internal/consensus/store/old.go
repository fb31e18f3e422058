package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/intact"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/wal"
)

// Names of Raft's snapshot files.
const (
	snapshotsDir  = "snapshots"
	snapshotMeta  = "meta.json"
	snapshotState = "state.bin"
)

// Offline reads the stores of a data directory whose server is not running. Neither OpenOffline nor any method writes to the
// directory, so the disk may be mounted read-only. The methods are not safe for concurrent use.
type Offline struct {
	bolt   *bolt
	values *intact.Values
	log    intact.Reader
	kind   Kind
	dir    string
}

// OpenOffline opens the stores in dir. It returns ErrDamaged, ErrOldFormat, ErrInUse, or a system error.
func OpenOffline(dir string) (*Offline, error) {
	path := filepath.Join(dir, RaftFile)
	if err := checkFile(dir); err != nil {
		return nil, fmt.Errorf("store: open %s: %w", path, err)
	}
	bolt, err := openBolt(path, true)
	if err != nil {
		return nil, fmt.Errorf("store: open %s: %w", path, err)
	}
	o := &Offline{bolt: bolt, values: intact.NewValues(bolt, RaftFile), dir: dir}
	if o.kind, err = kindOf(o.values); err == nil {
		err = o.open()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store: open %s: %w", dir, err), bolt.Close())
	}
	return o, nil
}

// open opens the log and checks it against its mark.
func (o *Offline) open() (err error) {
	if o.kind == KindWAL {
		o.log, err = wal.Read(o.dir, o.values, intact.Verify)
		return err
	}
	o.log = intact.NewEntries(o.bolt, RaftFile)
	mark, err := intact.OpenMark(o.dir, "", true)
	if err != nil {
		return err
	}
	_, err = mark.Check(o.log, RaftFile)
	return errors.Join(err, mark.Close())
}

// Kind returns the kind of log store in the directory.
func (o *Offline) Kind() Kind { return o.kind }

// Close closes the files.
func (o *Offline) Close() error { return o.bolt.Close() }

// Term returns the newest term that the member has seen, or 0 if it has never been part of a cluster.
func (o *Offline) Term() (uint64, error) {
	term, err := o.values.GetUint64([]byte("CurrentTerm"))
	if errors.Is(err, errNoKey) {
		return 0, nil
	}
	return term, err
}

// Bounds returns the indexes of the first and the last entry of the log, or 0 and 0 if the log is empty.
func (o *Offline) Bounds() (first, last uint64, err error) {
	if first, err = o.log.FirstIndex(); err != nil {
		return 0, 0, err
	}
	last, err = o.log.LastIndex()
	return first, last, err
}

// Entry reads an entry of the log.
func (o *Offline) Entry(index uint64) (*raft.Log, error) {
	var entry raft.Log
	if err := o.log.GetLog(index, &entry); err != nil {
		return nil, fmt.Errorf("store: entry %d of the log: %w", index, err)
	}
	return &entry, nil
}

// Snapshots returns the snapshots in the directory, newest first, except unfinished ones. A damaged snapshot has
// version 0.
func (o *Offline) Snapshots() ([]raft.SnapshotMeta, error) { return finishedSnapshots(o.dir) }

func finishedSnapshots(dir string) ([]raft.SnapshotMeta, error) {
	entries, err := os.ReadDir(filepath.Join(dir, snapshotsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []raft.SnapshotMeta
	for _, f := range entries {
		if !f.IsDir() || filepath.Ext(f.Name()) == ".tmp" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, snapshotsDir, f.Name(), snapshotMeta))
		var meta raft.SnapshotMeta
		if err == nil {
			err = json.Unmarshal(data, &meta)
		}
		if err != nil || meta.ID != f.Name() || !nameMatches(&meta) {
			// The snapshot is damaged but listed anyway. Otherwise an older one would look like the newest.
			meta = raft.SnapshotMeta{ID: f.Name()}
			meta.Term, meta.Index = parseName(f.Name())
		}
		all = append(all, meta)
	}
	slices.SortFunc(all, func(a, b raft.SnapshotMeta) int {
		return cmp.Or(cmp.Compare(b.Term, a.Term), cmp.Compare(b.Index, a.Index), cmp.Compare(b.ID, a.ID))
	})
	return all, nil
}

// nameMatches reports whether the term and the index of a snapshot match its name.
func nameMatches(meta *raft.SnapshotMeta) bool {
	term, index := parseName(meta.ID)
	return meta.Term == term && meta.Index == index
}

// parseName returns the term and the index in a snapshot name given by Raft, or zeros for any other name.
func parseName(id string) (term, index uint64) {
	if _, err := fmt.Sscanf(id, "%d-%d-", &term, &index); err != nil {
		return 0, 0
	}
	return term, index
}

// OpenSnapshot opens the content of a snapshot without checking it. The state machine detects incomplete content by its
// format.
func (o *Offline) OpenSnapshot(meta raft.SnapshotMeta) (io.ReadCloser, error) {
	if meta.Version != raft.SnapshotVersionMax {
		return nil, fmt.Errorf("store: snapshot %s: its %s is damaged, or was written by a different version", meta.ID, snapshotMeta)
	}
	return os.Open(filepath.Join(o.dir, snapshotsDir, meta.ID, snapshotState))
}
