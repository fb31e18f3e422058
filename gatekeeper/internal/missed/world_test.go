package missed

import (
	"slices"
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

// world is a listener over a real state machine, with virtual time. "job" is expected every hour.
type world struct {
	*Listener
	t       *testing.T
	machine *fsm.Machine

	mu      sync.Mutex // guards all below
	term    uint64
	index   uint64
	refuse  error
	waiting bool
}

func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, machine: fsm.New("test"), term: 1}
		w.Listener = New(Config{State: w.machine.State, Propose: w.propose, Waits: w.waits})
		defer w.machine.Subscribe(w.Applied)()
		defer w.Close()
		w.do(fsm.RaiseFeatureLevel{Level: fsm.SupportedLevel})
		w.lead(1)
		w.define("job", time.Hour)
		test(w)
	})
}

func (w *world) waits(string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waiting
}

func (w *world) propose(cmd fsm.Command, done func(batcher.Outcome)) {
	w.mu.Lock()
	refuse := w.refuse
	w.mu.Unlock()
	if refuse != nil {
		go done(batcher.Outcome{Err: refuse})
		return
	}
	go done(batcher.Outcome{Result: w.do(cmd)})
}

func (w *world) refuseAll(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refuse = err
}

func (w *world) do(cmd fsm.Command) fsm.Result {
	w.mu.Lock()
	defer w.mu.Unlock()
	entry, err := fsm.Encode(w.machine.State().FeatureLevel(), []fsm.Command{cmd})
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
	return results[0]
}

func (w *world) lead(term uint64) {
	w.mu.Lock()
	w.term = term
	w.mu.Unlock()
	w.machine.Sync(func(state *fsm.State) { w.Promote(term, time.Now(), state) })
	synctest.Wait()
}

func (w *world) failOver() {
	w.Demote(w.term)
	w.lead(w.term + 1)
}

func (w *world) define(name string, every time.Duration) {
	w.t.Helper()
	change := fsm.Change{Kind: fsm.Create, Name: name}
	if sd := w.machine.State().Definition(name); sd != nil {
		change.Kind, change.ExpectedVersion = fsm.Replace, sd.Version
	}
	change.Definition = &semaphore.Definition{
		Name: name, GroupPattern: ".*", AcquirerPattern: ".*", Permits: 1, Duration: time.Minute, ExpectEvery: every,
		OnExpiry: semaphore.OnExpiryFree, FiringOnLoss: semaphore.FiringSpent,
		FiringRetention: semaphore.DefaultFiringRetention, FiringLimit: semaphore.DefaultFiringLimit,
	}
	if r, _ := w.do(fsm.EditBatch{Changes: []fsm.Change{change}}).(fsm.EditResult); r.Revision == 0 {
		w.t.Fatalf("not edited: %+v", r)
	}
}

var host = semaphore.Identity{Group: "prod", Acquirer: "a"}

func (w *world) grant() uint64 {
	w.t.Helper()
	w.Asked("job")
	state := w.machine.State()
	r, _ := w.do(fsm.Grant{
		Semaphore: "job", Identity: host, Weight: 1, DefinitionVersion: state.Definition("job").Version, At: time.Now(),
	}).(fsm.GrantResult)
	if r.Permit == nil {
		w.t.Fatalf("not granted: %+v", r)
	}
	return r.Permit.Token
}

func (w *world) deny(reason semaphore.Reason) {
	w.Asked("job")
	w.Denied("job", host, reason, "It is "+reason.String()+".")
}

func (w *world) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// want compares how "job" misses its work with what is counted and with what the journal says.
func (w *world) want(kind fsm.Missed) Report {
	w.t.Helper()
	r, misses := w.Of("job")
	if r.Kind != kind || misses != (kind != fsm.Heard) {
		w.t.Fatalf("it is %+v, want kind %d", r, kind)
	}
	var counts [Kinds]int
	if misses {
		counts[kind] = 1
	}
	if got := w.Counts(); got != counts {
		w.t.Fatalf("counted %v, want %v", got, counts)
	}
	if notes := w.notes(); len(notes) > 0 && notes[len(notes)-1] != kind || len(notes) == 0 && misses {
		w.t.Fatalf("the journal says %v, want %d at last", notes, kind)
	}
	return r
}

// notes are the kinds of missed work of "job" in the journal, in order.
func (w *world) notes() (notes []fsm.Missed) {
	for e := range w.machine.State().Journal("job", 0) {
		if e.Kind == fsm.MissedEvent || e.Kind == fsm.HeardEvent {
			notes = append(notes, e.Missed)
		}
	}
	return notes
}

func (w *world) wantNotes(want ...fsm.Missed) {
	w.t.Helper()
	if got := w.notes(); !slices.Equal(got, want) {
		w.t.Fatalf("the journal says %v, want %v", got, want)
	}
}
