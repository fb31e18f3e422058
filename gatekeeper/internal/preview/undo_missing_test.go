package preview

import (
	"errors"
	"slices"
	"testing"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func (c *cluster) plan(what Undoable) *Undoing {
	c.t.Helper()
	u, err := Undo(c.state(), what, c.now)
	if err != nil {
		c.t.Fatal(err)
	}
	return u
}

// move edits the groups of semaphores in one change.
func (c *cluster) move(to string, names ...string) uint64 {
	c.t.Helper()
	var batch []fsm.Change
	for _, name := range names {
		batch = append(batch, c.change(name, group(to)))
	}
	return c.do(fsm.EditBatch{Changes: batch, Author: "ann"})
}

func (c *cluster) wantGroups(want ...string) {
	c.t.Helper()
	var got []string
	for sd := range c.state().Definitions("") {
		got = append(got, sd.Definition.GroupPattern)
	}
	if !slices.Equal(got, want) {
		c.t.Errorf("groups %q, want %q", got, want)
	}
}

func permits(n uint32) func(*semaphore.Definition) {
	return func(d *semaphore.Definition) { d.Permits = n }
}

// The journal keeps 100 entries of each semaphore. A hundred runs of a task must not make an undo of its move impossible.
func TestUndo_OfAMove_AfterManyRuns_IsWhole(t *testing.T) {
	c := newCluster(t)
	c.define("busy", group("prod"))
	c.define("quiet", group("prod"))
	moved := c.move("dr", "busy", "quiet")
	for range 104 {
		c.apply(fsm.Release{Token: c.grant("busy", "dr", "a"), At: c.now})
	}
	u := c.undo(moved)
	if u.Missing != nil {
		t.Errorf("missing: %+v", u.Missing[0])
	}
	c.carryOut(u)
	c.wantGroups("prod", "prod")
}

func TestUndo_EntriesForgotten_NamesThem_AndUndoesTheRestWhenAsked(t *testing.T) {
	c := newCluster(t)
	for _, name := range []string{"a", "b", "busy"} {
		c.define(name, group("prod"))
	}
	moved := c.move("dr", "a", "b", "busy")
	for i := range 100 {
		c.define("busy", func(d *semaphore.Definition) { d.GroupPattern, d.Permits = "dr", uint32(20+i) })
	}
	u := c.undo(moved)
	if len(u.Missing) != 1 || u.Missing[0].Change != moved || !slices.Equal(u.Missing[0].Names, []string{"busy"}) || u.Missing[0].Unknown {
		t.Fatalf("missing: %+v", u.Missing)
	}
	u = c.plan(Undoable{Changes: []uint64{moved}, Partial: true})
	c.carryOut(u)
	c.wantGroups("prod", "prod", "dr")
	// The part that is missing is not taken for undone.
	if u = c.undo(moved); u.Command != nil || u.UndoneBy != 0 || len(u.Missing) != 1 {
		t.Errorf("again: %+v", u)
	}
}

func TestUndo_ChangeFromBelowLevel3_ThatMayLackEntries_IsUnknown(t *testing.T) {
	c := &cluster{t: t, machine: fsm.New("test")}
	c.do(fsm.RaiseFeatureLevel{Level: 2})
	c.define("busy", group("prod"))
	c.define("quiet", group("prod"))
	early := c.move("dr", "busy", "quiet")
	for range 104 {
		c.apply(fsm.Release{Token: c.grant("busy", "dr", "a"), At: c.now})
	}
	c.do(fsm.RaiseFeatureLevel{Level: 3})
	late := c.define("quiet", group("test"))
	if m := MissingOf(c.state(), early); m == nil || !m.Unknown {
		t.Errorf("missing of the early change: %+v", m)
	}
	if m := MissingOf(c.state(), late); m != nil {
		t.Errorf("missing of the late change: %+v", m)
	}
}

func TestUndo_SkipConflicts_LeavesThemAndUndoesTheRest(t *testing.T) {
	c := newCluster(t)
	for _, name := range []string{"a", "b", "c"} {
		c.define(name, group("prod"))
	}
	moved := c.move("dr", "a", "b", "c")
	set := c.define("b", group("test"))
	if u := c.undo(moved); len(u.Conflicts) != 1 {
		t.Fatalf("without skipping: %+v", u)
	}
	u := c.plan(Undoable{Changes: []uint64{moved}, SkipConflicts: true})
	if len(u.Skipped) != 1 || len(u.Conflicts) != 0 {
		t.Fatalf("planned %+v", u)
	}
	c.carryOut(u)
	c.wantGroups("prod", "test", "prod")
	if u := c.undo(moved); len(u.Conflicts) != 1 || u.UndoneBy != 0 {
		t.Errorf("again: %+v", u)
	}
	// With the conflict out of the way, the rest is undone.
	c.carryOut(c.undo(set))
	c.carryOut(c.undo(moved))
	c.wantGroups("prod", "prod", "prod")
	if u := c.undo(moved); u.Command != nil || u.UndoneBy == 0 {
		t.Errorf("when all is undone: %+v", u)
	}
}

func TestUndo_OnlyConflicts_AreNotSkippedInSilence(t *testing.T) {
	c := newCluster(t)
	c.define("a", group("prod"))
	moved := c.move("dr", "a")
	c.define("a", group("test"))
	if u := c.plan(Undoable{Changes: []uint64{moved}, SkipConflicts: true}); len(u.Conflicts) != 1 || u.Command != nil {
		t.Errorf("planned %+v", u)
	}
}

// Several changes of one semaphore are undone in one step, whatever they build on.
func TestUndo_OfSeveral_IsOneChange(t *testing.T) {
	c := newCluster(t)
	c.define("a", group("prod"))
	c.define("b", group("prod"))
	c.define("z", group("prod"))
	was := definitions(c.state())
	changes := []uint64{
		c.move("dr", "a", "b"),
		c.define("a", func(d *semaphore.Definition) { d.GroupPattern, d.Permits = "dr", 77 }),
		c.do(fsm.Pause{Names: []string{"a"}, Reason: "dark", Author: "ann"}),
		c.move("test", "a"),
		c.do(fsm.SetCordon{ID: "c", GroupPattern: "dr"}),
		c.do(fsm.EditBatch{Changes: []fsm.Change{c.deletion("b")}}),
		c.define("new", nil),
		c.define("new", permits(3)),
		c.do(fsm.Resume{Names: []string{"a"}}),
	}
	slices.Reverse(changes)
	u := c.plan(Undoable{Changes: changes})
	if len(u.Conflicts)+len(u.Missing) > 0 {
		t.Fatalf("planned %+v", u)
	}
	done := c.carryOut(u)
	c.wantGroups("prod", "prod", "prod")
	for name, d := range definitions(c.state()) {
		if was[name] == nil || len(semaphore.Changed(was[name], d)) > 0 {
			t.Errorf("%s is now %+v", name, d)
		}
	}
	if c.state().Definition("a").Pause != nil || len(c.state().Cordons()) != 0 {
		t.Error("a pause or a cordon is left")
	}
	again := c.plan(Undoable{Changes: changes})
	if again.Command != nil || again.UndoneBy != done[0] {
		t.Errorf("again: %+v", again)
	}
	// It is undone as one, too.
	c.carryOut(c.undo(done[0]))
	c.wantGroups("test", ".*", "prod")
	if sd := c.state().Definition("a"); sd.Definition.Permits != 77 || sd.Pause != nil {
		t.Errorf("a is now %+v", sd)
	}
}

func TestUndo_OfSeveral_EditAndPauseOfOneSemaphore(t *testing.T) {
	c := newCluster(t)
	c.define("a", group("prod"))
	c.grant("a", "prod", "x")
	edited := c.move("dr", "a")
	paused := c.do(fsm.Pause{Names: []string{"a"}, Reason: "dark"})
	u := c.plan(Undoable{Changes: []uint64{edited, paused}})
	effects, _ := Effects(c.state(), patterns{}, Change{Undo: u.Command})
	if len(effects) != 1 {
		t.Errorf("%d effects, want one for the semaphore", len(effects))
	}
	c.carryOut(u)
	c.wantGroups("prod")
	if c.state().Definition("a").Pause != nil {
		t.Error("it is still paused")
	}
}

func TestUndo_OneOfSeveralIsForgotten(t *testing.T) {
	c := newCluster(t)
	c.define("a", group("prod"))
	gone := c.state().Revision()
	c.define("b", group("prod"))
	for i := range 100 {
		c.define("a", permits(uint32(20+i)))
	}
	last := c.define("b", group("dr"))
	var none *NoSuchChangeError
	if _, err := Undo(c.state(), Undoable{Changes: []uint64{gone, last}}, c.now); !errors.As(err, &none) || none.Change != gone {
		t.Fatalf("got %v", err)
	}
	u := c.plan(Undoable{Changes: []uint64{gone, last}, Partial: true})
	if len(u.Missing) != 1 || u.Missing[0].Change != gone || u.Command == nil || !u.Command.Partial {
		t.Fatalf("planned %+v", u)
	}
}
