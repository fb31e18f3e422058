package timers

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a set of timers over a real state machine, with virtual time. What the timers proposes is applied at once, unless the
// test says what becomes of it.
type world struct {
	*Timers
	t       *testing.T
	machine *fsm.Machine

	mu       sync.Mutex // guards all below
	term     uint64
	index    uint64
	proposed []fsm.Command
	// fate is what becomes of what the timers propose; nil: it is applied.
	fate func(fsm.Command) batcher.Outcome
}

// inWorld runs a test in a bubble of virtual time, with the timers leading in term 1 at the newest feature level.
func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, machine: fsm.New("test.1"), term: 1}
		w.Timers = New(Config{State: func() *fsm.State { return w.machine.State() }, Propose: w.propose})
		defer w.machine.Subscribe(w.Applied)()
		defer w.Close()
		w.do(fsm.RaiseFeatureLevel{Level: fsm.SupportedLevel})
		w.lead(1)
		test(w)
	})
}

func (w *world) propose(cmd fsm.Command, done func(batcher.Outcome)) {
	w.mu.Lock()
	w.proposed = append(w.proposed, cmd)
	fate := w.fate
	w.mu.Unlock()
	if fate != nil {
		go done(fate(cmd))
		return
	}
	go done(batcher.Outcome{Result: w.apply(cmd)})
}

func (w *world) apply(cmd fsm.Command) fsm.Result {
	w.mu.Lock()
	defer w.mu.Unlock()
	entry, err := fsm.Encode(fsm.SupportedLevel, []fsm.Command{cmd})
	if _, raises := cmd.(fsm.RaiseFeatureLevel); raises {
		entry, err = fsm.Encode(1, []fsm.Command{cmd})
	}
	if err != nil {
		w.t.Error(err)
		return nil
	}
	w.index++
	results, err := w.machine.Apply(w.index, w.term, entry)
	if err != nil {
		w.t.Error(err)
		return nil
	}
	if bad, ok := results[0].(fsm.InvalidResult); ok {
		w.t.Errorf("%T is refused: %s", cmd, bad.Why)
	}
	return results[0]
}

// do is a change that an operator makes; it returns its revision.
func (w *world) do(cmd fsm.Command) uint64 {
	w.t.Helper()
	w.apply(cmd)
	synctest.Wait()
	return w.machine.State().Revision()
}

func (w *world) lead(term uint64) {
	w.mu.Lock()
	w.term = term
	w.mu.Unlock()
	w.machine.Sync(func(state *fsm.State) { w.Promote(term, time.Now(), state) })
	synctest.Wait()
}

func (w *world) become(fate func(fsm.Command) batcher.Outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fate = fate
}

func (w *world) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// wantProposed compares how many commands were proposed since the last time, and returns them.
func (w *world) wantProposed(n int) []fsm.Command {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	proposed := w.proposed
	w.proposed = nil
	if len(proposed) != n {
		w.t.Fatalf("%d commands were proposed, want %d: %+v", len(proposed), n, proposed)
	}
	return proposed
}

func (w *world) wantKnown(n int) {
	w.t.Helper()
	w.Timers.mu.Lock()
	defer w.Timers.mu.Unlock()
	if len(w.known) != n || len(w.spans)+len(w.dates) != n {
		w.t.Fatalf("%d ends are known and %d scheduled, want %d", len(w.known), len(w.spans)+len(w.dates), n)
	}
}

func definition(name string) *semaphore.Definition {
	return &semaphore.Definition{
		Name: name, GroupPattern: ".*", AcquirerPattern: ".*", Permits: 1, Duration: time.Minute,
		OnExpiry: semaphore.OnExpiryFree, FiringOnLoss: semaphore.FiringSpent,
		FiringRetention: semaphore.DefaultFiringRetention, FiringLimit: semaphore.DefaultFiringLimit,
	}
}

func (w *world) create(names ...string) {
	w.t.Helper()
	var changes []fsm.Change
	for _, name := range names {
		changes = append(changes, fsm.Change{Kind: fsm.Create, Name: name, Definition: definition(name)})
	}
	w.do(fsm.EditBatch{Changes: changes})
}

