package store

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"slices"
	"time"

	"github.com/hashicorp/raft"
)

// A record is what stands under a key: the CRC-32C of key and content, then the content. The key is in the sum, so that a
// record that is found under another key is noticed too.
const sumSize = 4

var errSum = errors.New("its checksum is wrong")

func sum(key, content []byte) uint32 {
	castagnoli := crc32.MakeTable(crc32.Castagnoli) // made once by the library, which compares pointers
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, content)
}

// seal writes the sum into a record whose content is there.
func seal(key, record []byte) []byte {
	binary.BigEndian.PutUint32(record, sum(key, record[sumSize:]))
	return record
}

func sealed(key, content []byte) []byte {
	return seal(key, append(make([]byte, sumSize, sumSize+len(content)), content...))
}

// unseal returns the content, which is part of record.
func unseal(key, record []byte) ([]byte, error) {
	if len(record) < sumSize || binary.BigEndian.Uint32(record) != sum(key, record[sumSize:]) {
		return nil, errSum
	}
	return record[sumSize:], nil
}

func indexKey(index uint64) []byte { return binary.BigEndian.AppendUint64(nil, index) }

// noTime stands for the zero time.
const noTime = math.MinInt64

// entryRecord is frozen: sum, term, type, Unix nanoseconds of its appending, length of the extensions, extensions, data. The
// index is the key.
func entryRecord(key []byte, log *raft.Log) []byte {
	appended := int64(noTime)
	if !log.AppendedAt.IsZero() {
		appended = log.AppendedAt.UnixNano()
	}
	r := make([]byte, sumSize, sumSize+8+1+8+binary.MaxVarintLen64+len(log.Extensions)+len(log.Data))
	r = binary.BigEndian.AppendUint64(r, log.Term)
	r = append(r, byte(log.Type))
	r = binary.BigEndian.AppendUint64(r, uint64(appended))
	r = binary.AppendUvarint(r, uint64(len(log.Extensions)))
	r = append(r, log.Extensions...)
	return seal(key, append(r, log.Data...))
}

// readEntry sets log, which shares nothing with record.
func readEntry(key, record []byte, log *raft.Log) error {
	content, err := unseal(key, record)
	if err != nil {
		return err
	}
	const head = 8 + 1 + 8
	if len(key) != 8 || len(content) < head {
		return errors.New("it is too short")
	}
	size, n := binary.Uvarint(content[head:])
	if n <= 0 || size > uint64(len(content)-head-n) {
		return errors.New("its lengths are wrong")
	}
	rest := content[head+n:]
	*log = raft.Log{
		Index: binary.BigEndian.Uint64(key),
		Term:  binary.BigEndian.Uint64(content),
		Type:  raft.LogType(content[8]),
		Data:  some(rest[size:]), Extensions: some(rest[:size]),
	}
	if appended := int64(binary.BigEndian.Uint64(content[9:])); appended != noTime {
		log.AppendedAt = time.Unix(0, appended).UTC()
	}
	return nil
}

// some is a copy of b; nil for an empty one, as Raft writes it.
func some(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return slices.Clone(b)
}
