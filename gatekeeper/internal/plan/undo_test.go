package plan

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func (c *cluster) undo(change uint64) *Undoing {
	c.t.Helper()
	u, err := Undo(c.state(), change, c.now)
	if err != nil {
		c.t.Fatal(err)
	}
	return u
}

// carryOut does what was planned, and returns the changes that it made.
func (c *cluster) carryOut(u *Undoing) (changes []uint64) {
	c.t.Helper()
	if len(u.Conflicts) > 0 || len(u.Edits) > 0 && len(u.Commands) > 0 {
		c.t.Fatalf("cannot be carried out: %+v", u)
	}
	if len(u.Edits) > 0 {
		changes = append(changes, c.do(fsm.EditBatch{Changes: u.Edits}))
	}
	for _, cmd := range u.Commands {
		changes = append(changes, c.do(cmd))
	}
	return changes
}

// undoable are changes of "job" or a cordon, each made on what prepare left, and how to see whether it is in force.
var undoable = map[string]struct {
	prepare, change func(c *cluster) uint64
}{
	"create":  {nil, func(c *cluster) uint64 { return c.define("new", nil) }},
	"replace": {nil, func(c *cluster) uint64 { return c.define("job", group("dr")) }},
	"edit that ends": {nil, func(c *cluster) uint64 {
		return c.do(fsm.EditBatch{Changes: []fsm.Change{c.change("job", group("dr"))}, Until: c.now.Add(time.Hour)})
	}},
	"its end": {func(c *cluster) uint64 {
		return c.do(fsm.EditBatch{Changes: []fsm.Change{c.change("job", group("dr"))}, Until: c.now.Add(time.Hour)})
	}, func(c *cluster) uint64 {
		return c.do(fsm.Revert{Change: c.state().Ends("job")[0].Revision, Term: 1, Names: []string{"job"}})
	}},
	"delete": {nil, func(c *cluster) uint64 { return c.do(fsm.EditBatch{Changes: []fsm.Change{c.deletion("job")}}) }},
	"batch": {nil, func(c *cluster) uint64 {
		return c.do(fsm.EditBatch{Changes: []fsm.Change{c.change("job", group("dr")), c.change("new", nil), c.deletion("other")}})
	}},
	"pause": {nil, func(c *cluster) uint64 { return c.do(fsm.Pause{Names: []string{"job", "other"}, Stop: true}) }},
	"resume": {func(c *cluster) uint64 {
		c.do(fsm.Pause{Names: []string{"job"}, Reason: "dark", Stop: true, Until: c.now.Add(time.Hour)})
		return c.do(fsm.Pause{Names: []string{"other"}, Reason: "moon"})
	}, func(c *cluster) uint64 { return c.do(fsm.Resume{Names: []string{"job", "other"}}) }},
	"cordon": {nil, func(c *cluster) uint64 { return c.do(fsm.SetCordon{ID: "c", GroupPattern: "prod"}) }},
	"uncordon": {func(c *cluster) uint64 {
		return c.do(fsm.SetCordon{ID: "c", GroupPattern: "prod", AcquirerPattern: "a", Reason: "dark", Until: c.now.Add(time.Hour)})
	}, func(c *cluster) uint64 { return c.do(fsm.Uncordon{ID: "c"}) }},
}

// rules is what a state lets happen, without versions, authors and revisions.
func rules(s *fsm.State) (all []string) {
	for sd := range s.Definitions("") {
		line := sd.Definition.Name + " " + strings.Join(semaphore.Changed(&semaphore.Definition{}, sd.Definition), ",") + " " + sd.Definition.GroupPattern
		if p := sd.Pause; p != nil {
			line += " paused " + p.Reason + p.Until.String()
			if p.Stop {
				line += " with stop"
			}
		}
		all = append(all, line)
	}
	for _, c := range s.Cordons() {
		all = append(all, "cordon "+c.ID+c.GroupPattern+c.AcquirerPattern+c.Reason+c.Until.String())
	}
	return all
}

func TestUndo_OfEachKind_GivesBackWhatWas_AndARepeatDoesNothing(t *testing.T) {
	for name, x := range undoable {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.define("job", nil)
			c.define("other", nil)
			if x.prepare != nil {
				x.prepare(c)
			}
			before := rules(c.state())
			change := x.change(c)
			made := rules(c.state())
			if slices.Equal(made, before) {
				t.Fatal("the change changed nothing")
			}
			undoing := c.carryOut(c.undo(change))
			if after := rules(c.state()); !slices.Equal(after, before) {
				t.Fatalf("it is\n%q, was\n%q", after, before)
			}
			for range 2 { // as a caller does whose answer was lost
				u := c.undo(change)
				if len(u.Edits)+len(u.Commands)+len(u.Conflicts) > 0 || len(u.Notes) == 0 {
					t.Fatalf("a repeat would do %+v", u)
				}
			}
			for _, change := range undoing {
				c.carryOut(c.undo(change))
			}
			if again := rules(c.state()); !slices.Equal(again, made) {
				t.Fatalf("the undoing undone is\n%q, want\n%q", again, made)
			}
		})
	}
}

