package fence_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// The drivers live in a module of their own, so its tests are run from here.
func TestSQL_OnRealDatabases_DoesWhatItsTestsSay(t *testing.T) {
	for _, database := range []string{"SQLite", "PostgreSQL"} {
		t.Run(database, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "-run", "^Test"+database+"$", ".")
			cmd.Dir = "sqltest"
			out, err := cmd.CombinedOutput()
			switch {
			case err != nil:
				t.Fatalf("%v\n%s", err, out)
			case bytes.Contains(out, []byte("--- SKIP")):
				t.Skip(strings.TrimSpace(string(out)))
			case !bytes.Contains(out, []byte("--- PASS: Test"+database)):
				t.Fatalf("it did not run:\n%s", out)
			}
		})
	}
}
