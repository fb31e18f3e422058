package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/deffile"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/child"
	"github.com/gatekeeperd/gatekeeper/deploy/samples"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// demo is one run: three servers, two zones, a move and its undoing.
type demo struct {
	out      io.Writer
	bin      string
	from, to string
	tasks    int
	duration time.Duration
	drain    time.Duration
	kill     bool
	profile  string
	dir      string
	jsonFile string

	names    []string
	cluster  *servers.Cluster
	client   *client.Client
	old, new *process
	began    time.Duration
}

// process is the hosts of a zone.
type process = child.Process[record]

// patience bounds each step: what is not done by then is a broken promise.
const patience = 45 * time.Second

func (d *demo) run(ctx context.Context) error {
	if d.duration < time.Second || d.drain < time.Second || d.tasks < 0 || d.tasks == 1 {
		return errors.New("a demo needs a -duration and a -drain of 1s or more, and -tasks 2 or more")
	}
	if d.dir == "" {
		dir, err := os.MkdirTemp("", "gatekeeper-demomove-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		d.dir = dir
	}
	var err error
	if d.names, err = tasksOf(d.from, d.tasks); err != nil {
		return err
	}
	if err := d.start(ctx); err != nil {
		return err
	}
	defer d.cluster.Kill()
	defer d.client.Close()
	r, err := d.there(ctx)
	if d.old != nil {
		defer d.old.Kill()
	}
	if d.new != nil {
		defer d.new.Kill()
	}
	if err != nil {
		return err
	}
	r.print(d.out)
	if d.jsonFile != "" {
		text, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(d.jsonFile, append(text, '\n'), 0o600); err != nil {
			return err
		}
	}
	return r.verdict()
}

// start starts the servers with the definitions.
func (d *demo) start(ctx context.Context) error {
	jobs, err := samples.Kubernetes()
	if err != nil {
		return err
	}
	defs, err := samples.Definitions(jobs)
	if err != nil {
		return err
	}
	for _, def := range defs {
		def.MaxHold, def.ExpectEvery, def.Duration = nil, nil, durationpb.New(d.duration)
	}
	text, err := deffile.Marshal(defs)
	if err != nil {
		return err
	}
	file := filepath.Join(d.dir, "definitions.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	starting, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	d.cluster, err = servers.Start(starting, servers.Options{
		Binary: filepath.Join(d.bin, "gatekeeperd"), Dir: d.dir, Count: 3, Profile: d.profile, Definitions: file,
	})
	if err != nil {
		return err
	}
	if d.client, err = client.Dial(ctx, d.cluster.Endpoints()); err != nil {
		d.cluster.Kill()
		return err
	}
	d.began = boottime.Now()
	d.say("three servers at %s, %d definitions", strings.Join(d.cluster.Endpoints(), ", "), len(defs))
	return nil
}

// there and back again.
func (d *demo) there(ctx context.Context) (*report, error) {
	deaf := d.names[len(d.names)/2]
	var err error
	if d.old, err = d.zone(ctx, &zone{group: d.from, slow: d.drain / 2, deaf: deaf}, eventGranted); err != nil {
		return nil, err
	}
	d.say("%d hosts of %s hold %d tasks", hosts, d.from, len(d.names))
	if d.new, err = d.zone(ctx, &zone{group: d.to, slow: d.drain / 2}, eventWaits); err != nil {
		return nil, err
	}
	d.say("%d hosts of %s wait for the same tasks", hosts, d.to)
	before, err := d.patterns(ctx)
	if err != nil {
		return nil, err
	}

	r := &report{From: d.from, To: d.to, Tasks: len(d.names), Drain: d.drain.Seconds(), Duration: d.duration.Seconds()}
	moved := d.leg(ctx, r, "move", d.old, d.new, d.kill, "move", "--from", d.from, "--to", d.to, "-l", samples.LabelKind+"=job",
		"--drain", d.drain.String(), "--yes", "--reason", "the storage of "+d.from+" is failing", "-o", "json")
	var said moveOutput
	if err := json.Unmarshal(moved, &said); err != nil {
		return nil, fmt.Errorf("gkctl move printed what is not JSON: %w\n%s", err, moved)
	}
	r.judgeMove(&said, deaf)
	d.leg(ctx, r, "undo", d.new, d.old, false, "undo", said.Revision, "--drain", d.drain.String(), "--yes")
	after, err := d.patterns(ctx)
	if err != nil {
		return nil, err
	}
	for name, pattern := range before {
		if after[name] != pattern {
			r.broken("after the undoing %s admits %q, and had admitted %q", name, after[name], pattern)
		}
	}
	for _, p := range []*process{d.old, d.new} {
		if err := errors.Join(p.Signal(syscall.SIGTERM), p.Wait(patience)); err != nil {
			return nil, err
		}
	}
	r.judgeBeliefs(d.old.Records(), d.new.Records(), deaf)
	return r, ctx.Err()
}

