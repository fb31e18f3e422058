package intact

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/raft"
)

func TestValues_Changed_ErrorNamesDamagedValue(t *testing.T) {
	backing := raft.NewInmemStore()
	v := NewValues(backing, "the file")
	if err := errors.Join(v.SetUint64([]byte("term"), 7), v.Set([]byte("vote"), []byte("gk1"))); err != nil {
		t.Fatal(err)
	}
	if term, err := v.GetUint64([]byte("term")); term != 7 || err != nil {
		t.Errorf("GetUint64() = %d, %v, want 7", term, err)
	}
	sealed, err := backing.Get([]byte("vote"))
	if err != nil {
		t.Fatal(err)
	}
	for at := range 8 * len(sealed) {
		flipped := bytes.Clone(sealed)
		flipped[at/8] ^= 1 << (at % 8)
		if err := backing.Set([]byte("vote"), flipped); err != nil {
			t.Fatal(err)
		}
		if val, err := v.Get([]byte("vote")); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "the file: the value of vote") {
			t.Errorf("bit %d flipped: Get() = %q, %v, want ErrDamaged", at, val, err)
		}
	}
	if err := backing.Set([]byte("term"), sealed); err != nil { // stored under a different key
		t.Fatal(err)
	}
	if _, err := v.GetUint64([]byte("term")); !errors.Is(err, ErrDamaged) {
		t.Errorf("a value from another key: got error %v, want ErrDamaged", err)
	}
	if err := v.Set([]byte("term"), []byte("seven")); err != nil {
		t.Fatal(err)
	}
	if _, err := v.GetUint64([]byte("term")); !errors.Is(err, ErrDamaged) {
		t.Errorf("a five-byte number: got error %v, want ErrDamaged", err)
	}
}

// Raft recognizes a missing key by the text of the error.
func TestValues_MissingKey_ReturnsErrorTextRaftExpects(t *testing.T) {
	v := NewValues(raft.NewInmemStore(), "the file")
	_, err := v.Get([]byte("vote"))
	_, errNumber := v.GetUint64([]byte("term"))
	if err == nil || err.Error() != "not found" || errNumber == nil || errNumber.Error() != "not found" {
		t.Errorf("Get and GetUint64 = %v, %v, want not found", err, errNumber)
	}
}
