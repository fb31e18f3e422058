package undo

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/phrase"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/preview"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/statetest"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func (c *cluster) undo(change uint64) *Plan {
	c.T.Helper()
	u, err := NewPlan(c.State(), Request{Changes: []uint64{change}}, c.Now)
	if err != nil {
		c.T.Fatal(err)
	}
	return u
}

// carryOut carries out a plan and returns the changes that it made.
func (c *cluster) carryOut(u *Plan) (changes []uint64) {
	c.T.Helper()
	if len(u.Conflicts) > 0 {
		c.T.Fatalf("the plan has conflicts: %+v", u)
	}
	if u.Command != nil {
		changes = append(changes, c.Do(*u.Command))
	}
	return changes
}

// undoable lists changes to "job" or to a cordon, each with the setup it needs.
var undoable = map[string]struct {
	prepare, change func(c *cluster) uint64
}{
	"create":  {nil, func(c *cluster) uint64 { return c.Define("new", nil) }},
	"replace": {nil, func(c *cluster) uint64 { return c.Define("job", statetest.Group("dr")) }},
	"temporary edit": {nil, func(c *cluster) uint64 {
		return c.Do(fsm.EditBatch{Changes: []fsm.Change{c.Change("job", statetest.Group("dr"))}, Until: c.Now.Add(time.Hour)})
	}},
	"pause that replaces another": {func(c *cluster) uint64 {
		return c.Do(fsm.Pause{Names: []string{"job"}, Reason: "outage", Stop: true, Drain: time.Minute, Until: c.Now.Add(time.Hour), Author: "ann"})
	}, func(c *cluster) uint64 {
		return c.Do(fsm.Pause{Names: []string{"job", "other"}, Reason: "maintenance", Author: "bob"})
	}},
	"cordon that replaces another": {func(c *cluster) uint64 {
		return c.Do(fsm.SetCordon{ID: "c", GroupPattern: "prod", Reason: "outage", Author: "ann", Drain: time.Minute})
	}, func(c *cluster) uint64 { return c.Do(fsm.SetCordon{ID: "c", GroupPattern: "dr", Author: "bob"}) }},
	"delete while paused and temporarily edited": {func(c *cluster) uint64 {
		c.Do(fsm.EditBatch{Changes: []fsm.Change{c.Change("job", statetest.Group("dr"))}, Until: c.Now.Add(time.Hour), Drain: time.Minute})
		return c.Do(fsm.Pause{Names: []string{"job"}, Reason: "outage", Author: "ann"})
	}, func(c *cluster) uint64 { return c.Do(fsm.EditBatch{Changes: []fsm.Change{c.Deletion("job")}}) }},
	"delete": {nil, func(c *cluster) uint64 { return c.Do(fsm.EditBatch{Changes: []fsm.Change{c.Deletion("job")}}) }},
	"batch": {nil, func(c *cluster) uint64 {
		return c.Do(fsm.EditBatch{Changes: []fsm.Change{c.Change("job", statetest.Group("dr")), c.Change("new", nil), c.Deletion("other")}})
	}},
	"pause": {nil, func(c *cluster) uint64 { return c.Do(fsm.Pause{Names: []string{"job", "other"}, Stop: true}) }},
	"resume": {func(c *cluster) uint64 {
		c.Do(fsm.Pause{Names: []string{"job"}, Reason: "outage", Stop: true, Until: c.Now.Add(time.Hour)})
		return c.Do(fsm.Pause{Names: []string{"other"}, Reason: "maintenance"})
	}, func(c *cluster) uint64 { return c.Do(fsm.Resume{Names: []string{"job", "other"}}) }},
	"cordon": {nil, func(c *cluster) uint64 { return c.Do(fsm.SetCordon{ID: "c", GroupPattern: "prod"}) }},
	"uncordon": {func(c *cluster) uint64 {
		return c.Do(fsm.SetCordon{ID: "c", GroupPattern: "prod", AcquirerPattern: "a", Reason: "outage", Until: c.Now.Add(time.Hour)})
	}, func(c *cluster) uint64 { return c.Do(fsm.Uncordon{ID: "c"}) }},
	"forget firings":                {claimFutureFirings, func(c *cluster) uint64 { return c.forget(c.Now, firingAt(9000), firingAt(9100)) }},
	"forget firings below the mark": {claimFutureFirings, func(c *cluster) uint64 { return c.forget(time.Time{}, firingAt(9000)) }},
	"lower the mark":                {claimFutureFirings, func(c *cluster) uint64 { return c.forget(c.Now) }},
}

