package docs

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// program returns the source of the README's program.
func program(t *testing.T) string {
	t.Helper()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	p, err := parsePage("README.md", string(readme))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range p.otherBlocks {
		if strings.HasPrefix(b.text, "package main\n") {
			return b.text
		}
	}
	t.Fatal("the README has no program")
	return ""
}

func TestReadme_Program_IsShort(t *testing.T) {
	_, code, _ := strings.Cut(program(t), "\n)\n")
	lines := 0
	for line := range strings.Lines(code) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	if lines > 15 {
		t.Errorf("the program has %d lines after its imports, want at most 15", lines)
	}
}

// buildProgram builds the README's program with two changes: the job is due every second, and prints its token.
func buildProgram(t *testing.T) (binary string) {
	t.Helper()
	source := program(t)
	for what, replacement := range map[string]string{
		`"@every 2s"`: `"@every 1s"`,
		`log.Printf("exporting on %s", client.PermitOf(ctx).Acquirer())`: `log.Print("exporting ", client.TokenOf(ctx))`,
	} {
		if strings.Count(source, what) != 1 {
			t.Fatalf("the program does not contain %s exactly once", what)
		}
		source = strings.Replace(source, what, replacement, 1)
	}
	dir := t.TempDir()
	file, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "nightly")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, file)
	build.Dir = ".." // its module
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	return binary
}

// The program must log a warning if the definition is missing or does not match.
func TestReadme_ProgramNotGranted_LogsReason(t *testing.T) {
	t.Parallel()
	binary := buildProgram(t)
	for name, c := range map[string]struct {
		define *gatekeeperv1.Definition // nil: none
		reason string
	}{
		"no definition":      {nil, `There is no semaphore "nightly-export".`},
		"another name":       {&gatekeeperv1.Definition{Name: "nightly-exprot"}, `There is no semaphore "nightly-export".`},
		"another group":      {&gatekeeperv1.Definition{Name: "nightly-export", GroupPattern: new("prod")}, `Group "default" does not match the group pattern "prod"`},
		"another host":       {&gatekeeperv1.Definition{Name: "nightly-export", AcquirerPattern: new("db7")}, `Acquirer "app1" does not match the acquirer pattern "db7"`},
		"no permits allowed": {&gatekeeperv1.Definition{Name: "nightly-export", Permits: new(uint32(0))}, `0 permits`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := startServers(t, &page{servers: 1}, "..")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			ops, err := client.Dial(ctx, cluster.Endpoints())
			if err != nil {
				t.Fatal(err)
			}
			defer ops.Close()
			if c.define != nil {
				if _, err := ops.Declare(ctx, c.define); err != nil {
					t.Fatal(err)
				}
			}
			lines := make(chan string, 1000)
			stop := startProgram(t, binary, "app1", cluster, func(line string) { lines <- line })
			for warnings := 0; warnings == 0; {
				select {
				case line := <-lines:
					if !strings.Contains(line, "WARN") || !strings.Contains(strings.ReplaceAll(line, `\"`, `"`), c.reason) ||
						!strings.Contains(line, "gkctl explain nightly-export --group default --acquirer app1") {
						t.Errorf("the program logged: %s\nwant a warning that contains: %s", line, c.reason)
					}
					warnings++
				case <-ctx.Done():
					t.Fatal("timed out waiting for the warning")
				}
			}
			stop()
			close(lines)
			for line := range lines {
				t.Errorf("unexpected line after the warning: %s", line)
			}
		})
	}
}

// Three hosts run the README's program as modified by buildProgram.
func TestReadme_ProgramOnThreeHosts_RunsEachFiringOnce(t *testing.T) {
	t.Parallel()
	binary := buildProgram(t)
	cluster := startServers(t, &page{servers: 1}, "..")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := client.Dial(ctx, cluster.Endpoints())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Declare(ctx, &gatekeeperv1.Definition{Name: "nightly-export"}); err != nil {
		t.Fatal(err)
	}
	printed := make(chan uint64, 1000)
	var stops []func()
	for i := range 3 {
		stops = append(stops, startHost(t, binary, fmt.Sprintf("app%d", i+1), cluster, printed))
	}
	runs := map[uint64]int{} // by token
	last := uint64(0)
	record := func(token uint64) {
		runs[token]++
		last = max(last, token)
	}
	for range 5 {
		select {
		case token := <-printed:
			record(token)
		case <-ctx.Done():
			t.Fatal("timed out before the job had run 5 times")
		}
	}
	for _, stop := range stops {
		stop()
	}
	close(printed)
	for token := range printed {
		record(token)
	}

	// Every firing granted up to the last run must have run exactly once, and no firing may be granted twice.
	granted := map[time.Time]bool{}
	for _, p := range grantsUpTo(ctx, t, c, last) {
		due := p.GetFiring().GetDue().AsTime()
		if p.GetFiring().GetDue() == nil || granted[due] {
			t.Errorf("token %d was granted without a firing, or the firing due %s was granted twice", p.GetToken(), due)
		}
		granted[due] = true
		if n := runs[p.GetToken()]; n != 1 {
			t.Errorf("firing due %s ran %d times, want 1", due, n)
		}
	}
}

// startHost starts the program as one of the hosts and returns a function that kills it. The token of every run is sent
// to printed.
func startHost(t *testing.T, binary, name string, cluster *servers.Cluster, printed chan<- uint64) (stop func()) {
	t.Helper()
	return startProgram(t, binary, name, cluster, func(line string) {
		var token uint64
		if _, text, ok := strings.Cut(line, "exporting "); ok {
			if _, err := fmt.Sscan(text, &token); err == nil {
				printed <- token
			}
		}
	})
}

// startProgram starts the program as the given host and returns a function that kills it. It calls line for every line
// of output.
func startProgram(t *testing.T, binary, name string, cluster *servers.Cluster, line func(string)) (stop func()) {
	t.Helper()
	cmd := exec.Command(binary)
	servers.DieWithParent(cmd)
	cmd.Env = append(os.Environ(), "GK_ACQUIRER="+name, "GK_GROUP=", "GK_ENDPOINTS="+strings.Join(cluster.Endpoints(), ","))
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			line(lines.Text())
		}
	}()
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		<-read
		_ = cmd.Wait() // returns an error, because the process was killed
	})
	t.Cleanup(stop)
	return stop
}

// grantsUpTo returns all granted permits, up to and including the one with the given token.
func grantsUpTo(ctx context.Context, t *testing.T, c *client.Client, token uint64) (permits []*gatekeeperv1.Permit) {
	t.Helper()
	for r, err := range c.Watch(ctx, &gatekeeperv1.WatchRequest{FromRevision: 1, Permits: true}) {
		if err != nil || r.GetMissed() {
			t.Fatal("watch from revision 1: ", err)
		}
		for _, e := range r.GetEvents() {
			if e.GetKind() != gatekeeperv1.EventKind_EVENT_KIND_GRANTED {
				continue
			}
			if permits = append(permits, e.GetPermit()); e.GetPermit().GetToken() == token {
				return permits
			}
		}
	}
	t.Fatalf("the watch ended without a grant of token %d", token)
	return nil
}
