package preview

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/statetest"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// confirm returns the kinds and the text of the confirmations that a change needs.
func (c *cluster) confirm(change Change) (kinds []ConfirmationKind, text string) {
	change.Now = c.Now
	effects, _ := c.preview(change)
	var texts []string
	for _, r := range Confirm(c.State(), statetest.Patterns{}, change, effects) {
		kinds, texts = append(kinds, r.Kind), append(texts, r.Text)
	}
	return kinds, strings.Join(texts, "; ")
}

func TestConfirm_SingleEdit_ReturnsReasons(t *testing.T) {
	const day = 24 * time.Hour
	type world struct {
		before func(*semaphore.Definition)
		holder bool                     // whether acquirer a in group prod holds a permit
		seen   map[string]time.Duration // how long ago acquirer a was last seen in each group
	}
	for name, x := range map[string]struct {
		world
		after func(*semaphore.Definition) // nil: deleted
		want  []ConfirmationKind
	}{
		"stops a holder":                            {world{holder: true}, statetest.Group("dr"), []ConfirmationKind{StopsHolders}},
		"deletes a held definition":                 {world{holder: true}, nil, []ConfirmationKind{StopsHolders}},
		"deletes an unused definition":              {world{}, nil, nil},
		"deletes a definition in use":               {world{seen: map[string]time.Duration{"prod": 0}}, nil, []ConfirmationKind{ShutsOutCallers}},
		"keeps the holder":                          {world{holder: true}, func(d *semaphore.Definition) { d.GroupPattern, d.Permits = "prod", 1 }, nil},
		"shuts out every recent caller":             {world{seen: map[string]time.Duration{"prod": 6 * day}}, statetest.Group("dr"), []ConfirmationKind{ShutsOutCallers}},
		"shuts out a caller last seen long ago":     {world{seen: map[string]time.Duration{"prod": 8 * day}}, statetest.Group("dr"), nil},
		"shuts out some recent callers":             {world{seen: map[string]time.Duration{"prod": day, "dr": day}}, statetest.Group("dr"), nil},
		"leaves only a caller last seen long ago":   {world{seen: map[string]time.Duration{"prod": day, "dr": 8 * day}}, statetest.Group("dr"), []ConfirmationKind{ShutsOutCallers}},
		"nobody was admitted before":                {world{before: statetest.Group("no-run"), seen: map[string]time.Duration{"prod": 0}}, statetest.Group("dr"), nil},
		"no permits":                                {world{}, func(d *semaphore.Definition) { d.Permits = 0 }, []ConfirmationKind{NoPermits}},
		"already had no permits":                    {world{before: func(d *semaphore.Definition) { d.Permits = 0 }}, func(d *semaphore.Definition) { d.MaxHold = time.Hour }, nil},
		"nothing changes":                           {world{holder: true}, func(*semaphore.Definition) {}, nil},
		"admits only an acquirer that was not seen": {world{seen: map[string]time.Duration{"prod": 0}}, func(d *semaphore.Definition) { d.AcquirerPattern = "b" }, []ConfirmationKind{ShutsOutCallers}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.Define("job", x.before)
			if x.holder {
				c.Grant("job", "prod", "a")
			}
			for g, age := range x.seen {
				c.Apply(fsm.Sight{Term: 1, Sightings: []fsm.Sighting{{Group: g, Acquirer: "a", At: c.Now.Add(-age)}}})
			}
			edit := c.Deletion("job")
			if x.after != nil {
				edit = c.Change("job", x.after)
			}
			if got, text := c.confirm(Change{Edits: []fsm.Change{edit}}); !slices.Equal(got, x.want) || len(got) > 0 && !strings.Contains(text, "job") {
				t.Errorf("Confirm() = %v (%s), want %v", got, text, x.want)
			}
		})
	}
}

func TestConfirm_NewDefinitionThatAdmitsNobody_OnlyWarns(t *testing.T) {
	c := newCluster(t)
	c.Sight([2]string{"prod", "a"})
	change := Change{Edits: []fsm.Change{c.Change("new", func(d *semaphore.Definition) { d.GroupPattern, d.Permits = "prdo", 0 })}}
	if kinds, text := c.confirm(change); len(kinds) != 0 {
		t.Errorf("Confirm() = %s, want nothing", text)
	}
	if effects, _ := c.preview(change); len(effects[0].Warnings) != 1 || !strings.Contains(effects[0].Warnings[0], `the nearest is "prod"`) {
		t.Errorf("warnings = %q, want the nearest group", effects[0].Warnings)
	}
}

