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

// errNoKey is returned for a missing key. Raft recognizes it by its message.
var errNoKey = raftboltdb.ErrKeyNotFound

// bolt wraps raft-boltdb's store. If the file is damaged while it is open, bbolt panics or causes a memory fault. bolt
// turns either of these into ErrDamaged and never calls bbolt again, because bbolt may still hold its locks. It is safe
// for concurrent use.
//
// When a write panics, bbolt reads the whole file on another goroutine, where a fault cannot be recovered (v1.5.0,
// Tx.rollback). Each write therefore first reads the pages that it will change, on the calling goroutine, where a fault
// is caught.
type bolt struct {
	db     *raftboltdb.BoltStore
	broken atomic.Pointer[error]
}

var (
	_ intact.Log   = (*bolt)(nil)
	_ intact.Store = (*bolt)(nil)
)

// ErrInUse means that another process has the log's file open: a server whose lock file was deleted, or a bbolt tool.
var ErrInUse = errors.New("another process has it open")

// openBolt opens a raft-boltdb file. A file that has not been checked must be opened read-only, because bbolt then
// relies only on its headers.
func openBolt(path string, readOnly bool) (b *bolt, err error) {
	_, err = catchPanics(func() error {
		// The freelist is rebuilt at startup instead of being written with each commit. NoSync stays off, so that an
		// acknowledged entry is on disk. Timeout limits the wait for the lock on this file, which another server holds
		// even if the directory's lock file was deleted.
		db, err := raftboltdb.New(raftboltdb.Options{
			Path: path, MsgpackUseNewTimeFormat: true,
			BoltOptions: &bbolt.Options{ReadOnly: readOnly, Timeout: time.Second, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType},
		})
		switch {
		case errors.Is(err, berrors.ErrTimeout):
			return ErrInUse
		case isType[syscall.Errno](err): // a system error says nothing about the content
			return err
		case err != nil:
			return damaged("%w", err)
		}
		b = &bolt{db: db}
		return nil
	})
	return b, err
}

// Close waits for pending calls and closes the file. A file on which bbolt has panicked stays open until the process
// exits.
func (b *bolt) Close() error {
	if b.broken.Load() != nil {
		return nil
	}
	return b.db.Close()
}

// call runs f, which calls bbolt.
func (b *bolt) call(f func() error) error {
	if broken := b.broken.Load(); broken != nil {
		return *broken
	}
	panicked, err := catchPanics(f)
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

// StoreLogs first reads the last entry, because the append changes the pages that lead to it.
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
