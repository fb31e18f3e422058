package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	vfs "github.com/hashicorp/raft-wal/fs"
	"github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"
)

// keyWAL is where RaftFile says which segments the log has; a folder without it keeps its log in RaftFile. It is frozen, and so is its form:
// raft-wal's state as JSON.
const keyWAL = "gatekeeper.wal"

// segmentSize is that of a segment's file, which is as long from its beginning.
const segmentSize = 8 << 20

// WAL keeps the log in segments, files to which raft-wal appends. An append is one write and one sync, where bbolt writes some pages and two
// headers' worth of them. What raft-wal would take for a write that a crash cut short is looked at before it is opened, see the package's
// documentation. Every error that is a file's fault is ErrDamaged. Safe for concurrent use, but for StoreLog and StoreLogs, which Raft calls from one
// goroutine.
type WAL struct {
	inner  *wal.WAL
	mark   *mark
	beside *beside
	// mu is held while segments are deleted: raft-wal may close one that a reader is about to use.
	mu sync.RWMutex
}

var _ raft.LogStore = (*WAL)(nil)

// createWAL makes the folder of the segments, with none in it. Before RaftFile says that there is one it is nothing.
func createWAL(dir string) error {
	folder := filepath.Join(dir, walDir)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return errors.Join(createMark(folder), syncFolder(folder))
}

// walConfig is how a WAL is opened.
type walConfig struct {
	files       types.VFS
	segmentSize int
	logger      hclog.Logger
}

func newWALConfig(logger hclog.Logger) walConfig {
	return walConfig{files: vfs.New(), segmentSize: segmentSize, logger: logger}
}

// openWAL opens the log in dir, of which bolt is RaftFile. All of it is read and checked before.
func openWAL(dir string, bolt *Bolt, cfg walConfig) (_ *WAL, err error) {
	found, acknowledged, err := scanWAL(dir, bolt, false)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, acknowledged.file.Close())
		}
	}()
	if err := found.durable(cfg.files); err != nil {
		return nil, err
	}
	others := &beside{}
	state := &walState{bolt: bolt, beside: others}
	changed, err := found.settle()
	if err == nil && changed {
		err = state.CommitState(found.state)
	}
	if err != nil {
		return nil, err
	}
	// What is found is what Raft goes by from now on.
	if acknowledged.at != found.last {
		if err := errors.Join(acknowledged.set(found.last), acknowledged.file.Sync()); err != nil {
			return nil, err
		}
	}
	folder := filepath.Join(dir, walDir)
	made := &filer{Filer: segment.NewFiler(folder, cfg.files), beside: others}
	inner, err := wal.Open(folder, wal.WithMetaStore(state), wal.WithSegmentFiler(made), wal.WithSegmentSize(cfg.segmentSize), wal.WithLogger(cfg.logger))
	if err != nil {
		if errors.Is(err, types.ErrCorrupt) {
			err = damagedWAL("", "%w", err)
		}
		return nil, err
	}
	return &WAL{inner: inner, mark: acknowledged, beside: others}, nil
}

// scanWAL reads the log in dir.
func scanWAL(dir string, bolt *Bolt, readOnly bool) (*scan, *mark, error) {
	state, err := (&walState{bolt: bolt}).Load(dir)
	if err != nil {
		return nil, nil, err
	}
	folder := filepath.Join(dir, walDir)
	acknowledged, err := readMark(folder, readOnly)
	if err != nil {
		return nil, nil, err
	}
	found, err := scanLog(folder, state, acknowledged.at)
	if err != nil {
		return nil, nil, errors.Join(err, acknowledged.file.Close())
	}
	return found, acknowledged, nil
}

// Close closes the files, after calls under way.
func (w *WAL) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Join(w.inner.Close(), w.mark.close())
}

// FirstIndex is that of the first entry, 0 without any.
func (w *WAL) FirstIndex() (uint64, error) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.inner.FirstIndex()
}

// LastIndex is that of the last entry, 0 without any.
func (w *WAL) LastIndex() (uint64, error) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.inner.LastIndex()
}

// bounds are FirstIndex and LastIndex.
func (w *WAL) bounds() (first, last uint64, err error) {
	if first, err = w.inner.FirstIndex(); err != nil {
		return 0, 0, err
	}
	last, err = w.inner.LastIndex()
	return first, last, err
}

// GetLog reads an entry. Errors: raft.ErrLogNotFound, ErrDamaged, and those of the system.
func (w *WAL) GetLog(index uint64, log *raft.Log) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.get(index, log)
}

