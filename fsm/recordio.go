package fsm

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"

	"google.golang.org/protobuf/proto"

	logv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/log/v1"
)

// maxRecord is far larger than any record that is ever written. A longer record must be damaged and is rejected before
// memory is allocated for it.
const maxRecord = 64 << 20

// recordWriter writes length-prefixed records. It keeps the first error and then writes nothing more.
type recordWriter struct {
	writer
	to    io.Writer
	count uint64
	buf   []byte
}

// write writes a record and reports whether to continue.
func (w *recordWriter) write(record *logv1.Record) bool {
	if w.err != nil {
		return false
	}
	w.buf = binary.AppendUvarint(w.buf[:0], uint64(marshaling.Size(record)))
	if w.buf, w.err = marshaling.MarshalAppend(w.buf, record); w.err != nil {
		return false
	}
	if _, w.err = w.to.Write(w.buf); w.err != nil {
		return false
	}
	w.count++
	return true
}

// The reader delivers records in batches that are limited by count and size, and queues a limited number of batches.
const (
	batchRecords = 256
	batchBytes   = 1 << 20
	batches      = 4
)

// recordReader reads the output of recordWriter.
type recordReader struct {
	from *bufio.Reader
	sum  hash.Hash    // of every record except the last one read
	last bytes.Buffer // the last record read, with its length prefix
}

func newRecordReader(from io.Reader) *recordReader {
	return &recordReader{from: bufio.NewReaderSize(from, 1<<16), sum: sha256.New()}
}

var errTruncated = errors.New("truncated: the snapshot ends before its trailer")

func (r *recordReader) next() (*logv1.Record, error) {
	r.sum.Write(r.last.Bytes())
	r.last.Reset()
	size, err := binary.ReadUvarint(r.from)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errTruncated
	case err != nil:
		return nil, err
	case size > maxRecord:
		return nil, fmt.Errorf("damaged: its stated length is %d bytes", size)
	}
	prefix := binary.AppendUvarint(r.last.AvailableBuffer(), size)
	r.last.Write(prefix)
	// The buffer grows with the received data, not with a length that may be damaged.
	if n, err := io.CopyN(&r.last, r.from, int64(size)); errors.Is(err, io.EOF) && uint64(n) < size {
		return nil, errTruncated
	} else if err != nil {
		return nil, err
	}
	record := new(logv1.Record)
	if err := proto.Unmarshal(r.last.Bytes()[len(prefix):], record); err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	return record, nil
}

// readAhead yields the records up to and including the trailer, or up to an error, which it yields last. A separate
// goroutine reads and decodes them ahead of the caller. The goroutine exits before the iteration ends and does not use
// r after reading the trailer. A panic in the goroutine is re-raised in the caller.
func (r *recordReader) readAhead() iter.Seq2[*logv1.Record, error] {
	return func(yield func(*logv1.Record, error) bool) {
		read, stop := make(chan batch, batches), make(chan struct{})
		go func() {
			defer close(read)
			for final := false; !final; {
				b := r.batch()
				final = b.final
				select {
				case read <- b:
				case <-stop:
					return
				}
			}
		}()
		defer func() {
			close(stop)
			for range read { // wait until the goroutine has exited
			}
		}()
		for b := range read {
			for _, record := range b.records {
				if !yield(record, nil) {
					return
				}
			}
			if b.panicValue != nil {
				panic(b.panicValue)
			}
			if b.err != nil {
				yield(nil, b.err)
				return
			}
		}
	}
}

// batch holds consecutive records. The last batch also holds the reason for stopping.
type batch struct {
	records    []*logv1.Record
	final      bool // set in the last batch, which holds the trailer, an error or a panic
	err        error
	panicValue any
}

func (r *recordReader) batch() (b batch) {
	b.records = make([]*logv1.Record, 0, batchRecords)
	defer func() {
		if b.panicValue = recover(); b.panicValue != nil {
			b.final = true
		}
	}()
	for size := 0; len(b.records) < batchRecords && size < batchBytes && !b.final; size += r.last.Len() {
		record, err := r.next()
		if err != nil {
			b.final, b.err = true, err
			break
		}
		b.records = append(b.records, record)
		b.final = record.GetTrailer() != nil
	}
	return b
}

// checksum returns the checksum of all records before the last one read.
func (r *recordReader) checksum() [sha256.Size]byte { return digest(r.sum) }

// expectEOF checks that nothing follows the trailer.
func (r *recordReader) expectEOF() error {
	if _, err := r.from.ReadByte(); err == nil {
		return errors.New("unexpected bytes after the trailer")
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func digest(h hash.Hash) (out [sha256.Size]byte) {
	h.Sum(out[:0])
	return out
}
