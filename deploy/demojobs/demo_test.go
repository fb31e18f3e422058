package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/demotest"
)

var bin string

// TestMain is also the main of the applications: they are started as this very program.
func TestMain(m *testing.M) { os.Exit(demotest.Main(m, &bin, "app", command)) }

func TestDemo_Short_EndsWithItsReportAndNoBrokenPromise(t *testing.T) {
	var out strings.Builder
	file := filepath.Join(t.TempDir(), "report.json")
	d := demo{out: &out, bin: bin, length: 12 * time.Second, jobs: 16, duration: 2 * time.Second, skew: -2 * time.Second, profile: "fast", dir: t.TempDir(), jsonFile: file}
	if err := d.run(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, row := range []string{"firings", "not claimed", "by the servers", "lost permits", "wrong clock", "fail-over", "kill -9", "SIGSTOP"} {
		if !strings.Contains(out.String(), "\n"+row+" ") {
			t.Errorf("the report has no row %q:\n%s", row, &out)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Kill.Jobs) == 0 || len(r.Suspend.Jobs) == 0 || r.Store.Refused == 0 {
		t.Errorf("%s", text)
	}
}
