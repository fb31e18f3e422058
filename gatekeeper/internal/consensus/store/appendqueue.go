package store

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// maxQueued is the maximum number of entries in an AppendQueue. When the queue is full, StoreLogs waits for the disk,
// as it would without a queue. The maximum is smaller than Raft's buffer in front of the state machine (128), because
// the entries in that buffer wait for the queue, and Raft's main loop must not wait for them.
const maxQueued = 64

// AppendQueue is a raft.LogStore that lets a leader write its log while its followers write theirs (Ongaro's thesis,
// section 10.2.1). While this member leads, StoreLogs puts commands into the queue and returns, and a single goroutine
// writes them. Reads include the queue. Any code that relies on an entry must call Wait or Durable first, and every
// other write to the log or the stable store first waits for the queue. The documentation of package consensus explains
// why this is safe. All methods are safe for concurrent use.
type AppendQueue struct {
	log   *Log
	guard *Guard
	leads atomic.Pointer[func() bool]

	wake    chan struct{} // holds a token after entries have been added
	stop    chan struct{} // closed by Close
	stopped chan struct{} // closed when the writing goroutine has exited
	closing sync.Once

	mu      sync.Mutex // guards the fields below
	entries []*raft.Log
	written chan struct{} // closed and replaced when entries have been written
}

var (
	_ raft.LogStore          = (*AppendQueue)(nil)
	_ raft.MonotonicLogStore = (*AppendQueue)(nil)
)

// NewAppendQueue returns an empty queue for log. Call Close to stop its goroutine.
func NewAppendQueue(log *Log) *AppendQueue {
	q := &AppendQueue{
		log: log, guard: log.guard,
		wake: make(chan struct{}, 1), stop: make(chan struct{}), stopped: make(chan struct{}), written: make(chan struct{}),
	}
	go q.write()
	return q
}

// Enable lets StoreLogs return early while leads reports that this member is the leader. StoreLogs calls leads on
// Raft's main goroutine, the only one that changes the role. Before Enable, every write is synchronous.
func (q *AppendQueue) Enable(leads func() bool) { q.leads.Store(&leads) }

func (q *AppendQueue) write() {
	defer close(q.stopped)
	for open := true; open; {
		select {
		case <-q.wake:
		case <-q.stop:
			open = false // exit after writing what is still queued
		}
		for batch := q.queued(); len(batch) > 0; batch = q.queued() {
			_ = q.log.StoreLogs(batch) // does not return if it fails
			q.mu.Lock()
			q.entries = append([]*raft.Log(nil), q.entries[len(batch):]...) // releases the written entries
			close(q.written)
			q.written = make(chan struct{})
			q.mu.Unlock()
		}
	}
}

// queued returns the entries that have not been written yet.
func (q *AppendQueue) queued() []*raft.Log {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clip(q.entries)
}

// waitUntil waits until done reports true for the queued entries. It never returns if a write fails first.
func (q *AppendQueue) waitUntil(done func(queued []*raft.Log) bool) {
	for {
		q.mu.Lock()
		ok, written := done(q.entries), q.written
		q.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-written:
		case <-q.guard.Failed():
			q.guard.halt()
		}
	}
}

// Drain waits until the queue is empty. Like a store call, it does not return after a fault.
func (q *AppendQueue) Drain() { q.waitUntil(func(queued []*raft.Log) bool { return len(queued) == 0 }) }

// Wait waits until all stored entries up to index are on disk. Like a store call, it does not return after a fault.
func (q *AppendQueue) Wait(index uint64) {
	q.waitUntil(func(queued []*raft.Log) bool { return len(queued) == 0 || index < queued[0].Index })
}

// Durable returns an index up to which all entries that were stored before the call are on disk. It is the maximum
// integer if the queue is empty.
func (q *AppendQueue) Durable() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.entries) == 0 {
		return math.MaxUint64
	}
	return q.entries[0].Index - 1
}

// mayQueue reports whether entries may be stored after StoreLogs has returned: this member must lead, and all of them
// must be commands. Raft acts on a configuration entry as soon as it is stored.
func (q *AppendQueue) mayQueue(logs []*raft.Log) bool {
	leads := q.leads.Load()
	return leads != nil && (*leads)() && !slices.ContainsFunc(logs, func(l *raft.Log) bool { return l.Type != raft.LogCommand })
}

func (q *AppendQueue) StoreLog(log *raft.Log) error { return q.StoreLogs([]*raft.Log{log}) }

func (q *AppendQueue) StoreLogs(logs []*raft.Log) error {
	if !q.mayQueue(logs) {
		q.Drain()
		return q.log.StoreLogs(logs)
	}
	q.waitUntil(func(queued []*raft.Log) bool { return len(queued) == 0 || len(queued)+len(logs) <= maxQueued })
	if q.guard.Err() != nil {
		q.guard.halt()
	}
	q.mu.Lock()
	q.entries = append(q.entries, logs...)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return nil
}

func (q *AppendQueue) GetLog(index uint64, log *raft.Log) error {
	if queued := q.queued(); len(queued) > 0 && index >= queued[0].Index {
		i := index - queued[0].Index
		if i >= uint64(len(queued)) {
			return raft.ErrLogNotFound
		}
		*log = *queued[i]
		return nil
	}
	return q.log.GetLog(index, log)
}

func (q *AppendQueue) FirstIndex() (uint64, error) {
	if first, err := q.log.FirstIndex(); first > 0 || err != nil {
		return first, err
	}
	q.Drain() // the first entry may be in the queue
	return q.log.FirstIndex()
}

func (q *AppendQueue) LastIndex() (uint64, error) {
	if queued := q.queued(); len(queued) > 0 {
		return queued[len(queued)-1].Index, nil
	}
	return q.log.LastIndex()
}

// DeleteRange waits until the first entry after max is on disk too, if it was stored. Otherwise, a log that a leader
// trims after a snapshot could appear to end at max and be deleted from the back while the queue appends to it.
// DeleteRange does not wait for later entries, which a leader may add continuously while it trims its log.
func (q *AppendQueue) DeleteRange(min, max uint64) error {
	q.Wait(max + 1)
	return q.log.DeleteRange(min, max)
}

// IsMonotonic reports whether the underlying log is monotonic.
func (q *AppendQueue) IsMonotonic() bool { return q.log.IsMonotonic() }

// Close waits until all queued entries have been written or, if a write has failed, until the guard is released. It
// then stops the goroutine. Do not store entries during or after the call.
func (q *AppendQueue) Close() {
	q.closing.Do(func() {
		close(q.stop)
		<-q.stopped
	})
}
