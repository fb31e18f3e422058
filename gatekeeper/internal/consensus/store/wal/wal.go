package wal

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

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/intact"
)

// Dir is the name of the segments directory within a data directory.
const Dir = "wal"

// key is the stable store's key for the list of segments. A data directory without it keeps its log in a different
// store. The key and the value's format (raft-wal's state in JSON) are frozen.
const key = "gatekeeper.wal"

// segmentSize is the size of a segment file, which is allocated at its full length.
const segmentSize = 8 << 20

// Config configures a log.
type Config struct {
	Files       types.VFS
	SegmentSize int
	Logger      hclog.Logger
}

// NewConfig returns the Config that servers use.
func NewConfig(logger hclog.Logger) Config {
	return Config{Files: vfs.New(), SegmentSize: segmentSize, Logger: logger}
}

// Create creates the segments directory in a data directory, without any segments. It has no effect until Begin is
// called.
func Create(dir string) error {
	walDir := filepath.Join(dir, Dir)
	if err := os.MkdirAll(walDir, 0o700); err != nil {
		return err
	}
	return errors.Join(intact.CreateMark(walDir), syncDataDir(walDir))
}

// Begin records in the stable store that the log is in segments. No segments exist yet.
func Begin(values intact.Store) error {
	return (&state{values: values, background: &backgroundErrors{}}).CommitState(types.PersistentState{})
}

// Exists reports whether the stable store records that the log is in segments.
func Exists(values intact.Store) (bool, error) {
	_, err := values.Get([]byte(key))
	if err != nil && err.Error() == "not found" {
		return false, nil
	}
	return err == nil, err
}

// Open opens the log in dir. values is its stable store. The whole log is read and checked first. Open returns
// intact.ErrDamaged or a system error.
func Open(dir string, values intact.Store, cfg Config) (_ *intact.Acknowledged, err error) {
	segments, err := load(dir, values, intact.Verify)
	if err != nil {
		return nil, err
	}
	mark, err := intact.OpenMark(dir, Dir, false)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, mark.Close())
		}
	}()
	last, err := mark.Check(segments, Dir)
	if err != nil {
		return nil, err
	}
	if err := segments.syncTail(cfg.Files); err != nil {
		return nil, err
	}
	background := &backgroundErrors{}
	state := &state{values: values, background: background}
	changed, err := segments.repair()
	if err == nil && changed {
		err = state.CommitState(segments.state)
	}
	if err == nil {
		err = mark.Update(last)
	}
	if err != nil {
		return nil, err
	}
	walDir := filepath.Join(dir, Dir)
	segmentFiler := &filer{Filer: segment.NewFiler(walDir, cfg.Files), background: background}
	inner, err := wal.Open(walDir, wal.WithMetaStore(state), wal.WithSegmentFiler(segmentFiler), wal.WithSegmentSize(cfg.SegmentSize), wal.WithLogger(cfg.Logger))
	if err != nil {
		if errors.Is(err, types.ErrCorrupt) {
			err = damaged("", "%w", err)
		}
		return nil, err
	}
	l := &log{inner: inner, background: background}
	return intact.NewAcknowledged(intact.NewEntries(l, Dir), mark, l.close), nil
}

// Read reads the log in dir without writing to it, and checks it as Open does. verify checks an entry in raft-wal's
// encoding and converts it to the form that Raft sees. It is intact.Verify, except for old formats.
func Read(dir string, values intact.Store, verify func(index uint64, log *raft.Log) error) (intact.Reader, error) {
	segments, err := load(dir, values, verify)
	if err != nil {
		return nil, err
	}
	mark, err := intact.OpenMark(dir, Dir, true)
	if err != nil {
		return nil, err
	}
	_, err = mark.Check(segments, Dir)
	return segments, errors.Join(err, mark.Close())
}

// load reads all segments of the log in dir.
func load(dir string, values intact.Store, verify func(index uint64, log *raft.Log) error) (*scan, error) {
	state, err := (&state{values: values}).Load(dir)
	if err != nil {
		return nil, err
	}
	return scanLog(filepath.Join(dir, Dir), state, verify)
}

