package timers

import (
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/epoch/epochtest"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a Timers on top of a real state machine, in virtual time.
type world struct {
	*epochtest.World
	timers *Timers
}

// inWorld runs a test in virtual time, with the Timers of a leader in term 1 at the newest feature level.
func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{World: epochtest.New(t)}
		w.timers = New(Config{State: w.State, Propose: w.Propose})
		defer w.Machine.Subscribe(w.timers.Applied)()
		defer w.timers.Close()
		w.lead(1)
		test(w)
	})
}

// do applies an operator's change and returns the new revision.
func (w *world) do(cmd fsm.Command) uint64 {
	w.T.Helper()
	w.Do(cmd)
	synctest.Wait()
	return w.State().Revision()
}

func (w *world) lead(term uint64) { w.Lead(term, w.timers.Promote) }

func (w *world) wantKnown(n int) {
	w.T.Helper()
	t := w.timers
	t.Lock()
	defer t.Unlock()
	if due := len(t.spans) + len(t.dates); len(t.known) != n || due != n {
		w.T.Fatalf("got %d known timers and %d scheduled timers, want %d of each", len(t.known), due, n)
	}
}

func (w *world) create(names ...string) {
	w.T.Helper()
	var changes []fsm.Change
	for _, name := range names {
		changes = append(changes, epochtest.Create(name, nil))
	}
	w.do(fsm.EditBatch{Changes: changes})
}

// edit sets the group pattern of every name.
func (w *world) edit(pattern string, drain time.Duration, until time.Time, names ...string) uint64 {
	w.T.Helper()
	var changes []fsm.Change
	for _, name := range names {
		changes = append(changes, w.Replace(name, func(d *semaphore.Definition) { d.GroupPattern = pattern }))
	}
	return w.do(fsm.EditBatch{Changes: changes, Drain: drain, Until: until})
}

// tempChange is a change that ends at a given time.
type tempChange struct {
	name   string
	begin  func(w *world, duration time.Duration)
	active func(s *fsm.State) bool
	// manualEnd ends the change manually. It is nil if that is not possible.
	manualEnd fsm.Command
}

func changesWithEndTime() []tempChange {
	return []tempChange{
		{"pause", func(w *world, duration time.Duration) {
			w.do(fsm.Pause{Names: []string{"job"}, Until: time.Now().Add(duration)})
		}, func(s *fsm.State) bool { return s.Definition("job").Pause != nil }, fsm.Resume{Names: []string{"job"}}},
		{"cordon", func(w *world, duration time.Duration) {
			w.do(fsm.SetCordon{ID: "c", GroupPattern: "prod", Until: time.Now().Add(duration)})
		}, func(s *fsm.State) bool { return len(s.Cordons()) > 0 }, fsm.Uncordon{ID: "c"}},
		{"edit", func(w *world, duration time.Duration) { w.edit("dr", 0, time.Now().Add(duration), "job") },
			func(s *fsm.State) bool { return len(s.Ends("job")) > 0 }, nil},
	}
}

func drainChanges() []tempChange {
	return []tempChange{
		{"edit drain", func(w *world, duration time.Duration) { w.edit("dr", duration, time.Time{}, "job") },
			func(s *fsm.State) bool { return len(s.Drains("job")) > 0 }, nil},
		{"pause drain", func(w *world, duration time.Duration) {
			w.do(fsm.Pause{Names: []string{"job"}, Stop: true, Drain: duration})
		}, func(s *fsm.State) bool { p := s.Definition("job").Pause; return p != nil && p.Drain > 0 }, fsm.Resume{Names: []string{"job"}}},
		{"cordon drain", func(w *world, duration time.Duration) {
			w.do(fsm.SetCordon{ID: "c", GroupPattern: "prod", Drain: duration})
		}, func(s *fsm.State) bool { return len(s.Cordons()) > 0 && s.Cordons()[0].Drain > 0 }, fsm.Uncordon{ID: "c"}},
		{"revoke drain", func(w *world, duration time.Duration) { w.do(fsm.Revoke{Token: 1, Drain: duration}) },
			func(s *fsm.State) bool { p := s.Permit(1); return p != nil && p.StopOrder().Drain > 0 }, fsm.Release{Token: 1}},
	}
}

// runEach runs a test for each change, with a semaphore "job" whose only permit is held with token 1.
func runEach(t *testing.T, list []tempChange, test func(w *world, b tempChange)) {
	t.Helper()
	for _, b := range list {
		t.Run(b.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.create("job")
				w.Grant("job", "a")
				test(w, b)
			})
		})
	}
}
