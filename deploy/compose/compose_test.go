// Package compose tests the Compose file with real servers.
package compose

import (
	"bytes"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gatekeeperd/gatekeeper/internal/ports"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

type service struct {
	Command     []string          `yaml:"command"`
	Environment map[string]string `yaml:"environment"`
	Volumes     []string          `yaml:"volumes"`
	DependsOn   map[string]any    `yaml:"depends_on"`
}

// The test runs the services as processes instead of containers. It replaces volumes with directories, and host names
// with loopback ports.
func TestCompose_Servers_FormAuthenticatedCluster(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	text, err := os.ReadFile("compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]service `yaml:"services"`
		Volumes  map[string]any     `yaml:"volumes"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	binaries := t.TempDir()
	if _, err := servers.Build(binaries, "cmd/gatekeeperd", "cmd/gkctl"); err != nil {
		t.Fatal(err)
	}
	members := []string{"gk1", "gk2", "gk3"}
	dir := t.TempDir()
	volumeDir := func(volume string) string { return filepath.Join(dir, "volumes", volume) }
	for volume := range file.Volumes {
		if err := os.MkdirAll(volumeDir(volume), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// mounted replaces a container's volume path with the directory that the test uses instead.
	mounted := func(s service, value string) string {
		for _, v := range s.Volumes {
			parts := strings.Split(v, ":")
			if file.Volumes[parts[0]] == nil {
				t.Fatalf("%s does not use a named volume", v)
			}
			if rest, ok := strings.CutPrefix(value, parts[1]+"/"); ok {
				return filepath.Join(volumeDir(parts[0]), rest)
			}
		}
		return value
	}
	run := func(env []string, name string, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Env = append(env, "PATH="+binaries+":"+os.Getenv("PATH"), "HOME="+dir)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}

	certificates := file.Services["certificates"]
	certDir := filepath.Join(dir, "made")
	if err := os.Mkdir(certDir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, v := range certificates.Volumes {
		volume, at, _ := strings.Cut(v, ":")
		if err := os.Symlink(volumeDir(volume), filepath.Join(certDir, strings.TrimPrefix(at, "/certificates/"))); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(certificates.Command, " "); got != "sh /src/deploy/compose/certificates.sh /certificates" {
		t.Fatalf("unexpected command: %s", got)
	}
	for range 2 { // the script runs at every start, so it must be idempotent
		if out, err := run([]string{"HOSTS=127.0.0.1"}, "sh", "certificates.sh", certDir); err != nil {
			t.Fatal(err, out)
		}
	}

	addresses, err := ports.Free(4 * len(members))
	if err != nil {
		t.Fatal(err)
	}
	toLoopback := func(self, value string) string {
		return regexp.MustCompile(`(gk[123]|0\.0\.0\.0):742([0-3])\b`).ReplaceAllStringFunc(value, func(a string) string {
			host, port, _ := strings.Cut(a, ":")
			member := host
			if host == "0.0.0.0" {
				member = self
			}
			address := addresses[4*slices.Index(members, member)+strings.Index("0123", port[3:])]
			if host == "0.0.0.0" {
				return strings.Replace(address, "127.0.0.1", host, 1)
			}
			return address
		})
	}
	for _, id := range members {
		s := file.Services[id]
		if s.DependsOn["certificates"] == nil {
			t.Errorf("%s does not depend on the certificates service", id)
		}
		if slices.ContainsFunc(s.Volumes, func(v string) bool { return strings.HasPrefix(v, "authorities:") }) {
			t.Errorf("%s can read the authorities' keys", id)
		}
		env := []string{"GATEKEEPER_DATA_DIR=" + mounted(s, "/data/x")}
		for _, name := range slices.Sorted(maps.Keys(s.Environment)) {
			env = append(env, name+"="+toLoopback(id, mounted(s, s.Environment[name])))
		}
		var log bytes.Buffer
		server := exec.CommandContext(ctx, filepath.Join(binaries, "gatekeeperd"))
		server.Env, server.Stderr = env, &log
		server.Cancel = func() error { return server.Process.Signal(syscall.SIGTERM) }
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			cancel()
			_ = server.Wait() // fails because of the signal
			if t.Failed() {
				t.Logf("%s:\n%s", id, log.String())
			}
		})
	}

	gkctl := file.Services["gkctl"]
	var admin []string
	for name, value := range gkctl.Environment {
		admin = append(admin, name+"="+toLoopback("", mounted(gkctl, value)))
	}
	for {
		out, err := run(admin, filepath.Join(binaries, "gkctl"), "status")
		if err == nil && strings.Contains(out, "3 of 3") {
			if strings.Contains(out, "insecure") {
				t.Error(out)
			}
			break
		}
		if ctx.Err() != nil {
			t.Fatal(err, out)
		}
	}
	if out, err := run(admin, filepath.Join(binaries, "gkctl"), "auth", "whoami"); err != nil || !strings.Contains(out, "cert:admin") {
		t.Error(err, out)
	}
}
