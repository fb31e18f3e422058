package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/raft"
	"github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/intact"
)

// scan is the result of reading all segments of a log.
type scan struct {
	dir      string
	state    types.PersistentState
	verify   func(index uint64, log *raft.Log) error
	segments []segmentData
	first    uint64 // the index of the first entry that was not deleted; 0 if there is none
	order    intact.Order
}

// scanLog reads all segments that belong to the log. It returns ErrDamaged if one of them is damaged. The remains of a
// write that a crash cut short, after the last batch, do not count as damage; repair removes them.
func scanLog(dir string, state types.PersistentState, verify func(index uint64, log *raft.Log) error) (*scan, error) {
	s := &scan{dir: dir, state: state, verify: verify}
	for i, info := range state.Segments {
		name := segment.FileName(info)
		visit := func(index, term uint64) error {
			if index < info.MinIndex || !info.SealTime.IsZero() && index > info.MaxIndex {
				return nil // this entry was deleted
			}
			if s.first == 0 {
				s.first = index
			}
			return s.order.Next(index, term)
		}
		w, err := s.read(name, info, visit)
		if err == nil {
			err = s.check(w, i == len(state.Segments)-1)
		}
		if err != nil {
			if isSystem(err) {
				return nil, err
			}
			return nil, damaged(name, "%w", err)
		}
		s.segments = append(s.segments, w)
	}
	return s, nil
}

// read walks a segment. The last segment's file may be missing, because a crash can occur before raft-wal has created
// it.
func (s *scan) read(name string, info types.SegmentInfo, visit func(index, term uint64) error) (segmentData, error) {
	file, err := os.Open(filepath.Join(s.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		if info.SealTime.IsZero() {
			return segmentData{info: info}, nil
		}
		return segmentData{}, errors.New("it is missing")
	}
	if err != nil {
		return segmentData{}, err
	}
	stat, err := file.Stat()
	if err != nil {
		return segmentData{}, errors.Join(err, file.Close())
	}
	w, err := walkSegment(file, stat.Size(), info, s.verify, visit)
	return w, errors.Join(err, file.Close())
}

// check returns an error unless a segment contains the entries that the log's state requires: all entries up to its
// seal and, if its beginning was deleted, the first remaining entry. Only the last segment, the tail, is unsealed.
func (s *scan) check(w segmentData, tail bool) error {
	info := w.info
	switch sealed := !info.SealTime.IsZero(); {
	case sealed == tail:
		return errors.New("the last segment must be unsealed, and all others must be sealed")
	case sealed && (w.indexOffset != info.IndexStart || w.last() < info.MaxIndex), w.indexOffset > 0 && w.hasRemains:
		return fmt.Errorf("it was sealed at entry %d, but has since changed: it now ends with entry %d", info.MaxIndex, w.last())
	case info.MinIndex > info.BaseIndex && w.last() < info.MinIndex:
		return fmt.Errorf("it contained entry %d, but now ends with entry %d", info.MinIndex, w.last())
	}
	return nil
}

// syncTail syncs the last segment and the directory. If a process was killed between a write and its sync, the entries
// may be readable but not on disk, and Raft would acknowledge them without writing them again.
func (s *scan) syncTail(files types.VFS) error {
	if len(s.segments) == 0 {
		return nil
	}
	tail, err := files.OpenWriter(s.dir, segment.FileName(s.segments[len(s.segments)-1].info))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // raft-wal recreates it
	}
	if err != nil {
		return err
	}
	return errors.Join(tail.Sync(), tail.Close(), syncDataDir(s.dir))
}

// repair finishes what a crash interrupted, because raft-wal does not: it would leave the remains of a write after the
// end of the log, and could not continue after a segment that was sealed just before the crash. changed reports whether
// s.state has changed and must be stored.
func (s *scan) repair() (changed bool, err error) {
	if len(s.segments) == 0 {
		return false, nil
	}
	tail := s.segments[len(s.segments)-1]
	if tail.hasRemains {
		if err := s.cut(tail); err != nil {
			return false, err
		}
	}
	if tail.indexOffset == 0 {
		return false, nil
	}
	now := time.Now()
	info := &s.state.Segments[len(s.state.Segments)-1]
	info.SealTime, info.MaxIndex, info.IndexStart = now, tail.last(), tail.indexOffset
	s.state.Segments = append(s.state.Segments, types.SegmentInfo{
		ID: s.state.NextSegmentID, BaseIndex: tail.last() + 1, MinIndex: tail.last() + 1, Codec: info.Codec, SizeLimit: info.SizeLimit, CreateTime: now,
	})
	s.state.NextSegmentID++
	return true, nil
}

// syncDataDir syncs a directory, so that the names of files created in it survive a crash.
func syncDataDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// cut overwrites everything after the last batch with zeros. The file keeps its length.
func (s *scan) cut(w segmentData) error {
	file, err := os.OpenFile(filepath.Join(s.dir, segment.FileName(w.info)), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Truncate(w.end), file.Truncate(w.size), file.Sync(), file.Close())
}

// FirstIndex, LastIndex and GetLog read the log without raft-wal, which writes to any log it opens.

// FirstIndex returns the index of the first entry, or 0 if there is none.
func (s *scan) FirstIndex() (uint64, error) { return s.first, nil }

// LastIndex returns the index of the last entry, or 0 if there is none.
func (s *scan) LastIndex() (uint64, error) { return s.order.Last.Index, nil }

// GetLog reads an entry. It returns raft.ErrLogNotFound, ErrDamaged, or a system error.
func (s *scan) GetLog(index uint64, log *raft.Log) error {
	if s.first == 0 || index < s.first || index > s.order.Last.Index {
		return raft.ErrLogNotFound
	}
	i := len(s.segments) - 1
	for s.segments[i].info.BaseIndex > index {
		i--
	}
	w := s.segments[i]
	name := segment.FileName(w.info)
	file, err := os.Open(filepath.Join(s.dir, name))
	if err != nil {
		return err
	}
	b, err := content(file, int64(w.offsets[index-w.info.BaseIndex]))
	if err == nil {
		err = readFrame(b, index, log, s.verify)
	}
	err = errors.Join(err, file.Close())
	if err != nil && !isSystem(err) {
		return damaged(name, "entry %d of the log: %w", index, err)
	}
	return err
}

// content reads the content of the frame at offset.
func content(file *os.File, offset int64) ([]byte, error) {
	head := make([]byte, frameHeaderSize)
	if err := intact.ReadAt(file, head, offset); err != nil {
		return nil, err
	}
	length := binary.LittleEndian.Uint32(head[4:])
	if head[0] != entryFrame || length > segment.MaxEntrySize {
		return nil, errors.New("it is no longer where it was written")
	}
	b := make([]byte, length)
	return b, intact.ReadAt(file, b, offset+frameHeaderSize)
}
