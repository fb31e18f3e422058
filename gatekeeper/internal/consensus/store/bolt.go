package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/hashicorp/raft"
	"go.etcd.io/bbolt"
)

// The file's buckets, and the key in the second that says where the log ends. They are frozen.
const (
	entriesBucket = "entries" // index -> entry
	factsBucket   = "facts"   // term, vote, end of the log
	keyEnd        = "gatekeeper.end"
)

// errNoKey has the text by which Raft knows an absent key.
var errNoKey = errors.New("not found")

// Bolt keeps the log, the term and the vote in one file of bbolt. Each record carries a checksum, and the end of the log is
// written with each change of it, so that entries which vanish at the end are noticed too. Every error that is the file's
// fault is ErrDamaged. Safe for concurrent use.
type Bolt struct {
	db *bbolt.DB
	// broken is the panic of a call, after which bbolt is called no more.
	broken atomic.Pointer[error]
}

var (
	_ raft.LogStore    = (*Bolt)(nil)
	_ raft.StableStore = (*Bolt)(nil)
)

// Close closes the file, after calls under way. One that is damaged such that bbolt panicked stays open until the process ends.
func (b *Bolt) Close() error {
	if b.broken.Load() != nil {
		return nil
	}
	return b.db.Close()
}

// call calls bbolt.
func (b *Bolt) call(f func() error) error {
	if broken := b.broken.Load(); broken != nil {
		return *broken
	}
	panicked, err := careful(f)
	if panicked {
		b.broken.Store(&err)
	}
	return err
}

func (b *Bolt) view(f func(entries, facts *bbolt.Bucket) error) error {
	return b.call(func() error { return b.db.View(inBuckets(f)) })
}

// update does not leave it to bbolt to end the transaction after a panic: it would read the whole file again, on a goroutine whose
// own fault ends the process.
func (b *Bolt) update(f func(entries, facts *bbolt.Bucket) error) error {
	return b.call(func() error {
		tx, err := b.db.Begin(true)
		if err != nil {
			return err
		}
		if err := inBuckets(f)(tx); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	})
}

func inBuckets(f func(entries, facts *bbolt.Bucket) error) func(*bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		entries, facts := tx.Bucket([]byte(entriesBucket)), tx.Bucket([]byte(factsBucket))
		if entries == nil || facts == nil {
			return damaged("it holds no log of this format")
		}
		return f(entries, facts)
	}
}

// FirstIndex is that of the first entry, 0 without any.
func (b *Bolt) FirstIndex() (index uint64, err error) {
	err = b.view(func(entries, _ *bbolt.Bucket) error {
		index = firstIndex(entries)
		return nil
	})
	return index, err
}

func firstIndex(entries *bbolt.Bucket) uint64 {
	if key, _ := entries.Cursor().First(); key != nil {
		return binary.BigEndian.Uint64(key)
	}
	return 0
}

// LastIndex is that of the last entry, 0 without any.
func (b *Bolt) LastIndex() (index uint64, err error) {
	err = b.view(func(entries, _ *bbolt.Bucket) error {
		index = lastIndex(entries)
		return nil
	})
	return index, err
}

func lastIndex(entries *bbolt.Bucket) uint64 {
	if key, _ := entries.Cursor().Last(); key != nil {
		return binary.BigEndian.Uint64(key)
	}
	return 0
}

// GetLog reads an entry. Errors: raft.ErrLogNotFound, ErrDamaged.
func (b *Bolt) GetLog(index uint64, log *raft.Log) error {
	return b.view(func(entries, _ *bbolt.Bucket) error {
		key := indexKey(index)
		record := entries.Get(key)
		if record == nil {
			return raft.ErrLogNotFound
		}
		if err := readEntry(key, record, log); err != nil {
			return damaged("entry %d of the log: %w", index, err)
		}
		return nil
	})
}

// StoreLog writes an entry.
func (b *Bolt) StoreLog(log *raft.Log) error { return b.StoreLogs([]*raft.Log{log}) }

