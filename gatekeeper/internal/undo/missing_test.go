package undo

import (
	"errors"
	"slices"
	"testing"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/preview"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/statetest"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func (c *cluster) plan(what Request) *Plan {
	c.T.Helper()
	u, err := NewPlan(c.State(), what, c.Now)
	if err != nil {
		c.T.Fatal(err)
	}
	return u
}

// move sets the group pattern of several semaphores in one change.
func (c *cluster) move(to string, names ...string) uint64 {
	c.T.Helper()
	var batch []fsm.Change
	for _, name := range names {
		batch = append(batch, c.Change(name, statetest.Group(to)))
	}
	return c.Do(fsm.EditBatch{Changes: batch, Author: "ann"})
}

func (c *cluster) wantGroups(want ...string) {
	c.T.Helper()
	var got []string
	for sd := range c.State().Definitions("") {
		got = append(got, sd.Definition.GroupPattern)
	}
	if !slices.Equal(got, want) {
		c.T.Errorf("got groups %q, want %q", got, want)
	}
}

func permits(n uint32) func(*semaphore.Definition) {
	return func(d *semaphore.Definition) { d.Permits = n }
}

// The journal keeps 100 entries for each semaphore. A hundred grants of a semaphore must not prevent its move from
// being undone.
func TestUndo_MoveAfterManyRuns_IsComplete(t *testing.T) {
	c := newCluster(t)
	c.Define("busy", statetest.Group("prod"))
	c.Define("quiet", statetest.Group("prod"))
	moved := c.move("dr", "busy", "quiet")
	for range 104 {
		c.Apply(fsm.Release{Token: c.Grant("busy", "dr", "a"), At: c.Now})
	}
	u := c.undo(moved)
	if u.Missing != nil {
		t.Errorf("Missing = %+v, want nil", u.Missing[0])
	}
	c.carryOut(u)
	c.wantGroups("prod", "prod")
}

func TestUndo_ForgottenEntries_PartialUndoesRest(t *testing.T) {
	c := newCluster(t)
	for _, name := range []string{"a", "b", "busy"} {
		c.Define(name, statetest.Group("prod"))
	}
	moved := c.move("dr", "a", "b", "busy")
	for i := range 100 {
		c.Define("busy", func(d *semaphore.Definition) { d.GroupPattern, d.Permits = "dr", uint32(20+i) })
	}
	u := c.undo(moved)
	if len(u.Missing) != 1 || u.Missing[0].Change != moved || !slices.Equal(u.Missing[0].Names, []string{"busy"}) || u.Missing[0].Unknown {
		t.Fatalf("Missing = %+v, want only the entry for busy", u.Missing)
	}
	u = c.plan(Request{Changes: []uint64{moved}, Partial: true})
	c.carryOut(u)
	c.wantGroups("prod", "prod", "dr")
	// The missing part does not count as undone.
	if u = c.undo(moved); u.Command != nil || u.UndoneBy != 0 || len(u.Missing) != 1 {
		t.Errorf("second plan = %+v, want no command and the missing part", u)
	}
}

func TestUndo_ChangeBeforeLevel3_MissingEntriesAreUnknown(t *testing.T) {
	c := &cluster{statetest.NewLevel1(t)}
	c.Do(fsm.RaiseFeatureLevel{Level: 2})
	c.Define("busy", statetest.Group("prod"))
	c.Define("quiet", statetest.Group("prod"))
	early := c.move("dr", "busy", "quiet")
	for range 104 {
		c.Apply(fsm.Release{Token: c.Grant("busy", "dr", "a"), At: c.Now})
	}
	c.Do(fsm.RaiseFeatureLevel{Level: 3})
	late := c.Define("quiet", statetest.Group("test"))
	if m := MissingOf(c.State(), early); m == nil || !m.Unknown {
		t.Errorf("MissingOf() of the early change = %+v, want Unknown", m)
	}
	if m := MissingOf(c.State(), late); m != nil {
		t.Errorf("MissingOf() of the late change = %+v, want nil", m)
	}
}

func TestUndo_SkipConflicts_UndoesTheRest(t *testing.T) {
	c := newCluster(t)
	for _, name := range []string{"a", "b", "c"} {
		c.Define(name, statetest.Group("prod"))
	}
	moved := c.move("dr", "a", "b", "c")
	set := c.Define("b", statetest.Group("test"))
	if u := c.undo(moved); len(u.Conflicts) != 1 {
		t.Fatalf("plan without SkipConflicts = %+v, want one conflict", u)
	}
	u := c.plan(Request{Changes: []uint64{moved}, SkipConflicts: true})
	if len(u.Skipped) != 1 || len(u.Conflicts) != 0 {
		t.Fatalf("plan with SkipConflicts = %+v, want one skipped conflict", u)
	}
	c.carryOut(u)
	c.wantGroups("prod", "test", "prod")
	if u := c.undo(moved); len(u.Conflicts) != 1 || u.UndoneBy != 0 {
		t.Errorf("plan after the undo = %+v, want one conflict and UndoneBy = 0", u)
	}
	// Once the conflict is gone, the rest can be undone.
	c.carryOut(c.undo(set))
	c.carryOut(c.undo(moved))
	c.wantGroups("prod", "prod", "prod")
	if u := c.undo(moved); u.Command != nil || u.UndoneBy == 0 {
		t.Errorf("plan after everything was undone = %+v, want no command", u)
	}
}

func TestUndo_OnlyConflicts_AreNotSkipped(t *testing.T) {
	c := newCluster(t)
	c.Define("a", statetest.Group("prod"))
	moved := c.move("dr", "a")
	c.Define("a", statetest.Group("test"))
	if u := c.plan(Request{Changes: []uint64{moved}, SkipConflicts: true}); len(u.Conflicts) != 1 || u.Command != nil {
		t.Errorf("plan with SkipConflicts = %+v, want one conflict and no command", u)
	}
}

// Several changes to the same semaphore are undone in one step, even if they build on each other.
func TestUndo_SeveralChanges_IsOneChange(t *testing.T) {
	c := newCluster(t)
	c.Define("a", statetest.Group("prod"))
	c.Define("b", statetest.Group("prod"))
	c.Define("z", statetest.Group("prod"))
	before := definitions(c.State())
	changes := []uint64{
		c.move("dr", "a", "b"),
		c.Define("a", func(d *semaphore.Definition) { d.GroupPattern, d.Permits = "dr", 77 }),
		c.Do(fsm.Pause{Names: []string{"a"}, Reason: "outage", Author: "ann"}),
		c.move("test", "a"),
		c.Do(fsm.SetCordon{ID: "c", GroupPattern: "dr"}),
		c.Do(fsm.EditBatch{Changes: []fsm.Change{c.Deletion("b")}}),
		c.Define("new", nil),
		c.Define("new", permits(3)),
		c.Do(fsm.Resume{Names: []string{"a"}}),
	}
	slices.Reverse(changes)
	u := c.plan(Request{Changes: changes})
	if len(u.Conflicts)+len(u.Missing) > 0 {
		t.Fatalf("plan = %+v, want no conflicts and nothing missing", u)
	}
	done := c.carryOut(u)
	c.wantGroups("prod", "prod", "prod")
	for name, d := range definitions(c.State()) {
		if before[name] == nil || len(semaphore.Changed(before[name], d)) > 0 {
			t.Errorf("%s was not restored: %+v", name, d)
		}
	}
	if c.State().Definition("a").Pause != nil || len(c.State().Cordons()) != 0 {
		t.Error("a pause or a cordon is still in effect")
	}
	again := c.plan(Request{Changes: changes})
	if again.Command != nil || again.UndoneBy != done[0] {
		t.Errorf("second plan = %+v, want no command, and the previous undo in UndoneBy", again)
	}
	// The undo can itself be undone as one change.
	c.carryOut(c.undo(done[0]))
	c.wantGroups("test", ".*", "prod")
	if sd := c.State().Definition("a"); sd.Definition.Permits != 77 || sd.Pause != nil {
		t.Errorf("definition a after undoing the undo = %+v, want 77 permits and no pause", sd)
	}
}

func TestUndo_EditAndPauseOfSameSemaphore_HasOneEffect(t *testing.T) {
	c := newCluster(t)
	c.Define("a", statetest.Group("prod"))
	c.Grant("a", "prod", "x")
	edited := c.move("dr", "a")
	paused := c.Do(fsm.Pause{Names: []string{"a"}, Reason: "outage"})
	u := c.plan(Request{Changes: []uint64{edited, paused}})
	effects, _ := preview.Effects(c.State(), statetest.Patterns{}, preview.Change{Undo: u.Command})
	if len(effects) != 1 {
		t.Errorf("got %d effects, want one for the semaphore", len(effects))
	}
	c.carryOut(u)
	c.wantGroups("prod")
	if c.State().Definition("a").Pause != nil {
		t.Error("a is still paused")
	}
}

func TestUndo_OneOfSeveralChangesForgotten_IsErrorUnlessPartial(t *testing.T) {
	c := newCluster(t)
	c.Define("a", statetest.Group("prod"))
	forgotten := c.State().Revision()
	c.Define("b", statetest.Group("prod"))
	for i := range 100 {
		c.Define("a", permits(uint32(20+i)))
	}
	last := c.Define("b", statetest.Group("dr"))
	var notFound *NoSuchChangeError
	if _, err := NewPlan(c.State(), Request{Changes: []uint64{forgotten, last}}, c.Now); !errors.As(err, &notFound) || notFound.Change != forgotten {
		t.Fatalf("NewPlan() = %v, want a NoSuchChangeError for the forgotten change", err)
	}
	u := c.plan(Request{Changes: []uint64{forgotten, last}, Partial: true})
	if len(u.Missing) != 1 || u.Missing[0].Change != forgotten || u.Command == nil || !u.Command.Partial {
		t.Fatalf("plan with Partial = %+v, want a partial command and the missing change", u)
	}
}
