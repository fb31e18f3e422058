package intact

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"
)

// MarkFile is the name of the mark's file.
const MarkFile = "acknowledged"

// Position identifies an entry in the log. In Raft, different entries never have the same index and term. The zero
// value precedes all entries.
type Position struct{ Index, Term uint64 }

// Mark records the log's last acknowledged entry, which the log must still contain unless it now begins after that
// entry. The mark's file is a single record within one sector, and is overwritten in place after the entries are on
// disk. It is not synced with each batch, but only when the log is opened, becomes shorter, or is closed. The mark is
// therefore up to date however the process exits. After a power loss, it may be up to half a minute old, and then
// requires fewer entries.
type Mark struct {
	file *os.File
	part string // the mark's file, as a part of the data directory
	pos  Position
}

// CreateMark creates the mark of an empty log in dir. The mark is on disk when CreateMark returns.
func CreateMark(dir string) error {
	file, err := os.OpenFile(filepath.Join(dir, MarkFile), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	m := &Mark{file: file}
	return errors.Join(m.set(Position{}), m.file.Sync(), m.file.Close())
}

// OpenMark reads the mark in subdir of the data directory dir. It opens the mark for writing unless readOnly is set. It
// returns a system error, or ErrDamaged if the mark is damaged or missing.
func OpenMark(dir, subdir string, readOnly bool) (*Mark, error) {
	flag := os.O_RDWR
	if readOnly {
		flag = os.O_RDONLY
	}
	m := &Mark{part: filepath.Join(subdir, MarkFile)}
	var err error
	if m.file, err = os.OpenFile(filepath.Join(dir, m.part), flag, 0); errors.Is(err, fs.ErrNotExist) {
		return nil, Damaged(m.part, "it is missing")
	} else if err != nil {
		return nil, err
	}
	sealed := make([]byte, sumSize+16)
	err = ReadAt(m.file, sealed, 0)
	var content []byte
	if err == nil {
		content, err = Unseal([]byte(MarkFile), sealed)
	}
	if err != nil {
		if _, system := errors.AsType[*os.PathError](err); !system {
			err = Damaged(m.part, "%w", err)
		}
		return nil, errors.Join(err, m.file.Close())
	}
	m.pos = Position{binary.BigEndian.Uint64(content), binary.BigEndian.Uint64(content[8:])}
	return m, nil
}

// Reader is the subset of Log that Check uses.
type Reader interface {
	FirstIndex() (uint64, error)
	LastIndex() (uint64, error)
	GetLog(index uint64, log *raft.Log) error
}

// Check returns the position of a log's last entry, or ErrDamaged if an acknowledged entry is missing from the log.
// part is the part of the data directory to name in errors. Entries deleted from the front of the log are not required.
func (m *Mark) Check(log Reader, part string) (last Position, err error) {
	first, err := log.FirstIndex()
	if err != nil {
		return Position{}, err
	}
	end, err := log.LastIndex()
	if err != nil {
		return Position{}, err
	}
	if last, err = positionAt(log, end); err != nil {
		return Position{}, err
	}
	var found Position
	if first <= m.pos.Index && m.pos.Index <= end {
		if found, err = positionAt(log, m.pos.Index); err != nil {
			return Position{}, err
		}
	}
	if end < m.pos.Index || m.pos.Index >= first && found != m.pos {
		return Position{}, Damaged(part, "the log ends with entry %d in term %d, but entry %d in term %d was acknowledged",
			last.Index, last.Term, m.pos.Index, m.pos.Term)
	}
	return last, nil
}

func positionAt(log Reader, index uint64) (Position, error) {
	if index == 0 {
		return Position{}, nil
	}
	var entry raft.Log
	err := log.GetLog(index, &entry)
	return Position{index, entry.Term}, err
}

func (m *Mark) set(pos Position) error {
	content := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, pos.Index), pos.Term)
	_, err := m.file.WriteAt(Seal([]byte(MarkFile), content), 0)
	if err == nil {
		m.pos = pos
	}
	return err
}

// Update sets the mark to the result of Check and syncs it, because Raft relies on that result from then on.
func (m *Mark) Update(pos Position) error {
	if m.pos == pos {
		return nil
	}
	return errors.Join(m.set(pos), m.file.Sync())
}

// Close closes the file without writing to it.
func (m *Mark) Close() error { return m.file.Close() }
