package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/deffile"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	"github.com/gatekeeperd/gatekeeper/deploy/samples"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"google.golang.org/protobuf/types/known/durationpb"
)

// demo is one run: three servers, the hosts of every group, and two faults.
type demo struct {
	out      io.Writer
	bin      string
	length   time.Duration
	hour     time.Duration
	hosts    int
	duration time.Duration
	profile  string

	dir     string
	table   timetable
	cluster *servers.Cluster
	client  *client.Client
	running []*hostProcess
}

// When the faults happen, as parts of the demo's length.
const (
	leaderDies  = 0.25
	serverBack  = 0.4
	hostDies    = 0.5
	lastMinutes = 15 * time.Second // for hosts to finish what runs at the end
)

func (d *demo) run(ctx context.Context) error {
	if d.hosts < 2 || d.length < 10*time.Second || d.hour <= 0 {
		return errors.New("a demo needs -hosts 2 or more, -for 10s or more, and an -hour above 0")
	}
	if d.dir == "" {
		dir, err := os.MkdirTemp("", "gatekeeper-demo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		d.dir = dir
	}
	jobs, err := samples.Kubernetes()
	if err != nil {
		return err
	}
	permits, err := d.start(ctx, jobs)
	if err != nil {
		return err
	}
	defer d.cluster.Kill()
	defer d.client.Close()

	d.table = timetable{epoch: boottime.Now() + time.Second, start: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), hour: d.hour}
	if err := d.startHosts(ctx, jobs); err != nil {
		d.killHosts()
		return err
	}
	f, err := d.faults(ctx)
	if err != nil {
		d.killHosts()
		return err
	}
	lives, err := d.endHosts(ctx)
	if err != nil {
		return err
	}
	t := count(lives, permits, isPoolName, f.leaderKilled)
	d.print(t, f, jobs)
	return t.verdict()
}

func isPoolName(semaphore string) bool { return strings.HasPrefix(semaphore, samples.Pool("")) }

// start starts the servers with the definitions, and returns the size of each semaphore.
func (d *demo) start(ctx context.Context, jobs []samples.Job) (map[string]uint32, error) {
	defs, err := samples.Definitions(jobs)
	if err != nil {
		return nil, err
	}
	permits := map[string]uint32{}
	for _, def := range defs {
		permits[def.Name] = def.GetPermits()
		// Sped up, a timeout of ten minutes would be shorter than a fail-over: the demo goes without.
		def.MaxHold, def.ExpectEvery = nil, nil
		def.Duration = durationpb.New(d.duration)
	}
	text, err := deffile.Marshal(defs)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(d.dir, "definitions.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	starting, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	d.cluster, err = servers.Start(starting, servers.Options{
		Binary: filepath.Join(d.bin, "gatekeeperd"), Dir: d.dir, Count: 3, Profile: d.profile, Definitions: file,
	})
	if err != nil {
		return nil, err
	}
	if d.client, err = client.Dial(ctx, d.cluster.Endpoints()); err != nil {
		d.cluster.Kill()
		return nil, err
	}
	fmt.Fprintf(d.out, "three servers at %s, %d definitions\n", strings.Join(d.cluster.Endpoints(), ", "), len(defs))
	return permits, nil
}

// faulted is what was done, and when.
type faulted struct {
	leader       string
	leaderKilled time.Duration
	host         string
	// freed is how long after its death the host's last slot was free; zero when one was still taken at the end.
	freed time.Duration
}

// faults kills the leader, starts it again, and kills a host, each at its time.
func (d *demo) faults(ctx context.Context) (*faulted, error) {
	f := &faulted{}
	if err := d.until(ctx, leaderDies); err != nil {
		return nil, err
	}
	leader, err := d.cluster.Leader(ctx)
	if err != nil {
		return nil, err
	}
	leader.Kill()
	f.leader, f.leaderKilled = leader.ID, boottime.Now()
	d.say("kill -9 of %s, the leader", leader.ID)

	if err := d.until(ctx, serverBack); err != nil {
		return nil, err
	}
	if err := leader.Start(); err != nil {
		return nil, err
	}
	d.say("%s is started again", leader.ID)

	if err := d.until(ctx, hostDies); err != nil {
		return nil, err
	}
	host := d.busiest()
	host.Kill()
	f.host = host.name
	d.say("kill -9 of host %s", host.name)
	f.freed = d.freed(ctx, host)
	if f.freed > 0 {
		d.say("its last slot is free again")
	}
	return f, d.until(ctx, 1)
}

// until waits for a part of the demo's length to have passed.
func (d *demo) until(ctx context.Context, part float64) error {
	at := d.table.epoch + time.Duration(part*float64(d.length))
	select {
	case <-time.After(at - boottime.Now()):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// freed waits until no permit of a dead host takes a slot, but not beyond the demo's end.
func (d *demo) freed(ctx context.Context, host *hostProcess) time.Duration {
	end := d.table.epoch + d.length
	for boottime.Now() < end && ctx.Err() == nil {
		held, err := d.holds(ctx, host.name)
		if err == nil && !held {
			return boottime.Now() - host.Killed()
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return 0
}

func (d *demo) holds(ctx context.Context, acquirer string) (bool, error) {
	for p, err := range d.client.AllHolders(ctx, &gatekeeperv1.ListHoldersRequest{}) {
		if err != nil {
			return false, err
		}
		if p.Identity.GetAcquirer() == acquirer {
			return true, nil
		}
	}
	return false, nil
}

// say prints what happened, with the time since the hosts began.
func (d *demo) say(format string, args ...any) {
	fmt.Fprintf(d.out, "%5.1fs  %s\n", (boottime.Now() - d.table.epoch).Seconds(), fmt.Sprintf(format, args...))
}

// clusters are the groups of the timetable, in order.
func clusters(jobs []samples.Job) []string {
	seen := map[string]bool{}
	var all []string
	for _, job := range jobs {
		if !seen[job.Cluster] {
			seen[job.Cluster] = true
			all = append(all, job.Cluster)
		}
	}
	sort.Strings(all)
	return all
}
