package preview

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func (c *cluster) preview(change Change) ([]Effect, []string) {
	return Effects(c.state(), patterns{}, change)
}

// edited is the effect of one edit of "job".
func (c *cluster) edited(set func(*semaphore.Definition)) Effect {
	c.t.Helper()
	effects, _ := c.preview(Change{Edits: []fsm.Change{c.change("job", set)}})
	if len(effects) != 1 {
		c.t.Fatalf("%d effects, want 1", len(effects))
	}
	return effects[0]
}

func stopped(e *Effect) (tokens []uint64) {
	for _, s := range e.Stopped {
		tokens = append(tokens, s.Permit.Token)
	}
	return tokens
}

func TestEffects_Edit_NamesTheHoldersThatItStopsAndWhenTheirSlotIsFree(t *testing.T) {
	for name, x := range map[string]struct {
		before, after func(*semaphore.Definition)
		drain         time.Duration
		want          time.Duration
	}{
		"no drain":         {nil, group("dr"), 0, time.Minute + semaphore.Grace(time.Minute)},
		"drain":            {nil, group("dr"), time.Hour, time.Hour + time.Minute + semaphore.Grace(time.Minute)},
		"loss delay":       {func(d *semaphore.Definition) { d.LossDelay = 5 * time.Minute }, group("dr"), 0, 6*time.Minute + semaphore.Grace(time.Minute)},
		"min hold":         {func(d *semaphore.Definition) { d.MinHold = 10 * time.Minute }, group("dr"), 2 * time.Minute, 10*time.Minute + semaphore.Grace(time.Minute)},
		"longer, drains":   {nil, func(d *semaphore.Definition) { d.GroupPattern, d.Duration = "dr", 10*time.Minute }, time.Hour, 70*time.Minute + semaphore.Grace(10*time.Minute)},
		"longer, no drain": {nil, func(d *semaphore.Definition) { d.GroupPattern, d.Duration = "dr", 10*time.Minute }, 0, time.Minute + semaphore.Grace(time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.define("job", x.before)
			old := c.grant("job", "prod", "a")
			c.grant("job", "dr", "b")
			effects, _ := c.preview(Change{Edits: []fsm.Change{c.change("job", x.after)}, Drain: x.drain})
			e := effects[0]
			if !slices.Equal(stopped(&e), []uint64{old}) || e.Unaffected != 1 {
				t.Fatalf("stopped %v, unaffected %d", stopped(&e), e.Unaffected)
			}
			if got := e.Stopped[0].FreeWithin; got != x.want {
				t.Errorf("free within %v, want %v", got, x.want)
			}
		})
	}
}

