package store

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// markFile is where it is noted up to which entry the log was acknowledged.
const markFile = "acknowledged"

// place is an entry of the log. Raft has no two entries with the same index and term, so nothing else needs to be compared.
type place struct{ index, term uint64 }

// mark is that file: one record of one sector, written over and over. It is written after the entries are on disk and, but for a log that
// becomes shorter, not forced there: a process that is killed leaves it as it was written, and after a loss of power it may be that of
// some seconds before, which asks for less. What it asks for must be in the log.
type mark struct {
	file *os.File
	at   place
}

// createMark makes the file in folder, for an empty log, and has it on disk.
func createMark(folder string) error {
	file, err := os.OpenFile(filepath.Join(folder, markFile), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	m := &mark{file: file}
	return errors.Join(m.set(place{}), m.file.Sync(), m.file.Close())
}

// readMark reads the file in folder. It is open for writing, unless it is only to be read.
func readMark(folder string, readOnly bool) (*mark, error) {
	flag := os.O_RDWR
	if readOnly {
		flag = os.O_RDONLY
	}
	file, err := os.OpenFile(filepath.Join(folder, markFile), flag, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, damagedWAL(markFile, "it is gone")
	}
	if err != nil {
		return nil, err
	}
	record := make([]byte, sumSize+16)
	err = readAt(file, record, 0)
	var content []byte
	if err == nil {
		content, err = unseal([]byte(markFile), record)
	}
	if err != nil && !is[*os.PathError](err) {
		err = damagedWAL(markFile, "%w", err)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &mark{file: file, at: place{binary.BigEndian.Uint64(content), binary.BigEndian.Uint64(content[8:])}}, nil
}

func (m *mark) set(at place) error {
	content := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, at.index), at.term)
	_, err := m.file.WriteAt(sealed([]byte(markFile), content), 0)
	if err == nil {
		m.at = at
	}
	return err
}

// lower is set before the log becomes shorter: on disk the mark must never ask for what was deleted.
func (m *mark) lower(at place) error {
	if err := m.set(at); err != nil {
		return err
	}
	return m.file.Sync()
}

func (m *mark) close() error { return errors.Join(m.file.Sync(), m.file.Close()) }
