package fsm

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

// ErrOutOfOrder is returned by Apply for an entry that is not newer than the last applied one. Applying an entry twice
// would grant its permits twice.
var ErrOutOfOrder = errors.New("fsm: log entry out of order")

// A Machine is the replicated state machine. It applies log entries and returns their results. Every server in a
// cluster applies the same entries in the same order and so reaches the same state.
type Machine struct {
	// state is the state that readers see, after the last complete entry.
	state atomic.Pointer[State]

	// applying guards draft. It is held from the first command of an entry until its last event has been delivered.
	applying sync.Mutex
	draft    *draft

	// subscribing guards subscribers. The slice is replaced, never modified, so events are delivered without holding
	// the lock and a subscriber may subscribe or cancel.
	subscribing sync.Mutex
	subscribers []*subscriber
}

type subscriber struct {
	fn        func(Applied)
	cancelled atomic.Bool
}

// New returns a machine for a new, empty cluster. If clusterID is empty, the machine adopts the cluster id of the first
// snapshot that it restores.
func New(clusterID string) *Machine {
	m := &Machine{draft: newDraft(clusterID)}
	m.state.Store(m.draft.publish())
	return m
}

// State returns the state after the last applied entry. It never blocks.
func (m *Machine) State() *State { return m.state.Load() }

// Apply applies one log entry and returns one Result for each command, in order. It publishes the new state after the
// last command of the entry and then calls the subscribers.
//
// An error (ErrUnknownCommand, ErrMalformed, ErrOutOfOrder) means that nothing was applied and that the server must
// stop, because it can no longer follow the log.
func (m *Machine) Apply(index, term uint64, entry []byte) ([]Result, error) {
	cmds, err := Decode(entry)
	if err != nil {
		return nil, fmt.Errorf("entry %d of term %d: %w", index, term, err)
	}
	m.applying.Lock()
	defer m.applying.Unlock()
	d := m.draft
	if index <= d.index || term < d.term {
		return nil, fmt.Errorf("%w: entry %d of term %d after entry %d of term %d", ErrOutOfOrder, index, term, d.index, d.term)
	}
	d.begin(index, term, len(cmds))
	results := make([]Result, len(cmds))
	for i, cmd := range cmds {
		results[i] = d.apply(cmd)
	}
	m.deliver(Applied{Index: index, Term: term, State: m.publish(), Events: d.events})
	return results, nil
}

// Subscribe registers fn to be called for every entry applied after this call, in order, on the goroutine that applies
// the entry, after the state has been published. fn must be quick. It may call State, Subscribe and cancel, but not
// Apply, Sync or Restore. After cancel has returned, no new call to fn begins. If cancel is called within Sync, no call
// is running either.
func (m *Machine) Subscribe(fn func(Applied)) (cancel func()) {
	s := &subscriber{fn: fn}
	m.subscribing.Lock()
	defer m.subscribing.Unlock()
	m.subscribers = append(slices.Clip(m.subscribers), s)
	return func() {
		s.cancelled.Store(true)
		m.subscribing.Lock()
		defer m.subscribing.Unlock()
		m.subscribers = slices.DeleteFunc(slices.Clone(m.subscribers), func(o *subscriber) bool { return o == s })
	}
}

// Sync runs fn with the current state while no entry is being applied and no event is being delivered. A subscription
// made within fn gets every entry after that state. fn must not call Apply, Sync or Restore.
func (m *Machine) Sync(fn func(*State)) {
	m.applying.Lock()
	defer m.applying.Unlock()
	fn(m.State())
}

// Restore replaces the state with the one in a snapshot. It builds and checks the new state first and leaves the old
// state in place if it returns an error (ErrSnapshot). A snapshot from another cluster is refused unless this machine
// has no cluster id yet. Subscribers get an Applied with Restored set and no events.
func (m *Machine) Restore(r io.Reader) error {
	d, err := readSnapshot(r)
	if err != nil {
		return err
	}
	m.applying.Lock()
	defer m.applying.Unlock()
	if own := m.draft.clusterID; own != "" && own != d.clusterID {
		return fmt.Errorf("%w: %w: its cluster is %q, but this server belongs to cluster %q", ErrSnapshot, ErrForeign, d.clusterID, own)
	}
	m.draft = d
	m.deliver(Applied{Index: d.index, Term: d.term, State: m.publish(), Restored: true})
	return nil
}

func (m *Machine) publish() *State {
	s := m.draft.publish()
	m.state.Store(s)
	return s
}

func (m *Machine) deliver(a Applied) {
	m.subscribing.Lock()
	subscribers := m.subscribers
	m.subscribing.Unlock()
	for _, s := range subscribers {
		if !s.cancelled.Load() {
			s.fn(a)
		}
	}
}
