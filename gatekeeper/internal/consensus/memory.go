package consensus

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/intact"
)

// Disk stores the log and the votes of a Memory.
type Disk interface {
	raft.LogStore
	raft.StableStore
}

// Memory replaces the disk of a data directory in tests. Its contents outlive its Node, but not the process.
type Memory struct {
	options   MemoryOptions
	log       Disk
	snapshots raft.SnapshotStore

	mu    sync.Mutex // guards the fields below
	inUse bool
	files map[string][]byte
}

// MemoryOptions configures a Memory for simulating whole clusters.
type MemoryOptions struct {
	// Dial, if set, connects the server to the others through a simulated network.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Pace, if not zero, overrides how often snapshots are taken.
	Pace SnapshotPace
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory { return NewMemoryOn(raft.NewInmemStore(), MemoryOptions{}) }

// Dial returns MemoryOptions.Dial. If it is nil, the server runs alone.
func (m *Memory) Dial() func(ctx context.Context, address string) (net.Conn, error) {
	return m.options.Dial
}

// SnapshotPace holds a Config's SnapshotThreshold, SnapshotInterval and TrailingLogs.
type SnapshotPace struct {
	Threshold uint64
	Interval  time.Duration
	Trailing  uint64
}

// NewMemoryOn returns a Memory whose log and votes are on the given disk, which may be slow or record its operations. A
// disk that implements raft.SnapshotStore also stores the snapshots.
func NewMemoryOn(disk Disk, options MemoryOptions) *Memory {
	m := &Memory{options: options, log: disk, files: make(map[string][]byte)}
	var ok bool
	if m.snapshots, ok = disk.(raft.SnapshotStore); !ok {
		m.snapshots = raft.NewInmemSnapshotStore()
	}
	return m
}

// lock is the counterpart of lockDataDir.
func (m *Memory) lock() (*memoryLock, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.inUse {
		return nil, fmt.Errorf("%w by another server in this process", ErrDataDirInUse)
	}
	m.inUse = true
	return &memoryLock{m}, nil
}

type memoryLock struct{ *Memory }

func (l *memoryLock) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inUse = false
	return nil
}

func (m *Memory) read(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return slices.Clone(data), nil
}

func (m *Memory) write(name string, data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[name] = slices.Clone(data)
}

func (m *Memory) hasState() bool {
	last, err := m.log.LastIndex()
	snapshots, _ := m.snapshots.List() // never fails
	return last > 0 && err == nil || len(snapshots) > 0
}

// stores returns stores with the same guards and checksums as those on disk, so that a server behaves the same on both.
func (m *Memory) stores(guard *store.Guard) stores {
	queue := store.NewAppendQueue(store.NewLog(intact.NewEntries(m.log, "memory"), guard))
	return stores{
		log:       queue,
		stable:    store.NewStable(intact.NewValues(m.log, "memory"), queue),
		snapshots: store.NewSnapshots(m.snapshots, queue, guard),
		queue:     queue,
		close:     func() error { queue.Close(); return nil },
	}
}