func TestUndo_SetSince_IsAConflictThatNamesTheField(t *testing.T) {
	for name, x := range map[string]struct {
		change func(c *cluster) uint64
		since  func(c *cluster)
		want   string
	}{
		"same field": {undoable["replace"].change, func(c *cluster) { c.define("job", group("east")) }, "group_pattern was set again since"},
		"two fields": {
			func(c *cluster) uint64 {
				return c.define("job", func(d *semaphore.Definition) { d.Permits, d.GroupPattern = 3, "dr" })
			},
			func(c *cluster) {
				c.define("job", func(d *semaphore.Definition) { d.Permits, d.GroupPattern = 4, "east" })
			}, "group_pattern, permits were set again since",
		},
		"deleted":       {undoable["replace"].change, func(c *cluster) { c.do(fsm.EditBatch{Changes: []fsm.Change{c.deletion("job")}}) }, "job: it was deleted since"},
		"created anew":  {undoable["delete"].change, func(c *cluster) { c.define("job", group("east")) }, "created anew since"},
		"changed since": {undoable["create"].change, func(c *cluster) { c.define("new", group("east")) }, "group_pattern was set again since it was created"},
		"paused again": {func(c *cluster) uint64 {
			c.do(fsm.Pause{Names: []string{"job"}})
			return c.do(fsm.Resume{Names: []string{"job"}})
		}, func(c *cluster) { c.do(fsm.Pause{Names: []string{"job"}, Author: "bob", Reason: "mine"}) }, "paused again since, by bob"},
		"cordoned again": {func(c *cluster) uint64 {
			c.do(fsm.SetCordon{ID: "c", GroupPattern: "a"})
			return c.do(fsm.Uncordon{ID: "c"})
		}, func(c *cluster) { c.do(fsm.SetCordon{ID: "c", GroupPattern: "b", Author: "bob"}) }, "set anew since, by bob"},
		"end of a permit": {func(c *cluster) uint64 { return c.do(fsm.Release{Token: c.grant("job", "prod", "a")}) }, func(*cluster) {}, "is no edit, pause, resume or cordon"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.define("job", nil)
			change := x.change(c)
			x.since(c)
			u := c.undo(change)
			if len(u.Conflicts) != 1 || !strings.Contains(u.Conflicts[0], x.want) {
				t.Errorf("conflicts %q, want %q", u.Conflicts, x.want)
			}
		})
	}
}

func TestUndo_OtherFieldSetSince_IsKept(t *testing.T) {
	c := newCluster(t)
	c.define("job", nil)
	change := c.define("job", func(d *semaphore.Definition) { d.GroupPattern, d.Labels = "dr", map[string]string{"team": "x"} })
	c.define("job", func(d *semaphore.Definition) { d.Permits, d.Labels = 7, map[string]string{"team": "x", "tier": "1"} })
	c.carryOut(c.undo(change))
	if d := c.state().Definition("job").Definition; d.GroupPattern != ".*" || d.Permits != 7 || len(d.Labels) != 1 || d.Labels["tier"] != "1" {
		t.Errorf("got %+v", d)
	}
}

func TestUndo_OverAlready_NeedsNothing(t *testing.T) {
	for name, x := range map[string]struct {
		change func(c *cluster) uint64
		since  func(c *cluster)
	}{
		"pause that was replaced":  {undoable["pause"].change, func(c *cluster) { c.do(fsm.Pause{Names: []string{"job", "other"}}) }},
		"cordon that was replaced": {undoable["cordon"].change, func(c *cluster) { c.do(fsm.SetCordon{ID: "c", GroupPattern: "dr"}) }},
		"pause whose time is over": {func(c *cluster) uint64 {
			c.do(fsm.Pause{Names: []string{"job"}, Until: c.now.Add(time.Hour)})
			return c.do(fsm.Resume{Names: []string{"job"}})
		}, func(c *cluster) { c.now = c.now.Add(time.Hour) }},
		"cordon whose time is over": {func(c *cluster) uint64 {
			c.do(fsm.SetCordon{ID: "c", GroupPattern: "dr", Until: c.now.Add(time.Hour)})
			return c.do(fsm.Uncordon{ID: "c"})
		}, func(c *cluster) { c.now = c.now.Add(time.Hour) }},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.define("job", nil)
			c.define("other", nil)
			change := x.change(c)
			x.since(c)
			if u := c.undo(change); len(u.Edits)+len(u.Commands)+len(u.Conflicts) > 0 || len(u.Notes) == 0 {
				t.Errorf("planned %+v", u)
			}
		})
	}
}

