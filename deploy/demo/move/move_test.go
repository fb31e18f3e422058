package move

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/demotest"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

var bin string

// TestMain is also the main function of the zones, which are instances of the test binary.
func TestMain(m *testing.M) { os.Exit(demotest.Main(m, &bin, Part, Zone)) }

func TestDemo_LeaderKilledDuringMove_ReportsNoViolations(t *testing.T) {
	if _, err := servers.Build(bin, "cmd/gkctl"); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	file := filepath.Join(t.TempDir(), "report.json")
	s := Scenario{
		Stage: stage.Stage{Out: &out, Bin: bin, Duration: 8 * time.Second, Profile: "fast", Dir: t.TempDir(), JSON: file},
		from:  "eks-prow-build-cluster", to: "k8s-infra-prow-build", tasks: 40, drain: 2 * time.Second, kill: true,
	}
	if err := s.Play(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, row := range []string{"tasks", "move", "undo", "drain ignored", "leader killed", "overlaps", "lost permits"} {
		if !strings.Contains(out.String(), "\n"+row+" ") {
			t.Errorf("the report has no row %q:\n%s", row, &out)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r stage.Report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	started := 0
	for _, row := range r.Rows {
		if row.Name == "  new holders started" && row.Figures[0] == 40.0 {
			started++
		}
	}
	if started != 2 {
		t.Errorf("got %d legs with 40 new holders, want 2:\n%s", started, text)
	}
}

// Overlaps and losses in the records are reported as violations.
func TestJudge_OverlapAndLoss_AreViolations(t *testing.T) {
	granted := func(at time.Duration, token uint64) stage.Record {
		return stage.Record{Event: stage.Granted, Semaphore: "job", At: at * time.Second, Token: token}
	}
	ended := func(until time.Duration, token uint64, lost bool) stage.Record {
		return stage.Record{Event: stage.Ended, Semaphore: "job", At: until * time.Second, Until: until * time.Second, Token: token, Lost: lost}
	}
	for name, c := range map[string]struct {
		old, other []stage.Record
		violations string
	}{
		"handed over": {[]stage.Record{granted(1, 1), ended(5, 1, false)}, []stage.Record{granted(6, 2), ended(7, 2, false)}, ""},
		"overlap":     {[]stage.Record{granted(1, 1), ended(5, 1, false)}, []stage.Record{granted(4, 2), ended(7, 2, false)}, "overlap: "},
		"lost":        {[]stage.Record{granted(1, 1), ended(5, 1, true)}, []stage.Record{granted(6, 2), ended(7, 2, false)}, "was lost by"},
		"missing end": {[]stage.Record{granted(1, 1)}, []stage.Record{granted(6, 2), ended(7, 2, false)}, "no record of how the belief"},
		"lower token": {[]stage.Record{granted(1, 3), ended(5, 3, false)}, []stage.Record{granted(6, 2), ended(7, 2, false)}, "token decreased"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Scenario{drain: time.Second, legs: []*leg{{}}}
			stubborn := []stage.Record{
				{Event: stage.Granted, Semaphore: "stubborn", At: time.Second, Token: 9},
				{Event: ordered, Semaphore: "stubborn", At: 2 * time.Second, Token: 9},
				{Event: stage.Ended, Semaphore: "stubborn", At: 9 * time.Second, Until: 9 * time.Second, Token: 9, Lost: true},
			}
			s.judge([]*stage.Life{{Records: append(c.old, stubborn...)}, {Records: c.other}}, "stubborn")
			if all := strings.Join(s.Violations, "\n"); !strings.Contains(all, c.violations) || (all == "") != (c.violations == "") || (s.Verdict() == nil) != (c.violations == "") {
				t.Errorf("got violations %q, want %q", s.Violations, c.violations)
			}
		})
	}
}