// StoreLogs writes all entries or none. They go on from the last one, without a gap: what replaces entries was deleted before, and a
// snapshot from a leader replaces a log that does not lead to it.
func (b *Bolt) StoreLogs(logs []*raft.Log) error {
	return b.update(func(entries, facts *bbolt.Bucket) error {
		last := lastIndex(entries)
		for _, log := range logs {
			if last > 0 && log.Index != last+1 {
				return fmt.Errorf("entry %d cannot follow entry %d", log.Index, last)
			}
			last = log.Index
			key := indexKey(log.Index)
			if err := entries.Put(key, entryRecord(key, log)); err != nil {
				return err
			}
		}
		return putEnd(entries, facts, last)
	})
}

// DeleteRange deletes the entries from min to max, both included, at the front of the log, at its back, or all.
func (b *Bolt) DeleteRange(min, max uint64) error {
	return b.update(func(entries, facts *bbolt.Bucket) error {
		first, last := firstIndex(entries), lastIndex(entries)
		if first < min && max < last {
			return fmt.Errorf("deleting %d to %d leaves a hole in the log of %d to %d", min, max, first, last)
		}
		if err := deleteRange(entries, min, max); err != nil {
			return err
		}
		switch {
		case max < last:
		case min > last: // nothing was deleted
		case first < min:
			last = min - 1
		default:
			last = 0 // none is left
		}
		return putEnd(entries, facts, last)
	})
}

// deleteRange seeks anew each time: where a cursor stands after a deletion is not promised.
func deleteRange(entries *bbolt.Bucket, min, max uint64) error {
	cursor, from := entries.Cursor(), indexKey(min)
	for key, _ := cursor.Seek(from); key != nil && binary.BigEndian.Uint64(key) <= max; key, _ = cursor.Seek(from) {
		if err := cursor.Delete(); err != nil {
			return err
		}
	}
	return nil
}

// putEnd writes the index and the sum of the last entry: of two states of the log that end with the same index, too, only one
// fits.
//
// last is told, and not looked for: in a transaction that has deleted all of several pages, bbolt's Cursor.Last (1.5.0) never returns.
func putEnd(entries, facts *bbolt.Bucket, last uint64) error {
	var key, record []byte
	if last > 0 {
		key = indexKey(last)
		record = entries.Get(key)
	}
	return facts.Put([]byte(keyEnd), sealed([]byte(keyEnd), endOf(key, record)))
}

func endOf(key, record []byte) []byte {
	if key == nil {
		return make([]byte, 8+sumSize)
	}
	return append(append(make([]byte, 0, 8+sumSize), key...), record[:min(sumSize, len(record))]...)
}

// Set writes a value.
func (b *Bolt) Set(key, val []byte) error {
	return b.update(func(_, facts *bbolt.Bucket) error { return facts.Put(key, sealed(key, val)) })
}

// Get reads a value. Errors: "not found", ErrDamaged.
func (b *Bolt) Get(key []byte) (val []byte, err error) {
	err = b.view(func(_, facts *bbolt.Bucket) error {
		record := facts.Get(key)
		if record == nil {
			return errNoKey
		}
		content, err := unseal(key, record)
		if err != nil {
			return damaged("the value of %s: %w", key, err)
		}
		val = append([]byte{}, content...)
		return nil
	})
	return val, err
}

// SetUint64 writes a number.
func (b *Bolt) SetUint64(key []byte, val uint64) error {
	return b.Set(key, binary.BigEndian.AppendUint64(nil, val))
}

// GetUint64 reads a number. Errors: as Get.
func (b *Bolt) GetUint64(key []byte) (uint64, error) {
	val, err := b.Get(key)
	if err != nil {
		return 0, err
	}
	if len(val) != 8 {
		return 0, damaged("the value of %s has %d bytes", key, len(val))
	}
	return binary.BigEndian.Uint64(val), nil
}
