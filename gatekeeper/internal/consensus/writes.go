package consensus

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Writes summarizes how long the latest writes to this member's log took, including the sync.
type Writes struct {
	Count           int
	Median, Longest time.Duration
}

// writes records the durations of the latest writes. The zero value is ready to use.
type writes struct {
	mu   sync.Mutex // guards took and n
	took [128]time.Duration
	n    int // number of writes recorded so far
}

func (w *writes) record(took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.took[w.n%len(w.took)] = took
	w.n++
}

func (w *writes) latest() Writes {
	w.mu.Lock()
	took := slices.Clone(w.took[:min(w.n, len(w.took))])
	w.mu.Unlock()
	if len(took) == 0 {
		return Writes{}
	}
	slices.Sort(took)
	return Writes{Count: len(took), Median: took[len(took)/2], Longest: took[len(took)-1]}
}

// Writes returns statistics on the latest writes to this member's log.
func (n *Node) Writes() Writes { return n.metrics.writes.latest() }

// Snapshot describes a snapshot stored on this member.
type Snapshot struct {
	Index uint64
	Bytes int64
	At    time.Time // zero if unknown
}

// LastSnapshot returns this member's latest snapshot, or false if it has none.
func (n *Node) LastSnapshot() (Snapshot, bool) {
	list, err := n.stores.snapshots.List()
	if err != nil || len(list) == 0 {
		return Snapshot{}, false
	}
	s := Snapshot{Index: list[0].Index, Bytes: list[0].Size}
	// Raft's file store names a snapshot term-index-milliseconds.
	if ms, err := strconv.ParseInt(list[0].ID[strings.LastIndexByte(list[0].ID, '-')+1:], 10, 64); err == nil {
		s.At = time.UnixMilli(ms)
	}
	return s, true
}
