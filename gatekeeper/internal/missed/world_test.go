package missed

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/epoch/epochtest"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a Listener with a real state machine and virtual time. Work on "job" is expected every hour.
type world struct {
	*epochtest.World
	*Listener
	// waiting is set while a caller is waiting in the queue.
	waiting atomic.Bool
}

func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{World: epochtest.New(t)}
		waits := func(string) bool { return w.waiting.Load() }
		w.Listener = New(Config{State: w.State, Propose: w.World.Propose, HasWaiters: waits})
		defer w.Machine.Subscribe(w.Applied)()
		defer w.Close()
		w.Lead(1, w.Promote)
		w.define("job", time.Hour)
		test(w)
	})
}

func (w *world) failOver() {
	w.Demote(w.World.Term())
	w.Lead(w.World.Term()+1, w.Promote)
}

func (w *world) define(name string, every time.Duration) {
	w.T.Helper()
	set := func(d *semaphore.Definition) { d.ExpectEvery = every }
	change := epochtest.Create(name, set)
	if w.State().Definition(name) != nil {
		change = w.Replace(name, set)
	}
	if r, _ := w.Do(fsm.EditBatch{Changes: []fsm.Change{change}}).(fsm.EditResult); r.Revision == 0 {
		w.T.Fatalf("edit of %s had no effect: %+v", name, r)
	}
}

var host = semaphore.Identity{Group: "prod", Acquirer: "a"}

func (w *world) grant() uint64 {
	w.T.Helper()
	w.Asked("job")
	return w.Grant("job", host.Acquirer)
}

func (w *world) deny(reason semaphore.Reason) {
	w.Asked("job")
	w.Denied("job", host, reason, "It is "+reason.String()+".")
}

// want checks which kind of missed work is reported for "job", the counts, and the last note in the journal.
func (w *world) want(kind fsm.Missed) Report {
	w.T.Helper()
	r, isMissed := w.Of("job")
	if r.Kind != kind || isMissed != (kind != fsm.NothingMissed) {
		w.T.Fatalf("Of() = %+v, want kind %d", r, kind)
	}
	var counts [Kinds]int
	if isMissed {
		counts[kind] = 1
	}
	if got := w.Counts(); got != counts {
		w.T.Fatalf("Counts() = %v, want %v", got, counts)
	}
	if notes := w.notes(); len(notes) > 0 && notes[len(notes)-1] != kind || len(notes) == 0 && isMissed {
		w.T.Fatalf("notes() = %v, want %d last", notes, kind)
	}
	return r
}

// notes returns the kinds of missed work recorded in the journal of "job", in order.
func (w *world) notes() (notes []fsm.Missed) {
	for e := range w.State().Journal("job", 0) {
		if e.Kind == fsm.MissedEvent || e.Kind == fsm.HeardEvent {
			notes = append(notes, e.Missed)
		}
	}
	return notes
}

func (w *world) wantNotes(want ...fsm.Missed) {
	w.T.Helper()
	if got := w.notes(); !slices.Equal(got, want) {
		w.T.Fatalf("notes() = %v, want %v", got, want)
	}
}