func TestEffects_HolderThatIsToldToStopAlready_IsNamedAgainOnlyWhenItHasLessTime(t *testing.T) {
	for name, shut := range map[string]func(c *cluster, token uint64, drain time.Duration){
		"cordon": func(c *cluster, _ uint64, drain time.Duration) {
			c.do(fsm.SetCordon{ID: "c", AcquirerPattern: "a", Drain: drain})
		},
		"pause": func(c *cluster, _ uint64, drain time.Duration) {
			c.do(fsm.Pause{Names: []string{"job"}, Stop: true, Drain: drain})
		},
		"revoke": func(c *cluster, token uint64, drain time.Duration) { c.do(fsm.Revoke{Token: token, Drain: drain}) },
		"edit": func(c *cluster, _ uint64, drain time.Duration) {
			c.do(fsm.EditBatch{Changes: []fsm.Change{c.change("job", group("east"))}, Drain: drain})
		},
	} {
		for next, change := range map[string]func(c *cluster, drain time.Duration) Change{
			"cordon": func(_ *cluster, drain time.Duration) Change {
				return Change{Cordon: &fsm.SetCordon{ID: "c2", GroupPattern: "prod", Drain: drain}}
			},
			"the same cordon": func(_ *cluster, drain time.Duration) Change {
				return Change{Cordon: &fsm.SetCordon{ID: "c", AcquirerPattern: "a", Drain: drain}}
			},
			"pause": func(_ *cluster, drain time.Duration) Change {
				return Change{Pause: &fsm.Pause{Names: []string{"job"}, Stop: true, Drain: drain}}
			},
			"edit": func(c *cluster, drain time.Duration) Change {
				return Change{Edits: []fsm.Change{c.change("job", group("dr"))}, Drain: drain}
			},
		} {
			t.Run(name+", then "+next, func(t *testing.T) {
				for _, x := range []struct {
					first, then time.Duration
					cut         bool
				}{
					{time.Hour, 0, true},
					{time.Hour, time.Minute, true},
					{time.Hour, time.Hour, false},
					{time.Minute, time.Hour, false},
					{0, 0, false},
					{0, time.Hour, false},
				} {
					c := newCluster(t)
					c.define("job", nil)
					token := c.grant("job", "prod", "a")
					shut(c, token, x.first)
					effects, _ := c.preview(change(c, x.then))
					var cut []Stopped
					for _, e := range effects {
						cut = append(cut, e.Stopped...)
						if e.Unaffected != 0 {
							t.Errorf("%+v: %d unaffected; it is told already", x, e.Unaffected)
						}
					}
					switch {
					case !x.cut || name == "edit" && next == "edit": // a second edit leaves the drain of the first alone
						if len(cut) != 0 {
							t.Errorf("%+v: named %+v; nothing changes for it", x, cut)
						}
					case len(cut) != 1 || cut[0].Permit.Token != token || cut[0].DrainLeft != x.first ||
						cut[0].FreeWithin != x.then+time.Minute+semaphore.Grace(time.Minute):
						t.Errorf("%+v: named %+v, want the holder whose drain is cut", x, cut)
					}
				}
			})
		}
	}
}

func TestEffects_TimePassesMeanwhile_CutsNoDrain(t *testing.T) {
	c := newCluster(t)
	c.define("job", nil)
	c.grant("job", "prod", "a")
	c.do(fsm.SetCordon{ID: "c", AcquirerPattern: "a", Drain: time.Hour})
	change := Change{Cordon: &fsm.SetCordon{ID: "c2", GroupPattern: "prod", Drain: 2 * time.Hour}}
	if effects, _ := Effects(c.state(), &hurried{}, change); len(effects) != 0 {
		t.Errorf("got %+v", effects)
	}
}

func TestEffects_DeletionWithHolders_StopsThem(t *testing.T) {
	c := newCluster(t)
	c.define("job", nil)
	token := c.grant("job", "prod", "a")
	effects, _ := c.preview(Change{Edits: []fsm.Change{c.deletion("job")}})
	if e := effects[0]; e.After != nil || e.Before == nil || !slices.Equal(stopped(&e), []uint64{token}) {
		t.Errorf("got %+v", e)
	}
}

func TestEffects_EditThatChangesNothing_HasNoEffect(t *testing.T) {
	c := newCluster(t)
	c.define("job", nil)
	c.grant("job", "prod", "a")
	effects, _ := c.preview(Change{Edits: []fsm.Change{
		c.change("job", nil), {Kind: fsm.Declare, Name: "job", Definition: c.state().Definition("job").Definition},
	}})
	if len(effects) != 0 {
		t.Errorf("got %+v", effects)
	}
}

func TestEffects_HeldForAnOperator_WarnsThatTheSlotStaysTaken(t *testing.T) {
	c := newCluster(t)
	c.define("job", func(d *semaphore.Definition) { d.OnExpiry = semaphore.OnExpiryHold })
	c.grant("job", "prod", "a")
	if e := c.edited(group("dr")); len(e.Warnings) != 1 || !strings.Contains(e.Warnings[0], "until an operator clears it") {
		t.Errorf("warned %q", e.Warnings)
	}
}

