package wal

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"
)

// These are the parts of raft-wal's segment format that are needed to check that a file is intact before raft-wal
// trusts it. A file contains a header followed by batches of frames. A frame has an eight-byte header and content. A
// batch consists of entries, possibly an index of all entries' offsets, which seals the segment, and a commit with the
// CRC of everything since the previous commit. Each batch is one write and one sync. The rest of the file is zeros.
// Numbers are little-endian.
//
// raft-wal itself reads up to the first frame that it cannot read, checks the last batch's CRC, and continues from
// there. It mistakes anything invalid for a write that a crash cut short.
const (
	segmentHeaderSize = 32
	segmentMagic      = 0x58eb6b0d // and version 0
	frameHeaderSize   = 8
	entryFrame        = segment.FrameEntry
	indexFrame        = segment.FrameIndex
	commitFrame       = segment.FrameCommit
)

// segmentData is the content of a segment file.
type segmentData struct {
	info        types.SegmentInfo
	size        int64
	offsets     []uint32 // offsets of the entries' frames
	end         int64    // end of the last commit, or 0 if there is none
	indexOffset uint64   // offset of the index content, or 0 if there is none
	hasRemains  bool     // whether anything was written after end
}

// last returns the index of the last entry in the file, which may have been deleted since, or info.BaseIndex-1 if there
// is none.
func (w *segmentData) last() uint64 { return w.info.BaseIndex + uint64(len(w.offsets)) - 1 }

// segmentWalk walks the batches of a segment.
type segmentWalk struct {
	segmentData
	file io.ReaderAt
	in   *bufio.Reader
	at   int64
	crc  uint32
	// verify checks the integrity of an entry. visit is called with each entry.
	verify func(index uint64, log *raft.Log) error
	visit  func(index, term uint64) error

	// state of the batch being read
	frames   []frame
	sealed   uint64
	firstErr error // the error for the first damaged entry
}

type frame struct {
	offset uint32
	term   uint64
}

// walkSegment reads a segment and calls visit with each entry in a complete batch. It stops at the first incomplete
// batch. It returns an error for anything that a crash cannot leave behind.
func walkSegment(
	file io.ReaderAt, size int64, info types.SegmentInfo, verify func(index uint64, log *raft.Log) error, visit func(index, term uint64) error,
) (segmentData, error) {
	w := &segmentWalk{
		segmentData: segmentData{info: info, size: size}, file: file, in: bufio.NewReaderSize(io.NewSectionReader(file, 0, size), 1<<16),
		verify: verify, visit: visit,
	}
	torn, err := w.batches()
	if err != nil {
		return segmentData{}, err
	}
	if w.hasRemains, err = hasData(file, w.end, size); err != nil {
		return segmentData{}, err
	}
	if w.hasRemains { // the next batch is written only once this one is on disk
		hasLaterBatch, err := w.hasLaterBatch(torn)
		if err != nil {
			return segmentData{}, err
		}
		if hasLaterBatch {
			return segmentData{}, fmt.Errorf("the entries after %d cannot be read, but more were written after them", w.last())
		}
	}
	return w.segmentData, nil
}

// hasLaterBatch reports whether another batch was written after the broken one. torn is the end of the broken batch. If
// torn is 0, the end is unknown, and hasLaterBatch searches for a complete batch.
func (w *segmentWalk) hasLaterBatch(torn int64) (bool, error) {
	if torn > 0 {
		return hasData(w.file, torn, w.size)
	}
	rest, err := io.ReadAll(io.NewSectionReader(w.file, w.end, w.size-w.end))
	if err != nil {
		return false, err
	}
	rest = bytes.TrimRight(rest, "\x00")
	rest = append(rest, make([]byte, frameHeaderSize)...) // a CRC may end with zeros
	for ; len(rest) >= 2*frameHeaderSize; rest = rest[frameHeaderSize:] {
		if isCompleteBatch(rest) {
			return true, nil
		}
	}
	return false, nil
}

// isCompleteBatch reports whether b begins with frames followed by their CRC. A partial batch has a different CRC.
func isCompleteBatch(b []byte) bool {
	for at := int64(0); at+frameHeaderSize <= int64(len(b)); at += frameHeaderSize {
		number := binary.LittleEndian.Uint32(b[at+4:])
		switch {
		case b[at+1]|b[at+2]|b[at+3] != 0:
			return false
		case b[at] == commitFrame:
			return at > 0 && number == crc32.Checksum(b[:at], crc32.MakeTable(crc32.Castagnoli))
		case b[at] != entryFrame && b[at] != indexFrame, number > segment.MaxEntrySize:
			return false
		}
		at += padded(number)
	}
	return false
}