// rules formats the definitions and cordons in a state, without their versions and revisions.
func rules(s *fsm.State) (all []string) {
	for sd := range s.Definitions("") {
		line := sd.Definition.Name + " " + strings.Join(semaphore.Changed(&semaphore.Definition{}, sd.Definition), ",") + " " + sd.Definition.GroupPattern
		if p := sd.Pause; p != nil {
			line += " paused " + p.Author + p.Reason + p.Until.String() + p.Drain.String()
			if p.Stop {
				line += " with stop"
			}
		}
		for _, end := range s.Ends(sd.Definition.Name) {
			line += " ends " + end.Until.String() + end.Drain.String() + strings.Join(semaphore.Changed(end.Before, end.After), ",")
		}
		for claim := range s.Claims(sd.Definition.Name) {
			line += fmt.Sprintf(" firing %s %d %d", phrase.Firing(claim.Firing), claim.Token, claim.State)
		}
		all = append(all, line+" forgotten up to "+s.LowWater(sd.Definition.Name).String())
	}
	for _, c := range s.Cordons() {
		all = append(all, "cordon "+c.ID+c.GroupPattern+c.AcquirerPattern+c.Author+c.Reason+c.Until.String()+c.Drain.String())
	}
	return all
}

func TestUndo_EveryKind_RestoresStateAndIsIdempotent(t *testing.T) {
	for name, x := range undoable {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.Define("job", nil)
			c.Define("other", nil)
			if x.prepare != nil {
				x.prepare(c)
			}
			before := rules(c.State())
			change := x.change(c)
			made := rules(c.State())
			if slices.Equal(made, before) {
				t.Fatal("the change had no effect")
			}
			undoing := c.carryOut(c.undo(change))
			c.wantUndone(change, undoing[0])
			if after := rules(c.State()); !slices.Equal(after, before) {
				t.Fatalf("after the undo: got\n%q, want\n%q", after, before)
			}
			for range 2 { // a caller retries an undo whose response was lost
				u := c.undo(change)
				if u.Command != nil || len(u.Conflicts) > 0 || u.UndoneBy != undoing[0] || len(u.Notes) != 1 {
					t.Fatalf("NewPlan() after the undo = %+v, want no command", u)
				}
			}
			for _, change := range undoing {
				c.carryOut(c.undo(change))
			}
			c.wantUndone(change, 0)
			if again := rules(c.State()); !slices.Equal(again, made) {
				t.Fatalf("after undoing the undo: got\n%q, want\n%q", again, made)
			}
		})
	}
}

// wantUndone checks that all entries of a change were undone by the given change, or that none were if by is 0.
func (c *cluster) wantUndone(change, by uint64) {
	c.T.Helper()
	undoneBy := UndoneBy(c.State())
	for e := range c.State().Journal("", change) {
		if e.Revision == change && undoneBy(e) != by {
			c.T.Errorf("UndoneBy() of entry %d.%d = change %d, want %d", e.Revision, e.Ordinal, undoneBy(e), by)
		}
	}
}