// edit gives every name that group pattern.
func (w *world) edit(pattern string, drain time.Duration, until time.Time, names ...string) uint64 {
	w.t.Helper()
	var changes []fsm.Change
	for _, name := range names {
		sd := w.machine.State().Definition(name)
		d := sd.Definition.Clone()
		d.GroupPattern = pattern
		changes = append(changes, fsm.Change{Kind: fsm.Replace, Name: name, Definition: d, ExpectedVersion: sd.Version})
	}
	return w.do(fsm.EditBatch{Changes: changes, Drain: drain, Until: until})
}

func (w *world) grant(name, host string) uint64 {
	w.t.Helper()
	state := w.machine.State()
	r, ok := w.apply(fsm.Grant{
		Semaphore: name, Identity: semaphore.Identity{Group: "prod", Acquirer: host}, Weight: 1,
		DefinitionVersion: state.Definition(name).Version, CordonRevision: state.CordonRevision(),
	}).(fsm.GrantResult)
	if !ok || r.Permit == nil {
		w.t.Fatalf("not granted: %+v", r)
	}
	synctest.Wait()
	return r.Permit.Token
}

// begun is something that ends by itself, begun.
type begun struct {
	name  string
	begin func(w *world, lasts time.Duration)
	lasts func(s *fsm.State) bool
	// byHand ends it otherwise; nil: nothing does.
	byHand fsm.Command
}

func dated() []begun {
	return []begun{
		{"pause", func(w *world, lasts time.Duration) {
			w.do(fsm.Pause{Names: []string{"job"}, Until: time.Now().Add(lasts)})
		}, func(s *fsm.State) bool { return s.Definition("job").Pause != nil }, fsm.Resume{Names: []string{"job"}}},
		{"cordon", func(w *world, lasts time.Duration) {
			w.do(fsm.SetCordon{ID: "c", GroupPattern: "prod", Until: time.Now().Add(lasts)})
		}, func(s *fsm.State) bool { return len(s.Cordons()) > 0 }, fsm.Uncordon{ID: "c"}},
		{"edit", func(w *world, lasts time.Duration) { w.edit("dr", 0, time.Now().Add(lasts), "job") },
			func(s *fsm.State) bool { return len(s.Ends("job")) > 0 }, nil},
	}
}

func drains() []begun {
	return []begun{
		{"drain of an edit", func(w *world, lasts time.Duration) { w.edit("dr", lasts, time.Time{}, "job") },
			func(s *fsm.State) bool { return len(s.Drains("job")) > 0 }, nil},
		{"drain of a pause", func(w *world, lasts time.Duration) {
			w.do(fsm.Pause{Names: []string{"job"}, Stop: true, Drain: lasts})
		}, func(s *fsm.State) bool { p := s.Definition("job").Pause; return p != nil && p.Drain > 0 }, fsm.Resume{Names: []string{"job"}}},
		{"drain of a cordon", func(w *world, lasts time.Duration) {
			w.do(fsm.SetCordon{ID: "c", GroupPattern: "prod", Drain: lasts})
		}, func(s *fsm.State) bool { return len(s.Cordons()) > 0 && s.Cordons()[0].Drain > 0 }, fsm.Uncordon{ID: "c"}},
		{"drain of a revoke", func(w *world, lasts time.Duration) { w.do(fsm.Revoke{Token: 1, Drain: lasts}) },
			func(s *fsm.State) bool { p := s.Permit(1); return p != nil && p.StopOrder().Drain > 0 }, fsm.Release{Token: 1}},
	}
}

// inEach runs a test for each of these, with a semaphore "job" and its permit of token 1.
func inEach(t *testing.T, list []begun, test func(w *world, b begun)) {
	t.Helper()
	for _, b := range list {
		t.Run(b.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.create("job")
				w.grant("job", "a")
				test(w, b)
			})
		})
	}
}
