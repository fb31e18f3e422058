package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/intact"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/wal"
)

// These constants belong to the format used before raft-boltdb. Only Convert still reads that format, and nothing
// writes it. It has two buckets, oldEntries and oldFacts, whose values are sealed under their keys. One of the facts
// records the end of the log.
const (
	oldFacts  = "facts"
	oldEnd    = "gatekeeper.end"
	oldWAL    = "gatekeeper.wal"
	oldNoTime = math.MinInt64 // represents the zero time
)

// legacy is the content of a directory in the old format. All of it is read into memory, because snapshots keep the log
// short.
type legacy struct {
	kind    Kind
	entries []*raft.Log
	values  map[string][]byte
	order   intact.Order
	end     []byte // index and checksum of the last entry
}

// readLegacy reads and checks the data directory dir. It returns ErrDamaged or a system error.
func readLegacy(dir string) (*legacy, error) {
	l := &legacy{kind: KindBolt, values: make(map[string][]byte), end: make([]byte, 12)}
	err := walkFile(filepath.Join(dir, RaftFile), l.add)
	if err == nil && !bytes.Equal(l.end, l.values[oldEnd]) {
		err = fmt.Errorf("the log ends with entry %d, which is not the last entry written", l.order.Last.Index)
	}
	if err != nil {
		return nil, damaged("%w", err)
	}
	if l.values[oldWAL] != nil {
		l.kind = KindWAL
		err = l.readWAL(dir)
	}
	delete(l.values, oldEnd)
	delete(l.values, oldWAL)
	return l, err
}

func (l *legacy) readWAL(dir string) error {
	segments, err := wal.Read(dir, l, func(index uint64, log *raft.Log) error {
		if log.Index != index {
			return fmt.Errorf("found entry %d instead", log.Index)
		}
		return l.decode(index, log.Data, log)
	})
	if err != nil {
		return err
	}
	first, err := segments.FirstIndex()
	if err != nil || first == 0 {
		return err
	}
	last, err := segments.LastIndex()
	for index := first; err == nil && index <= last; index++ {
		var entry raft.Log
		err = segments.GetLog(index, &entry)
		l.entries = append(l.entries, &entry)
	}
	return err
}

// Get implements intact.Store.
func (l *legacy) Get(key []byte) ([]byte, error) {
	if value, ok := l.values[string(key)]; ok {
		return value, nil
	}
	return nil, errNoKey
}

// Set is unsupported.
func (*legacy) Set([]byte, []byte) error { return errors.ErrUnsupported }

func (l *legacy) add(bucket, key, value []byte) error {
	switch {
	case key == nil && (string(bucket) == oldEntries || string(bucket) == oldFacts):
		return nil
	case string(bucket) == oldEntries && len(key) == 8:
		index, entry := binary.BigEndian.Uint64(key), new(raft.Log)
		if err := l.decode(index, value, entry); err != nil {
			return fmt.Errorf("entry %d of the log: %w", index, err)
		}
		l.end = append(bytes.Clone(key), value[:4]...)
		l.entries = append(l.entries, entry)
		return l.order.Next(index, entry.Term)
	case string(bucket) != oldFacts:
		return fmt.Errorf("unexpected bucket %q", bucket)
	}
	content, err := intact.Unseal(key, value)
	if err != nil {
		return fmt.Errorf("the value of %q: %w", key, err)
	}
	l.values[string(key)] = bytes.Clone(content)
	return nil
}

// decode decodes an entry. The record contains the checksum, the term, the type, the append time in Unix nanoseconds,
// the length of the extensions, the extensions and the data. The index is the key.
func (*legacy) decode(index uint64, record []byte, log *raft.Log) error {
	content, err := intact.Unseal(binary.BigEndian.AppendUint64(nil, index), record)
	if err != nil {
		return err
	}
	const head = 8 + 1 + 8
	if len(content) <= head || content[head] != 0 {
		return errors.New("it is too short or has extensions, which no build has ever written")
	}
	*log = raft.Log{
		Index: index, Term: binary.BigEndian.Uint64(content), Type: raft.LogType(content[8]), Data: slices.Clone(content[head+1:]),
	}
	if appended := int64(binary.BigEndian.Uint64(content[9:])); appended != oldNoTime {
		log.AppendedAt = time.Unix(0, appended).UTC()
	}
	return nil
}