func TestUndo_FieldSetSince_ReportsConflictWithFieldName(t *testing.T) {
	for name, x := range map[string]struct {
		change func(c *cluster) uint64
		since  func(c *cluster)
		want   string
	}{
		"same field": {undoable["replace"].change, func(c *cluster) { c.Define("job", statetest.Group("east")) }, "group_pattern has been set again since"},
		"two fields": {
			func(c *cluster) uint64 {
				return c.Define("job", func(d *semaphore.Definition) { d.Permits, d.GroupPattern = 3, "dr" })
			},
			func(c *cluster) {
				c.Define("job", func(d *semaphore.Definition) { d.Permits, d.GroupPattern = 4, "east" })
			}, "group_pattern, permits have been set again since",
		},
		"deleted":       {undoable["replace"].change, func(c *cluster) { c.Do(fsm.EditBatch{Changes: []fsm.Change{c.Deletion("job")}}) }, "job: it has since been deleted"},
		"re-created":    {undoable["delete"].change, func(c *cluster) { c.Define("job", statetest.Group("east")) }, "it has since been re-created"},
		"changed since": {undoable["create"].change, func(c *cluster) { c.Define("new", statetest.Group("east")) }, "group_pattern has been set again since it was created"},
		"paused again": {func(c *cluster) uint64 {
			c.Do(fsm.Pause{Names: []string{"job"}})
			return c.Do(fsm.Resume{Names: []string{"job"}})
		}, func(c *cluster) { c.Do(fsm.Pause{Names: []string{"job"}, Author: "bob", Reason: "mine"}) }, "it has since been paused again by bob"},
		"cordoned again": {func(c *cluster) uint64 {
			c.Do(fsm.SetCordon{ID: "c", GroupPattern: "a"})
			return c.Do(fsm.Uncordon{ID: "c"})
		}, func(c *cluster) { c.Do(fsm.SetCordon{ID: "c", GroupPattern: "b", Author: "bob"}) }, "it has since been set again by bob"},
		"release of a permit": {func(c *cluster) uint64 { return c.Do(fsm.Release{Token: c.Grant("job", "prod", "a")}) }, func(*cluster) {}, "is not an edit, pause, resume, cordon or forget-firings change"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.Define("job", nil)
			change := x.change(c)
			x.since(c)
			u := c.undo(change)
			if len(u.Conflicts) != 1 || !strings.Contains(u.Conflicts[0], x.want) {
				t.Errorf("Conflicts = %q, want %q", u.Conflicts, x.want)
			}
		})
	}
}

// A definition that was re-created under the same name is a different definition, even if its content is identical.
func TestUndo_RecreatedSince_KeepsNewDefinition(t *testing.T) {
	remove := func(c *cluster) uint64 { return c.Do(fsm.EditBatch{Changes: []fsm.Change{c.Deletion("job")}}) }
	create := func(c *cluster) uint64 { return c.Define("job", statetest.Group("dr")) }
	for name, x := range map[string]struct {
		change   func(c *cluster) uint64
		since    func(c *cluster)
		conflict bool // whether a conflict is expected
		same     bool // whether the current definition is the one that was changed
	}{
		"creation": {create, func(c *cluster) { remove(c); create(c) }, false, false},
		"edit":     {func(c *cluster) uint64 { c.Define("job", nil); return create(c) }, func(c *cluster) { remove(c); create(c) }, true, false},
		"resume": {func(c *cluster) uint64 {
			create(c)
			c.Do(fsm.Pause{Names: []string{"job"}})
			return c.Do(fsm.Resume{Names: []string{"job"}})
		}, func(c *cluster) { remove(c); create(c) }, true, false},
		"deletion undone": {create, func(c *cluster) { c.carryOut(c.undo(remove(c))) }, false, true},
		"undone, then the undo undone": {create, func(c *cluster) {
			u := c.carryOut(c.undo(c.State().Revision()))
			c.carryOut(c.undo(u[0]))
		}, false, true},
		"deleted and restored twice": {create, func(c *cluster) {
			c.carryOut(c.undo(remove(c)))
			c.carryOut(c.undo(remove(c)))
		}, false, true},
		"deletion undone, then deleted again": {create, func(c *cluster) {
			c.carryOut(c.undo(remove(c)))
			remove(c)
			create(c)
		}, false, false},
		"re-created, then the first restored": {create, func(c *cluster) {
			deleted := remove(c)
			create(c)
			remove(c)
			c.carryOut(c.undo(deleted))
		}, false, true},
		"creation of the second definition": {func(c *cluster) uint64 {
			create(c)
			remove(c)
			return create(c)
		}, func(c *cluster) {
			remove(c)
			c.carryOut(c.undo(c.State().Revision() - 2)) // the first deletion
		}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			change := x.change(c)
			x.since(c)
			switch u := c.undo(change); {
			case x.same && (u.Command == nil || len(u.Conflicts) > 0):
				t.Errorf("NewPlan() = %+v, want a command and no conflicts", u)
			case !x.same && u.Command != nil:
				t.Errorf("NewPlan() command = %+v, want none because change %d re-created the definition", u.Command, c.State().Definition("job").CreatedRevision)
			case x.conflict != (len(u.Conflicts) == 1):
				t.Errorf("Conflicts = %q, want conflict = %t", u.Conflicts, x.conflict)
			case !x.same && !strings.Contains(strings.Join(append(u.Conflicts, u.Notes...), ""), "it has since been deleted; the current definition was created by change"):
				t.Errorf("Conflicts = %q, Notes = %q, want the deletion reported", u.Conflicts, u.Notes)
			}
		})
	}
}