func TestConfirm_ManyDefinitions_NeedsConfirmationAboveLimit(t *testing.T) {
	c := newCluster(t)
	var names []string
	var all, deletions, creations []fsm.Change
	for i := range MaxUnconfirmed + 1 {
		name := fmt.Sprintf("job-%02d", i)
		c.Define(name, nil)
		names = append(names, name)
		all = append(all, c.Change(name, func(d *semaphore.Definition) { d.MaxHold = time.Hour }))
		deletions = append(deletions, c.Deletion(name))
		creations = append(creations, c.Change("new-"+name, nil))
	}
	unchanged := c.Change(names[0], nil)
	for name, x := range map[string]struct {
		change Change
		want   []ConfirmationKind
	}{
		"21 edits":                   {Change{Edits: all}, []ConfirmationKind{ChangesMany}},
		"20 edits and new ones":      {Change{Edits: append(creations, all[1:]...)}, nil},
		"20 edits and one unchanged": {Change{Edits: append([]fsm.Change{unchanged}, all[1:]...)}, nil},
		"21 deletions":               {Change{Edits: deletions}, []ConfirmationKind{DeletesMany, ChangesMany}},
		"2 deletions":                {Change{Edits: deletions[:2]}, []ConfirmationKind{DeletesMany}},
		"1 deletion":                 {Change{Edits: deletions[:1]}, nil},
		"21 pauses":                  {Change{Pause: &fsm.Pause{Names: names}}, []ConfirmationKind{ChangesMany}},
		"20 pauses":                  {Change{Pause: &fsm.Pause{Names: names[1:]}}, nil},
		"resumes without a pause":    {Change{Resume: &fsm.Resume{Names: names}}, nil},
	} {
		if got, text := c.confirm(x.change); !slices.Equal(got, x.want) {
			t.Errorf("%s: Confirm() = %v (%s), want %v", name, got, text, x.want)
		}
	}
	change := c.Do(fsm.Pause{Names: names})
	c.Do(fsm.Pause{Names: names[:1]})
	if got, _ := c.confirm(Change{Resume: &fsm.Resume{Names: names}}); !slices.Equal(got, []ConfirmationKind{ChangesMany}) {
		t.Errorf("21 resumes: got %v, want ChangesMany", got)
	}
	if got, _ := c.confirm(Change{Resume: &fsm.Resume{Names: names, Revision: change}}); len(got) != 0 {
		t.Errorf("20 resumes, and one of a different pause: got %v, want none", got)
	}
}

func TestConfirm_PauseOrCordon_ReturnsReasons(t *testing.T) {
	c := newCluster(t)
	c.Define("job", nil)
	c.Grant("job", "prod", "a")
	c.Sight([2]string{"prod", "a"}, [2]string{"dr", "b"})
	for name, x := range map[string]struct {
		change Change
		want   []ConfirmationKind
	}{
		"a plain pause":               {Change{Pause: &fsm.Pause{Names: []string{"job"}}}, nil},
		"a pause that stops holders":  {Change{Pause: &fsm.Pause{Names: []string{"job"}, Stop: true}}, []ConfirmationKind{StopsHolders}},
		"a cordon that stops holders": {Change{Cordon: &fsm.SetCordon{ID: "c", GroupPattern: "prod"}}, []ConfirmationKind{StopsHolders}},
		"a cordon that stops nobody":  {Change{Cordon: &fsm.SetCordon{ID: "c", GroupPattern: "dr"}}, nil},
		"a cordon that shuts out all": {
			Change{Cordon: &fsm.SetCordon{ID: "c", GroupPattern: ".*"}},
			[]ConfirmationKind{StopsHolders, ShutsOutCallers},
		},
	} {
		if got, text := c.confirm(x.change); !slices.Equal(got, x.want) {
			t.Errorf("%s: Confirm() = %v (%s), want %v", name, got, text, x.want)
		}
	}
	c.Do(fsm.SetCordon{ID: "first", GroupPattern: "prod", Drain: time.Hour})
	if got, _ := c.confirm(Change{Cordon: &fsm.SetCordon{ID: "second", AcquirerPattern: "b"}}); !slices.Equal(got, []ConfirmationKind{ShutsOutCallers}) {
		t.Errorf("two cordons that together catch every caller: got %v, want ShutsOutCallers", got)
	}
	if _, text := c.confirm(Change{Cordon: &fsm.SetCordon{ID: "first", GroupPattern: "prod"}}); text != "1 holder will have less time to stop: job" {
		t.Errorf("Confirm() for a shortened drain = %q", text)
	}
}

func TestMoveDoubts(t *testing.T) {
	for name, x := range map[string]struct {
		seen    [][2]string
		pattern string
		want    string
	}{
		"nobody was ever seen":                  {nil, "prod", `no caller has ever been seen in the group "dr-site"`},
		"named in a definition, but never seen": {[][2]string{{"prod", "a"}}, "prod", `no caller has ever been seen in the group "dr-site"`},
		"other groups remain admitted":          {[][2]string{{"prod", "a"}, {"east", "a"}}, "prod|east", `no caller has ever been seen in the group "dr-site"`},
		"a typo in the group": {
			[][2]string{{"dr-sit", "a"}}, "prod", `no caller has ever been seen in the group "dr-site"; the nearest known group is "dr-sit"`,
		},
		"the same host was seen in the group": {[][2]string{{"dr-site", "a"}}, "prod", ""},
		"only another host was seen in the group": {
			[][2]string{{"dr-site", "b"}}, "prod", `no known caller would be admitted to job`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.Define("job", func(d *semaphore.Definition) { d.GroupPattern, d.AcquirerPattern = x.pattern, "a" })
			c.Define("other", statetest.Group("dr-site"))
			c.Sight(x.seen...)
			m := Move(c.State(), statetest.Patterns{}, "prod", "dr-site", func(*semaphore.Definition) bool { return true }, func(string) bool { return false })
			effects, _ := c.preview(Change{Edits: m.Edits})
			if got := strings.Join(MoveDoubts(c.State(), "dr-site", effects), "; "); got != x.want {
				t.Errorf("MoveDoubts() = %q, want %q", got, x.want)
			}
		})
	}
	if got := MoveDoubts(newCluster(t).State(), "dr-site", nil); len(got) != 0 {
		t.Errorf("MoveDoubts() without edits = %q, want none", got)
	}
}
