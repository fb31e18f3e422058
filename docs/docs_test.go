package docs

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/oidctest"
	"github.com/gatekeeperd/gatekeeper/internal/ports"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// skipReasons maps each command that this test skips to the reason.
var skipReasons = map[string]string{
	"git clone https://github.com/gatekeeperd/gatekeeper && cd gatekeeper": "the test runs in the repository",
	"make build && go build -o bin/ ./examples/nightly":                    "TestMain does this",

	"python3 -m grpc_tools.protoc -I proto " +
		"--python_out=stubs --grpc_python_out=stubs proto/gatekeeper/v1/*.proto": "needs grpcio-tools",

	"make build":     "TestMain does this",
	"make run":       "runs until stopped; covered by the test in deploy/run",
	"make faults":    "takes up to a minute; the test in deploy/proof does short runs",
	"make soak":      "takes minutes; the test in deploy/soak does a short run",
	"make test":      "runs this test",
	"make demo":      "takes 30 s; the test in deploy/demo does a short run",
	"make demo-jobs": "takes 40 s; the test in deploy/demo/jobs does a short run",

	"make demo-words": "takes at least 30 s; the test in deploy/demo/work does a short run",

	"make scale":             "takes minutes; the test in deploy/scale does a small run",
	"make scale ARGS=-paper": "takes too long to compile; the test in deploy/scale compares its output with the page",

	"make bench-peers":     "takes minutes; the test in deploy/bench does a short run",
	"make bench-tasks":     "takes minutes, and needs PostgreSQL and Redis servers",
	"make bench-dashboard": "takes minutes, and needs Chromium; the test in deploy/browser does a short run",
	"make bench-work":      "takes minutes, and is meaningless on a machine that also runs tests",
	"make microbench":      "takes minutes, and is meaningless on a machine that also runs tests",
	"make benchstat OLD=old.txt NEW=bin/micro.txt": "needs the results of two versions",
	"make bench ARGS='-parts core'":                "takes minutes; the test in deploy/bench does a short run",
	"make bench-failover":                          "takes minutes; the test in deploy/bench does a short run",

	"make bench ARGS='-servers 3 -parts control,keep'": "takes a minute; the test in deploy/bench does a short run",

	"make bench ARGS='-parts profile -servers 3 -callers 1,64,256'": "takes a minute; the test in deploy/bench does a short run",
}