// The value was reverted by hand and later set again. The undo must not revert the later edit.
func TestUndo_SetSinceToSameValue_ReportsConflict(t *testing.T) {
	c := newCluster(t)
	c.Define("job", statetest.Group("prod"))
	edited := c.Define("job", statetest.Group("dr"))
	c.Define("job", statetest.Group("prod"))
	c.Define("job", statetest.Group("dr"))
	u := c.undo(edited)
	if u.Command != nil || len(u.Conflicts) != 1 || !strings.Contains(u.Conflicts[0], "group_pattern has been set again since, in change") {
		t.Errorf("NewPlan() = %+v, want a conflict", u)
	}
}

// Later changes do not conflict if they have been undone, or if they were temporary and have ended.
func TestUndo_LaterChangesReverted_NoConflict(t *testing.T) {
	c := newCluster(t)
	c.Define("job", statetest.Group("prod"))
	edited := c.Define("job", statetest.Group("dr"))
	other := c.Define("job", statetest.Group("lab"))
	c.carryOut(c.undo(other))
	timed := c.Do(fsm.EditBatch{Changes: []fsm.Change{c.Change("job", statetest.Group("lab"))}, Until: c.Now.Add(time.Hour)})
	c.Now = c.Now.Add(time.Hour)
	c.Do(fsm.Revert{Change: timed, Term: 1, Names: []string{"job"}})
	u := c.undo(edited)
	c.carryOut(u)
	if got := c.State().Definition("job").Definition.GroupPattern; got != "prod" {
		t.Errorf("group pattern = %q after the undo, want prod; plan %+v", got, u)
	}
}

func TestUndo_OtherFieldSetSince_IsKept(t *testing.T) {
	c := newCluster(t)
	c.Define("job", nil)
	change := c.Define("job", func(d *semaphore.Definition) {
		d.GroupPattern, d.Labels = "dr", semaphore.LabelsOf(map[string]string{"team": "x"})
	})
	c.Define("job", func(d *semaphore.Definition) {
		d.Permits, d.Labels = 7, semaphore.LabelsOf(map[string]string{"team": "x", "tier": "1"})
	})
	c.carryOut(c.undo(change))
	if d := c.State().Definition("job").Definition; d.GroupPattern != ".*" || d.Permits != 7 || len(d.Labels) != 1 || d.Labels[0] != (semaphore.Label{Key: "tier", Value: "1"}) {
		t.Errorf("definition after the undo = %+v, want only the undone field reverted", d)
	}
}

func TestUndo_AlreadyEnded_DoesNothing(t *testing.T) {
	for name, x := range map[string]struct {
		change func(c *cluster) uint64
		since  func(c *cluster)
	}{
		"pause that was replaced":  {undoable["pause"].change, func(c *cluster) { c.Do(fsm.Pause{Names: []string{"job", "other"}}) }},
		"cordon that was replaced": {undoable["cordon"].change, func(c *cluster) { c.Do(fsm.SetCordon{ID: "c", GroupPattern: "dr"}) }},
		"pause that would have ended": {func(c *cluster) uint64 {
			c.Do(fsm.Pause{Names: []string{"job"}, Until: c.Now.Add(time.Hour)})
			return c.Do(fsm.Resume{Names: []string{"job"}})
		}, func(c *cluster) { c.Now = c.Now.Add(time.Hour) }},
		"cordon that would have ended": {func(c *cluster) uint64 {
			c.Do(fsm.SetCordon{ID: "c", GroupPattern: "dr", Until: c.Now.Add(time.Hour)})
			return c.Do(fsm.Uncordon{ID: "c"})
		}, func(c *cluster) { c.Now = c.Now.Add(time.Hour) }},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.Define("job", nil)
			c.Define("other", nil)
			change := x.change(c)
			x.since(c)
			if u := c.undo(change); u.Command != nil || len(u.Conflicts) > 0 || len(u.Notes) == 0 {
				t.Errorf("plan = %+v, want only notes", u)
			}
		})
	}
}

