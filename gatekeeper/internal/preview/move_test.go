package preview

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/selector"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/statetest"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestMove_GroupPattern_IsRewrittenOnlyIfItListsGroups(t *testing.T) {
	const from, to = "prod", "dr.1"
	for pattern, want := range map[string]string{ // "": the pattern cannot be rewritten; "-": there is nothing to move
		"prod":               `dr\.1`,
		"(prod)":             `(dr\.1)`,
		"(?:prod|east)":      `(?:dr\.1|east)`,
		"east|prod|west":     `east|dr\.1|west`,
		`eu\.1|prod`:         `eu\.1|dr\.1`,
		"prod|prod":          `dr\.1`,
		"[p]rod":             `dr\.1`,
		".*":                 "-",
		`prod|dr\.1`:         "-",
		"east":               "-",
		"no-run":             "-",
		"prod.*":             "",
		"prod|eu-.*":         "",
		"(?i)prod":           "",
		"(prod)|(east)":      "",
		"prod|":              "",
		"pro(d|c)":           "",
		"((prod|east)|west)": "",
	} {
		t.Run(pattern, func(t *testing.T) {
			c := newCluster(t)
			c.Define("job", statetest.Group(pattern))
			version := c.State().Definition("job").Version
			all := func(*semaphore.Definition) bool { return true }
			for _, named := range []bool{false, true} {
				m := Move(c.State(), statetest.Patterns{}, from, to, all, func(string) bool { return named })
				switch want {
				case "":
					if len(m.Edits) != 0 || len(m.NotMoved) != 1 || !m.NotMoved[0].Problem || !strings.Contains(m.NotMoved[0].Why, "edit it by hand") {
						t.Fatalf("Move() = %+v, want no edit and one problem", m)
					}
				case "-":
					if len(m.Edits) != 0 || (len(m.NotMoved) == 1) != named || named && m.NotMoved[0].Problem {
						t.Fatalf("named %v: Move() = %+v, want no edit", named, m)
					}
				default:
					if len(m.Edits) != 1 || m.Edits[0].Definition.GroupPattern != want || m.Edits[0].ExpectedVersion != version || len(m.NotMoved) != 0 {
						t.Fatalf("Move() = %+v, want one edit with the expected pattern", m)
					}
					if p := m.Edits[0].Definition.GroupPattern; !(statetest.Patterns{}).Match(p, to) || (statetest.Patterns{}).Match(p, from) {
						t.Fatalf("new pattern %q must match the new group and not the old one", p)
					}
				}
			}
		})
	}
}

func TestMove_SomeDefinitionsSelected_EditsThemInNameOrder(t *testing.T) {
	c := newCluster(t)
	for _, name := range []string{"c", "a", "b"} {
		c.Define(name, statetest.Group("prod"))
	}
	m := Move(c.State(), statetest.Patterns{}, "prod", "dr", func(d *semaphore.Definition) bool { return d.Name != "b" }, func(string) bool { return false })
	if len(m.Edits) != 2 || m.Edits[0].Name != "a" || m.Edits[1].Name != "c" {
		t.Fatalf("Move() returned edits %+v, want edits of a and c", m.Edits)
	}
}

// A definition that admits both groups is left unchanged, so its holder in the old group continues. The plan warns
// about that holder.
func TestPlanMove_PatternAdmitsBothGroups_WarnsAboutRemainingHolders(t *testing.T) {
	c := newCluster(t)
	c.Define("both", statetest.Group("prod|dr"))
	c.Define("moves", statetest.Group("prod"))
	for _, name := range []string{"both", "moves"} {
		c.Grant(name, "prod", "app1")
	}
	c.Define("stops", statetest.Group("prod|dr"))
	c.Do(fsm.Revoke{Token: c.Grant("stops", "prod", "app1"), Author: "test"})
	chosen, err := selector.Parse("", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := PlanMove(c.State(), statetest.Patterns{}, MoveRequest{From: "prod", To: "dr", Chosen: chosen}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	const want = `1 holder continues in group "prod", because the group pattern admits both groups: app1 holds both.`
	if len(plan.Edits) != 1 || len(plan.Stay) != 1 || !slices.ContainsFunc(plan.Warnings, func(w string) bool { return strings.HasPrefix(w, want) }) {
		t.Errorf("edits %v, %d holders stay, warnings %q; want one edit and %q", plan.Edits, len(plan.Stay), plan.Warnings, want)
	}
}

func TestMove_NewPatternTooLong_ReportsProblem(t *testing.T) {
	c := newCluster(t)
	c.Define("job", statetest.Group("prod|"+strings.Repeat("x", semaphore.MaxPattern-5)))
	m := Move(c.State(), statetest.Patterns{}, "prod", "prod2", func(*semaphore.Definition) bool { return true }, func(string) bool { return false })
	if len(m.Edits) != 0 || len(m.NotMoved) != 1 || !m.NotMoved[0].Problem {
		t.Fatalf("Move() = %+v, want no edit and one problem", m)
	}
}