// damaged calls intact.Damaged for a file in the segments directory.
func damaged(file, format string, args ...any) error {
	return intact.Damaged(filepath.Join(Dir, file), format, args...)
}

// isSystem reports whether an error is a system error, which says nothing about the content of a file.
func isSystem(err error) bool {
	_, ok := errors.AsType[*os.PathError](err)
	return ok
}

// log is raft-wal's log, opened after the check. It is safe for concurrent use, except for StoreLogs, which Raft calls
// from one goroutine.
type log struct {
	inner      *wal.WAL
	background *backgroundErrors
	// mu is write-locked while segments are deleted, because raft-wal may close a segment that a reader is about to
	// use.
	mu sync.RWMutex
}

func (l *log) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inner.Close()
}

func (l *log) FirstIndex() (uint64, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.inner.FirstIndex()
}

func (l *log) LastIndex() (uint64, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.inner.LastIndex()
}

// GetLog reads an entry. It checks the bounds first, because raft-wal can still read the deleted entries in a segment.
// raft-wal's decoder may panic on data that raft-wal did not write.
func (l *log) GetLog(index uint64, entry *raft.Log) (err error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	first, err := l.inner.FirstIndex()
	if err != nil {
		return err
	}
	last, err := l.inner.LastIndex()
	if err != nil {
		return err
	}
	if first == 0 || index < first || index > last {
		return raft.ErrLogNotFound
	}
	err = catchPanic(func() error { return l.inner.GetLog(index, entry) })
	if err != nil && !isSystem(err) && !errors.Is(err, wal.ErrClosed) {
		return damaged("", "entry %d of the log: %w", index, err)
	}
	return err
}

// catchPanic runs f, in which raft-wal decodes an entry, and turns a panic into an error.
func catchPanic(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be read: %v", p)
		}
	}()
	return f()
}

func (l *log) StoreLogs(logs []*raft.Log) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if err := l.inner.StoreLogs(logs); err != nil {
		return errors.Join(err, l.background.err())
	}
	return nil
}

// DeleteRange takes the same time for any number of entries.
func (l *log) DeleteRange(min, max uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.inner.DeleteRange(min, max); err != nil {
		return err
	}
	return l.background.err()
}

// backgroundErrors records failures that occur outside of calls, because raft-wal creates the next segment on another
// goroutine and only logs errors.
type backgroundErrors struct{ failed atomic.Pointer[error] }

func (b *backgroundErrors) record(err error) error {
	if err != nil {
		b.failed.Store(&err)
	}
	return err
}

func (b *backgroundErrors) err() error {
	if err := b.failed.Load(); err != nil {
		return *err
	}
	return nil
}

type filer struct {
	*segment.Filer
	background *backgroundErrors
}

func (f *filer) Create(info types.SegmentInfo) (types.SegmentWriter, error) {
	w, err := f.Filer.Create(info)
	return w, f.background.record(err)
}

// state stores raft-wal's list of segments in the stable store, whose values have checksums.
type state struct {
	values     intact.Store
	background *backgroundErrors
}

var _ types.MetaStore = (*state)(nil)

// Load reads the list of segments.
func (s *state) Load(string) (state types.PersistentState, err error) {
	data, err := s.values.Get([]byte(key))
	if err != nil {
		return state, err
	}
	if err := json.Unmarshal(data, &state); err != nil {
		return state, damaged("", "the list of segments: %w", err)
	}
	return state, nil
}

// CommitState writes the list of segments.
func (s *state) CommitState(state types.PersistentState) error {
	data, err := json.Marshal(state)
	if err != nil {
		return err
	}
	return s.background.record(s.values.Set([]byte(key), data))
}

// GetStable is unsupported, because raft-wal is not used as a stable store here.
func (*state) GetStable([]byte) ([]byte, error) { return nil, errors.ErrUnsupported }

// SetStable is unsupported.
func (*state) SetStable([]byte, []byte) error { return errors.ErrUnsupported }

// Close leaves the stable store open, because it belongs to the caller.
func (*state) Close() error { return nil }