// Pauses and temporary values that would have expired by now are not restored.
func TestUndo_Deletion_RestoresStateAsOfNow(t *testing.T) {
	c := newCluster(t)
	c.Define("job", nil)
	temporary := c.Do(fsm.EditBatch{Changes: []fsm.Change{c.Change("job", statetest.Group("dr"))}, Until: c.Now.Add(time.Hour)})
	c.Do(fsm.EditBatch{Changes: []fsm.Change{c.Change("job", func(d *semaphore.Definition) { d.Permits = 7 })}, Until: c.Now.Add(3 * time.Hour)})
	c.Do(fsm.Pause{Names: []string{"job"}, Until: c.Now.Add(time.Hour)})
	deleted := c.Do(fsm.EditBatch{Changes: []fsm.Change{c.Deletion("job")}})
	c.Now = c.Now.Add(2 * time.Hour)
	u := c.undo(deleted)
	if len(u.Notes) != 3 || !strings.Contains(u.Notes[0], "temporary values from change") {
		t.Errorf("Notes = %q, want three", u.Notes)
	}
	c.carryOut(u)
	sd, ends := c.State().Definition("job"), c.State().Ends("job")
	if sd.Definition.GroupPattern != ".*" || sd.Definition.Permits != 7 || sd.Pause != nil || len(ends) != 1 || ends[0].Revision == temporary {
		t.Fatalf("after the undo: got %+v, paused %+v, ends %+v", sd.Definition, sd.Pause, ends)
	}
	c.Do(fsm.Revert{Change: ends[0].Revision, Term: 1, Names: []string{"job"}})
	if d := c.State().Definition("job").Definition; d.GroupPattern != ".*" || d.Permits != 10 {
		t.Errorf("after the edit expired: got %+v", d)
	}
}

// Each undo removes only its own pause from a stack of pauses, regardless of the order of the undos.
func TestUndo_StackedPauses_EndsOnlyOwnPause(t *testing.T) {
	reason := func(c *cluster) string {
		if p := c.State().Definition("job").Pause; p != nil {
			return p.Reason
		}
		return ""
	}
	stackPauses := func(t *testing.T) (c *cluster, pauses []uint64) {
		c = newCluster(t)
		c.Define("job", nil)
		for _, reason := range []string{"first", "second", "third"} {
			pauses = append(pauses, c.Do(fsm.Pause{Names: []string{"job"}, Reason: reason, Author: "ann"}))
		}
		return c, pauses
	}
	t.Run("newest first", func(t *testing.T) {
		c, pauses := stackPauses(t)
		for i, want := range []string{"second", "first", ""} {
			c.carryOut(c.undo(pauses[2-i]))
			if got := reason(c); got != want {
				t.Fatalf("after %d undos: paused by %q, want %q", i+1, got, want)
			}
		}
	})
	t.Run("replaced pause, then undo the undo", func(t *testing.T) {
		c, pauses := stackPauses(t)
		if u := c.undo(pauses[1]); u.Command != nil || !strings.Contains(u.Notes[0], "since been paused again by ann in change") {
			t.Fatalf("plan = %+v, want no command and a note about the later pause", u)
		}
		undoing := c.carryOut(c.undo(pauses[2]))
		c.carryOut(c.undo(pauses[1]))
		c.carryOut(c.undo(c.State().Revision()))
		if got := reason(c); got != "second" {
			t.Fatalf("pause after undoing the undo = %q, want second", got)
		}
		// Undoing the first undo would restore the third pause on top of the second.
		if u := c.undo(undoing[0]); u.Command != nil {
			c.carryOut(u)
		}
		if got := reason(c); got != "second" { // set by a later change
			t.Fatalf("pause after both undos = %q, want second", got)
		}
	})
	t.Run("undone pause is not restored", func(t *testing.T) {
		c := newCluster(t)
		c.Define("job", nil)
		c.Define("other", nil)
		first := c.Do(fsm.Pause{Names: []string{"job", "other"}, Reason: "night"})
		second := c.Do(fsm.Pause{Names: []string{"job"}, Reason: "broken", Author: "ann"})
		c.carryOut(c.undo(first)) // resumes only other, because ann has since paused job again
		if got := reason(c); got != "broken" || c.State().Definition("other").Pause != nil {
			t.Fatalf("job is paused by %q, want broken; other must not be paused", got)
		}
		c.carryOut(c.undo(second))
		if got := reason(c); got != "" {
			t.Fatalf("job is paused by %q, want not paused", got)
		}
	})
}

