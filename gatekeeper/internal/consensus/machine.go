package consensus

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store"
)

// replica adapts the Machine to Raft's interfaces.
type replica struct {
	machine    Machine
	guard      *store.Guard
	changed    func()             // called when the membership has changed
	begin      func() error       // called before the first entry, configuration or snapshot is applied
	wait       func(index uint64) // waits until an entry is on this member's disk
	hasBegun   bool               // begin was called; Raft calls one method at a time
	restoreErr error              // why the machine rejected the last snapshot; Raft does not pass the error on
	// committed is the newest configuration whose entry was committed since this member started. It is nil if there is
	// none.
	committed atomic.Pointer[committedConfiguration]
}

var (
	_ raft.FSM                = (*replica)(nil)
	_ raft.ConfigurationStore = (*replica)(nil)
)

// committedConfiguration is a configuration that can no longer be undone.
type committedConfiguration struct {
	index   uint64
	servers []raft.Server
}

// StoreConfiguration is called by Raft once a configuration entry is committed.
func (r *replica) StoreConfiguration(index uint64, c raft.Configuration) {
	r.beginOnce() // a joiner can become a voter before it has applied a command
	r.committed.Store(&committedConfiguration{index, c.Servers})
	r.changed()
}

// Apply returns []fsm.Result. It does not return if the machine rejects an entry, because Raft would apply the next one
// and this member would diverge from the others. On a leader, Raft may count this member's copy of an entry before that
// copy is on disk, so Apply waits until it is.
func (r *replica) Apply(log *raft.Log) any {
	r.beginOnce()
	r.wait(log.Index)
	results, err := r.machine.Apply(log.Index, log.Term, log.Data)
	if err != nil {
		r.guard.Halt(fmt.Errorf("consensus: the state machine cannot apply entry %d: %w", log.Index, err))
	}
	return results
}

// Snapshot captures the current state, which is immutable.
func (r *replica) Snapshot() (raft.FSMSnapshot, error) {
	return &snapshot{state: r.machine.State()}, nil
}

// Restore leaves the machine unchanged if it fails. Raft then retries or stops.
func (r *replica) Restore(rc io.ReadCloser) error {
	r.beginOnce()
	r.restoreErr = r.machine.Restore(rc)
	return r.restoreErr
}

func (r *replica) beginOnce() {
	if r.hasBegun {
		return
	}
	r.hasBegun = true
	if err := r.begin(); err != nil {
		r.guard.Halt(fmt.Errorf("consensus: write %s: %w", begunFileName, err))
	}
}

type snapshot struct{ state *fsm.State }

// Persist writes the snapshot while entries are still being applied.
func (s *snapshot) Persist(sink raft.SnapshotSink) error {
	if err := s.state.Snapshot(sink); err != nil {
		_ = sink.Cancel()
		return err
	}
	return sink.Close()
}

func (s *snapshot) Release() {}
