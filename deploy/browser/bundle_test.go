package browser

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The committed bundle must be identical to the output of make dashboard.
func TestBundle_MatchesSources(t *testing.T) {
	const dashboard = "../../gatekeeper/internal/gateway/dashboard"
	if _, err := os.Stat(filepath.Join(dashboard, "node_modules")); os.IsNotExist(err) {
		t.Skip("the dashboard's npm packages are not installed")
	}
	// Build next to dist, because the source maps contain relative paths to the sources.
	built, err := os.MkdirTemp(dashboard, ".dist-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(built) })
	build := exec.CommandContext(t.Context(), "node", "build.mjs", filepath.Base(built))
	build.Dir = dashboard
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, got := contents(t, built), contents(t, filepath.Join(dashboard, "dist"))
	for name := range want {
		if !bytes.Equal(want[name], got[name]) {
			t.Errorf("dist/%s does not match src: run make dashboard", name)
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("dist/%s is obsolete: run make dashboard", name)
	}
}

// contents returns the files under a directory, by relative path.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[name], err = os.ReadFile(filepath.Join(dir, name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
