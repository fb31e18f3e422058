// Package browser tests the dashboard end to end, in Chromium against a real gatekeeperd.
package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"go.uber.org/goleak"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

var (
	bin      string          // directory that contains gatekeeperd
	chromium string          // the browser's path; empty if none is installed
	browser  context.Context // the browser's chromedp context
)

func TestMain(m *testing.M) {
	code := func() int {
		dir, err := os.MkdirTemp("", "gatekeeper-browser-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		bin = dir
		if chromium = findBrowser(); chromium == "" {
			return m.Run() // start skips every test
		}
		if _, err := servers.Build(dir, "cmd/gatekeeperd"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.WindowSize(1280, 900))
		allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
		defer stop()
		var cancel context.CancelFunc
		browser, cancel = chromedp.NewContext(allocator)
		defer cancel()
		if err := chromedp.Do(browser, chromedp.Navigate("about:blank")); err != nil {
			fmt.Fprintln(os.Stderr, "Chromium did not start:", err)
			return 1
		}
		return m.Run()
	}()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// findBrowser returns the path of an installed browser, or an empty string.
func findBrowser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// cluster starts count servers with the given YAML definitions.
func cluster(t *testing.T, count int, definitions string) *servers.Cluster {
	t.Helper()
	return start(t, servers.Options{Count: count}, definitions)
}

func start(t *testing.T, options servers.Options, definitions string) *servers.Cluster {
	t.Helper()
	if chromium == "" {
		t.Skip("Chromium is not installed")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	options.Binary, options.Dir = filepath.Join(bin, "gatekeeperd"), t.TempDir()
	if definitions != "" {
		options.Definitions = filepath.Join(t.TempDir(), "definitions.yaml")
		if err := os.WriteFile(options.Definitions, []byte(definitions), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := servers.Start(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			for _, s := range c.Servers {
				t.Logf("log of %s:\n%s", s.ID, s.LogTail())
			}
		}
		c.Kill()
	})
	return c
}
