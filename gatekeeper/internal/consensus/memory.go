package consensus

import (
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store"
)

// Memory takes the place of a data folder's disk, for tests: what is in it survives its Node and is gone with the process.
type Memory struct {
	log       *raft.InmemStore
	snapshots *raft.InmemSnapshotStore

	mu    sync.Mutex // guards what follows
	used  bool
	files map[string][]byte
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	return &Memory{log: raft.NewInmemStore(), snapshots: raft.NewInmemSnapshotStore(), files: make(map[string][]byte)}
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
	last, _ := m.log.LastIndex() // it has no errors
	return last > 0
}

// stores are guarded as those of a disk are, so that a server behaves the same on both.
func (m *Memory) stores(guard *store.Guard) stores {
	return stores{
		log:       store.NewLog(m.log, guard),
		stable:    store.NewStable(m.log, guard),
		snapshots: store.NewSnapshots(m.snapshots, guard),
		close:     func() error { return nil },
	}
}
