package preview

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/statetest"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

func (c *cluster) preview(change Change) ([]Effect, []string) {
	return Effects(c.State(), statetest.Patterns{}, change)
}

// edited returns the effect of editing "job".
func (c *cluster) edited(set func(*semaphore.Definition)) Effect {
	c.T.Helper()
	effects, _ := c.preview(Change{Edits: []fsm.Change{c.Change("job", set)}})
	if len(effects) != 1 {
		c.T.Fatalf("got %d effects, want 1", len(effects))
	}
	return effects[0]
}

func stopped(e *Effect) (tokens []uint64) {
	for _, s := range e.Stopped {
		tokens = append(tokens, s.Permit.Token)
	}
	return tokens
}

func TestEffects_Edit_ReportsStoppedHoldersAndFreeWithin(t *testing.T) {
	for name, x := range map[string]struct {
		before, after func(*semaphore.Definition)
		drain         time.Duration
		want          time.Duration
	}{
		"no drain":                    {nil, statetest.Group("dr"), 0, time.Minute + semaphore.Grace(time.Minute)},
		"drain":                       {nil, statetest.Group("dr"), time.Hour, time.Hour + time.Minute + semaphore.Grace(time.Minute)},
		"loss delay":                  {func(d *semaphore.Definition) { d.LossDelay = 5 * time.Minute }, statetest.Group("dr"), 0, 6*time.Minute + semaphore.Grace(time.Minute)},
		"min hold":                    {func(d *semaphore.Definition) { d.MinHold = 10 * time.Minute }, statetest.Group("dr"), 2 * time.Minute, 10*time.Minute + semaphore.Grace(time.Minute)},
		"longer duration, with drain": {nil, func(d *semaphore.Definition) { d.GroupPattern, d.Duration = "dr", 10*time.Minute }, time.Hour, 70*time.Minute + semaphore.Grace(10*time.Minute)},
		"longer duration, no drain":   {nil, func(d *semaphore.Definition) { d.GroupPattern, d.Duration = "dr", 10*time.Minute }, 0, time.Minute + semaphore.Grace(time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.Define("job", x.before)
			old := c.Grant("job", "prod", "a")
			c.Grant("job", "dr", "b")
			effects, _ := c.preview(Change{Edits: []fsm.Change{c.Change("job", x.after)}, Drain: x.drain})
			e := effects[0]
			if !slices.Equal(stopped(&e), []uint64{old}) || e.Unaffected != 1 {
				t.Fatalf("stopped %v, unaffected %d; want [%d], 1", stopped(&e), e.Unaffected, old)
			}
			if got := e.Stopped[0].FreeWithin; got != x.want {
				t.Errorf("FreeWithin = %v, want %v", got, x.want)
			}
		})
	}
}

func TestEffects_StoppingHolder_IsListedOnlyIfDrainIsShortened(t *testing.T) {
	for name, firstStop := range map[string]func(c *cluster, token uint64, drain time.Duration){
		"cordon": func(c *cluster, _ uint64, drain time.Duration) {
			c.Do(fsm.SetCordon{ID: "c", AcquirerPattern: "a", Drain: drain})
		},
		"pause": func(c *cluster, _ uint64, drain time.Duration) {
			c.Do(fsm.Pause{Names: []string{"job"}, Stop: true, Drain: drain})
		},
		"revoke": func(c *cluster, token uint64, drain time.Duration) { c.Do(fsm.Revoke{Token: token, Drain: drain}) },
		"edit": func(c *cluster, _ uint64, drain time.Duration) {
			c.Do(fsm.EditBatch{Changes: []fsm.Change{c.Change("job", statetest.Group("east"))}, Drain: drain})
		},
	} {
		for next, change := range map[string]func(c *cluster, drain time.Duration) Change{
			"cordon": func(_ *cluster, drain time.Duration) Change {
				return Change{Cordon: &fsm.SetCordon{ID: "c2", GroupPattern: "prod", Drain: drain}}
			},
			"same cordon": func(_ *cluster, drain time.Duration) Change {
				return Change{Cordon: &fsm.SetCordon{ID: "c", AcquirerPattern: "a", Drain: drain}}
			},
			"pause": func(_ *cluster, drain time.Duration) Change {
				return Change{Pause: &fsm.Pause{Names: []string{"job"}, Stop: true, Drain: drain}}
			},
			"edit": func(c *cluster, drain time.Duration) Change {
				return Change{Edits: []fsm.Change{c.Change("job", statetest.Group("dr"))}, Drain: drain}
			},
		} {
			t.Run(name+", then "+next, func(t *testing.T) {
				for _, x := range []struct {
					first, then time.Duration
					shortened   bool
				}{
					{time.Hour, 0, true},
					{time.Hour, time.Minute, true},
					{time.Hour, time.Hour, false},
					{time.Minute, time.Hour, false},
					{0, 0, false},
					{0, time.Hour, false},
				} {
					c := newCluster(t)
					c.Define("job", nil)
					token := c.Grant("job", "prod", "a")
					firstStop(c, token, x.first)
					effects, _ := c.preview(change(c, x.then))
					var shortened []Stopped
					for _, e := range effects {
						shortened = append(shortened, e.Stopped...)
						if e.Unaffected != 0 {
							t.Errorf("%+v: Unaffected = %d, want 0 for a holder that is already stopping", x, e.Unaffected)
						}
					}
					switch {
					case !x.shortened || name == "edit" && next == "edit": // the first edit's drain remains
						if len(shortened) != 0 {
							t.Errorf("%+v: listed %+v, want none", x, shortened)
						}
					case len(shortened) != 1 || shortened[0].Permit.Token != token || shortened[0].DrainLeft != x.first ||
						shortened[0].FreeWithin != x.then+time.Minute+semaphore.Grace(time.Minute):
						t.Errorf("%+v: listed %+v, want the holder whose drain is shortened", x, shortened)
					}
				}
			})
		}
	}
}

