package intact

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/hashicorp/raft"
)

// sumSize is the length of a checksum.
const sumSize = 4

var errSum = errors.New("its checksum is wrong")

func sum(key, content []byte) uint32 {
	castagnoli := crc32.MakeTable(crc32.Castagnoli) // crc32 builds this table only once
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, content)
}

// Seal returns the content preceded by a checksum, the CRC-32C of key and content. Unseal rejects content stored
// under a different key. The format is frozen, because it is on disk.
func Seal(key, content []byte) []byte {
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, sumSize+len(content)), sum(key, content)), content...)
}

// Unseal checks and returns the content, which is a subslice of sealed.
func Unseal(key, sealed []byte) ([]byte, error) {
	if len(sealed) < sumSize || binary.BigEndian.Uint32(sealed) != sum(key, sealed[sumSize:]) {
		return nil, errSum
	}
	return sealed[sumSize:], nil
}

// Store is the subset of a stable store that Values uses.
type Store interface {
	Set(key, value []byte) error
	// Get returns an error with the message "not found" for a missing key.
	Get(key []byte) ([]byte, error)
}

// Values is a raft.StableStore with sealed values.
type Values struct {
	inner Store
	part  string
}

var _ raft.StableStore = (*Values)(nil)

// NewValues seals the values in inner. part is the part of the data directory to name in errors.
func NewValues(inner Store, part string) *Values { return &Values{inner, part} }

// Set writes a value.
func (v *Values) Set(key, value []byte) error { return v.inner.Set(key, Seal(key, value)) }

// Get reads a value. It returns ErrDamaged, or the inner store's error unchanged, because Raft checks for the message
// "not found".
func (v *Values) Get(key []byte) ([]byte, error) {
	sealed, err := v.inner.Get(key)
	if err != nil {
		return nil, err
	}
	value, err := Unseal(key, sealed)
	if err != nil {
		return nil, Damaged(v.part, "the value of %s: %w", key, err)
	}
	return value, nil
}

// SetUint64 writes a number.
func (v *Values) SetUint64(key []byte, value uint64) error {
	return v.Set(key, binary.BigEndian.AppendUint64(nil, value))
}

// GetUint64 reads a number. It returns the same errors as Get.
func (v *Values) GetUint64(key []byte) (uint64, error) {
	value, err := v.Get(key)
	if err != nil {
		return 0, err
	}
	if len(value) != 8 {
		return 0, Damaged(v.part, "the value of %s is %d bytes long", key, len(value))
	}
	return binary.BigEndian.Uint64(value), nil
}
