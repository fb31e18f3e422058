package store

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/intact"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/wal"
)

// RaftFile is the name of the stable store's file in a data directory. With KindBolt it also contains the log.
const RaftFile = "raft.db"

// keptSnapshots is the number of snapshots to keep on disk: the newest, and one to fall back on.
const keptSnapshots = 2

// Files holds the guarded stores in a data directory.
type Files struct {
	Log       raft.LogStore
	Stable    raft.StableStore
	Snapshots raft.SnapshotStore
	Queue     *AppendQueue // in front of Log

	Kind Kind

	opened opened
}

// opened holds the open log and stable store. With KindBolt both use the same file.
type opened struct {
	bolt   *bolt
	values *intact.Values
	log    *intact.Acknowledged
	kind   Kind
}

// Close waits for pending calls and closes both stores.
func (o opened) Close() error { return errors.Join(o.log.Close(), o.bolt.Close()) }

// Open opens the stores in dir, or creates them. kind must match the directory's. If it is empty, Open uses the
// directory's kind, or KindBolt for a new directory. It reads and checks the whole log first. Open returns ErrDamaged,
// ErrOldFormat, ErrInUse, ErrKind, or a system error.
func Open(dir string, kind Kind, guard *Guard, logger hclog.Logger) (*Files, error) {
	o, err := openLog(dir, kind, wal.NewConfig(logger))
	if err != nil {
		return nil, err
	}
	log := NewLog(o.log, guard)
	if o.kind == KindWAL {
		log.chunk = math.MaxUint64 // the WAL deletes whole files, and each call is a separate write
	}
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(dir, keptSnapshots, logger)
	if err == nil {
		err = syncDataDir(dir) // otherwise the snapshots directory, with all its contents, could be missing after a crash
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store: open snapshots in %s: %w", dir, err), o.Close())
	}
	newest, err := reconcile(dir, o.log)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store: open %s: %w", dir, err), o.Close())
	}
	queue := NewAppendQueue(log)
	cached := newCache(queue)
	guarded := NewSnapshots(snapshots, cached, guard)
	guarded.newest, guarded.dir = newest, filepath.Join(dir, snapshotsDir)
	return &Files{Log: cached, Stable: NewStable(o.values, queue), Snapshots: guarded, Queue: queue, Kind: o.kind, opened: o}, nil
}

// reconcile checks the log against the snapshots in dir. If a crash occurred after a snapshot was written but before
// the log that it replaces was deleted, reconcile deletes that log. newest is the index of the newest snapshot, or 0 if
// there is none.
func reconcile(dir string, log intact.Log) (newest uint64, err error) {
	all, err := finishedSnapshots(dir)
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
	return newest, checkCovers(log, from, newest)
}

// openLog opens the stable store and the log in dir, or creates them.
func openLog(dir string, kind Kind, cfg wal.Config) (o opened, err error) {
	path := filepath.Join(dir, RaftFile)
	if err := checkFile(dir); errors.Is(err, fs.ErrNotExist) {
		if err := create(dir, kind); err != nil {
			return opened{}, fmt.Errorf("store: create %s: %w", path, err)
		}
	} else if err != nil {
		return opened{}, fmt.Errorf("store: open %s: %w", path, err)
	}
	if o.bolt, err = openBolt(path, false); err != nil {
		return opened{}, fmt.Errorf("store: open %s: %w", path, err)
	}
	o.values = intact.NewValues(o.bolt, RaftFile)
	if o.kind, err = kindOf(o.values); err == nil && kind != "" && kind != o.kind {
		err = kindMismatch(o.kind, kind)
	}
	switch {
	case err != nil:
	case o.kind == KindWAL:
		o.log, err = wal.Open(dir, o.values, cfg)
	default:
		o.log, err = openEntries(dir, o.bolt)
	}
	if err != nil {
		return opened{}, errors.Join(fmt.Errorf("store: open %s: %w", dir, err), o.bolt.Close())
	}
	return o, nil
}

// openEntries opens the log in RaftFile.
func openEntries(dir string, b *bolt) (*intact.Acknowledged, error) {
	// If a process was killed between a write and its sync, a vote or an entry may be readable but not on disk, and
	// Raft would rely on it.
	if err := b.db.Sync(); err != nil {
		return nil, err
	}
	mark, err := intact.OpenMark(dir, "", false)
	if err != nil {
		return nil, err
	}
	entries := intact.NewEntries(b, RaftFile)
	last, err := mark.Check(entries, RaftFile)
	if err == nil {
		err = mark.Update(last)
	}
	if err != nil {
		return nil, errors.Join(err, mark.Close())
	}
	return intact.NewAcknowledged(entries, mark, func() error { return nil }), nil
}

// checkFile checks RaftFile in dir while no server can write to it. The error is fs.ErrNotExist if the file was never
// created.
func checkFile(dir string) error {
	path := filepath.Join(dir, RaftFile)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		// Snapshots and segments are created after RaftFile.
		if _, err := os.Stat(filepath.Join(dir, snapshotsDir)); err == nil {
			return damaged("it is missing")
		}
		if segments, err := filepath.Glob(filepath.Join(dir, wal.Dir, "*.wal")); len(segments) > 0 || err != nil {
			return damaged("it is missing")
		}
		return err
	}
	if err != nil {
		return err
	}
	if info.Size() == 0 { // bbolt would initialize it as a new file
		return damaged("it is empty")
	}
	locked, err := openBolt(path, true)
	if err != nil {
		return err
	}
	return errors.Join(check(path), locked.Close())
}

// create creates RaftFile atomically: it writes the file under a temporary name and renames it when it is complete.
func create(dir string, kind Kind) error {
	path := filepath.Join(dir, RaftFile)
	begin := intact.CreateMark
	if kind == KindWAL {
		begin = wal.Create
	}
	if err := begin(dir); err != nil {
		return err
	}
	if err := os.Remove(path + ".tmp"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	b, err := openBolt(path+".tmp", false)
	if err != nil {
		return err
	}
	if kind == KindWAL {
		err = wal.Begin(intact.NewValues(b, RaftFile))
	}
	if err := errors.Join(err, b.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return err
	}
	return syncDataDir(dir)
}

// syncDataDir syncs a directory, so that the names of files created in it survive a crash.
func syncDataDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func isType[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// Close waits for pending calls and for the queue, and closes the files.
func (f *Files) Close() error {
	f.Queue.Close()
	if err := f.opened.Close(); err != nil {
		return fmt.Errorf("store: close: %w", err)
	}
	return nil
}