// padded returns the length that a frame's content occupies in the file.
func padded(length uint32) int64 {
	return (int64(length) + frameHeaderSize - 1) / frameHeaderSize * frameHeaderSize
}

// batches walks all complete batches. torn is the end of a batch that has all its frames but the wrong CRC, or 0.
func (w *segmentWalk) batches() (torn int64, err error) {
	head := make([]byte, segmentHeaderSize)
	if ok, err := w.next(head); !ok {
		return 0, err
	}
	want := binary.LittleEndian.AppendUint64(nil, segmentMagic)
	for _, n := range []uint64{w.info.BaseIndex, w.info.ID, w.info.Codec} {
		want = binary.LittleEndian.AppendUint64(want, n)
	}
	if !bytes.Equal(head, want) {
		return 0, nil
	}
	for {
		h := make([]byte, frameHeaderSize)
		crc := w.crc
		if ok, err := w.next(h); !ok {
			return 0, err
		}
		number := binary.LittleEndian.Uint32(h[4:])
		switch {
		case h[1]|h[2]|h[3] != 0, w.indexOffset > 0 || w.sealed > 0 && h[0] != commitFrame:
			return 0, nil
		case h[0] == commitFrame:
			if number != crc {
				return w.at, nil
			}
			if err := w.commit(); err != nil {
				return 0, err
			}
		case h[0] == entryFrame, h[0] == indexFrame:
			if ok, err := w.content(h[0], number); !ok {
				return 0, err
			}
		default:
			return 0, nil
		}
	}
}

// next fills b. It returns false at the end of the file.
func (w *segmentWalk) next(b []byte) (ok bool, err error) {
	n, err := io.ReadFull(w.in, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil
	}
	w.at += int64(n)
	w.crc = crc32.Update(w.crc, crc32.MakeTable(crc32.Castagnoli), b)
	return err == nil, err
}

// content reads the content of a frame after its header.
func (w *segmentWalk) content(kind byte, length uint32) (ok bool, err error) {
	if length > segment.MaxEntrySize || w.at+padded(length) > w.size {
		return false, nil
	}
	start := w.at
	b := make([]byte, padded(length))
	if ok, err := w.next(b); !ok {
		return false, err
	}
	b = b[:length]
	index := w.info.BaseIndex + uint64(len(w.offsets)+len(w.frames))
	if kind == indexFrame {
		w.sealed = uint64(start)
		if !bytes.Equal(b, w.indexContent()) && w.firstErr == nil {
			w.firstErr = errors.New("its entry index is corrupted")
		}
		return true, nil
	}
	var entry raft.Log
	if err := readFrame(b, index, &entry, w.verify); err != nil && w.firstErr == nil {
		w.firstErr = fmt.Errorf("entry %d of the log: %w", index, err)
	}
	w.frames = append(w.frames, frame{offset: uint32(start - frameHeaderSize), term: entry.Term})
	return true, nil
}

// indexContent returns the content of an index frame for all entries read so far.
func (w *segmentWalk) indexContent() []byte {
	b := make([]byte, 0, 4*(len(w.offsets)+len(w.frames)))
	for _, offset := range w.offsets {
		b = binary.LittleEndian.AppendUint32(b, offset)
	}
	for _, f := range w.frames {
		b = binary.LittleEndian.AppendUint32(b, f.offset)
	}
	return b
}

// commit accepts a complete batch.
func (w *segmentWalk) commit() error {
	if w.firstErr != nil {
		return w.firstErr
	}
	for _, f := range w.frames {
		if err := w.visit(w.last()+1, f.term); err != nil {
			return err
		}
		w.offsets = append(w.offsets, f.offset)
	}
	w.indexOffset, w.end, w.crc = w.sealed, w.at, 0
	w.frames = w.frames[:0]
	return nil
}

// hasData reports whether a file contains anything but zeros at or after an offset.
func hasData(file io.ReaderAt, from, size int64) (bool, error) {
	in := bufio.NewReaderSize(io.NewSectionReader(file, from, size-from), 1<<16)
	for {
		if _, err := in.Peek(1); errors.Is(err, io.EOF) {
			return false, nil
		} else if err != nil {
			return false, err
		}
		b, err := in.Peek(in.Buffered())
		if err != nil {
			return false, err
		}
		if len(bytes.Trim(b, "\x00")) > 0 {
			return true, nil
		}
		if _, err := in.Discard(len(b)); err != nil {
			return false, err
		}
	}
}

// readFrame decodes an entry in raft-wal's encoding.
func readFrame(b []byte, index uint64, log *raft.Log, verify func(index uint64, log *raft.Log) error) error {
	return catchPanic(func() error {
		if err := (&wal.BinaryCodec{}).Decode(b, log); err != nil {
			return err
		}
		return verify(index, log)
	})
}
