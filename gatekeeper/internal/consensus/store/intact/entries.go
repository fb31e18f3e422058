package intact

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// Log is the interface that a log store must implement. Its methods follow raft.LogStore's contract. When StoreLogs
// returns nil, the entries are on disk.
type Log interface {
	FirstIndex() (uint64, error)
	LastIndex() (uint64, error)
	GetLog(index uint64, log *raft.Log) error
	StoreLogs(logs []*raft.Log) error
	DeleteRange(min, max uint64) error
}

// Entries is a Log that adds a checksum to each entry in the inner log. See the package documentation.
type Entries struct {
	Log
	part string
}

// NewEntries adds checksums to the entries in inner. part is the part of the data directory to name in errors.
func NewEntries(inner Log, part string) *Entries { return &Entries{inner, part} }

// IsMonotonic reports whether the inner log is monotonic, which determines what Raft deletes after a snapshot.
func (e *Entries) IsMonotonic() bool {
	m, ok := e.Log.(raft.MonotonicLogStore)
	return ok && m.IsMonotonic()
}

// StoreLogs stores copies of the entries with this member's checksums.
func (e *Entries) StoreLogs(logs []*raft.Log) error {
	copies, all, sums := make([]raft.Log, len(logs)), make([]*raft.Log, len(logs)), make([]byte, 0, sumSize*len(logs))
	for i, log := range logs {
		sums = appendSum(sums, log)
		own := sums[sumSize*i : len(sums) : len(sums)]
		if len(log.Extensions) > 0 && !bytes.Equal(log.Extensions, own) {
			return fmt.Errorf("entry %d carries extensions unknown to this program: another program has written to the log", log.Index)
		}
		copies[i] = *log
		copies[i].Extensions = own
		all[i] = &copies[i]
	}
	return e.Log.StoreLogs(all)
}

// GetLog reads an entry. It returns raft.ErrLogNotFound, ErrDamaged, or an error from the inner log.
func (e *Entries) GetLog(index uint64, log *raft.Log) error {
	if err := e.Log.GetLog(index, log); err != nil {
		return err
	}
	if err := Verify(index, log); err != nil {
		return Damaged(e.part, "entry %d of the log: %w", index, err)
	}
	return nil
}

// Verify checks an entry stored under index against its checksum and removes the checksum. If the check fails, it
// clears the entry.
func Verify(index uint64, log *raft.Log) error {
	err := checkEntry(index, log)
	if err != nil {
		*log = raft.Log{}
	}
	log.Extensions = nil
	return err
}

func checkEntry(index uint64, log *raft.Log) error {
	switch {
	case log.Index != index:
		return fmt.Errorf("found entry %d instead", log.Index)
	case len(log.Extensions) == 0:
		return errors.New("it has no checksum")
	case !bytes.Equal(log.Extensions, appendSum(nil, log)):
		return errSum
	}
	return nil
}

// appendSum appends an entry's checksum. The fields that it covers are frozen, because checksums are on disk.
func appendSum(b []byte, log *raft.Log) []byte {
	var head [25]byte
	binary.BigEndian.PutUint64(head[:], log.Index)
	binary.BigEndian.PutUint64(head[8:], log.Term)
	head[16] = byte(log.Type)
	if !log.AppendedAt.IsZero() {
		binary.BigEndian.PutUint64(head[17:], uint64(log.AppendedAt.UnixNano()))
	}
	return binary.BigEndian.AppendUint32(b, sum(head[:], log.Data))
}

// Order checks the order of entries that are read in sequence. Last is the position of the entry that was read last.
type Order struct{ Last Position }

// Next returns an error if an entry cannot follow the last one.
func (o *Order) Next(index, term uint64) error {
	if o.Last.Index > 0 && (index != o.Last.Index+1 || term < o.Last.Term) {
		return fmt.Errorf("log entry %d, in term %d, is followed by entry %d, in term %d", o.Last.Index, o.Last.Term, index, term)
	}
	o.Last = Position{index, term}
	return nil
}
