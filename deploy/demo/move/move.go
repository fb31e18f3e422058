// Package move implements the `move` scenario: what an operator does at three in the morning. The hosts in one build
// cluster hold all of its 510 tasks, and the hosts in another build cluster wait for them. `gkctl move` moves all tasks
// with a drain, and `gkctl undo` moves them back. Most holders stop immediately, some take their time, and one does not
// stop. With -kill, the leader is killed partway through the move.
package move

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	"github.com/gatekeeperd/gatekeeper/deploy/samples"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Scenario moves all tasks to another zone and undoes the move.
type Scenario struct {
	stage.Stage
	from, to string
	tasks    int
	drain    time.Duration
	kill     bool

	names []string
	legs  []*leg
}

// stepTimeout bounds each step of the scenario.
const stepTimeout = 45 * time.Second

// Flags defines the scenario's flags.
func (s *Scenario) Flags(f *flag.FlagSet) {
	s.Stage.Flags(f, 6*time.Second)
	f.StringVar(&s.from, "from", "eks-prow-build-cluster", "build cluster to move the tasks from")
	f.StringVar(&s.to, "to", "k8s-infra-prow-build", "build cluster to move the tasks to")
	f.IntVar(&s.tasks, "tasks", 0, "number of tasks that the hosts hold; 0 for all")
	f.DurationVar(&s.drain, "drain", 5*time.Second, "how long holders may continue after being told to stop")
	f.BoolVar(&s.kill, "kill", false, "kill the leader partway through the move")
}

// Play runs the scenario.
func (s *Scenario) Play(ctx context.Context) error {
	if s.Duration < time.Second || s.drain < time.Second || s.tasks < 0 || s.tasks == 1 {
		return errors.New("the scenario requires a -duration and a -drain of 1s or more, and -tasks 2 or more")
	}
	return s.Run(ctx, s.play)
}

// play moves the tasks to the other zone and back.
func (s *Scenario) play(ctx context.Context) error {
	var err error
	if s.names, err = tasksOf(s.from, s.tasks); err != nil {
		return err
	}
	defs, err := samples.KubernetesDefinitions()
	if err != nil {
		return err
	}
	if err := s.Serve(ctx, defs); err != nil {
		return err
	}
	s.Epoch = boottime.Now()
	stubborn := s.names[len(s.names)/2]
	old, err := s.startZone(ctx, &zone{Group: s.from, Stubborn: stubborn}, stage.Granted)
	if err != nil {
		return err
	}
	s.Logf("%d hosts in %s hold %d tasks", hosts, s.from, len(s.names))
	next, err := s.startZone(ctx, &zone{Group: s.to}, waits)
	if err != nil {
		return err
	}
	s.Logf("%d hosts in %s are waiting for the same tasks", hosts, s.to)
	before, err := s.patterns(ctx)
	if err != nil {
		return err
	}

	s.Row("tasks", "%d, from %s to %s and back, with a drain of %v and a permit duration of %v", len(s.names), s.from, s.to, s.drain, s.Duration)
	moved := s.leg(ctx, "move", old, next, s.kill, "move", "--from", s.from, "--to", s.to, "-l", samples.LabelKind+"=job",
		"--drain", s.drain.String(), "--yes", "--reason", "storage is failing in "+s.from, "-o", "json")
	var output moveOutput
	if err := json.Unmarshal(moved, &output); err != nil {
		return fmt.Errorf("the output of gkctl move is not JSON: %w\n%s", err, moved)
	}
	s.AddViolations(output.judge(stubborn)...)
	s.leg(ctx, "undo", next, old, false, "undo", output.Revision, "--drain", s.drain.String(), "--yes")
	after, err := s.patterns(ctx)
	if err != nil {
		return err
	}
	for name, pattern := range before {
		if after[name] != pattern {
			s.Violationf("%s admits %q after the undo, but admitted %q before the move", name, after[name], pattern)
		}
	}
	if err := s.End(ctx, syscall.SIGTERM, stepTimeout); err != nil {
		return err
	}
	s.judge(s.Lives(), stubborn)
	return nil
}

// startZone starts the hosts in a zone and waits until they have recorded the event e for every task.
func (s *Scenario) startZone(ctx context.Context, z *zone, e stage.Event) (*stage.Process, error) {
	z.Tasks, z.Endpoints, z.Slow = s.names, s.Cluster.Endpoints(), s.drain/2
	p, err := s.Start(ctx, Part, "the hosts in "+z.Group, z)
	if err != nil {
		return nil, err
	}
	if !await(ctx, func() bool { return len(p.Life().Since(e, 0)) == len(s.names) }) {
		return nil, fmt.Errorf("%s: %d of %d tasks have a %q record", p.Name, len(p.Life().Since(e, 0)), len(s.names), e)
	}
	return p, nil
}

// leg runs gkctl and measures how the tasks move between the zones. It returns gkctl's output.
func (s *Scenario) leg(ctx context.Context, name string, from, to *stage.Process, kill bool, args ...string) []byte {
	gkctl := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, filepath.Join(s.Bin, "gkctl"), args...)
		cmd.Env = append(os.Environ(), "GK_ENDPOINTS="+strings.Join(s.Cluster.Endpoints(), ","))
		return cmd
	}
	// Servers record new callers after a short delay, and gkctl refuses to move tasks to a zone that no caller has
	// used.
	await(ctx, func() bool { return gkctl(append(slices.Clone(args), "--dry-run")...).Run() == nil })
	start := boottime.Now()
	cmd := gkctl(args...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	exited := make(chan error, 1)
	s.Logf("gkctl %s", strings.Join(args, " "))
	go func() { exited <- cmd.Run() }()

	killed := ""
	if kill {
		await(ctx, func() bool { return len(from.Life().Since(ordered, start)) > 0 })
		if leader, _, err := s.KillLeader(ctx); err != nil {
			s.Violationf("could not kill the leader: %v", err)
		} else {
			killed = leader.ID
		}
	}
	await(ctx, func() bool { return len(to.Life().Since(stage.Granted, start)) >= len(s.names) })
	select {
	case err := <-exited:
		if err != nil {
			s.Violationf("gkctl %s: %v\n%s", name, err, stderr.String())
		}
	case <-time.After(stepTimeout):
		s.Violationf("gkctl %s did not exit", name)
	}
	l := newLeg(start, from.Life(), to.Life())
	if len(l.started) < len(s.names) {
		s.Violationf("%s: only %d of %d tasks started", name, len(l.started), len(s.names))
	}
	s.legs = append(s.legs, l)
	s.Logf("%d tasks have moved", len(l.started))
	l.report(&s.Report, name)
	if killed != "" {
		s.Row("leader killed", "%s, partway through the move", killed)
	}
	return out.Bytes()
}

// patterns returns the group pattern in each definition, by name.
func (s *Scenario) patterns(ctx context.Context) (map[string]string, error) {
	found := map[string]string{}
	for rec, err := range s.Client.AllDefinitions(ctx, &gatekeeperv1.ListDefinitionsRequest{}) {
		if err != nil {
			return nil, err
		}
		found[rec.GetDefinition().GetName()] = rec.GetDefinition().GetGroupPattern()
	}
	return found, nil
}

// await waits for cond and reports whether it was met in time.
func await(ctx context.Context, cond func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	return stage.Await(ctx, "", func() (bool, error) { return cond(), nil }) == nil
}
