// Package epochtest runs a room on a real state machine, for tests in a testing/synctest bubble.
package epochtest

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// World is a state machine with a log in front of it. A room's proposals are applied immediately, unless the test sets
// a different outcome. A World is safe for concurrent use.
type World struct {
	T testing.TB
	// Machine may be replaced while no room leads.
	Machine *fsm.Machine

	mu       sync.Mutex // guards the fields below
	term     uint64
	index    uint64
	proposed []fsm.Command
	outcome  func(fsm.Command) batcher.Outcome
}

// New returns a World in term 1, at the newest feature level.
func New(t testing.TB) *World {
	w := &World{T: t, Machine: fsm.New("test.1"), term: 1}
	w.Do(fsm.RaiseFeatureLevel{Level: fsm.SupportedLevel})
	return w
}

// State returns the newest applied state.
func (w *World) State() *fsm.State { return w.Machine.State() }

// Propose records a command and reports its outcome to done, as the log does for a room.
func (w *World) Propose(cmd fsm.Command, done func(batcher.Outcome)) {
	w.mu.Lock()
	w.proposed = append(w.proposed, cmd)
	outcome := w.outcome
	w.mu.Unlock()
	if outcome == nil {
		outcome = func(cmd fsm.Command) batcher.Outcome { return batcher.Outcome{Result: w.Do(cmd)} }
	}
	go done(outcome(cmd))
}

// SetOutcome sets the function that determines the outcome of each proposal. If outcome is nil, proposals are applied
// again.
func (w *World) SetOutcome(outcome func(fsm.Command) batcher.Outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.outcome = outcome
}

// Fail makes every proposal fail with err, without being applied.
func (w *World) Fail(err error) {
	w.SetOutcome(func(fsm.Command) batcher.Outcome { return batcher.Outcome{Err: err} })
}

// WantProposed fails the test unless exactly n commands were proposed since the last call. It returns them.
func (w *World) WantProposed(n int) []fsm.Command {
	w.T.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	proposed := w.proposed
	w.proposed = nil
	if len(proposed) != n {
		w.T.Fatalf("%d commands were proposed, want %d: %+v", len(proposed), n, proposed)
	}
	return proposed
}

// Do applies a command and returns its result.
func (w *World) Do(cmd fsm.Command) fsm.Result {
	w.T.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	entry, err := fsm.Encode(w.State().FeatureLevel(), []fsm.Command{cmd})
	if err != nil {
		w.T.Error(err)
		return nil
	}
	w.index++
	results, err := w.Machine.Apply(w.index, w.term, entry)
	if err != nil {
		w.T.Error(err)
		return nil
	}
	if bad, ok := results[0].(fsm.InvalidResult); ok {
		w.T.Errorf("%T was refused: %s", cmd, bad.Why)
	}
	return results[0]
}

// Term returns the term in which entries are applied.
func (w *World) Term() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.term
}

// Begin sets the term in which entries are applied from now on.
func (w *World) Begin(term uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.term = term
}

// Lead begins a term and promotes a room the way the keeper does.
func (w *World) Lead(term uint64, promote func(term uint64, instant time.Time, state *fsm.State)) {
	w.Begin(term)
	w.Machine.Sync(func(state *fsm.State) { promote(term, time.Now(), state) })
	synctest.Wait()
}

// Sleep advances the bubble's clock by d and waits until all goroutines are blocked.
func (w *World) Sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// Grant grants a permit to an acquirer in group prod and returns its token.
func (w *World) Grant(name, acquirer string) uint64 {
	w.T.Helper()
	state := w.State()
	r, _ := w.Do(fsm.Grant{
		Semaphore: name, Identity: semaphore.Identity{Group: "prod", Acquirer: acquirer}, Weight: 1, At: time.Now(),
		DefinitionVersion: state.Definition(name).Version, CordonRevision: state.CordonRevision(),
	}).(fsm.GrantResult)
	if r.Permit == nil {
		w.T.Fatalf("not granted: %+v", r)
	}
	return r.Permit.Token
}

// Create returns a change that creates a semaphore open to all callers, with one permit that lasts a minute. set may
// modify the definition.
func Create(name string, set func(*semaphore.Definition)) fsm.Change {
	d := &semaphore.Definition{
		Name: name, GroupPattern: ".*", AcquirerPattern: ".*", Permits: 1, Duration: time.Minute,
		OnExpiry: semaphore.OnExpiryFree, FiringOnLoss: semaphore.FiringSpent,
		FiringRetention: semaphore.DefaultFiringRetention, FiringLimit: semaphore.DefaultFiringLimit,
	}
	if set != nil {
		set(d)
	}
	return fsm.Change{Kind: fsm.Create, Name: name, Definition: d}
}

// Replace returns a change that edits the current definition of a semaphore.
func (w *World) Replace(name string, set func(*semaphore.Definition)) fsm.Change {
	sd := w.State().Definition(name)
	d := sd.Definition.Clone()
	set(d)
	return fsm.Change{Kind: fsm.Replace, Name: name, Definition: d, ExpectedVersion: sd.Version}
}