func TestEffects_TimePassesBetweenCalls_ReportsNoShorterDrain(t *testing.T) {
	c := newCluster(t)
	c.Define("job", nil)
	c.Grant("job", "prod", "a")
	c.Do(fsm.SetCordon{ID: "c", AcquirerPattern: "a", Drain: time.Hour})
	change := Change{Cordon: &fsm.SetCordon{ID: "c2", GroupPattern: "prod", Drain: 2 * time.Hour}}
	if effects, _ := Effects(c.State(), &tickingLeader{}, change); len(effects) != 0 {
		t.Errorf("Effects() = %+v, want none", effects)
	}
}

func TestEffects_DeletionWithHolders_StopsThem(t *testing.T) {
	c := newCluster(t)
	c.Define("job", nil)
	token := c.Grant("job", "prod", "a")
	effects, _ := c.preview(Change{Edits: []fsm.Change{c.Deletion("job")}})
	if e := effects[0]; e.After != nil || e.Before == nil || !slices.Equal(stopped(&e), []uint64{token}) {
		t.Errorf("effect of the deletion = %+v, want the holder stopped", e)
	}
}

func TestEffects_NoOpEdit_HasNoEffect(t *testing.T) {
	c := newCluster(t)
	c.Define("job", nil)
	c.Grant("job", "prod", "a")
	effects, _ := c.preview(Change{Edits: []fsm.Change{
		c.Change("job", nil), {Kind: fsm.Declare, Name: "job", Definition: c.State().Definition("job").Definition},
	}})
	if len(effects) != 0 {
		t.Errorf("Effects() = %+v, want none", effects)
	}
}

func TestEffects_OnExpiryHold_WarnsThatSlotStaysOccupied(t *testing.T) {
	c := newCluster(t)
	c.Define("job", func(d *semaphore.Definition) { d.OnExpiry = semaphore.OnExpiryHold })
	c.Grant("job", "prod", "a")
	if e := c.edited(statetest.Group("dr")); len(e.Warnings) != 1 || !strings.Contains(e.Warnings[0], "until an operator clears it") {
		t.Errorf("warnings = %q, want one about on_expiry", e.Warnings)
	}
}

func TestEffects_PermitsHeldForOperator_AreListed(t *testing.T) {
	c := newCluster(t)
	c.Define("job", func(d *semaphore.Definition) { d.OnExpiry = semaphore.OnExpiryHold })
	token := c.Grant("job", "prod", "a")
	c.Do(fsm.Expire{Token: token, Term: 1})
	if e := c.edited(statetest.Group("dr")); len(e.Held) != 1 || e.Held[0].Token != token || len(e.Stopped) != 0 {
		t.Errorf("held %+v, stopped %+v; want only the held permit", e.Held, e.Stopped)
	}
}

