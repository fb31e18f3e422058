package intact

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// inner is an in-memory log that a test can change.
type inner struct{ *raft.InmemStore }

func (i inner) entry(t *testing.T, index uint64) *raft.Log {
	t.Helper()
	var log raft.Log
	if err := i.GetLog(index, &log); err != nil {
		t.Fatal(err)
	}
	return &log
}

func (i inner) set(t *testing.T, log *raft.Log) {
	t.Helper()
	if err := i.StoreLog(log); err != nil {
		t.Fatal(err)
	}
}

func newEntries(t *testing.T, logs ...*raft.Log) (*Entries, inner) {
	t.Helper()
	backing := inner{raft.NewInmemStore()}
	e := NewEntries(backing, "the file")
	if err := e.StoreLogs(logs); err != nil {
		t.Fatal(err)
	}
	return e, backing
}

func TestEntries_StoredEntries_AreReadBack(t *testing.T) {
	logs := []*raft.Log{
		{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: []byte("members"), AppendedAt: time.Unix(7, 9).UTC()},
		{Index: 2, Term: 3, Type: raft.LogNoop},
	}
	want := []raft.Log{*logs[0], *logs[1]}
	e, backing := newEntries(t, logs...)
	for i := range want {
		if !reflect.DeepEqual(*logs[i], want[i]) {
			t.Errorf("the caller's entry %d was changed: %+v", i+1, *logs[i])
		}
		if len(backing.entry(t, uint64(i+1)).Extensions) != sumSize {
			t.Errorf("entry %d is stored without a checksum", i+1)
		}
		var got raft.Log
		if err := e.GetLog(uint64(i+1), &got); err != nil || !reflect.DeepEqual(got, want[i]) {
			t.Errorf("entry %d is %+v, %v, want %+v", i+1, got, err, want[i])
		}
	}
	if err := e.GetLog(3, &raft.Log{}); !errors.Is(err, raft.ErrLogNotFound) || errors.Is(err, ErrDamaged) {
		t.Errorf("GetLog of a missing entry = %v, want raft.ErrLogNotFound", err)
	}
}

func TestEntries_Changed_IsDamaged(t *testing.T) {
	for what, change := range map[string]func(log *raft.Log){
		"different index":             func(log *raft.Log) { log.Index = 2 },
		"different term":              func(log *raft.Log) { log.Term++ },
		"different type":              func(log *raft.Log) { log.Type = raft.LogNoop },
		"different time":              func(log *raft.Log) { log.AppendedAt = log.AppendedAt.Add(1) },
		"flipped bit":                 func(log *raft.Log) { log.Data = bytes.Clone(log.Data); log.Data[3] ^= 4 },
		"truncated data":              func(log *raft.Log) { log.Data = log.Data[:4] },
		"no data":                     func(log *raft.Log) { log.Data = nil },
		"no checksum":                 func(log *raft.Log) { log.Extensions = nil },
		"half a checksum":             func(log *raft.Log) { log.Extensions = log.Extensions[:2] },
		"extra data after a checksum": func(log *raft.Log) { log.Extensions = append(bytes.Clone(log.Extensions), 0) },
		"checksum of another entry":   func(log *raft.Log) { log.Extensions = appendSum(nil, &raft.Log{Index: log.Index, Term: log.Term}) },
	} {
		e, backing := newEntries(t, &raft.Log{Index: 1, Term: 4, Data: []byte("the name"), AppendedAt: time.Unix(7, 9)})
		log := *backing.entry(t, 1)
		change(&log)
		stored := log
		backing.set(t, &stored)
		var got raft.Log
		err := e.GetLog(log.Index, &got)
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "the file: entry") {
			t.Errorf("%s: GetLog() = %v, want ErrDamaged", what, err)
		}
		if got.Data != nil || got.Term != 0 {
			t.Errorf("%s: GetLog() returned %+v, want an empty entry", what, got)
		}
	}
}

// misplaced returns entry 1 for every index.
type misplaced struct{ inner }

func (m misplaced) GetLog(_ uint64, log *raft.Log) error { return m.inner.GetLog(1, log) }

func TestEntries_AtDifferentIndex_IsDamaged(t *testing.T) {
	_, backing := newEntries(t, &raft.Log{Index: 1, Term: 4, Data: []byte("the name")})
	err := NewEntries(misplaced{backing}, "the file").GetLog(2, &raft.Log{})
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "found entry 1 instead") {
		t.Error(err)
	}
}

// Raft replicates Extensions. A checksum that arrives with an entry covers the leader's entry, not what this member
// stores.
func TestEntries_LeaderChecksum_IsNotKept(t *testing.T) {
	leader, backing := newEntries(t, &raft.Log{Index: 1, Term: 4, Data: []byte("the name")})
	var sent raft.Log
	if err := leader.GetLog(1, &sent); err != nil || sent.Extensions != nil {
		t.Errorf("the leader sent extensions %x, %v, want none", sent.Extensions, err)
	}
	raw := *backing.entry(t, 1)
	follower, own := newEntries(t)
	if err := follower.StoreLogs([]*raft.Log{&raw}); err != nil {
		t.Errorf("StoreLogs of an entry with a matching checksum = %v, want nil", err)
	}
	if &own.entry(t, 1).Extensions[0] == &raw.Extensions[0] {
		t.Error("the follower kept the leader's checksum")
	}
	changed := raw
	changed.Index, changed.Data = 2, []byte("the nabe") // changed in flight
	if err := follower.StoreLogs([]*raft.Log{&changed}); err == nil {
		t.Error("an entry that does not match its checksum was stored")
	}
}

func TestEntries_ForeignExtensions_AreRefused(t *testing.T) {
	e, _ := newEntries(t)
	err := e.StoreLogs([]*raft.Log{{Index: 1, Term: 1}, {Index: 2, Term: 1, Extensions: []byte("chunk 1 of 3")}})
	if err == nil || !strings.Contains(err.Error(), "entry 2 carries extensions") {
		t.Error(err)
	}
	if last, err := e.LastIndex(); err != nil || last != 0 {
		t.Errorf("LastIndex() = %d, %v, want 0", last, err)
	}
}

type monotonic struct{ *raft.InmemStore }

func (monotonic) IsMonotonic() bool { return true }

func TestEntries_IsMonotonic_IsForwarded(t *testing.T) {
	if NewEntries(raft.NewInmemStore(), "").IsMonotonic() || !NewEntries(monotonic{}, "").IsMonotonic() {
		t.Error("IsMonotonic() differs from the inner log's")
	}
}

func FuzzVerify(f *testing.F) {
	f.Add(uint64(1), uint64(2), byte(0), []byte("data"), []byte{1, 2, 3, 4}, 3)
	f.Fuzz(func(t *testing.T, index, term uint64, kind byte, data, extensions []byte, bit int) {
		log := raft.Log{Index: index, Term: term, Type: raft.LogType(kind), Data: data, Extensions: extensions}
		if Verify(index, &log) == nil && !bytes.Equal(extensions, appendSum(nil, &raft.Log{Index: index, Term: term, Type: raft.LogType(kind), Data: data})) {
			t.Error("a different checksum was accepted")
		}
		log = raft.Log{Index: index, Term: term, Type: raft.LogType(kind), Data: bytes.Clone(data)}
		log.Extensions = appendSum(nil, &log)
		if len(data) > 0 {
			bit = int(uint(bit) % uint(8*len(data)))
			log.Data[bit/8] ^= 1 << (bit % 8)
			if Verify(index, &log) == nil {
				t.Errorf("bit %d flipped: the damage was not detected", bit)
			}
		}
	})
}
