package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/snapshots"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// This test runs the whole program against almost empty servers. It is too short for a server to take a snapshot.
func TestScale_Tiny_MeasuresEverything(t *testing.T) {
	dir := t.TempDir()
	if _, err := servers.Build(dir, "cmd/gatekeeperd"); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := scale{
		out: &out, bin: dir, full: amounts{200, 400, 20}, callers: 8, window: 100 * time.Millisecond, rest: 200 * time.Millisecond,
		handovers: 1, kills: 1,
	}
	r, err := s.run(t.Context())
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	r.print(&out)
	file := filepath.Join(dir, "scale.json")
	if err := r.write(&out, file, filepath.Join(dir, "scale.svg")); err != nil {
		t.Fatal(err)
	}
	if len(r.Stages) != 3 || r.Stages[2].Permits != 400 || len(r.Streams) != 6 {
		t.Errorf("the results are incomplete: %+v", r)
	}
	for _, st := range r.Stages {
		if st.Restart.Seconds <= 0 || st.Costs.Grant.Count == 0 || st.Costs.Grant.P50 <= 0 || st.Filled.InUse <= 0 {
			t.Errorf("the results of a stage are incomplete: %+v", st)
		}
	}
	if g := r.Three.Full; g.Handover <= 0 || g.Kill <= 0 || r.Three.Follower.InUse <= 0 {
		t.Errorf("the results for three servers are incomplete: %+v", r.Three)
	}
	for _, want := range []string{"handover, increase relative to empty servers", "restart to the first grant", "plot written to"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output does not contain %q:\n%s", want, &out)
		}
	}
	// The capacity estimate reads this file. Check only the format, because such a short run measures almost no CPU
	// time.
	if text, err := os.ReadFile(file); err != nil || json.Unmarshal(text, new(report)) != nil {
		t.Errorf("reading the results file: %v: %s", err, text)
	}
}

// flatReport returns the report of a run without growth.
func flatReport() *report {
	r := &report{Full: amounts{1000, 10_000, 100}}
	for _, part := range parts() {
		c := costs{
			Decision: op{P50: 100, CPU: 60}, Refresh: op{P50: 100, CPU: 50}, Frame: op{CPU: 2}, Grant: op{P50: 500, CPU: 300}, Expiry: op{CPU: 20},
		}
		r.Stages = append(r.Stages, stage{
			Part: part, amounts: r.Full.scaled(part), Costs: c, Permit: memory{InUse: 400}, Definition: memory{InUse: 900},
			Filled: memory{Resident: 200e6, InUse: 100e6}, Restarted: memory{Resident: 1e6}, Snapshot: &snapshots.Delay{LongestBefore: 5, LongestDuring: 11},
			Restart: restart{Seconds: 3},
		})
	}
	r.Rest = idleResult{Resident: 39e6, CPU: 0.4}
	r.Streams = []streams{{Clients: 100, Connections: 1, Each: memory{Resident: 20 << 10, InUse: 10 << 10}}}
	r.Three = three{Empty: gaps{Handover: 50, Kill: 2000}, Full: gaps{Handover: 80, Kill: 2100}, Grant: op{CPU: 400}}
	return r
}

func TestJudge_EachTarget_IsMetOrMissed(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*report)
		missed string
	}{
		{"All", func(*report) {}, ""},
		{"Rest", func(r *report) { r.Rest.Resident = 41e6 }, "idle server, resident"},
		{"Permit", func(r *report) { r.Stages[2].Permit.InUse = 600 }, "a permit, in use"},
		{"Stream", func(r *report) { r.Streams[0].Each.InUse = 50 << 10 }, "each of 100 streams over 1 connections, in use"},
		{"Snapshot", func(r *report) { r.Stages[2].Snapshot = &snapshots.Delay{LongestBefore: 5, LongestDuring: 16} }, "grant delay caused by a snapshot"},
		{"Kill", func(r *report) { r.Three.Full.Kill = 2200 }, "leader kill, increase relative to empty servers"},
		{"Expiry", func(r *report) { r.Stages[2].Costs.Expiry.CPU = 30 }, "expiry, server CPU at 100% relative to 10%"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := flatReport()
			test.change(r)
			r.judge()
			var missed []string
			for _, j := range r.Targets {
				if !j.met() {
					missed = append(missed, j.What)
				}
			}
			if got := strings.Join(missed, "; "); got != test.missed {
				t.Errorf("got missed targets %q, want %q", got, test.missed)
			}
		})
	}
}

func TestPaper_ConstantsFromRun_FlagsTakePrecedence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "scale.json")
	text, err := json.Marshal(flatReport())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := command(t.Context(), []string{"-paper", "-constants", file, "-cores", "2", "-use", "1"}, &out); err != nil {
		t.Fatal(err)
	}
	// Two cores provide 2,000,000 µs of CPU time per second: enough for 33,000 denials of 60 µs each, or for 5000
	// grants and releases of 300 + 2 · 50 µs each.
	for _, want := range []string{"| denials per second, without other load | 33,000 | 33,000 |", "| 5,000 | 4,000 |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output does not contain %q:\n%s", want, &out)
		}
	}
}

func TestPaper_MatchesReportPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/reports/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := command(t.Context(), []string{"-paper"}, &out); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, out.Bytes()) {
		t.Errorf("docs/reports/scale.md does not contain:\n%s", &out)
	}
}

func TestPaper_InvalidConstants_AreRefused(t *testing.T) {
	for _, args := range [][]string{{"-paper", "-cores", "0"}, {"-paper", "-use", "2"}, {"-paper", "-constants", "/nowhere"}, {"-size", "2"}, {"-kills", "0"}} {
		if err := command(t.Context(), args, new(bytes.Buffer)); err == nil {
			t.Errorf("command(%v) = nil, want an error", args)
		}
	}
}

func TestRound_KeepsTwoDigits(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 99: "99", 129_999: "120,000", 1_000_000: "1,000,000"} {
		if got := round(v); got != want {
			t.Errorf("round(%v) = %q, want %q", v, got, want)
		}
	}
}