func TestEffects_KnownCallers_AreAdmittedOrShutOut(t *testing.T) {
	c := newCluster(t)
	c.Define("job", statetest.Group("prod|east"))
	c.Sight([2]string{"prod", "a"}, [2]string{"prod", "b"}, [2]string{"east", "a"}, [2]string{"dr", "a"}, [2]string{"dr", "x"})
	e := c.edited(func(d *semaphore.Definition) { d.GroupPattern, d.AcquirerPattern = "dr|east", "[a-b]" })
	names := func(list []fsm.Sighting) (s []string) {
		for _, l := range list {
			s = append(s, l.Group+"/"+l.Acquirer)
		}
		return s
	}
	if got := names(e.Admitted); !slices.Equal(got, []string{"dr/a"}) || e.AdmittedCount != 1 {
		t.Errorf("admitted callers = %v, counted %d; want only dr/a", got, e.AdmittedCount)
	}
	if got := names(e.ShutOut); !slices.Equal(got, []string{"prod/a", "prod/b"}) || e.ShutOutCount != 2 {
		t.Errorf("shut out callers = %v, counted %d; want prod/a and prod/b", got, e.ShutOutCount)
	}
	if e.Eligible != 2 || len(e.Warnings) != 0 {
		t.Errorf("Eligible = %d, warnings = %q; want 2 and none", e.Eligible, e.Warnings)
	}
}

func TestEffects_ManyKnownCallers_AreAllCountedButNotAllListed(t *testing.T) {
	c := newCluster(t)
	c.Define("job", statetest.Group("dr"))
	var all [][2]string
	for i := range MaxCallers + 7 {
		all = append(all, [2]string{"prod", fmt.Sprintf("host-%03d", i)})
	}
	c.Sight(all...)
	if e := c.edited(statetest.Group("prod")); len(e.Admitted) != MaxCallers || e.AdmittedCount != MaxCallers+7 {
		t.Errorf("got %d callers listed, %d counted; want %d, %d", len(e.Admitted), e.AdmittedCount, MaxCallers, MaxCallers+7)
	}
}

func TestEffects_PatternEdit_WarnsIfNoKnownCallerIsAdmitted(t *testing.T) {
	seen := [][2]string{{"prod-eu", "a"}, {"dr-site", "b"}}
	for name, x := range map[string]struct {
		seen [][2]string
		set  func(*semaphore.Definition)
		want string // part of the semaphore's warning; empty if it has none
		all  string // part of the warning about the whole change
	}{
		"typo":                    {seen, statetest.Group("prod-uе"), "No known groups match", ""},
		"near miss":               {seen, statetest.Group("dr-sitte"), `the nearest is "dr-site"`, ""},
		"wrong acquirers":         {seen, func(d *semaphore.Definition) { d.GroupPattern, d.AcquirerPattern = "dr-site", "a" }, `group "dr-site" matches, but none of its acquirers`, ""},
		"known group":             {seen, statetest.Group("dr-site"), "", ""},
		"no known caller":         {nil, statetest.Group("dr-sitte"), "", "No caller has been seen yet"},
		"patterns left unchanged": {seen, func(d *semaphore.Definition) { d.Permits = 3 }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.Define("job", statetest.Group("no-run"))
			c.Sight(x.seen...)
			effects, warnings := c.preview(Change{Edits: []fsm.Change{c.Change("job", x.set)}})
			if got := strings.Join(effects[0].Warnings, " "); !strings.Contains(got, x.want) || x.want == "" && got != "" {
				t.Errorf("warnings = %q, want %q", got, x.want)
			}
			if got := strings.Join(warnings, " "); !strings.Contains(got, x.all) || x.all == "" && got != "" {
				t.Errorf("warnings about the whole change = %q, want %q", got, x.all)
			}
		})
	}
}

func TestEffects_Pause_StopsHoldersOnlyWithStop(t *testing.T) {
	c := newCluster(t)
	c.Define("job", nil)
	c.Define("other", nil)
	token := c.Grant("job", "prod", "a")
	names := []string{"other", "job"}
	effects, _ := c.preview(Change{Pause: &fsm.Pause{Names: names}})
	if len(effects) != 2 || effects[0].Semaphore != "job" || len(effects[0].Stopped) != 0 || effects[0].Unaffected != 1 {
		t.Errorf("pause: got %+v, want no stopped holder", effects)
	}
	effects, _ = c.preview(Change{Pause: &fsm.Pause{Names: names, Stop: true, Drain: time.Hour}})
	if !slices.Equal(stopped(&effects[0]), []uint64{token}) || effects[0].Stopped[0].FreeWithin < time.Hour {
		t.Errorf("pause with stop: got %+v, want the holder stopped after its drain", effects[0])
	}
}