func (w *WAL) get(index uint64, log *raft.Log) error {
	first, last, err := w.bounds()
	if err != nil {
		return err
	}
	if first == 0 || index < first || index > last { // raft-wal still has what was deleted in part of a segment
		return raft.ErrLogNotFound
	}
	err = w.read(index, log)
	if err != nil && !is[*os.PathError](err) && !errors.Is(err, wal.ErrClosed) {
		return damagedWAL("", "entry %d of the log: %w", index, err)
	}
	return err
}

// read reads by raft-wal, whose decoder may panic on what it did not write.
func (w *WAL) read(index uint64, log *raft.Log) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be read: %v", p)
		}
	}()
	var framed raft.Log
	if err := w.inner.GetLog(index, &framed); err != nil {
		return err
	}
	return unframe(&framed, index, log)
}

// StoreLog writes an entry.
func (w *WAL) StoreLog(log *raft.Log) error { return w.StoreLogs([]*raft.Log{log}) }

// StoreLogs writes all entries or none. They go on from the last one, without a gap, as Bolt's do.
func (w *WAL) StoreLogs(logs []*raft.Log) error {
	if len(logs) == 0 {
		return nil
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	_, last, err := w.bounds()
	if err != nil {
		return err
	}
	all := make([]*raft.Log, len(logs))
	for i, log := range logs {
		if last > 0 && log.Index != last+1 {
			return fmt.Errorf("entry %d cannot follow entry %d", log.Index, last)
		}
		last = log.Index
		all[i] = framed(log)
	}
	if err := w.inner.StoreLogs(all); err != nil {
		return errors.Join(err, w.beside.err())
	}
	return w.mark.set(place{last, logs[len(logs)-1].Term})
}

// DeleteRange deletes the entries from min to max, both included, at the front of the log, at its back, or all. It costs the same for one
// entry and for many.
func (w *WAL) DeleteRange(min, max uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	first, last, err := w.bounds()
	switch {
	case err != nil:
		return err
	case first == 0 || max < first || min > last:
		return nil
	case first < min && max < last:
		return fmt.Errorf("deleting %d to %d leaves a hole in the log of %d to %d", min, max, first, last)
	case max >= last: // the log ends earlier
		var left place
		if min > first {
			var entry raft.Log
			if err := w.get(min-1, &entry); err != nil {
				return err
			}
			left = place{entry.Index, entry.Term}
		}
		if err := w.mark.lower(left); err != nil {
			return err
		}
	}
	if err := w.inner.DeleteRange(min, max); err != nil {
		return err
	}
	return w.beside.err()
}

// beside remembers what failed beside the calls: raft-wal goes on to the next segment on a goroutine of its own, and only logs it.
type beside struct{ failed atomic.Pointer[error] }

func (b *beside) note(err error) error {
	if err != nil {
		b.failed.Store(&err)
	}
	return err
}

func (b *beside) err() error {
	if err := b.failed.Load(); err != nil {
		return *err
	}
	return nil
}

type filer struct {
	*segment.Filer
	beside *beside
}

func (f *filer) Create(info types.SegmentInfo) (types.SegmentWriter, error) {
	w, err := f.Filer.Create(info)
	return w, f.beside.note(err)
}

// walState is where raft-wal keeps what it knows of its segments: in RaftFile, whose records have checksums.
type walState struct {
	bolt   *Bolt
	beside *beside
}

var _ types.MetaStore = (*walState)(nil)

// keepsWAL says whether RaftFile says that the log is in segments.
func keepsWAL(bolt *Bolt) (bool, error) {
	_, err := bolt.Get([]byte(keyWAL))
	if errors.Is(err, errNoKey) {
		return false, nil
	}
	return err == nil, err
}

func (s *walState) Load(string) (state types.PersistentState, err error) {
	data, err := s.bolt.Get([]byte(keyWAL))
	if err != nil {
		return state, err
	}
	if err := json.Unmarshal(data, &state); err != nil {
		return state, damaged("the value of %s: %w", keyWAL, err)
	}
	return state, nil
}

func (s *walState) CommitState(state types.PersistentState) error {
	data, err := json.Marshal(state)
	if err != nil {
		return err
	}
	return s.beside.note(s.bolt.Set([]byte(keyWAL), data))
}

// GetStable and SetStable are for raft-wal as a stable store, which it is not here.
func (*walState) GetStable([]byte) ([]byte, error) { return nil, errors.ErrUnsupported }
func (*walState) SetStable([]byte, []byte) error   { return errors.ErrUnsupported }

// Close leaves RaftFile open: it is the stable store's.
func (*walState) Close() error { return nil }
