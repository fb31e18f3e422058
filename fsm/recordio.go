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

// maxRecord is far above any record that is written; a longer one is damage, found before memory is taken for it.
const maxRecord = 64 << 20

// recordWriter writes length-prefixed records and keeps the first error; after it, it writes nothing.
type recordWriter struct {
	writer
	to    io.Writer
	count uint64
	buf   []byte
}

// write reports whether to go on.
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

// Records are handed over in batches of so many, or of so many bytes, and so many batches wait at most.
const (
	batchRecords = 256
	batchBytes   = 1 << 20
	batches      = 4
)

// recordReader reads what recordWriter wrote.
type recordReader struct {
	from *bufio.Reader
	sum  hash.Hash    // of every record but the last one read
	last bytes.Buffer // the last one read, with its length
}

func newRecordReader(from io.Reader) *recordReader {
	return &recordReader{from: bufio.NewReaderSize(from, 1<<16), sum: sha256.New()}
}

var errCutShort = errors.New("it ends before its trailer: it was cut short")

func (r *recordReader) next() (*logv1.Record, error) {
	r.sum.Write(r.last.Bytes())
	r.last.Reset()
	size, err := binary.ReadUvarint(r.from)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errCutShort
	case err != nil:
		return nil, err
	case size > maxRecord:
		return nil, fmt.Errorf("it claims a length of %d bytes: it is damaged", size)
	}
	prefix := binary.AppendUvarint(r.last.AvailableBuffer(), size)
	r.last.Write(prefix)
	// The buffer grows with what arrives, not with what a damaged length claims.
	if n, err := io.CopyN(&r.last, r.from, int64(size)); errors.Is(err, io.EOF) && uint64(n) < size {
		return nil, errCutShort
	} else if err != nil {
		return nil, err
	}
	record := new(logv1.Record)
	if err := proto.Unmarshal(r.last.Bytes()[len(prefix):], record); err != nil {
		return nil, fmt.Errorf("it is damaged: %w", err)
	}
	return record, nil
}

// ahead gives the records up to the trailer, or to an error, which is the last. They are read and decoded on a separate
// goroutine, beside the caller. It has ended when ahead returns; and with the trailer it is done, and r the caller's
// again. A panic of it is the caller's.
func (r *recordReader) ahead() iter.Seq2[*logv1.Record, error] {
	return func(yield func(*logv1.Record, error) bool) {
		read, enough := make(chan batch, batches), make(chan struct{})
		go func() {
			defer close(read)
			for over := false; !over; {
				b := r.batch()
				over = b.over
				select {
				case read <- b:
				case <-enough:
					return
				}
			}
		}()
		defer func() {
			close(enough)
			for range read { // until it has ended
			}
		}()
		for b := range read {
			for _, record := range b.records {
				if !yield(record, nil) {
					return
				}
			}
			if b.fault != nil {
				panic(b.fault)
			}
			if b.err != nil {
				yield(nil, b.err)
				return
			}
		}
	}
}

// batch is some records, and what came behind them.
type batch struct {
	records []*logv1.Record
	over    bool // nothing follows: the trailer is among them, or there is an error or a panic
	err     error
	fault   any
}

func (r *recordReader) batch() (b batch) {
	b.records = make([]*logv1.Record, 0, batchRecords)
	defer func() {
		if b.fault = recover(); b.fault != nil {
			b.over = true
		}
	}()
	for size := 0; len(b.records) < batchRecords && size < batchBytes && !b.over; size += r.last.Len() {
		record, err := r.next()
		if err != nil {
			b.over, b.err = true, err
			break
		}
		b.records = append(b.records, record)
		b.over = record.GetTrailer() != nil
	}
	return b
}

// checksum is that of all records before the last one read.
func (r *recordReader) checksum() [sha256.Size]byte { return digest(r.sum) }

// end checks that nothing follows.
func (r *recordReader) end() error {
	if _, err := r.from.ReadByte(); err == nil {
		return errors.New("bytes follow its trailer")
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func digest(h hash.Hash) (out [sha256.Size]byte) {
	h.Sum(out[:0])
	return out
}
