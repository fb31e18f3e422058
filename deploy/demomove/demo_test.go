package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/demotest"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

var bin string

// TestMain is also the main of the zones: they are started as this very program.
func TestMain(m *testing.M) { os.Exit(demotest.Main(m, &bin, "zone", command)) }

func TestDemo_LeaderKilledInTheMiddle_EndsWithItsReportAndNoBrokenPromise(t *testing.T) {
	if _, err := servers.Build(bin, "cmd/gkctl"); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	file := filepath.Join(t.TempDir(), "report.json")
	d := demo{
		out: &out, bin: bin, from: "eks-prow-build-cluster", to: "k8s-infra-prow-build", tasks: 40, duration: 8 * time.Second,
		drain: 2 * time.Second, kill: true, profile: "fast", dir: t.TempDir(), jsonFile: file,
	}
	if err := d.run(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, row := range []string{"tasks", "move", "undo", "ignored its drain", "leader killed", "overlaps", "lost permits"} {
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
	if r.Deaf == nil || r.Killed == "" || len(r.Legs) != 2 || r.Legs[0].Started.N != 40 || r.Legs[1].Started.N != 40 {
		t.Errorf("%s", text)
	}
}

// What the report counts, it can count.
func TestJudgeBeliefs_OverlapAndLoss_AreBrokenPromises(t *testing.T) {
	granted := func(at time.Duration, token uint64) record {
		return record{Event: eventGranted, Task: "job", At: at * time.Second, Host: "host", Token: token}
	}
	ended := func(until time.Duration, token uint64, lost bool) record {
		return record{Event: eventEnded, Task: "job", At: until * time.Second, Until: until * time.Second, Host: "host", Token: token, Lost: lost}
	}
	for name, c := range map[string]struct {
		old, other     []record
		overlaps, lost int
	}{
		"handed over":      {[]record{granted(1, 1), ended(5, 1, false)}, []record{granted(6, 2), ended(7, 2, false)}, 0, 0},
		"both believed":    {[]record{granted(1, 1), ended(5, 1, false)}, []record{granted(4, 2), ended(7, 2, false)}, 1, 0},
		"lost":             {[]record{granted(1, 1), ended(5, 1, true)}, []record{granted(6, 2), ended(7, 2, false)}, 0, 1},
		"never ended":      {[]record{granted(1, 1)}, []record{granted(6, 2), ended(7, 2, false)}, 0, 0},
		"with lower token": {[]record{granted(1, 3), ended(5, 3, false)}, []record{granted(6, 2), ended(7, 2, false)}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := &report{Drain: 1, Legs: []*leg{{}}}
			deaf := []record{
				{Event: eventGranted, Task: "deaf", At: time.Second, Token: 9},
				{Event: eventTold, Task: "deaf", At: 2 * time.Second, Token: 9},
				{Event: eventEnded, Task: "deaf", At: 9 * time.Second, Until: 9 * time.Second, Token: 9, Lost: true},
			}
			r.judgeBeliefs(append(c.old, deaf...), c.other, "deaf")
			if r.Overlaps != c.overlaps || r.Lost != c.lost || (len(r.Broken) == 0) != (name == "handed over") || (r.verdict() == nil) != (name == "handed over") {
				t.Errorf("%+v", r)
			}
		})
	}
}
