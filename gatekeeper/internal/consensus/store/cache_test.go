package store

import (
	"testing"

	"github.com/hashicorp/raft"
)

// countingStore counts the reads from the underlying store.
type countingStore struct {
	raft.LogStore
	readCount int
}

func (c *countingStore) GetLog(index uint64, log *raft.Log) error {
	c.readCount++
	return c.LogStore.GetLog(index, log)
}

func TestCache_KeepsOnlySmallEntries(t *testing.T) {
	backing := &countingStore{LogStore: raft.NewInmemStore()}
	c := newCache(backing)
	entry := func(index, term uint64, size int) *raft.Log {
		return &raft.Log{Index: index, Term: term, Data: make([]byte, size)}
	}
	reads := func(index, term uint64, size, want int) {
		t.Helper()
		before := backing.readCount
		var got raft.Log
		if err := c.GetLog(index, &got); err != nil || got.Term != term || len(got.Data) != size {
			t.Errorf("entry %d has term %d and %d bytes (%v), want term %d and %d bytes", index, got.Term, len(got.Data), err, term, size)
		}
		if backing.readCount-before != want {
			t.Errorf("entry %d took %d reads from the store, want %d", index, backing.readCount-before, want)
		}
	}
	store := func(logs ...*raft.Log) {
		t.Helper()
		if err := c.StoreLogs(logs); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.StoreLog(entry(1, 1, maxCachedSize)); err != nil {
		t.Fatal(err)
	}
	store(entry(2, 1, maxCachedSize+1))
	store(entry(3, 1, 10), entry(4, 1, 20))
	reads(1, 1, maxCachedSize, 0)
	reads(2, 1, maxCachedSize+1, 1)
	reads(3, 1, 10, 0)
	reads(4, 1, 20, 0)

	// Large entries replace small ones, and vice versa.
	if err := c.DeleteRange(2, 4); err != nil {
		t.Fatal(err)
	}
	store(entry(2, 2, 30))
	store(entry(3, 2, maxCachedSize+2), entry(4, 2, 40))
	reads(2, 2, 30, 0)
	reads(3, 2, maxCachedSize+2, 1)
	reads(4, 2, 40, 1)

	// A large entry is not cached and does not evict the cached entry in its slot. Reading it must not return the
	// cached entry.
	for index := uint64(5); index < 2+cachedEntries; index++ {
		store(entry(index, 2, 1))
	}
	reads(2, 2, 30, 0)
	store(entry(2+cachedEntries, 2, maxCachedSize+3))
	reads(2+cachedEntries, 2, maxCachedSize+3, 1)
	reads(2, 2, 30, 0)
}