func TestEffects_Cordon_StopsHoldersOfEverySemaphore(t *testing.T) {
	c := newCluster(t)
	for _, name := range []string{"b", "a", "gone", "c"} {
		c.Define(name, nil)
	}
	b, a := c.Grant("b", "prod", "host1"), c.Grant("a", "dr", "host1")
	c.Grant("c", "dr", "host2")
	c.Sight([2]string{"prod", "host1"})
	effects, warnings := c.preview(Change{Cordon: &fsm.SetCordon{AcquirerPattern: "host1"}})
	if len(effects) != 2 || !slices.Equal(stopped(&effects[0]), []uint64{a}) || !slices.Equal(stopped(&effects[1]), []uint64{b}) || len(warnings) != 0 {
		t.Errorf("got %+v and warnings %q, want the holders of both semaphores", effects, warnings)
	}
	_, warnings = c.preview(Change{Cordon: &fsm.SetCordon{GroupPattern: "prodd"}})
	if len(warnings) != 1 || !strings.Contains(warnings[0], `the nearest known group is "prod"`) {
		t.Errorf("warnings = %q, want one that names the nearest group", warnings)
	}
	_, warnings = newCluster(t).preview(Change{Cordon: &fsm.SetCordon{GroupPattern: "prod"}})
	if len(warnings) != 1 || !strings.Contains(warnings[0], "unknown to which callers this cordon applies") {
		t.Errorf("warnings = %q, want a warning that no caller has been seen", warnings)
	}
}

func TestEffects_Cordon_MatchesHolderWithoutSighting(t *testing.T) {
	c := newCluster(t)
	c.Define("job", nil)
	c.Grant("job", "prod", "host1")
	for range 2 {
		if _, warnings := c.preview(Change{Cordon: &fsm.SetCordon{AcquirerPattern: "host1"}}); len(warnings) != 0 {
			t.Errorf("warnings = %q, want none", warnings)
		}
		c.Sight([2]string{"prod", "host2"})
	}
}

func TestEffects_Cordon_ReportsWorkersForWaitingTasks(t *testing.T) {
	c := newCluster(t)
	for _, name := range []string{"job", "idle"} {
		c.Define(name, nil)
	}
	c.Define("other", statetest.Group("dr"))
	c.Sight([2]string{"prod", "host1"}, [2]string{"dr", "host2"})
	for _, name := range []string{"job", "other"} {
		c.Do(fsm.SubmitJob{
			Spec: &work.Spec{ID: name, Semaphore: name, MaxResult: 8}, Tasks: [][]byte{nil}, Digest: strings.Repeat("x", sha256.Size),
		})
	}
	effects, _ := c.preview(Change{Cordon: &fsm.SetCordon{GroupPattern: "prod"}})
	if len(effects) != 1 || effects[0].Semaphore != "job" || effects[0].TasksRun != `only workers in group "dr" may take them` {
		t.Errorf("Effects() = %+v, want the workers that may take the waiting tasks", effects)
	}
}

func TestConflict_MatchesApplyResult(t *testing.T) {
	c := newCluster(t)
	c.Define("job", nil)
	stale := c.Change("job", statetest.Group("dr"))
	c.Define("job", statetest.Group("prod"))
	fresh := c.Change("new", nil)
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
			got := Conflict(c.State(), []fsm.Change{fresh, x.edit})
			r, _ := c.Apply(fsm.EditBatch{Changes: []fsm.Change{fresh, x.edit}}).(fsm.EditResult)
			if got == nil || r.Conflict == nil || *got != *r.Conflict || got.Kind != x.want {
				t.Errorf("Conflict() = %+v, want %+v, the result of applying the batch", got, r.Conflict)
			}
		})
	}
	if got := Conflict(c.State(), []fsm.Change{fresh, c.Change("job", nil), {Kind: fsm.Declare, Name: "job"}}); got != nil {
		t.Errorf("Conflict() = %+v, want nil", got)
	}
}

func TestEffects_ReplacedPauseOrCordon_Warns(t *testing.T) {
	c := newCluster(t)
	c.Define("job", nil)
	c.Do(fsm.Pause{Names: []string{"job"}, Reason: "dark", Author: "ann"})
	c.Do(fsm.SetCordon{ID: "c", AcquirerPattern: "a", Reason: "moon", Author: "bob"})
	effects, _ := Effects(c.State(), statetest.Patterns{}, Change{Pause: &fsm.Pause{Names: []string{"job"}}})
	if w := effects[0].Warnings; len(w) != 1 || !strings.Contains(w[0], `already paused by ann, "dark", indefinitely`) {
		t.Errorf("warnings = %q, want one about the replaced pause", w)
	}
	_, warnings := Effects(c.State(), statetest.Patterns{}, Change{Cordon: &fsm.SetCordon{ID: "c", AcquirerPattern: "b"}})
	if w := strings.Join(warnings, ""); !strings.Contains(w, `already set by bob, "moon"`) {
		t.Errorf("warnings = %q, want one about the replaced cordon", warnings)
	}
}
