package sim

import (
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// disk stores a member's log, votes and snapshots, and survives server restarts. A write takes time, and is lost if the
// machine loses power before it completes. The disk can be stalled, and records when each entry was first written.
type disk struct {
	*raft.InmemStore
	latency time.Duration // per write

	mu        sync.Mutex    // guards the fields below
	powerLoss chan struct{} // closed when the machine loses power
	stalled   int
	resumed   chan struct{} // closed while the disk is not stalled
	written   map[entryID]time.Time
	replaced  []raft.Log          // entries that were deleted from the end of the log
	compacted map[uint64]raft.Log // by index, entries that the member applied and then compacted into a snapshot
	snapshots []*snapshot         // completed snapshots, newest last
	installed int                 // number of snapshots received from leaders
}

// entryID identifies an entry: two entries with the same index and term are identical.
type entryID struct{ index, term uint64 }

func newDisk(latency time.Duration) *disk {
	d := &disk{
		InmemStore: raft.NewInmemStore(), latency: latency, powerLoss: make(chan struct{}), resumed: make(chan struct{}), written: make(map[entryID]time.Time), compacted: make(map[uint64]raft.Log),
	}
	close(d.resumed)
	return d
}

// stall blocks all writes until the returned function is called.
func (d *disk) stall() (resume func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stalled++; d.stalled == 1 {
		d.resumed = make(chan struct{})
	}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.stalled--; d.stalled == 0 {
			close(d.resumed)
		}
	}
}

// powerOff drops all incomplete writes, and all later writes until powerOn is called.
func (d *disk) powerOff() {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.powerLoss:
	default:
		close(d.powerLoss)
	}
}

func (d *disk) powerOn() {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.powerLoss:
		d.powerLoss = make(chan struct{})
	default:
	}
}

var errPowerLost = errors.New("the machine has lost power")

// wait blocks for as long as a write takes. It returns errPowerLost if the write is lost.
func (d *disk) wait() error {
	d.mu.Lock()
	resumed, powerLoss := d.resumed, d.powerLoss
	d.mu.Unlock()
	select {
	case <-resumed:
	case <-powerLoss:
	}
	if d.latency > 0 {
		select {
		case <-time.After(d.latency):
		case <-powerLoss:
		}
	}
	select {
	case <-powerLoss:
		return errPowerLost
	default:
		return nil
	}
}

func (d *disk) StoreLog(l *raft.Log) error { return d.StoreLogs([]*raft.Log{l}) }

func (d *disk) StoreLogs(logs []*raft.Log) error {
	if err := d.wait(); err != nil {
		return err
	}
	d.mu.Lock()
	for _, l := range logs {
		if id := (entryID{l.Index, l.Term}); d.written[id].IsZero() {
			d.written[id] = time.Now()
		}
	}
	d.mu.Unlock()
	return d.InmemStore.StoreLogs(logs)
}

func (d *disk) DeleteRange(from, to uint64) error {
	if err := d.wait(); err != nil {
		return err
	}
	for i := from; i <= to; i++ {
		var l raft.Log
		if d.InmemStore.GetLog(i, &l) == nil {
			d.recordReplaced(l)
		}
	}
	return d.InmemStore.DeleteRange(from, to)
}

// recordReplaced records an entry that is about to be replaced. It ignores entries that a snapshot covers.
func (d *disk) recordReplaced(l raft.Log) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.snapshots); n == 0 || d.snapshots[n-1].meta.Index < l.Index {
		d.replaced = append(d.replaced, l)
	}
}

func (d *disk) Set(key, value []byte) error {
	if err := d.wait(); err != nil {
		return err
	}
	return d.InmemStore.Set(key, value)
}

func (d *disk) SetUint64(key []byte, value uint64) error {
	if err := d.wait(); err != nil {
		return err
	}
	return d.InmemStore.SetUint64(key, value)
}

// entry returns the member's log entry at an index, including entries that the member's own snapshot now covers. It
// does not return entries that the member received in a snapshot.
func (d *disk) entry(index uint64) (l raft.Log, ok bool) {
	if d.InmemStore.GetLog(index, &l) == nil {
		return l, true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	l, ok = d.compacted[index]
	return l, ok
}
