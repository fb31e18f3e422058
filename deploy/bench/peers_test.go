package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// The peers live in a separate module. This test builds the module and runs its tests. It then runs the program
// briefly, with whichever peers are installed.
func TestPeers_Module_PassesTestsAndRuns(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil { // PostgreSQL runs as another user
		t.Fatal(err)
	}
	// The go commands update go.mod to the versions of the parent module. Run them on a copy.
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join("peers", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(program string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir = "peers"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", program, args, err, out)
		}
	}
	complete := []string{"-mod=mod", "-modfile=" + filepath.Join(dir, "go.mod")}
	program, figures := filepath.Join(dir, "peers"), filepath.Join(dir, "peers.json")
	if _, err := servers.Build(dir, "cmd/gatekeeperd"); err != nil {
		t.Fatal(err)
	}
	run("go", append(append([]string{"build"}, complete...), "-o", program, ".")...)
	run("go", append(append([]string{"test"}, complete...), "-vet=all", "-count=1", ".")...)
	run(program, "-bin", dir, "-json", figures, "-tls", "-callers", "2", "-rounds", "1", "-window", "20ms", "-warm-up", "0", "-runs", "1")

	text, err := os.ReadFile(figures)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Ratios   []struct{ Of, To string }
		Failover []struct {
			Name  string
			First []float64 `json:"first_grant_ms"`
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	// For both cluster sizes, there are 2 ratios of pairs (etcd has two variants), 2 of denials and 2 of refreshes.
	// Denials and refreshes are also compared with the echo server.
	if want := 2 * (2 + 2 + 2 + 1 + 2); len(got.Ratios) < want {
		t.Errorf("got %d ratios, want at least %d:\n%s", len(got.Ratios), want, text)
	}
	if len(got.Failover) != 5 {
		t.Fatalf("got results for %d clusters, want 5:\n%s", len(got.Failover), text)
	}
	for _, f := range got.Failover {
		if len(f.First) != 1 || f.First[0] <= 0 {
			t.Errorf("%s: got %v ms to the next grant, want a positive time", f.Name, f.First)
		}
	}
}
