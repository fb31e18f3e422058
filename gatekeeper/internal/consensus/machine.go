package consensus

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store"
)

// replica is the Machine as Raft wants it.
type replica struct {
	machine Machine
	guard   *store.Guard
	changed func()       // called when the members changed
	begin   func() error // called before the first entry, configuration or snapshot is applied
	has     bool         // begin was called; Raft calls one method at a time
	refused error        // why the machine did not take the last snapshot; Raft hands on no reason
	// committed is the newest configuration whose entry was committed since this member started; nil when there was
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
	r.begun() // a joiner may be made a voter before it has applied a command
	r.committed.Store(&committedConfiguration{index, c.Servers})
	r.changed()
}

// Apply returns []fsm.Result. It does not return when the machine refuses an entry: Raft would apply the next one, and
// this member would differ from the others from then on.
func (r *replica) Apply(log *raft.Log) any {
	r.begun()
	results, err := r.machine.Apply(log.Index, log.Term, log.Data)
	if err != nil {
		r.guard.Halt(fmt.Errorf("consensus: the state machine cannot apply entry %d: %w", log.Index, err))
	}
	return results
}

// Snapshot holds on to the immutable state of this moment.
func (r *replica) Snapshot() (raft.FSMSnapshot, error) {
	return &snapshot{state: r.machine.State()}, nil
}

// Restore leaves the machine as it was when it fails; Raft then tries again or stops.
func (r *replica) Restore(rc io.ReadCloser) error {
	r.begun()
	r.refused = r.machine.Restore(rc)
	return r.refused
}

func (r *replica) begun() {
	if r.has {
		return
	}
	r.has = true
	if err := r.begin(); err != nil {
		r.guard.Halt(fmt.Errorf("consensus: write %s: %w", begunFileName, err))
	}
}

type snapshot struct{ state *fsm.State }

// Persist writes while entries go on being applied.
func (s *snapshot) Persist(sink raft.SnapshotSink) error {
	if err := s.state.Snapshot(sink); err != nil {
		_ = sink.Cancel()
		return err
	}
	return sink.Close()
}

func (s *snapshot) Release() {}