func TestUndo_DeletedWhilePaused_SaysThatThePauseIsGone(t *testing.T) {
	c := newCluster(t)
	c.define("job", nil)
	c.do(fsm.Pause{Names: []string{"job"}})
	u := c.undo(c.do(fsm.EditBatch{Changes: []fsm.Change{c.deletion("job")}}))
	if len(u.Edits) != 1 || len(u.Notes) != 1 || !strings.Contains(u.Notes[0], "comes back without its pause") {
		t.Errorf("planned %+v", u)
	}
}

func TestUndo_ManyNamesOfOneChange_ShareACommand(t *testing.T) {
	c := newCluster(t)
	var names []string
	for i := range 510 {
		names = append(names, "job-"+string(rune('a'+i/26))+string(rune('a'+i%26)))
		c.define(names[i], nil)
	}
	pause := c.do(fsm.Pause{Names: names})
	if u := c.undo(pause); len(u.Commands) != 1 || len(u.Notes) != 1 {
		t.Fatalf("planned %d commands, notes %q", len(u.Commands), u.Notes)
	}
	c.do(fsm.Resume{Names: names})
	u := c.undo(c.state().Revision())
	if len(u.Commands) != 1 || len(u.Notes) != 1 {
		t.Fatalf("planned %d commands, notes %q", len(u.Commands), u.Notes)
	}
	c.carryOut(u)
}

func TestUndo_NoSuchChange_SaysWhereTheJournalBegins(t *testing.T) {
	c := newCluster(t)
	var none *NoSuchChangeError
	if _, err := Undo(c.state(), 77, c.now); !errors.As(err, &none) || none.Oldest != 0 || !strings.Contains(err.Error(), "it is empty") {
		t.Errorf("got %v", err)
	}
	first := c.define("job", nil)
	if _, err := Undo(c.state(), 77, c.now); !errors.As(err, &none) || none.Oldest != first || !strings.Contains(err.Error(), "gkctl history") {
		t.Errorf("got %v", err)
	}
}

// Undoing an edit in a state in which nothing else has changed gives back every definition as it was.
func TestUndo_OfAnyBatch_GivesBackTheDefinitions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := newCluster(t)
		draw := func(d *semaphore.Definition) {
			d.GroupPattern = rapid.SampledFrom([]string{".*", "prod", "dr"}).Draw(rt, "group")
			d.AcquirerPattern = rapid.SampledFrom([]string{".*", "a|b"}).Draw(rt, "acquirer")
			d.Permits = uint32(rapid.IntRange(0, 3).Draw(rt, "permits"))
			d.Labels = rapid.MapOfN(rapid.SampledFrom([]string{"x", "y"}), rapid.SampledFrom([]string{"1", "2"}), 0, 2).Draw(rt, "labels")
			d.MaxHold = time.Duration(rapid.IntRange(0, 2).Draw(rt, "hold")) * time.Hour
			d.Takeover = rapid.Bool().Draw(rt, "takeover")
		}
		names := []string{"a", "b", "c"}
		for _, name := range names[:2] {
			c.define(name, draw)
		}
		before := definitions(c.state())
		var batch []fsm.Change
		for _, name := range names {
			switch {
			case rapid.Bool().Draw(rt, "leave"):
			case c.state().Definition(name) != nil && rapid.Bool().Draw(rt, "delete"):
				batch = append(batch, c.deletion(name))
			default:
				batch = append(batch, c.change(name, draw))
			}
		}
		if len(batch) == 0 {
			return
		}
		u := c.undo(c.do(fsm.EditBatch{Changes: batch}))
		if len(u.Edits) > 0 {
			c.carryOut(u)
		}
		if after := definitions(c.state()); len(after) != len(before) {
			rt.Fatalf("%d definitions, were %d", len(after), len(before))
		}
		for name, d := range definitions(c.state()) {
			if was := before[name]; was == nil || len(semaphore.Changed(was, d)) > 0 {
				rt.Fatalf("%s differs from what it was: %+v", name, d)
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
