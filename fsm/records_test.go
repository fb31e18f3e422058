package fsm_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/fsm"
	logv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/log/v1"
)

// readRecords splits a snapshot into records.
func readRecords(tb tester, snapshot []byte) []*logv1.Record {
	tb.Helper()
	r := bufio.NewReader(bytes.NewReader(snapshot))
	var records []*logv1.Record
	for {
		size, err := binary.ReadUvarint(r)
		if errors.Is(err, io.EOF) {
			return records
		}
		if err != nil {
			tb.Fatal(err)
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(r, body); err != nil {
			tb.Fatal(err)
		}
		record := new(logv1.Record)
		if err := proto.Unmarshal(body, record); err != nil {
			tb.Fatal(err)
		}
		records = append(records, record)
	}
}

// writeRecords encodes records as a snapshot with a new trailer.
func writeRecords(tb tester, records []*logv1.Record) []byte {
	tb.Helper()
	var b []byte
	add := func(r *logv1.Record) {
		body, err := proto.MarshalOptions{Deterministic: true}.Marshal(r)
		if err != nil {
			tb.Fatal(err)
		}
		b = append(binary.AppendUvarint(b, uint64(len(body))), body...)
	}
	count := 0
	for _, r := range records {
		if r.GetTrailer() == nil {
			add(r)
			count++
		}
	}
	sum := sha256.Sum256(b)
	add(&logv1.Record{Kind: &logv1.Record_Trailer{Trailer: &logv1.Trailer{Records: uint64(count - 1), Checksum: sum[:]}}})
	return b
}

// snapshotRecords returns the snapshot records of s as text, without the applied index and term.
func snapshotRecords(tb tester, s *fsm.State) []string {
	tb.Helper()
	var lines []string
	for _, r := range readRecords(tb, snapshot(tb, s)) {
		if h := r.GetHeader(); h != nil {
			h.AppliedIndex, h.AppliedTerm = 0, 0
		}
		if r.GetTrailer() == nil {
			lines = append(lines, prototext.Format(r))
		}
	}
	return lines
}

// withValidTrailer returns b with a valid trailer if the other records can be parsed. A fuzzer cannot guess a checksum.
func withValidTrailer(b []byte) []byte {
	rest := b
	count := 0
	for {
		size, n := binary.Uvarint(rest)
		if n <= 0 || size > uint64(len(rest)-n) {
			return b
		}
		record := new(logv1.Record)
		if proto.Unmarshal(rest[n:n+int(size)], record) != nil {
			return b
		}
		if record.GetTrailer() != nil {
			break
		}
		rest = rest[n+int(size):]
		count++
	}
	sum := sha256.Sum256(b[:len(b)-len(rest)])
	body, err := proto.Marshal(&logv1.Record{Kind: &logv1.Record_Trailer{Trailer: &logv1.Trailer{Records: uint64(count - 1), Checksum: sum[:]}}})
	if err != nil {
		return b
	}
	return append(append(slices.Clone(b[:len(b)-len(rest)]), byte(len(body))), body...)
}
