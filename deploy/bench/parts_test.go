package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// This test runs the default parts in a separate process, because some of them re-execute the program. The window is
// twice as long as it takes to refresh each permit twice, so that a stalled machine does not cause a failure.
func TestParts_Defaults_ReportEveryPart(t *testing.T) {
	dir := t.TempDir()
	if _, err := servers.Build(dir, "cmd/gatekeeperd"); err != nil {
		t.Fatal(err)
	}
	bench := filepath.Join(dir, "bench")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bench, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	figures := filepath.Join(dir, "bench.json")
	cmd := exec.CommandContext(t.Context(), bench, "-bin", dir, "-servers", "3", "-callers", "2", "-windows", "1", "-window", "50ms", "-warm-up", "0",
		"-permits", "50", "-keep-for", (2 * twoRefreshes).String(), "-json", figures)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(figures)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Clusters) != 1 || len(r.Echo) != 1 || len(r.Calls) == 0 || r.Control == nil || r.Keep == nil || r.Keep.Tokens < r.Keep.Permits {
		t.Errorf("the output of a part is missing:\n%s", text)
	}
}
