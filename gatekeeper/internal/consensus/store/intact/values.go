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
	castagnoli := crc32.MakeTable(crc32.Castagnoli) // the library makes it once, and compares pointers
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, content)
}

// Seal returns content behind its checksum, the CRC-32C of key and content. Content that is found under another key
// does not pass Unseal. The format is frozen: it is on disk.
func Seal(key, content []byte) []byte {
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, sumSize+len(content)), sum(key, content)), content...)
}

// Unseal returns the content, which is part of sealed.
func Unseal(key, sealed []byte) ([]byte, error) {
	if len(sealed) < sumSize || binary.BigEndian.Uint32(sealed) != sum(key, sealed[sumSize:]) {
		return nil, errSum
	}
	return sealed[sumSize:], nil
}

// Store is what Values needs of a stable store.
type Store interface {
	Set(key, value []byte) error
	// Get returns an error with the text "not found" for an absent key.
	Get(key []byte) ([]byte, error)
}

// Values is a raft.StableStore whose values are sealed.
type Values struct {
	inner Store
	part  string
}

var _ raft.StableStore = (*Values)(nil)

// NewValues seals the values of inner, which is the part of the data folder that Damaged names.
func NewValues(inner Store, part string) *Values { return &Values{inner, part} }

// Set writes a value.
func (v *Values) Set(key, value []byte) error { return v.inner.Set(key, Seal(key, value)) }

// Get reads a value. Errors: ErrDamaged, and those of the inner store, as they are: Raft compares the text "not found".
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

// GetUint64 reads a number. Errors: as Get.
func (v *Values) GetUint64(key []byte) (uint64, error) {
	value, err := v.Get(key)
	if err != nil {
		return 0, err
	}
	if len(value) != 8 {
		return 0, Damaged(v.part, "the value of %s has %d bytes", key, len(value))
	}
	return binary.BigEndian.Uint64(value), nil
}