func TestEffects_PermitsHeldForAnOperator_AreNamed(t *testing.T) {
	c := newCluster(t)
	c.define("job", func(d *semaphore.Definition) { d.OnExpiry = semaphore.OnExpiryHold })
	token := c.grant("job", "prod", "a")
	c.do(fsm.Expire{Token: token, Term: 1})
	if e := c.edited(group("dr")); len(e.Held) != 1 || e.Held[0].Token != token || len(e.Stopped) != 0 {
		t.Errorf("held %+v, stopped %+v", e.Held, e.Stopped)
	}
}

func TestEffects_KnownCallers_WhoIsLetInAndShutOut(t *testing.T) {
	c := newCluster(t)
	c.define("job", group("prod|east"))
	c.saw([2]string{"prod", "a"}, [2]string{"prod", "b"}, [2]string{"east", "a"}, [2]string{"dr", "a"}, [2]string{"dr", "x"})
	e := c.edited(func(d *semaphore.Definition) { d.GroupPattern, d.AcquirerPattern = "dr|east", "[a-b]" })
	names := func(list []fsm.Sighting) (s []string) {
		for _, l := range list {
			s = append(s, l.Group+"/"+l.Acquirer)
		}
		return s
	}
	if got := names(e.Admitted); !slices.Equal(got, []string{"dr/a"}) || e.AdmittedCount != 1 {
		t.Errorf("admitted %v, %d", got, e.AdmittedCount)
	}
	if got := names(e.ShutOut); !slices.Equal(got, []string{"prod/a", "prod/b"}) || e.ShutOutCount != 2 {
		t.Errorf("shut out %v, %d", got, e.ShutOutCount)
	}
	if e.Eligible != 2 || len(e.Warnings) != 0 {
		t.Errorf("%d are eligible, warned %q", e.Eligible, e.Warnings)
	}
}

func TestEffects_ManyKnownCallers_AllAreCountedAndSomeNamed(t *testing.T) {
	c := newCluster(t)
	c.define("job", group("dr"))
	var all [][2]string
	for i := range MaxCallers + 7 {
		all = append(all, [2]string{"prod", fmt.Sprintf("host-%03d", i)})
	}
	c.saw(all...)
	if e := c.edited(group("prod")); len(e.Admitted) != MaxCallers || e.AdmittedCount != MaxCallers+7 {
		t.Errorf("%d are named and %d counted", len(e.Admitted), e.AdmittedCount)
	}
}

func TestEffects_Warnings(t *testing.T) {
	seen := [][2]string{{"prod-eu", "a"}, {"dr-site", "b"}}
	for name, x := range map[string]struct {
		seen [][2]string
		set  func(*semaphore.Definition)
		want string // in the warning of the semaphore; empty: there is none
		all  string // in that of the whole
	}{
		"typo":                 {seen, group("prod-uе"), "no known group matches the group pattern", ""},
		"the nearest":          {seen, group("dr-sitte"), `the nearest is "dr-site"`, ""},
		"wrong acquirers":      {seen, func(d *semaphore.Definition) { d.GroupPattern, d.AcquirerPattern = "dr-site", "a" }, `group "dr-site" matches, but none of its acquirers`, ""},
		"somebody":             {seen, group("dr-site"), "", ""},
		"nothing known":        {nil, group("dr-sitte"), "", "Nobody has been seen asking yet"},
		"patterns left as are": {seen, func(d *semaphore.Definition) { d.Permits = 3 }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.define("job", group("no-run"))
			c.saw(x.seen...)
			effects, warnings := c.preview(Change{Edits: []fsm.Change{c.change("job", x.set)}})
			if got := strings.Join(effects[0].Warnings, " "); !strings.Contains(got, x.want) || x.want == "" && got != "" {
				t.Errorf("warned %q, want %q", got, x.want)
			}
			if got := strings.Join(warnings, " "); !strings.Contains(got, x.all) || x.all == "" && got != "" {
				t.Errorf("warned of the whole %q, want %q", got, x.all)
			}
		})
	}
}