// zone starts the hosts of a zone and waits until they have said that of every task.
func (d *demo) zone(ctx context.Context, z *zone, like event) (*process, error) {
	z.cluster, z.tasks, z.endpoints = d.from, d.tasks, d.cluster.Endpoints()
	p, err := child.Start[record](ctx, "the hosts of "+z.group, z.args())
	if err != nil {
		return nil, err
	}
	if !d.await(ctx, func() bool { return len(since(p.Records(), like, 0)) == len(d.names) }) {
		p.Kill()
		return nil, fmt.Errorf("of %s, %d of %d tasks are %s", p.Name, len(since(p.Records(), like, 0)), len(d.names), like)
	}
	return p, nil
}

// leg runs gkctl and measures how the tasks go from one zone to the other. It returns what gkctl printed.
func (d *demo) leg(ctx context.Context, r *report, name string, from, to *process, kill bool, args ...string) []byte {
	gkctl := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, filepath.Join(d.bin, "gkctl"), args...)
		cmd.Env = append(os.Environ(), "GK_ENDPOINTS="+strings.Join(d.cluster.Endpoints(), ","))
		return cmd
	}
	// Who asks is noted a moment later, and nothing is moved to whom nobody has heard of.
	d.await(ctx, func() bool { return gkctl(append(slices.Clone(args), "--dry-run")...).Run() == nil })
	began := boottime.Now()
	cmd := gkctl(args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	ended := make(chan error, 1)
	d.say("gkctl %s", strings.Join(args, " "))
	go func() { ended <- cmd.Run() }()

	if kill {
		d.await(ctx, func() bool { return len(since(from.Records(), eventTold, began)) > 0 })
		d.killLeader(ctx, r)
	}
	d.await(ctx, func() bool { return len(since(to.Records(), eventGranted, began)) >= len(d.names) })
	select {
	case err := <-ended:
		if err != nil {
			r.broken("gkctl %s: %v\n%s", name, err, said.String())
		}
	case <-time.After(patience):
		r.broken("gkctl %s did not end", name)
	}
	l := newLeg(name, began, from.Records(), to.Records())
	if len(l.started) < len(d.names) {
		r.broken("%s: only %d of %d tasks were started", name, len(l.started), len(d.names))
	}
	r.Legs = append(r.Legs, l)
	d.say("%d tasks have changed hands", len(l.started))
	return out.Bytes()
}

func (d *demo) killLeader(ctx context.Context, r *report) {
	leader, err := d.cluster.Leader(ctx)
	if err != nil {
		r.broken("there is no leader to kill: %v", err)
		return
	}
	leader.Kill()
	r.Killed = leader.ID
	d.say("kill -9 of %s, the leader", leader.ID)
}

// patterns are the group patterns of the tasks.
func (d *demo) patterns(ctx context.Context) (map[string]string, error) {
	found := map[string]string{}
	for rec, err := range d.client.AllDefinitions(ctx, &gatekeeperv1.ListDefinitionsRequest{}) {
		if err != nil {
			return nil, err
		}
		found[rec.GetDefinition().GetName()] = rec.GetDefinition().GetGroupPattern()
	}
	return found, nil
}

// await waits until cond holds; false when it does not in time.
func (d *demo) await(ctx context.Context, cond func() bool) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !cond(); {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

func (d *demo) say(format string, args ...any) {
	fmt.Fprintf(d.out, "%5.1fs  %s\n", (boottime.Now() - d.began).Seconds(), fmt.Sprintf(format, args...))
}