func TestUndo_EditEnd_RestoresValuesPermanently(t *testing.T) {
	c := newCluster(t)
	c.Define("job", nil)
	change := c.Do(fsm.EditBatch{Changes: []fsm.Change{c.Change("job", statetest.Group("dr"))}, Until: c.Now.Add(time.Hour)})
	u := c.undo(c.Do(fsm.Revert{Change: change, Term: 1, Names: []string{"job"}}))
	c.carryOut(u)
	if d := c.State().Definition("job").Definition; d.GroupPattern != "dr" || len(c.State().Ends("job")) != 0 || !strings.Contains(u.Notes[0], "are now permanent") {
		t.Errorf("after the undo: got %+v, notes %q", d, u.Notes)
	}
}

func TestUndo_TemporaryEdit_CancelsScheduledEnd(t *testing.T) {
	c := newCluster(t)
	c.Define("job", nil)
	change := c.Do(fsm.EditBatch{Changes: []fsm.Change{c.Change("job", statetest.Group("dr"))}, Until: c.Now.Add(time.Hour)})
	undoing := c.carryOut(c.undo(change))
	if ends := c.State().Ends("job"); len(ends) != 0 {
		t.Fatalf("Ends() after the undo = %+v, want none", ends)
	}
	c.Now = c.Now.Add(2 * time.Hour)
	if u := c.undo(undoing[0]); u.Command != nil || !strings.Contains(u.Notes[0], "have since expired") {
		t.Errorf("plan = %+v, want no command and a note that the values have expired", u)
	}
}

func TestUndo_WithDrain_AppliesDrainToRestoredPauses(t *testing.T) {
	c := newCluster(t)
	c.Define("job", nil)
	c.Do(fsm.Pause{Names: []string{"job"}, Stop: true, Drain: time.Hour})
	resumed := c.Do(fsm.Resume{Names: []string{"job"}})
	for drain, want := range map[time.Duration]time.Duration{0: time.Hour, time.Minute: time.Minute} {
		u, err := NewPlan(c.State(), Request{Changes: []uint64{resumed}, Drain: drain}, c.Now)
		if err != nil || u.Command.Pauses[0].Pause.Drain != want {
			t.Errorf("NewPlan() with drain %v = %+v, %v", drain, u, err)
		}
	}
}

// Like the preview of an edit, an undo's preview lists the holders that it would stop, in this case by restoring pauses
// and cordons.
func TestEffects_Undo_ListsStoppedHolders(t *testing.T) {
	c := newCluster(t)
	c.Define("job", nil)
	c.Define("other", nil)
	c.Do(fsm.Pause{Names: []string{"job"}, Stop: true, Drain: time.Hour})
	resumed := c.Do(fsm.Resume{Names: []string{"job"}})
	c.Do(fsm.SetCordon{ID: "c", AcquirerPattern: "a"})
	uncordoned := c.Do(fsm.Uncordon{ID: "c"})
	c.Define("gone", nil)
	c.Do(fsm.Pause{Names: []string{"gone"}, Stop: true})
	deleted := c.Do(fsm.EditBatch{Changes: []fsm.Change{c.Deletion("gone")}})
	c.Grant("job", "prod", "a")
	c.Grant("job", "prod", "b")
	c.Grant("other", "prod", "a")
	for _, x := range []struct {
		what   string
		change uint64
		want   map[string]int
	}{
		{"resume", resumed, map[string]int{"job": 2}}, {"uncordon", uncordoned, map[string]int{"job": 1, "other": 1}},
		{"delete", deleted, map[string]int{"gone": 0}},
	} {
		effects, _ := preview.Effects(c.State(), statetest.Patterns{}, preview.Change{Undo: c.undo(x.change).Command})
		got := make(map[string]int)
		for _, e := range effects {
			got[e.Semaphore] = len(e.Stopped)
		}
		if !maps.Equal(got, x.want) {
			t.Errorf("undo of %s: stops %v, want %v", x.what, got, x.want)
		}
		if x.what == "resume" && effects[0].Stopped[0].FreeWithin < time.Hour {
			t.Errorf("FreeWithin = %v, want at least the one-hour drain", effects[0].Stopped[0].FreeWithin)
		}
	}
}

