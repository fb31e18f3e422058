package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// scheduledRun matches gkctl run in a crontab line or systemd unit, up to the command that it runs.
var scheduledRun = regexp.MustCompile(`gkctl run (\S+).* -- `)

// Crontab lines and systemd units are not shell commands, so no other test runs them. This test runs all of them, with
// the command replaced by true.
func TestPages_EveryScheduledRun_Succeeds(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	cluster := startServers(t, &page{servers: 1}, root)
	env := []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GK_ENDPOINTS=" + strings.Join(cluster.Endpoints(), ",")}
	sh := startShell(t, t.TempDir(), env)
	run := func(command string) {
		t.Helper()
		if out, code, err := sh.run(command, 30*time.Second); err != nil || code != 0 {
			t.Fatalf("%s\nexit code %d, %v\n%s", command, code, err, strings.Join(out, "\n"))
		}
	}
	defined, runs := map[string]bool{}, 0
	for _, file := range pages(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := parsePage(filepath.Base(file), string(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range p.otherBlocks {
			if b.kind != "crontab" && b.kind != "ini" {
				continue
			}
			for _, m := range scheduledRun.FindAllStringSubmatch(b.text, -1) {
				if !defined[m[1]] {
					run("echo '{definitions: [{name: " + m[1] + "}]}' | gkctl apply -f -")
					defined[m[1]] = true
				}
				run(m[0] + "true")
				runs++
			}
		}
	}
	if runs < 4 {
		t.Errorf("found %d scheduled runs in the pages, want at least 4", runs)
	}
}