func TestEffects_Pause_StopsHoldersOnlyWithStop(t *testing.T) {
	c := newCluster(t)
	c.define("job", nil)
	c.define("other", nil)
	token := c.grant("job", "prod", "a")
	names := []string{"other", "job"}
	effects, _ := c.preview(Change{Pause: &fsm.Pause{Names: names}})
	if len(effects) != 2 || effects[0].Semaphore != "job" || len(effects[0].Stopped) != 0 || effects[0].Unaffected != 1 {
		t.Errorf("a plain pause: %+v", effects)
	}
	effects, _ = c.preview(Change{Pause: &fsm.Pause{Names: names, Stop: true, Drain: time.Hour}})
	if !slices.Equal(stopped(&effects[0]), []uint64{token}) || effects[0].Stopped[0].FreeWithin < time.Hour {
		t.Errorf("a pause with stop: %+v", effects[0])
	}
}

func TestEffects_Cordon_StopsItsHoldersInEverySemaphore(t *testing.T) {
	c := newCluster(t)
	for _, name := range []string{"b", "a", "gone", "c"} {
		c.define(name, nil)
	}
	b, a := c.grant("b", "prod", "host1"), c.grant("a", "dr", "host1")
	c.grant("c", "dr", "host2")
	c.saw([2]string{"prod", "host1"})
	effects, warnings := c.preview(Change{Cordon: &fsm.SetCordon{AcquirerPattern: "host1"}})
	if len(effects) != 2 || !slices.Equal(stopped(&effects[0]), []uint64{a}) || !slices.Equal(stopped(&effects[1]), []uint64{b}) || len(warnings) != 0 {
		t.Errorf("got %+v, warned %q", effects, warnings)
	}
	_, warnings = c.preview(Change{Cordon: &fsm.SetCordon{GroupPattern: "prodd"}})
	if len(warnings) != 1 || !strings.Contains(warnings[0], `the nearest known group is "prod"`) {
		t.Errorf("warned %q", warnings)
	}
	_, warnings = newCluster(t).preview(Change{Cordon: &fsm.SetCordon{GroupPattern: "prod"}})
	if len(warnings) != 1 || !strings.Contains(warnings[0], "not known whom this cordon catches") {
		t.Errorf("warned %q", warnings)
	}
}

func TestEffects_Cordon_CatchesAHolderOfWhomNoNoteWasTakenYet(t *testing.T) {
	c := newCluster(t)
	c.define("job", nil)
	c.grant("job", "prod", "host1")
	for range 2 {
		if _, warnings := c.preview(Change{Cordon: &fsm.SetCordon{AcquirerPattern: "host1"}}); len(warnings) != 0 {
			t.Errorf("warned %q", warnings)
		}
		c.saw([2]string{"prod", "host2"})
	}
}

func TestConflict_SaysWhatTheBatchWouldBeRefusedFor(t *testing.T) {
	c := newCluster(t)
	c.define("job", nil)
	stale := c.change("job", group("dr"))
	c.define("job", group("prod"))
	fresh := c.change("new", nil)
	for name, x := range map[string]struct {
		edit fsm.Change
		want fsm.ConflictKind
	}{
		"stale":          {stale, fsm.ConflictStale},
		"stale deletion": {fsm.Change{Kind: fsm.Delete, Name: "job", ExpectedVersion: 1}, fsm.ConflictStale},
		"exists":         {fsm.Change{Kind: fsm.Create, Name: "job", Definition: stale.Definition}, fsm.ConflictExists},
		"absent":         {fsm.Change{Kind: fsm.Delete, Name: "none", ExpectedVersion: 1}, fsm.ConflictAbsent},
	} {
		t.Run(name, func(t *testing.T) {
			got := Conflict(c.state(), []fsm.Change{fresh, x.edit})
			r, _ := c.apply(fsm.EditBatch{Changes: []fsm.Change{fresh, x.edit}}).(fsm.EditResult)
			if got == nil || r.Conflict == nil || *got != *r.Conflict || got.Kind != x.want {
				t.Errorf("planned %+v, applied %+v", got, r.Conflict)
			}
		})
	}
	if got := Conflict(c.state(), []fsm.Change{fresh, c.change("job", nil), {Kind: fsm.Declare, Name: "job"}}); got != nil {
		t.Errorf("got %+v", got)
	}
}