func TestUndo_ManyNamesInOneChange_RestoresOnePause(t *testing.T) {
	c := newCluster(t)
	var names []string
	for i := range 510 {
		names = append(names, "job-"+string(rune('a'+i/26))+string(rune('a'+i%26)))
		c.Define(names[i], nil)
	}
	pause := c.Do(fsm.Pause{Names: names})
	if u := c.undo(pause); len(u.Command.Pauses) != 1 || len(u.Notes) != 1 {
		t.Fatalf("got %d pauses, notes %q, want one of each", len(u.Command.Pauses), u.Notes)
	}
	c.Do(fsm.Resume{Names: names})
	u := c.undo(c.State().Revision())
	if len(u.Command.Pauses) != 1 || len(u.Notes) != 1 {
		t.Fatalf("got %d pauses, notes %q, want one of each", len(u.Command.Pauses), u.Notes)
	}
	c.carryOut(u)
}

func TestUndo_NoSuchChange_ReportsOldestChange(t *testing.T) {
	c := newCluster(t)
	var notFound *NoSuchChangeError
	if _, err := NewPlan(c.State(), Request{Changes: []uint64{77}}, c.Now); !errors.As(err, &notFound) || notFound.Oldest != 0 || !strings.Contains(err.Error(), "which is empty") {
		t.Errorf("NewPlan() with an empty journal = %v, want a NoSuchChangeError", err)
	}
	first := c.Define("job", nil)
	if _, err := NewPlan(c.State(), Request{Changes: []uint64{77}}, c.Now); !errors.As(err, &notFound) || notFound.Oldest != first || !strings.Contains(err.Error(), "gkctl history") {
		t.Errorf("NewPlan() with an unknown change = %v, want a NoSuchChangeError with the oldest change", err)
	}
}

// If nothing else has changed, undoing an edit restores every definition.
func TestUndo_AnyBatch_RestoresDefinitions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := newCluster(t)
		draw := func(d *semaphore.Definition) {
			d.GroupPattern = rapid.SampledFrom([]string{".*", "prod", "dr"}).Draw(rt, "group")
			d.AcquirerPattern = rapid.SampledFrom([]string{".*", "a|b"}).Draw(rt, "acquirer")
			d.Permits = uint32(rapid.IntRange(0, 3).Draw(rt, "permits"))
			d.Labels = semaphore.LabelsOf(rapid.MapOfN(rapid.SampledFrom([]string{"x", "y"}), rapid.SampledFrom([]string{"1", "2"}), 0, 2).Draw(rt, "labels"))
			d.MaxHold = time.Duration(rapid.IntRange(0, 2).Draw(rt, "hold")) * time.Hour
			d.Takeover = rapid.Bool().Draw(rt, "takeover")
		}
		names := []string{"a", "b", "c"}
		for _, name := range names[:2] {
			c.Define(name, draw)
		}
		before := definitions(c.State())
		var batch []fsm.Change
		for _, name := range names {
			switch {
			case rapid.Bool().Draw(rt, "leave"):
			case c.State().Definition(name) != nil && rapid.Bool().Draw(rt, "delete"):
				batch = append(batch, c.Deletion(name))
			default:
				batch = append(batch, c.Change(name, draw))
			}
		}
		if len(batch) == 0 {
			return
		}
		c.carryOut(c.undo(c.Do(fsm.EditBatch{Changes: batch})))
		if after := definitions(c.State()); len(after) != len(before) {
			rt.Fatalf("got %d definitions, want %d", len(after), len(before))
		}
		for name, d := range definitions(c.State()) {
			if old := before[name]; old == nil || len(semaphore.Changed(old, d)) > 0 {
				rt.Fatalf("%s was not restored: %+v", name, d)
			}
		}
	})
}

func definitions(s *fsm.State) map[string]*semaphore.Definition {
	all := make(map[string]*semaphore.Definition)
	for sd := range s.Definitions("") {
		all[sd.Definition.Name] = sd.Definition
	}
	return all
}