var bin string

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil { // these tests mostly wait and use little CPU
		panic(err)
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "gatekeeper-docs-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		bin = dir
		if _, err := servers.Build(dir, "cmd/gatekeeperd", "cmd/gkctl", "examples/embedded", "examples/hourly", "examples/nightly", "examples/reports",
			"examples/peer", "examples/wordcount"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if err := writeKubectl(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// writeKubectl writes a fake kubectl with the responses that the pages need: the issuer, its keys, and a token for the
// service account jobs/reports.
func writeKubectl(dir string) error {
	const issuer = "https://kubernetes.default.svc.cluster.local"
	key := oidctest.NewRSAKey("k1")
	token := key.Sign(oidctest.ServiceAccount(issuer, "gatekeeper", "jobs", "reports"))
	script := fmt.Sprintf("#!/bin/sh\n"+`case "$*" in
"get --raw /.well-known/openid-configuration") echo '{"issuer":"%s","jwks_uri":"%[1]s/openid/v1/jwks"}' ;;
"get --raw /openid/v1/jwks") echo '%s' ;;
"create token reports --namespace jobs --audience gatekeeper") echo %s ;;
*) echo "unexpected command: kubectl $*" >&2; exit 1 ;;
esac
`, issuer, oidctest.Set(key), token)
	return os.WriteFile(filepath.Join(dir, "kubectl"), []byte(script), 0o700)
}

// pages returns the file names of all pages.
func pages(t *testing.T) []string {
	t.Helper()
	files := []string{"../README.md"}
	for _, pattern := range []string{"*.md", "articles/*.md", "reports/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	return files
}

func TestPages_EveryCommand_PrintsDocumentedOutput(t *testing.T) {
	t.Parallel()
	for _, file := range pages(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".md"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := parsePage(filepath.Base(file), string(text))
			if err != nil {
				t.Fatal(err)
			}
			runPage(t, p)
		})
	}
}

// address matches a loopback address on a page. The test replaces its port with a free one, in commands and in output.
var address = regexp.MustCompile(`127\.0\.0\.1:\d+`)

func runPage(t *testing.T, p *page) {
	if len(p.commands) == 0 {
		return
	}
	if slices.ContainsFunc(p.commands, func(c command) bool { return strings.HasPrefix(c.text, "grpcurl ") }) {
		// Install grpcurl before the first command: without a build cache, permits would expire while it compiles.
		if err := buildGrpcurl(); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"deploy": filepath.Join(root, "deploy"), "bin": bin} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	actual := map[string]string{} // maps addresses on the page to the addresses used here
	env := []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C", "USER=ops", "HOSTNAME=desk", "COLUMNS=200"}
	if p.servers > 0 {
		cluster := startServers(t, p, root)
		for i, s := range cluster.Servers {
			// On a page, the first server uses ports 7420 to 7423, the second 7430 to 7433, and so on.
			actual[fmt.Sprintf("127.0.0.1:74%d0", 2+i)] = s.API
			actual[fmt.Sprintf("127.0.0.1:74%d1", 2+i)] = s.Peer
			actual[fmt.Sprintf("127.0.0.1:74%d2", 2+i)] = s.HTTP
			actual[fmt.Sprintf("127.0.0.1:74%d3", 2+i)] = s.Admin
		}
		env = append(env, "GK_ENDPOINTS="+strings.Join(cluster.Endpoints(), ","))
	}
	substitute := func(text string) string {
		return address.ReplaceAllStringFunc(text, func(a string) string {
			if actual[a] == "" {
				free, err := ports.Free(1)
				if err != nil {
					t.Fatal(err)
				}
				actual[a] = free[0]
			}
			return actual[a]
		})
	}
	switch {
	case p.machines != "":
		addresses := p.machines
		machines := startMachines(t, filepath.Join(dir, "machines"))
		env[0] = "PATH=" + machines.tools + ":" + strings.TrimPrefix(env[0], "PATH=")
		other := substitute
		substitute = func(text string) string { return other(strings.ReplaceAll(text, addresses+".", machines.network+".")) }
	case p.servers == 0:
		env = append(env, "GK_ENDPOINTS="+substitute("127.0.0.1:7420")) // the default
	}
	sh, start := startShell(t, dir, env), time.Now()
	for _, c := range p.commands {
		if skipReasons[c.text] != "" {
			continue
		}
		got, code, err := sh.run(substitute(withDefaultPorts(c.text)), 30*time.Second)
		if err != nil {
			t.Fatalf("%s:%d: $ %s: %v\n%s", p.file, c.line, c.text, err, strings.Join(got, "\n"))
		}
		want := strings.Split(substitute(strings.Join(c.output, "\n")), "\n")
		if len(c.output) == 0 {
			want = nil
		}
		if code != 0 || !p.matches(want, got) {
			t.Fatalf("%s:%d: $ %s\nexit code %d (if the command is meant to fail, append: || echo \"exit code $?\")\ngot:\n%s\nwant:\n%s",
				p.file, c.line, c.text, code, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	t.Logf("%s: %d commands took %v", p.file, len(p.commands), time.Since(start).Round(time.Second))
}

// withDefaultPorts adds address flags with the default ports to a command that starts a server without them, so that
// the test can replace the ports.
func withDefaultPorts(text string) string {
	if rest, ok := strings.CutPrefix(text, "gatekeeperd --data-dir "); ok {
		return "gatekeeperd --api-address 127.0.0.1:7420 --peer-address 127.0.0.1:7421 --http-address 127.0.0.1:7422 --admin-address 127.0.0.1:7423 --data-dir " + rest
	}
	return text
}

func startServers(t *testing.T, p *page, root string) *servers.Cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	opts := servers.Options{Binary: filepath.Join(bin, "gatekeeperd"), Dir: t.TempDir(), Count: p.servers}
	if p.definitions != "" {
		opts.Definitions = filepath.Join(root, p.definitions)
	}
	cluster, err := servers.Start(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cluster
}

// buildGrpcurl builds the version of grpcurl that .ci/grpcurl pins.
var buildGrpcurl = sync.OnceValue(func() error {
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "grpcurl"), "github.com/fullstorydev/grpcurl/cmd/grpcurl")
	build.Dir = filepath.Join("..", ".ci", "grpcurl")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build grpcurl: %w\n%s", err, out)
	}
	return nil
})
