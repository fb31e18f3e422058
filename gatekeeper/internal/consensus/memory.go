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

// Disk is where a Memory keeps the log and the votes.
type Disk interface {
	raft.LogStore
	raft.StableStore
}

// Memory takes the place of a data folder's disk, for tests: what is in it survives its Node and is gone with the
// process.
type Memory struct {
	options   MemoryOptions
	log       Disk
	snapshots raft.SnapshotStore

	mu    sync.Mutex // guards what follows
	used  bool
	files map[string][]byte
}

// MemoryOptions are for simulations of whole clusters.
type MemoryOptions struct {
	// Dial, when set, is how the server reaches the others, in a network of the test's own.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Pace, when not zero, is how often snapshots are taken, as a disk's Config says it.
	Pace SnapshotPace
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory { return NewMemoryOn(raft.NewInmemStore(), MemoryOptions{}) }

// Dial is that of MemoryOptions; nil: the server is alone.
func (m *Memory) Dial() func(ctx context.Context, address string) (net.Conn, error) {
	return m.options.Dial
}

// SnapshotPace is a Config's SnapshotThreshold, SnapshotInterval and TrailingLogs.
type SnapshotPace struct {
	Threshold uint64
	Interval  time.Duration
	Trailing  uint64
}

// NewMemoryOn returns a Memory whose log and votes are on a disk of the test's own, which may be slow or remember what
// it did. A disk that is a raft.SnapshotStore keeps the snapshots too.
func NewMemoryOn(disk Disk, options MemoryOptions) *Memory {
	m := &Memory{options: options, log: disk, files: make(map[string][]byte)}
	var ok bool
	if m.snapshots, ok = disk.(raft.SnapshotStore); !ok {
		m.snapshots = raft.NewInmemSnapshotStore()
	}
	return m
}

// lock is what lockFolder is to a disk.
func (m *Memory) lock() (*memoryLock, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used {
		return nil, fmt.Errorf("%w by another server of this process", ErrFolderInUse)
	}
	m.used = true
	return &memoryLock{m}, nil
}

type memoryLock struct{ *Memory }

func (l *memoryLock) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used = false
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

// stores are guarded and have checksums as those of a disk, so that a server behaves the same on both.
func (m *Memory) stores(guard *store.Guard) stores {
	log := store.NewLog(intact.NewEntries(m.log, "memory"), guard)
	return stores{
		log:       log,
		stable:    store.NewStable(intact.NewValues(m.log, "memory"), guard),
		snapshots: store.NewSnapshots(m.snapshots, log, guard),
		close:     func() error { return nil },
	}
}
