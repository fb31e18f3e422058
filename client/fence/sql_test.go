package fence_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The drivers are in a separate module, so this test runs that module's tests.
func TestSQL_RealDatabases_PassTheSuite(t *testing.T) {
	// Use a copy of go.mod, because -mod=mod may update it to the versions in the parent module.
	mod := filepath.Join(t.TempDir(), "go.mod")
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join("sqltest", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(filepath.Dir(mod), name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, database := range []string{"SQLite", "PostgreSQL"} {
		t.Run(database, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "go", "test", "-mod=mod", "-modfile="+mod, "-count=1", "-v", "-run", "^Test"+database+"$", ".")
			cmd.Dir = "sqltest"
			out, err := cmd.CombinedOutput()
			switch {
			case err != nil:
				t.Fatalf("%v\n%s", err, out)
			case bytes.Contains(out, []byte("--- SKIP")):
				t.Skip(strings.TrimSpace(string(out)))
			case !bytes.Contains(out, []byte("--- PASS: Test"+database)):
				t.Fatalf("the test did not run:\n%s", out)
			}
			for _, passed := range regexp.MustCompile(`--- PASS: Test`+database+`/(\S+)`).FindAllSubmatch(out, -1) {
				t.Run(string(passed[1]), func(*testing.T) {}) // makes the subtest appear in this test's results
			}
		})
	}
}
