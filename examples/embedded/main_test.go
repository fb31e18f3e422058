package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/internal/ports"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// waitTimeout limits every wait in these tests.
const waitTimeout = 60 * time.Second

func TestEmbedded_NodeKilled_JobContinuesAndCanBeMovedToStandby(t *testing.T) {
	nodes := start(t, "app1", "app2", "dr1")
	first := nodes.next(t).node
	other := map[string]string{"app1": "app2", "app2": "app1"}[first]
	if other == "" {
		t.Fatalf("%q ran the job, want a production node", first)
	}

	nodes.kill(t, first)
	for on := ""; on != other; on = nodes.next(t).node {
		if on == "dr1" {
			t.Fatal("the job ran on the standby before it was moved there")
		}
	}

	move(t, nodes.api[other], "nightly-export", "dr-site")
	moved := uint64(0) // the first token granted on the standby
	for runs := 0; runs < 3; {
		switch run := nodes.next(t); {
		case run.node == "dr1":
			if runs++; moved == 0 {
				moved = run.token
			}
		case moved != 0 && run.token > moved:
			t.Errorf("%s ran the job after it was moved to the standby", run.node)
		}
	}
}

func TestEmbedded_InvalidMembers_AreRefused(t *testing.T) {
	app := application{id: "app1", members: "app1", dataDir: t.TempDir()}
	if err := app.run(t.Context()); err == nil || !strings.Contains(err.Error(), `"app1" is not ID=HOST:PORT`) {
		t.Errorf("run() = %v, want an error that names the member", err)
	}
}

// run is one run of the job, parsed from the line that the job logs.
type run struct {
	node  string
	token uint64
}

// nodes holds the application's processes, one per node.
type nodes struct {
	processes map[string]*exec.Cmd
	api       map[string]string
	runs      chan run
}

// start builds the application and starts one process for each ID. Nodes whose IDs begin with dr are at the standby
// site.
func start(t *testing.T, ids ...string) *nodes {
	t.Helper()
	built, err := servers.Build(t.TempDir(), "examples/embedded")
	if err != nil {
		t.Fatal(err)
	}
	free, err := ports.Free(2 * len(ids))
	if err != nil {
		t.Fatal(err)
	}
	n := &nodes{processes: map[string]*exec.Cmd{}, api: map[string]string{}, runs: make(chan run, 1000)}
	var members []string
	for i, id := range ids {
		n.api[id] = free[2*i]
		members = append(members, id+"="+free[2*i+1])
	}
	for _, id := range ids {
		group := "prod"
		if strings.HasPrefix(id, "dr") {
			group = "dr-site"
		}
		n.launch(t, id, exec.Command(built[0], "-id", id, "-group", group, "-members", strings.Join(members, ","),
			"-data-dir", t.TempDir(), "-api-address", n.api[id], "-schedule", "@every 1s"))
	}
	return n
}

// launch starts a process, which is killed when the test ends.
func (n *nodes) launch(t *testing.T, id string, cmd *exec.Cmd) {
	t.Helper()
	servers.DieWithParent(cmd)
	out, w := io.Pipe()
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n.processes[id] = cmd
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			log.WriteString(lines.Text() + "\n")
			var r run
			if _, text, ok := strings.Cut(lines.Text(), "exporting "); ok {
				if _, err := fmt.Sscanf(text, "on=%s token=%d", &r.node, &r.token); err == nil {
					n.runs <- r
				}
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // returns an error, because the process was killed
		_ = w.Close()
		<-read
		if t.Failed() {
			t.Logf("log of %s:\n%s", id, &log)
		}
	})
}

// next returns the next run of the job on any node.
func (n *nodes) next(t *testing.T) run {
	t.Helper()
	select {
	case r := <-n.runs:
		return r
	case <-time.After(waitTimeout):
		t.Fatal("timed out waiting for the job to run")
		return run{}
	}
}

// kill sends SIGKILL to a node.
func (n *nodes) kill(t *testing.T, id string) {
	t.Helper()
	if err := n.processes[id].Process.Kill(); err != nil {
		t.Fatal(err)
	}
}

// move is equivalent to `gkctl set NAME group_pattern=GROUP`.
func move(t *testing.T, endpoint, name, group string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	c, err := client.Dial(ctx, []string{endpoint})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	read, err := c.Definitions().GetDefinition(ctx, &gatekeeperv1.GetDefinitionRequest{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	changed := read.GetRecord().GetDefinition()
	changed.GroupPattern = &group
	_, err = c.Definitions().ReplaceDefinition(ctx, &gatekeeperv1.ReplaceDefinitionRequest{
		Definition: changed, ExpectedVersion: read.GetRecord().GetVersion(), Author: "ops@desk", Reason: "maintenance",
	})
	if err != nil {
		t.Fatal(err)
	}
}
