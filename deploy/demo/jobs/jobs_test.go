package jobs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/demotest"
)

var bin string

// TestMain is also the main function of the applications, which are instances of the test binary.
func TestMain(m *testing.M) { os.Exit(demotest.Main(m, &bin, Part, App)) }

func TestDemo_Short_ReportsNoViolations(t *testing.T) {
	var out strings.Builder
	file := filepath.Join(t.TempDir(), "report.json")
	s := Scenario{
		Stage: stage.Stage{Out: &out, Bin: bin, Length: 12 * time.Second, Duration: 2 * time.Second, Profile: "fast", Dir: t.TempDir(), JSON: file},
		jobs:  16, skew: -2 * time.Second,
	}
	if err := s.Play(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, row := range []string{"firings", "not claimed", "server records", "lost permits", "skewed clock", "failover", "killed", "suspended"} {
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
	refused := slices.ContainsFunc(r.Rows, func(row stage.Row) bool { return row.Name == "writes" && row.Figures[1] != 0.0 })
	if len(r.Tables) != 2 || len(r.Tables[0].Lines) < 2 || len(r.Tables[1].Lines) < 2 || !refused {
		t.Errorf("the report has no refused write, or too few rows:\n%s", text)
	}
}
