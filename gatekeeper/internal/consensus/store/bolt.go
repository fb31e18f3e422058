package store

import (
	"errors"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/intact"
)

// errNoKey has the text by which Raft recognizes an absent key.
var errNoKey = raftboltdb.ErrKeyNotFound

// bolt is raft-boltdb's store, whose file may be damaged while it is open. bbolt then panics, or faults on memory that
// it has mapped. Here each of these is ErrDamaged, and bbolt is not called again: it may still hold its locks. Safe for
// concurrent use.
//
// bbolt ends a write that panics by reading the whole file on another goroutine, where nothing can recover from a fault
// (v1.5.0, Tx.rollback). So each write first reads what it is going to change, where a fault is caught.
type bolt struct {
	db     *raftboltdb.BoltStore
	broken atomic.Pointer[error]
}

var (
	_ intact.Log   = (*bolt)(nil)
	_ intact.Store = (*bolt)(nil)
)

// ErrInUse says that another process has the log's file open: a server whose lock file somebody removed, or a tool of
// bbolt.
var ErrInUse = errors.New("another process has it open")

// openBolt opens a file of raft-boltdb. One that was not checked is opened for reading only: bbolt then trusts nothing
// but its headers.
func openBolt(path string, readOnly bool) (b *bolt, err error) {
	_, err = careful(func() error {
		// The freelist is rebuilt at start instead of being written with each commit. NoSync stays off: an acknowledged
		// entry is on disk. Another server holds a lock on the file, also when somebody removed the folder's lock file.
		db, err := raftboltdb.New(raftboltdb.Options{
			Path: path, MsgpackUseNewTimeFormat: true,
			BoltOptions: &bbolt.Options{ReadOnly: readOnly, Timeout: time.Second, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType},
		})
		switch {
		case errors.Is(err, berrors.ErrTimeout):
			return ErrInUse
		case is[syscall.Errno](err): // the system's error does not say that the content is wrong
			return err
		case err != nil:
			return damaged("%w", err)
		}
		b = &bolt{db: db}
		return nil
	})
	return b, err
}

// Close closes the file, after calls under way. A file on which bbolt panicked stays open until the process ends.
func (b *bolt) Close() error {
	if b.broken.Load() != nil {
		return nil
	}
	return b.db.Close()
}

// call calls bbolt.
func (b *bolt) call(f func() error) error {
	if broken := b.broken.Load(); broken != nil {
		return *broken
	}
	panicked, err := careful(f)
	if panicked {
		b.broken.Store(&err)
	}
	return err
}

func (b *bolt) FirstIndex() (index uint64, err error) {
	err = b.call(func() error {
		index, err = b.db.FirstIndex()
		return err
	})
	return index, err
}

func (b *bolt) LastIndex() (index uint64, err error) {
	err = b.call(func() error {
		index, err = b.db.LastIndex()
		return err
	})
	return index, err
}

func (b *bolt) GetLog(index uint64, log *raft.Log) error {
	err := b.call(func() error { return b.db.GetLog(index, log) })
	if err != nil && !errors.Is(err, raft.ErrLogNotFound) && !errors.Is(err, ErrDamaged) {
		return damaged("entry %d of the log: %w", index, err)
	}
	return err
}

// StoreLogs appends on the pages that lead to the last entry.
func (b *bolt) StoreLogs(logs []*raft.Log) error {
	if _, err := b.LastIndex(); err != nil {
		return err
	}
	return b.call(func() error { return b.db.StoreLogs(logs) })
}

func (b *bolt) DeleteRange(min, max uint64) error {
	for index := min; index <= max; index++ {
		if err := b.GetLog(index, &raft.Log{}); err != nil && !errors.Is(err, raft.ErrLogNotFound) {
			return err
		}
	}
	return b.call(func() error { return b.db.DeleteRange(min, max) })
}

func (b *bolt) Set(key, value []byte) error {
	if _, err := b.Get(key); err != nil && !errors.Is(err, errNoKey) {
		return err
	}
	return b.call(func() error { return b.db.Set(key, value) })
}

func (b *bolt) Get(key []byte) (value []byte, err error) {
	err = b.call(func() error {
		value, err = b.db.Get(key)
		return err
	})
	return value, err
}
