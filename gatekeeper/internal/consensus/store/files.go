package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/hashicorp/raft-wal/types"
	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// RaftFile is the name of the stable store's file in a data folder, and of the log's unless that has a folder of its own.
const RaftFile = "raft.db"

// keptSnapshots is how many snapshots stay on disk: the newest, and one to fall back on.
const keptSnapshots = 2

// Files are the stores of a data folder, guarded.
type Files struct {
	Log       raft.LogStore
	Stable    raft.StableStore
	Snapshots raft.SnapshotStore

	Kind Kind

	opened opened
}

// opened are the files of the log and of the stable store: the same for Bolt.
type opened struct {
	bolt *Bolt
	log  logFile
	kind Kind
}

type logFile interface {
	raft.LogStore
	io.Closer
}

// Close closes them, after calls under way.
func (o opened) Close() error {
	err := o.log.Close()
	if o.kind != KindBolt {
		err = errors.Join(err, o.bolt.Close())
	}
	return err
}

// Open opens the stores in dir, or creates them of a kind, which may be empty for what is there, or for KindBolt. Before the log is
// used all of it is read and checked. Errors: ErrDamaged, ErrInUse, ErrKind, and those of the system.
func Open(dir string, kind Kind, guard *Guard, logger hclog.Logger) (*Files, error) {
	o, err := openLog(dir, kind, newWALConfig(logger))
	if err != nil {
		return nil, err
	}
	cached, err := newCache(NewLog(o.log, guard))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store: %w", err), o.Close())
	}
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(dir, keptSnapshots, logger)
	if err == nil {
		err = syncFolder(dir) // or a crash takes the snapshots' folder with what is in it
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store: open snapshots in %s: %w", dir, err), o.Close())
	}
	newest, err := settle(dir, o.log)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store: open %s: %w", dir, err), o.Close())
	}
	guarded := NewSnapshots(snapshots, cached, guard)
	guarded.newest, guarded.dir = newest, filepath.Join(dir, snapshotsDir)
	return &Files{Log: cached, Stable: NewStable(o.bolt, guard), Snapshots: guarded, Kind: o.kind, opened: o}, nil
}

// settle looks whether log and snapshots in dir fit together. If a crash came between a snapshot and the deletion of the log that it
// replaced, the log is deleted now. newest is the index of the newest snapshot, 0 without any.
func settle(dir string, log raft.LogStore) (newest uint64, err error) {
	all, err := finished(dir)
	if err != nil || len(all) == 0 {
		return 0, err
	}
	newest = all[0].Index
	if all[0].Version > 0 {
		_, err := replaceLog(log, newest, all[0].Term)
		return newest, err
	}
	var from uint64
	if i := slices.IndexFunc(all, func(m raft.SnapshotMeta) bool { return m.Version > 0 }); i >= 0 {
		from = all[i].Index
	}
	return newest, leads(log, from, newest)
}

// openLog opens the files in dir, or makes them.
func openLog(dir string, kind Kind, cfg walConfig) (o opened, err error) {
	if o.bolt, err = openBolt(dir, kind); err != nil {
		return opened{}, err
	}
	o.kind = KindBolt
	isWAL, err := keepsWAL(o.bolt)
	if isWAL {
		o.kind = KindWAL
	}
	switch {
	case err != nil:
	case kind != "" && kind != o.kind:
		err = anotherKind(o.kind, kind)
	case isWAL:
		o.log, err = openWAL(dir, o.bolt, cfg)
	default:
		o.log = o.bolt
	}
	if err != nil {
		return opened{}, errors.Join(fmt.Errorf("store: open %s: %w", dir, err), o.bolt.Close())
	}
	return o, nil
}

// openBolt opens RaftFile in dir, or makes what a folder of that kind begins with.
func openBolt(dir string, kind Kind) (*Bolt, error) {
	path := filepath.Join(dir, RaftFile)
	if err := checkFile(dir); errors.Is(err, fs.ErrNotExist) {
		if err := create(dir, kind); err != nil {
			return nil, fmt.Errorf("store: create %s: %w", path, err)
		}
	} else if err != nil {
		return nil, fmt.Errorf("store: open %s: %w", path, err)
	}
	b, err := open(path, false)
	if err != nil {
		return nil, fmt.Errorf("store: open %s: %w", path, err)
	}
	// A process that was killed between a write and its sync has left a vote that can be read and is on no disk. Raft would repeat its word for it.
	if err := b.db.Sync(); err != nil {
		return nil, errors.Join(fmt.Errorf("store: open %s: %w", path, err), b.Close())
	}
	return b, nil
}

// checkFile checks the file in dir while no server writes to it. The error is fs.ErrNotExist where there never was one.
func checkFile(dir string) error {
	path := filepath.Join(dir, RaftFile)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Join(dir, snapshotsDir)); err == nil { // made after it
			return damaged("it is gone")
		}
		if segments, err := filepath.Glob(filepath.Join(dir, walDir, "*.wal")); len(segments) > 0 || err != nil { // and so are these
			return damaged("it is gone")
		}
		return err
	}
	if err != nil {
		return err
	}
	if info.Size() == 0 { // bbolt would begin anew
		return damaged("it is empty")
	}
	locked, err := open(path, true)
	if err != nil {
		return err
	}
	return errors.Join(check(path), locked.Close())
}

// create makes the file such that it is there whole or not at all.
func create(dir string, kind Kind) error {
	path := filepath.Join(dir, RaftFile)
	if kind == KindWAL {
		if err := createWAL(dir); err != nil {
			return err
		}
	}
	if err := os.Remove(path + ".tmp"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	b, err := open(path+".tmp", false)
	if err != nil {
		return err
	}
	err = b.db.Update(func(tx *bbolt.Tx) error {
		entries, err := tx.CreateBucket([]byte(entriesBucket))
		if err != nil {
			return err
		}
		facts, err := tx.CreateBucket([]byte(factsBucket))
		if err != nil {
			return err
		}
		return putEnd(entries, facts, 0)
	})
	if err == nil && kind == KindWAL {
		err = (&walState{bolt: b, beside: &beside{}}).CommitState(types.PersistentState{})
	}
	if err := errors.Join(err, b.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return err
	}
	return syncFolder(dir)
}

// syncFolder has what was made in dir on disk, under its name.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// ErrInUse says that another process has the log's file open: a server whose lock file somebody removed, or a tool of bbolt.
var ErrInUse = errors.New("another process has it open")

// open opens a file of bbolt. One that was not checked is opened for reading only: bbolt then believes nothing but the headers.
func open(path string, readOnly bool) (b *Bolt, err error) {
	_, err = careful(func() error {
		// The freelist is rebuilt at start instead of being written with each commit. NoSync stays off: an acknowledged
		// entry is on disk. Another server has the file locked, also when somebody removed the folder's own lock file.
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{
			ReadOnly: readOnly, Timeout: time.Second, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType,
		})
		switch {
		case errors.Is(err, berrors.ErrTimeout):
			return ErrInUse
		case is[syscall.Errno](err): // the system's word, which is no word on what is in it
			return err
		case err != nil:
			return damaged("%w", err)
		}
		b = &Bolt{db: db}
		return nil
	})
	return b, err
}

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// Close closes the files. It waits for calls under way.
func (f *Files) Close() error {
	if err := f.opened.Close(); err != nil {
		return fmt.Errorf("store: close: %w", err)
	}
	return nil
}
